"""Calls that break a rule: the first of all variations that does is found, whatever way the rule depends on a name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.lower.tests.samples import base
from codegen.lower.tests.variations import failing, variations
from codegen.model import Operator
from codegen.rules import CheckRule


@pytest.mark.parametrize(
    ("entries", "checks"),
    [
        ("inputs: {x: 'T[n]', w: 'float32[m]'}", ["m != 64", "2 * m <= n"]),
        ("inputs: {x: 'T[*s, n]', p: 'int = 1'}", ["size(x, -1) - p < 1000", "numel(x) > 0"]),
        ("inputs: {x: 'T[n]', p: 'int? = None'}\ndims: {k: n * 2, q: k + 1}", ["given(p)", "q < 2000"]),
        ("inputs: {x: 'T[n]', a: 'int64[b + 1]'}\ndims: {b: 'size(a, 0) - 1'}", ["b < 1000", "numel(a) > 1"]),
        ("inputs: {x: 'T[n]', xs: 'T[n][]', ys: 'T[n][]'}", ["len(xs) < 5", "len(ys) != 2"]),
        ("inputs: {x: 'T[n]', v: 'size[]', w: 'T[*v]'}", ["len(v) < 3", "v != 2"]),
        ("inputs: {x: 'T[n]', w: 'float32[*s]', d: 'int = 0'}", ["dim(w) < 3 or d == 1", "n == 8 or dim(w) > 1"]),
    ],
)
def test_the_first_call_that_breaks_a_check_is_found(
    operator: Callable[[str], Operator], entries: str, checks: list[str]
) -> None:
    listed = "".join(f"\n  - {check}" for check in checks)
    op = operator(
        f"types: {{T: [float32, float64]}}\n{entries}\noutputs: {{y: 'T[n]'}}\nchecks:{listed}\n"
        "devices: [cpu]\ndifferentiable: false"
    )
    usual, conditions = base(op), [rule.condition for rule in op.rules if isinstance(rule, CheckRule)]
    assert len(conditions) == len(checks)
    for i, condition in enumerate(conditions):
        found = failing(usual, condition, conditions[:i])
        broken = (
            one
            for one in variations(usual)
            if one.value(condition) is False
            and all(one.value(before) is True for before in conditions[:i])
            and all(size >= 0 for shape in one.inputs() for size in shape)
        )
        wanted = next(broken)
        assert found is not None
        assert (found.dims, found.scalars, found.length) == (wanted.dims, wanted.scalars, wanted.length)


@pytest.mark.parametrize(
    ("entries", "check", "dims", "scalars", "length"),
    [
        ("inputs: {x: 'T[n]'}", "n < 5000", {"n": 5000}, {}, 2),
        ("inputs: {x: 'T[n]', w: 'T[*s]'}", "s != 4321", {"s": (4321,)}, {}, 2),
        ("inputs: {x: 'T[n]', xs: 'T[m][]'}", "len(xs) <= 40", {}, {}, 41),
        ("inputs: {x: 'T[n]', s: 'float = 1.0'}", "s > -4", {}, {"s": -4.0}, 2),
        ("inputs: {x: 'T[n]', k: 'int = 1'}", "k + 7 >= 0", {}, {"k": -8}, 2),
        ("inputs: {x: 'T[n]', ks: 'int[]'}", "len(ks) != 9", {}, {"ks": (2, 3, 1, -2, 4, 2, 3, 1, -2)}, 2),
    ],
)
def test_numbers_that_a_check_names(
    operator: Callable[[str], Operator],
    entries: str,
    check: str,
    dims: dict[str, object],
    scalars: dict[str, object],
    length: int,
) -> None:
    """Where none of the usual sizes and values breaks it."""
    op = operator(
        f"types: {{T: [float32, float64]}}\n{entries}\noutputs: {{y: 'T[n]'}}\nchecks: ['{check}']\n"
        "devices: [cpu]\ndifferentiable: false"
    )
    usual = base(op)
    found = failing(usual, op.checks[0].condition, [])
    assert found is not None
    assert dict(found.dims) == {**usual.dims, **dims}
    assert dict(found.scalars) == {**usual.scalars, **scalars}
    assert found.length == length
