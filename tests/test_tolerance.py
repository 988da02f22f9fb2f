"""The table of epsilons is that of the numbers themselves, and sums are counted as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from codegen.tolerance import per_term, rounding
from codegen.types import DTYPES
from tests.harness import cuda
from tests.harness.cuda import near_reference, summed_dims, terms_behind
from tests.harness.numbers import assert_close

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_epsilon(dtype: str) -> None:
    found = getattr(torch, dtype)
    if not found.is_floating_point and not found.is_complex:
        assert rounding(dtype) == per_term(dtype) == 0.0
        return
    if found.itemsize == 1:  # torch.finfo is wrong about float8_e5m2fnuz: from 1 to the next number
        after = (torch.ones(1).to(found).view(torch.uint8) + 1).view(found)
        assert rounding(dtype) == after.float().item() - 1
    else:
        assert rounding(dtype) == torch.finfo(found).eps
    assert per_term(dtype) == 8 * torch.finfo(getattr(torch, DTYPES[dtype].acc)).eps


def test_whole_numbers_beyond_float64() -> None:
    """Differ where they do, beside a reference in float64 too."""
    found = torch.tensor([2**53 + 1])
    for expected in (torch.tensor([2**53]), torch.tensor([2.0**53], dtype=torch.float64)):
        with pytest.raises(AssertionError, match="1 of 1 elements differ"):
            assert_close(found, expected, 0.0, "y")
    assert_close(found - 1, torch.tensor([2.0**53], dtype=torch.float64), 0.0, "y")


def _generated_test(operator: str) -> Any:
    path = ROOT / "generated" / "tests" / f"test_{operator}.py"
    spec = importlib.util.spec_from_file_location(operator, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("operator", "dims"),
    [
        ("square", [set()]),
        ("softmax", [{-1}]),
        ("rms_norm_backward", [{-1}, set()]),
        ("silu_mul_backward", [set()] * 2),
    ],
)
def test_sums_behind_large_results(operator: str, dims: list[set[int]]) -> None:
    """The tests beyond 2^31 elements allow no more than the sums of an operator ask for."""
    module = _generated_test(operator)
    assert summed_dims(module.OP, module.SAMPLES[0]) == dims
    rows, row = torch.empty(300, 5, device="meta"), torch.empty(5, device="meta")
    assert terms_behind({-1}, [rows], rows) == 5
    assert terms_behind(set(), [rows], row) == 300
    assert terms_behind(set(), [rows], rows) == 1


OPERATORS = [path.stem.removeprefix("test_") for path in sorted((ROOT / "generated" / "tests").glob("test_*.py"))]


@pytest.mark.parametrize("operator", OPERATORS)
def test_small_as_beyond_32_bits(operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a GPU runs with more than 2^31 elements is right about small calls, and notices a wrong element."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1 << 60, 1 << 60))
    monkeypatch.setattr(cuda, "PIECE", 50)
    test = _generated_test(operator)
    torch.manual_seed(0)
    near_reference(test.OP, "cpu", test.SAMPLES[:6], test.SAMPLES[0])
    results = test.OP.results

    def wrong(*arguments: Any, **named: Any) -> tuple[torch.Tensor, ...]:
        found: tuple[torch.Tensor, ...] = results(*arguments, **named)
        last = found[-1].reshape(-1)
        if last.dtype == torch.bool:
            last[-1] = ~last[-1]
        elif last.is_floating_point() or last.is_complex():
            last[-1] = 4 * last.float().abs().max() + 4
        else:
            last[-1] += 64  # more than rounding, if it wraps or not
        return found

    monkeypatch.setattr(type(test.OP), "results", staticmethod(wrong))
    with pytest.raises(AssertionError, match="around element"):
        near_reference(test.OP, "cpu", test.SAMPLES[:1], test.SAMPLES[0])


def test_whole_numbers_of_an_unrounded_reference() -> None:
    """They are as near as any, but for what is allowed; without that they are those of the reference."""
    exact = torch.tensor([2.5 - 1e-9, -126.4, torch.nan], dtype=torch.float64)
    for right in ([2, -126, 0], [3, -126, 0]):
        assert_close(torch.tensor(right, dtype=torch.int8), exact, 1e-6, "q")
    for wrong in ([2, -127, 0], [1, -126, 0], [2, -126, 1]):
        with pytest.raises(AssertionError, match="1 of 3 elements differ"):
            assert_close(torch.tensor(wrong, dtype=torch.int8), exact, 1e-6, "q")
    with pytest.raises(AssertionError):
        assert_close(torch.tensor([3, -126, 0], dtype=torch.int8), exact.nan_to_num(0).round(), 0.0, "q")
