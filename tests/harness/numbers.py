"""How near is near enough: what check_calls of the package goes by (codegen/tolerance.py), as an assertion."""

from __future__ import annotations

import torch

from tests.harness.project import package

_compare = package("_compare")
terms, tolerance = _compare.terms, _compare.tolerance


def assert_close(
    actual: torch.Tensor,
    expected: torch.Tensor,
    allowed: float,
    what: str,
    strides: tuple[int, ...] | None = None,
) -> None:
    """Compares with a reference in float64; shape and strides too: outputs are contiguous where none are given."""
    assert actual.shape == expected.shape, f"{what}: shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    right = actual.is_contiguous() if strides is None else actual.stride() == strides
    assert right, f"{what}: strides {actual.stride()}"
    differs = _compare.difference(actual.detach().cpu(), expected.detach(), allowed)
    if differs:
        raise AssertionError(f"{what}: {differs}")
