"""Overlap of written arguments is found exactly when some element lies on another, however the views interleave."""

from __future__ import annotations

import random

import conformance
import pytest
import torch


def places(view: torch.Tensor) -> list[int]:
    """Where each element lies."""
    return [
        view.storage_offset() + i * view.stride(0) + j * view.stride(1)
        for i in range(view.shape[0])
        for j in range(view.shape[1])
    ]


def outcome(a: torch.Tensor, b: torch.Tensor) -> str:
    """What is wrong with exchanging them, "" when nothing is."""
    before, first, second = a.new_empty(0).set_(a.untyped_storage()).clone(), a.clone(), b.clone()
    try:
        conformance.exchange(a, b)
    except RuntimeError as error:
        assert torch.equal(before, a.new_empty(0).set_(a.untyped_storage()))
        return str(error).removeprefix("conformance::exchange: ").split(",")[0]
    assert torch.equal(a, second)
    assert torch.equal(b, first)
    return ""


def expected(a: torch.Tensor, b: torch.Tensor) -> str:
    own, other = places(a), places(b)
    if len(set(own)) < len(own):
        return "a: expected no overlap among its own elements"
    if len(set(other)) < len(other):
        return "b: expected no overlap among its own elements"
    return "b: expected no overlap with a" if set(own) & set(other) else ""


@pytest.mark.parametrize("seed", range(20))
def test_views_of_one_storage(seed: int) -> None:
    choose, found = random.Random(seed), set()
    for _ in range(300):
        m, n = choose.randint(1, 5), choose.randint(1, 6)
        views = []
        memory = torch.arange(200.0)
        for _ in range(2):
            strides = (choose.choice([1, 2, 3, 6, 7, 12, 0]), choose.choice([1, 2, 3, 5, 6, 0]))
            views.append(memory.as_strided((m, n), strides, choose.randint(0, 60)))
        wanted = expected(*views)
        assert outcome(*views) == wanted, [(view.shape, view.stride(), view.storage_offset()) for view in views]
        found.add(wanted)
    assert len(found) == 4


def test_thirds_of_wide_rows() -> None:
    packed = torch.randn(1000, 3 * 64, dtype=torch.float64)
    q, k, v = packed.chunk(3, 1)
    assert outcome(q, k) == outcome(k, v) == outcome(q, v) == ""
    assert outcome(packed[:, :65], packed[:, 64:129]) == "b: expected no overlap with a"


def test_interleaved_rows_and_columns() -> None:
    memory = torch.randn(512, 1024)
    assert outcome(memory[::2], memory[1::2]) == ""
    assert outcome(memory[:, ::2], memory[:, 1::2]) == ""
    assert outcome(memory[::2, ::2], memory[1::2, 1::2]) == ""
    assert outcome(memory[::2, ::2], memory[::2, 1::2]) == ""
    assert outcome(memory[:, 1:513], memory[:, :512]) == "b: expected no overlap with a"


def test_transposed_part_of_itself() -> None:
    memory = torch.randn(300, 300)
    assert outcome(memory[:100, :100], memory[:100, :100].t()) == "b: expected no overlap with a"
    assert outcome(memory[:100, 100:200], memory[200:300, 100:200].t()) == ""


@pytest.mark.parametrize("seed", range(3))
def test_recorded_calls_find_the_same(seed: int) -> None:
    """Where autograd records, the operator runs and its result is copied, in Python."""
    choose, found = random.Random(seed), set()
    for _ in range(150):
        memory, shape = torch.ones(60), (choose.randint(1, 3), choose.randint(1, 3))
        views = [
            (shape, (choose.randint(0, 6), choose.randint(0, 4)), choose.randint(0, 30))
            for _ in ("x", "out")
        ]  # fmt: skip
        texts = []
        for start in (memory, memory.clone().requires_grad_() * 1):
            x, out = (start.as_strided(*view) for view in views)
            try:
                conformance.tripled(x, out=out)
                texts.append("")
            except RuntimeError as error:
                texts.append(str(error))
        assert texts[0] == texts[1]
        found.add(texts[0].partition(", got")[0])
    assert len(found) == 3
