"""An operator of which no tried call is right: `samples:` are asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.check.library import check
from codegen.check.samples import check_samples
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.lower.tests.samples import base
from codegen.model import Operator

SPEC = """\
namespace: demo
ops:
  f:
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    checks: [n > 3, n % 12345 == 6 and n > 100]
    devices: [cpu]
"""


def _asked(spec: str) -> str:
    found = Diagnostics()
    checked = check(load(spec.encode(), found), found)
    assert checked is not None
    check_samples(checked, found)
    return found.report("ops.yaml", spec)


def test_asked_for() -> None:
    assert _asked(SPEC) == (
        "ops.yaml:3:3: error: f: none of the sizes and scalars that tests try is a right call\n    f:\n    ^\n"
        "hint: none passes n % 12345 == 6 and n > 100; give some that are right: samples: {n: [64]}, or samples: NAME, "
        "a function of tests/samples.py\n"
    )


@pytest.mark.parametrize(
    ("checks", "hint"),
    [
        ("len(xs) == 200", "none passes len(xs) == 200; give some that are right: samples: NAME, a function of tests/"),
        ("k > 2, m < k, k < m", "none passes k < m; give some that are right: samples: {k: [64]}, or samples: NAME, "),
    ],
)
def test_the_hint_says_what_can_be_stated(checks: str, hint: str) -> None:
    spec = SPEC.replace('{x: "T[n]"}', '{x: "T[n]", xs: "T[*s][]", k: int, m: int}', 1)
    spec = spec.replace("n > 3, n % 12345 == 6 and n > 100", checks)
    assert f"\nhint: {hint}" in _asked(spec)


@pytest.mark.parametrize(
    ("checks", "dims", "scalars", "length"),
    [
        ("len(xs) == 7", {}, {}, 7),
        ("'len(xs) in [11, 12]', n != 7", {"n": 1}, {}, 11),
        ("k == 3 * n, m > k, len(xs) == k - 18", {}, {"k": 21, "m": 22}, 3),
        ("n == 777, k > 5000, m == k + n", {"n": 777}, {"k": 5001, "m": 5778}, 2),
    ],
)
def test_calls_that_checks_ask_for_are_found(
    operator: Callable[[str], Operator], checks: str, dims: dict[str, int], scalars: dict[str, int], length: int
) -> None:
    """One name is changed for each check that it does not break; also lists of tensors get longer."""
    op = operator(f"""
        types: {{T: [float32]}}
        inputs: {{x: "T[n]", xs: "T[*s][]", k: int, m: int}}
        outputs: {{y: "T[n]"}}
        checks: [{checks}]
        devices: [cpu]
    """)
    found = base(op)
    assert found.valid()
    assert ({**found.dims, **dims}, {**found.scalars, **scalars}, length) == (found.dims, found.scalars, found.length)


def test_as_values(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        inputs: {x: "float32[n]", flag: bool, scale: float, k: int}
        outputs: {y: "float32[n]"}
        devices: [cpu]
        samples: {n: [0, 64], flag: [true, false, True, False], scale: [1, .5, -2e-3], k: [-1]}
    """)
    assert op.samples.sizes == (
        ("n", (0, 64)),
        ("flag", (True, False, True, False)),
        ("scale", (1, 0.5, -2e-3)),
        ("k", (-1,)),
    )


@pytest.mark.parametrize("samples", ["{n: [5, 12351]}", "some_calls"])
def test_given(samples: str) -> None:
    assert _asked(f"{SPEC}    samples: {samples}\n") == ""
