"""How near is near enough.

The tolerance (codegen/tolerance.py) is relative: to the element, and to the largest element of the output or to 1,
which is the size of the inputs, since the terms of a sum may cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import torch

from codegen.tolerance import per_term, rounding


def terms(inputs: Iterable[torch.Tensor], output: torch.Tensor) -> int:
    """An upper limit of the number of terms in the sums behind an element of `output`."""
    tensors = list(inputs)
    widest = max((size for tensor in tensors for size in tensor.shape), default=1)
    return max([1, widest, *(tensor.numel() // max(output.numel(), 1) for tensor in tensors)])


def tolerance(dtype: torch.dtype, count: int) -> float:
    """For an output of this dtype whose elements are sums of `count` terms."""
    name = str(dtype).removeprefix("torch.")
    return rounding(name) + per_term(name) * sqrt(count)


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
    found = actual.detach().cpu()
    if not found.is_floating_point() and not found.is_complex():
        if not allowed:
            assert torch.equal(found, expected.to(found.dtype)), what
            return
        # The reference is left unrounded: a whole number is as near as any, but for what is allowed.
        expected = expected.nan_to_num(0)
        found = expected + ((found - expected).abs() - 0.5).clamp(min=0)
    largest = torch.finfo(found.dtype).max
    found, wanted = found.to(expected.dtype), expected.detach()
    # What the dtype cannot hold is infinite in it.
    overflows = found.isinf() & (wanted.abs() > 0.99 * largest)
    wanted = torch.where(overflows & wanted.isfinite(), found, wanted)
    finite = wanted[wanted.isfinite()].abs()
    scale = max(1.0, finite.max().item() if finite.numel() else 0.0)
    near = (found - wanted).abs() <= allowed * (wanted.abs() + scale)
    wrong = ~(near | (found == wanted) | (found.isnan() & wanted.isnan()))
    if wrong.any():
        at = tuple(int(i) for i in wrong.nonzero()[0])
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.numel()} elements differ, the first at {at}: {found[at]} instead of "
            f"{wanted[at]} (tolerance {allowed:.3g} of the element and of {scale:.3g})"
        )
