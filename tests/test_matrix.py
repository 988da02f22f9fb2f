"""The cover of a case matrix: any two values of two axes meet, by as few combinations as a greedy search finds."""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import pytest

from tests.harness.cover import Axes, Combination, Cover

SMALL: Axes = {"mode": ["eager", "traced"], "dtype": ["d", "f"], "size": [0, 1, 2]}
LARGE: Axes = {
    "mode": ["eager", "no_grad", "inference", "dynamic", "traced"],
    "dtype": ["d", "f", "h", "b"],
    "layout": list("ctespmo"),
    "size": list(range(12)),
    "absent": [(), ("w",), ("b",), ("w", "b")],
    "upstream": ["none", "dense", "sum", "cat"],
    "used": ["all", "y"],
}


def nothing(axis: str, value: Any, other_axis: str, other: Any) -> bool:
    return False


def recorded(axis: str, value: Any, other_axis: str, other: Any) -> bool:
    """As in the matrix: some modes record nothing, and without a gradient no output is left out of it."""
    match axis, other_axis:
        case "mode", "upstream":
            return value in ("no_grad", "inference") and other != "none"
        case "upstream", "used":
            return value == "none" and other != "all"
        case "layout", "size":
            return value != "c" and other == 11
    return False


def odd(axis: str, value: Any, other_axis: str, other: Any) -> bool:
    """Every second dtype goes with every second size, so that some pairs meet in no combination at all."""
    match axis, other_axis:
        case "dtype", "size":
            return (value in ("d", "h")) == bool(other % 2)
        case "size", "layout":
            return bool(other in ("t", "e")) == bool(value % 2)
    return False


def right(axes: Axes, excluded: Any) -> list[Combination]:
    """Every combination in which nothing is excluded, by brute force."""
    every = (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))
    return [
        one for one in every if not any(excluded(a, one[a], b, one[b]) or excluded(b, one[b], a, one[a])
                                        for a, b in combinations(axes, 2))
    ]  # fmt: skip


def pairs(found: list[Combination]) -> set[tuple[Any, ...]]:
    return {(a, one[a], b, one[b]) for one in found for a, b in combinations(one, 2)}


ALONE: Axes = {"size": [1, 2, 3]}
ONE_EACH: Axes = {"mode": ["eager"], "size": [1], "dtype": ["d"]}


@pytest.mark.parametrize(
    ("axes", "excluded"),
    [
        (SMALL, nothing),
        (LARGE, nothing),
        (LARGE, recorded),
        (LARGE, odd),
        (SMALL, odd),
        (ALONE, nothing),
        (ONE_EACH, odd),
    ],
    ids=["small", "large", "recorded", "odd", "odd small", "one axis", "one value each"],
)
def test_every_pair_meets(axes: Axes, excluded: Any) -> None:
    every = right(axes, excluded)
    found = list(Cover(axes, excluded).pairwise())
    assert pairs(found) == pairs(every)
    assert all(one in every for one in found)
    assert len({tuple(one.items()) for one in found}) == len(found)
    assert {(axis, one[axis]) for one in found for axis in axes} == {(a, one[a]) for one in every for a in axes}
    assert list(Cover(axes, excluded).pairwise()) == found, "not the same twice"


@pytest.mark.parametrize("excluded", [nothing, recorded, odd])
def test_product(excluded: Any) -> None:
    axes = LARGE if excluded is not nothing else SMALL
    assert list(Cover(axes, excluded).product()) == right(axes, excluded)


def test_few() -> None:
    """Two axes need their product; the rest fits into little more, and what costs most is in as few as can be."""
    found = list(Cover(LARGE, recorded).pairwise())
    widest = math.prod(sorted(map(len, LARGE.values()))[-2:])
    assert len(found) < 1.2 * widest
    for costly in ("traced", "dynamic"):
        assert sum(one["mode"] == costly for one in found) <= 1.2 * max(map(len, LARGE.values()))
