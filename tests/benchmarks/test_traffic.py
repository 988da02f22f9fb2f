"""The bytes that benchmarks hold operators against follow from ops.yaml."""

from __future__ import annotations

import pytest
import torch

from benchmarks.cuda_cases import Shape
from benchmarks.operators import traffic, traffic_of
from benchmarks.operators.cases import CASES
from benchmarks.operators.shapes import Named, shapes_of
from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load

ROWS, N = 32, 256
SIZE = ROWS * N * 2  # of a bfloat16 tensor
WEIGHT, STATISTICS = N * 2, ROWS * 4


def moved(operator: str) -> dict[str, tuple[int, int]]:
    found = traffic_of(operator, Named("", Shape(ROWS, N)))
    return {kind: (one.read, one.written) for kind, one in found.items()}


@pytest.mark.parametrize(
    ("operator", "forward", "backward"),
    [
        ("square", (SIZE, SIZE), (2 * SIZE, SIZE)),
        ("rms_norm", (SIZE + WEIGHT, SIZE), (2 * SIZE + WEIGHT + STATISTICS, SIZE + WEIGHT)),
        # one gradient for x and the residual
        ("add_rms_norm", (2 * SIZE + WEIGHT, 2 * SIZE), (3 * SIZE + WEIGHT + STATISTICS, SIZE + WEIGHT)),
        ("layer_norm", (SIZE + 2 * WEIGHT, SIZE), (2 * SIZE + 2 * WEIGHT + 2 * STATISTICS, SIZE + 2 * WEIGHT)),
        ("softmax", (SIZE, SIZE), (2 * SIZE, SIZE)),
        ("cross_entropy", (SIZE + ROWS * 8, ROWS * 4), (SIZE + ROWS * 16, SIZE)),
        ("silu_mul", (2 * SIZE, SIZE), (3 * SIZE, 2 * SIZE)),  # of a gradient that is derived
        ("rope", (3 * SIZE // 2, SIZE), (3 * SIZE // 2, SIZE)),  # cosines and sines are a fourth each here
    ],
)
def test_both_kinds(operator: str, forward: tuple[int, int], backward: tuple[int, int]) -> None:
    assert moved(operator) == {"forward": forward, "backward": backward}


@pytest.mark.parametrize(
    ("operator", "forward"),
    [
        ("cross_entropy_gradient_", (SIZE + ROWS * 8, SIZE + ROWS * 4)),  # in place: read and written
        ("quantize_per_token", (SIZE, SIZE // 2 + ROWS * 4)),  # of the dtype that is its default
        ("gather_rows", (SIZE + ROWS * 8, SIZE)),
    ],
)
def test_without_a_gradient(operator: str, forward: tuple[int, int]) -> None:
    assert moved(operator) == {"forward": forward}


def test_optional_inputs_count_where_they_are_given() -> None:
    x = torch.empty(ROWS, N, device="meta", dtype=torch.bfloat16)
    assert traffic.forward("rms_norm", (x,)).total == 2 * SIZE
    assert traffic.forward("softmax", (x, x)).read == 2 * SIZE
    found = traffic.backward("rms_norm", (x,))
    assert found is not None
    assert found.written == SIZE


def test_a_dtype_that_is_given_decides_what_is_written() -> None:
    x = torch.empty(ROWS, N, device="meta")
    assert traffic.forward("quantize_per_token", (x,), {"dtype": "float8_e4m3fn"}).written == ROWS * N + ROWS * 4


LISTS = b"""
namespace: other
ops:
  step:
    doc: Lists, one of them in place, and a number.
    types: {T: floating}
    inputs:
      params: T[*s, n][]!
      grads: T[*s, n][]
      rate: float32[]
      clip: float32[]? = None
    outputs:
      total: float32[]
    launch: {grid: 1, block: 32}
    devices: [cpu]
    parallel: len(params)
    differentiable: false
  row_sums:
    doc: A list for a list.
    types: {T: floating}
    inputs: {xs: "T[*s, n][]"}
    outputs: {sums: "acc(T)[*s][]"}
    devices: [cpu]
    parallel: len(xs)
    differentiable: false
"""


def test_lists_count_tensor_by_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Diagnostics()
    checked = check(load(LISTS, found), found)
    assert checked is not None, found
    monkeypatch.setattr(traffic, "library", lambda: checked.library)
    tensors = [
        torch.empty(3, 5, dtype=torch.bfloat16, device="meta"),
        torch.empty(8, dtype=torch.bfloat16, device="meta"),
    ]
    rate = torch.empty((), device="meta")
    both = 2 * (15 + 8)
    assert traffic.forward("step", (tensors, tensors, rate)) == traffic.Traffic(2 * both + 4, both + 4)
    assert traffic.forward("row_sums", (tensors,)) == traffic.Traffic(both, (3 + 1) * 4)


def test_the_ceiling_has_the_nearest_mix_of_reads_and_writes() -> None:
    assert traffic.Traffic(1000, 1000).ceiling == "copy"
    assert traffic.Traffic(1200, 1000).ceiling == "copy"
    assert traffic.Traffic(2000, 1000).ceiling == "triad"
    assert traffic.Traffic(3000, 2000).ceiling == "triad"
    assert traffic.Traffic(1000, 0).ceiling == "triad"


@pytest.mark.parametrize("operator", CASES)
def test_every_case_is_of_an_operator(operator: str) -> None:
    assert operator in traffic.operators()


@pytest.mark.parametrize("operator", CASES)
def test_shapes_have_names_and_sizes_of_their_own(operator: str) -> None:
    named = shapes_of(operator)
    assert 20 <= len(named) <= 26
    assert len({one.name for one in named}) == len(named) == len({one.shape for one in named})
    assert {one.group for one in named} == {"wide", "odd", "few", "decode"}
