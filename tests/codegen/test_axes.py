"""The axes that a generated test states, and which samples cannot do without an optional argument."""

from __future__ import annotations

from collections.abc import Callable

from codegen.lower.tests.axes import axes, unfit
from codegen.lower.tests.samples import base, samples
from codegen.model import Library

SPEC = """
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: [float32, float64]}
    inputs: {x: "T[n]", w: "T[n]? = None", k: "int = 1"}
    outputs: {y: "T[n]", rest: "int64[n]", z: "T[n]"}
    checks: [0 < k <= n, k < 2 if not given(w) else True]
    samples: {n: [5], k: [1, 2, 3]}
    backward: f_backward
  f_backward:
    types: {T: [float32, float64]}
    inputs: {grad_y: "T[n]", grad_z: "T[n]", w: "T[n]?"}
    outputs: {grad_x: "T[n]", grad_w: "T[n]"}
    differentiable: false
  g:
    inputs: {n: size}
    keywords: {device: device}
    outputs: {y: "float32[n]"}
    checks: [n >= 0]
  h:
    types: {T: [float32]}
    inputs: {x: "T[n]", w: "T[n]? = None"}
    outputs: {y: "T[n]"}
    samples: some_calls
    differentiable: false
"""


def test_what_there_is_a_choice_on(library: Callable[[str], Library]) -> None:
    first, backward, made, _ = (base(op) for op in library(SPEC).operators)
    names = ["mode", "entry", "dtypes", "layout", "sample"]
    lines = list(axes(first, defaults=True))
    assert [line.split('"')[1] for line in lines] == [*names, "absent", "defaults", "upstream", "used"]
    assert lines[-1] == '"used": (matrix.ALL, "y", "z"),'
    assert [line.split('"')[1] for line in axes(backward, defaults=False)] == [*names, "absent"]
    assert '"layout": LAYOUTS[:1],' in axes(made, defaults=False)


def test_samples_that_cannot_do_without(library: Callable[[str], Library]) -> None:
    first, _, made, given = (base(op) for op in library(SPEC).operators)
    assert unfit(first, samples(first)) == ['UNFIT = {(1, ("w",)), (2, ("w",))}']
    assert unfit(made, samples(made)) == []
    every = "(i, absent) for i in range(1, len(SAMPLES)) for absent in OP.absences[1:]"
    assert unfit(given, samples(given)) == [f"UNFIT = {{{every}}}"]
