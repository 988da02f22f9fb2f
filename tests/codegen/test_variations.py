"""Calls that break a rule: the first of all variations that does is found, whatever way the rule depends on a name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from codegen.lower.tests import search
from codegen.lower.tests.refused import wrong_calls
from codegen.lower.tests.samples import base
from codegen.lower.tests.search import Calls, changed
from codegen.lower.tests.variations import changes, failing
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
    usual = base(op)
    calls, conditions = Calls(usual), [rule.condition for rule in op.rules if isinstance(rule, CheckRule)]
    single = changes(op, {})
    assert len(conditions) == len(checks)
    for i, condition in enumerate(conditions):
        found = failing(calls, condition, conditions[:i])
        broken = (
            one
            for one in (changed(usual, made) for made in (*zip(single), *product(single, single)))
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
    found = failing(Calls(usual), op.checks[0].condition, [])
    assert found is not None
    assert dict(found.dims) == {**usual.dims, **dims}
    assert dict(found.scalars) == {**usual.scalars, **scalars}
    assert found.length == length


CHECKS = {
    "one before the other": lambda i, count: f"n{i} < n{i + 1}",
    "one after the other": lambda i, count: f"n{i + 1} < n{i}",
    "never broken": lambda i, count: f"n{i} + n{i + 1} >= 0",
    "in each other's way": lambda i, count: f"n{i} + 2 * n{7 * i % count} <= 3 * n{(i + 1) % count} + 400",
}


@pytest.mark.parametrize("check", CHECKS)
def test_work_grows_with_checks_and_not_with_their_square(
    operator: Callable[[str], Operator], monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """Checks that share names are asked about few calls each, however many names there are."""
    made = []
    monkeypatch.setattr(search, "changed", lambda sample, changes: made.append(changes) or changed(sample, changes))
    asked = []
    for count in (15, 30):
        inputs = ", ".join(f"x{i}: 'float32[n{i}]'" for i in range(count))
        checks = [CHECKS[check](i, count) for i in range(count - 1)]
        op = operator(f"inputs: {{{inputs}}}\noutputs: {{y: 'float32[n0]'}}\nchecks: {checks}\ndevices: [cpu]")
        made.clear()
        usual = base(op)
        wrong_calls(usual)
        asked.append(len(made))
    print(asked)
    assert 0 < asked[1] < 2.5 * asked[0]
