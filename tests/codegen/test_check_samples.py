"""An operator of which no tried call is right: `samples:` are asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.check.library import check
from codegen.check.samples import check_samples
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.model import Operator

SPEC = """\
namespace: demo
ops:
  f:
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    checks: [n % 12345 == 6]
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
        "hint: give some that are: samples: {n: [64]}, or name a function in tests/samples.py\n"
    )


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
