"""C shims: the C function of each kind of argument, and which operators have none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.lower.shims import MOST, ShimsView, shims_view
from codegen.model import Library

HEAD = """
namespace: demo
devices: [cpu]
ops:
  op:
    types: {T: [float32]}
    inputs:
      x: T[n]
"""
REST = """
    outputs: {y: "T[n]"}
    parallel: n
    differentiable: false
"""
Make = Callable[[str], Library]


def view(library: Make, *inputs: str, rest: str = REST) -> ShimsView:
    lines = "\n".join(f"      {line}" for line in inputs)
    return shims_view(library(f"{HEAD.rstrip()}\n{lines}\n{rest.strip(chr(10))}\n"))


@pytest.mark.parametrize(
    ("argument", "parameters", "push"),
    [
        ("a: T[n]", "AtenTensorHandle in_a", 'shim_tensor(&s, "a", in_a)'),
        (
            "a: T[n]?",
            "const AtenTensorHandle *in_a",
            '(in_a == NULL ? shim_none(&s) : shim_tensor(&s, "a", *in_a) && shim_box(&s))',
        ),
        ("a: T[n]!", "AtenTensorHandle in_a", 'shim_written(&s, "a", in_a)'),
        ("a: T[n][]", "const AtenTensorHandle *in_a, int64_t count_a", 'shim_tensors(&s, "a", in_a, count_a)'),
        (
            "a: T[n][]!",
            "const AtenTensorHandle *in_a, int64_t count_a",
            'shim_written_tensors(&s, "a", in_a, count_a)',
        ),
        (
            "a: T[n]?[]",
            "const AtenTensorHandle *const *in_a, int64_t count_a",
            'shim_some_tensors(&s, "a", in_a, count_a)',
        ),
        ("a: float", "double in_a", "shim_float(&s, in_a)"),
        ("a: size", "int64_t in_a", "shim_int(&s, in_a)"),
        ("a: bool?", "const int32_t *in_a", "(in_a == NULL ? shim_none(&s) : shim_bool(&s, *in_a) && shim_box(&s))"),
        ("a: int[2]", "const int64_t *in_a, int64_t count_a", "shim_ints(&s, in_a, count_a)"),
        (
            "a: float[]?",
            "const double *const *in_a, int64_t count_a",
            "(in_a == NULL ? shim_none(&s) : shim_floats(&s, *in_a, count_a) && shim_box(&s))",
        ),
        ("a: choice(sin, tan)", "const char *in_a", "shim_text(&s, in_a)"),
    ],
)
def test_arguments(library: Make, argument: str, parameters: str, push: str) -> None:
    found = view(library, argument)
    (shim,) = found.shims
    lines = f"AtenTensorHandle in_x, {parameters}, AtenTensorHandle *ret0"
    assert " ".join(shim.parameters) == f"{lines}) {{"
    assert shim.push == ('if (shim_tensor(&s, "x", in_x) &&', f"    {push}) {{")
    (overload,) = found.overloads
    assert lines in overload.row[5]
    assert overload.symbol == shim.symbol == "aoti_torch_demo_op"


@pytest.mark.parametrize("argument", ["a: str", "a: device?"])
def test_arguments_without_one(library: Make, argument: str) -> None:
    assert view(library, argument).shims == ()


def test_too_many_arguments(library: Make) -> None:
    """With x and the result there is room for so many."""
    many = [f"a{i}: float" for i in range(MOST - 2)]
    assert view(library, *many).shims == ()
    assert len(view(library, *many[1:]).shims) == 1


@pytest.mark.parametrize("outputs", ['{ys: "T[k][]"}', '{y: "T[n] if flag"}'])
def test_results_without_one(library: Make, outputs: str) -> None:
    rest = f"    outputs: {outputs}\n" + REST.split("\n", 2)[2]
    assert view(library, "xs: T[k][]", "flag: bool", rest=rest).shims == ()
