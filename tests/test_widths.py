"""Operators on rows: of every width from 1 to 1,100, and of numbers that must not reach the rows beside them."""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.harness.contract import Arguments, Contract, Elements, Sample, as_tuple
from tests.harness.forward import assert_matches_reference
from tests.harness.layouts import make

TESTS = Path(__file__).parents[1] / "generated" / "tests"
ROWS = ("rms_norm", "add_rms_norm", "layer_norm", "softmax", "cross_entropy", "cross_entropy_gradient_", "silu_mul",
        "gelu_mul", "quantize_per_token", "gather_rows", "rope")  # fmt: skip
BACKWARD = tuple(f"{name}_backward" for name in ROWS if (TESTS / f"test_{name}_backward.py").exists())


def generated(operator: str) -> Any:
    spec = importlib.util.spec_from_file_location(operator, TESTS / f"test_{operator}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_width(usual: Sample, n: int) -> Sample:
    """The usual call with rows of n elements; rope, which takes pairs of columns, with heads of n."""
    if "cos" in usual:
        heads = [name for name in usual if name not in ("cos", "sin")]
        return {
            **{name: (2, 3, 1 + i, n) for i, name in enumerate(heads)},
            "cos": (2, 3, n // 2),
            "sin": (2, 3, n // 2),
        }
    width = next(iter(wanted for name, wanted in usual.items() if name != "grad_loss"))[-1]
    found: dict[str, Any] = {}
    for name, wanted in usual.items():
        if isinstance(wanted, Elements):
            also = tuple(one for one in wanted.also if one < n)
            found[name] = dataclasses.replace(wanted, high=n, also=also) if wanted.high == width else wanted
        else:
            found[name] = (*wanted[:-1], n) if wanted[-1] == width else wanted
    return found


def copied(given: Arguments) -> Arguments:
    """Some operators write to what they are given."""
    return {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in given.items()}


@pytest.mark.parametrize("operator", [*ROWS, *BACKWARD])
def test_every_width(operator: str, device: str) -> None:
    """Against float64; the dtypes take turns, and half of the calls begin one element behind what is aligned."""
    test = generated(operator)
    op: Contract = test.OP
    choices = op.choices()
    for n in range(1, 1101):
        dtypes = choices[n % len(choices)]
        sample = of_width(test.SAMPLES[0], n)
        arguments = make(op, sample, dtypes, device, "misaligned" if n // len(choices) % 2 else "contiguous", seed=n)
        before = copied(arguments)
        results = op.results(op.wrapper, arguments)
        assert_matches_reference(op, dtypes, before, results, f"n = {n}, {dtypes}")


def of_many_rows(usual: Sample, rows: int) -> Sample:
    """The usual call, which has 2 x 3 rows or matrices, with as many as that."""
    found: dict[str, Any] = {}
    for name, wanted in usual.items():
        shape = wanted.shape if isinstance(wanted, Elements) else wanted
        if shape[:2] == (2, 3):
            shape = (rows, *shape[2:])
        found[name] = dataclasses.replace(wanted, shape=shape) if isinstance(wanted, Elements) else shape
    return found


@pytest.mark.parametrize("n", [9, 65, 257, 511])
@pytest.mark.parametrize("operator", [name for name in (*ROWS, *BACKWARD, "rms_norm_quantize") if "rope" not in name])
def test_many_short_rows(operator: str, n: int, device: str) -> None:
    """Of so many rows some kernels take several at once: csrc/device/row_runs.cuh."""
    rows = 64 * torch.cuda.get_device_properties(0).multi_processor_count + 1 if device == "cuda" else 3
    test = generated(operator)
    op: Contract = test.OP
    for i, dtypes in enumerate(op.choices()):
        arguments = make(op, of_many_rows(of_width(test.SAMPLES[0], n), rows), dtypes, device,
                         "misaligned" if i % 2 else "contiguous")  # fmt: skip
        if "bias" in arguments and "weight" not in arguments:
            arguments.update(bias=None, causal=False)
        before = copied(arguments)
        results = op.results(op.wrapper, arguments)
        assert_matches_reference(op, dtypes, before, results, f"{rows} x {n}, {dtypes}")


def special_rows(x: torch.Tensor) -> list[torch.Tensor]:
    """Rows that a body may not be ready for."""
    tiny = torch.finfo(x.dtype).smallest_normal / 2
    same = torch.ones_like(x[0])
    one = torch.zeros_like(x[0])
    one[-1] = torch.inf
    return [same * torch.nan, same * torch.inf, same * -torch.inf, one, same * tiny, same * torch.finfo(x.dtype).max]


@pytest.mark.parametrize("n", [9, 64, 1000, 5120])
@pytest.mark.parametrize("operator", [name for name in ROWS if name != "gather_rows"])
def test_rows_are_independent(operator: str, n: int, device: str) -> None:
    """Whatever stands in the second row, the others come out with the same bits."""
    test = generated(operator)
    op: Contract = test.OP
    for dtypes in op.choices():
        given = make(op, of_width(test.SAMPLES[0], n), dtypes, device)
        expected = _rows_of(op, given)
        names = [name for name in given if name in ("x", "residual", "logits", "gate", "up", "q", "k")]
        assert names
        for name in names:
            for special in special_rows(_rows(given[name])):
                changed = copied(given)
                _rows(changed[name])[1] = special
                assert torch.equal(_bits(_rows(changed[name])[1]), _bits(special))  # which is there, and not in a copy
                for result, wanted in zip(_rows_of(op, changed), expected, strict=True):
                    assert len(result) > 1
                    assert torch.equal(_bits(result[:1]), _bits(wanted[:1])), (name, special)
                    assert torch.equal(_bits(result[2:]), _bits(wanted[2:])), (name, special)


def _rows_of(op: Contract, given: Arguments) -> list[torch.Tensor]:
    """The results of a call, row by row."""
    return [_rows(result) for result in as_tuple(op.results(op.wrapper, copied(given)))]


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """All dims but the last are rows; of heads, all but the last two; results that are numbers have one for each."""
    return tensor.flatten(0, 1) if tensor.dim() in (3, 4) or tensor.shape == (2, 3) else tensor


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(torch.uint8)
