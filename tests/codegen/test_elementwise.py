"""What lines of `elementwise:` become for one choice of dtypes: kinds, conversions, and values that are shared."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from codegen.check.elementwise import broadcasts
from codegen.commands.project import files_of
from codegen.contract import TensorType
from codegen.elementwise.build import build
from codegen.elementwise.kinds import Kind, KindProblem, Program, Value
from codegen.expr.parse import parse
from codegen.expr.tree import Expr, Name, NameKind, Type
from codegen.lower.elementwise.cpu import lane_kind
from codegen.lower.elementwise.host import alike
from codegen.lower.elementwise.print import Printer, Style, c_function
from codegen.model import Library, Operator
from codegen.scope import Scope

DTYPES = {"h": "bfloat16", "x": "float32", "d": "float64", "i": "int32", "b": "uint8", "m": "bool"}
DTYPES |= {"z": "complex64", "w": "complex128"}
CLAMPS = "saturate clamps to the range of integers, float8 and float16"
UNIFORMS = {"s": Kind.WEAK, "n": Kind.INT, "flag": Kind.BOOL}


def expression(text: str) -> Expr:
    kinds = {"int32": Type.INT, "uint8": Type.INT, "bool": Type.BOOL}
    names = {name: Name(name, NameKind.ELEMENT, kinds.get(dtype, Type.FLOAT)) for name, dtype in DTYPES.items()}
    names["s"] = Name("s", NameKind.SCALAR, Type.FLOAT)
    names["n"] = Name("n", NameKind.DIM, Type.INT)
    names["flag"] = Name("flag", NameKind.SCALAR, Type.BOOL)
    expr, problems = parse(text, Scope(names, variables=("T",), lines=True))
    assert expr is not None, problems
    return expr


def program(*lines: str, dtype: str = "float32") -> Program:
    return build(
        [(f"y{i}", dtype, expression(line)) for i, line in enumerate(lines)], DTYPES, UNIFORMS, {"T": "float16"}
    )


def result(text: str, dtype: str = "float32") -> Kind:
    one = program(text, dtype=dtype)
    return one.values[one.stores[0].value].kind


@pytest.mark.parametrize(
    ("text", "dtype", "kind"),
    [
        ("h * x", "float32", Kind.F32),
        ("h * d", "float32", Kind.F64),
        ("x * s", "float64", Kind.F32),  # a float argument takes the width of what it meets
        ("i * s", "float32", Kind.F32),  # and of the output where it meets no float
        ("i * s", "float64", Kind.F64),
        ("i / 2", "bfloat16", Kind.F32),
        ("exp(i)", "float64", Kind.F64),
        ("i + b", "int32", Kind.INT),
        ("m + m", "int32", Kind.INT),
        ("x if m else i", "float32", Kind.F32),
        ("i if m else 0.5", "float64", Kind.F64),
        ("1 / n", "float32", Kind.F32),
        ("x ** 2", "float32", Kind.F32),
        ("i ** 2", "int32", Kind.INT),
        ("m and x > 0", "bool", Kind.BOOL),
        ("m == (i > 0)", "bool", Kind.BOOL),
        ("True", "bool", Kind.BOOL),
        ("floor(x)", "int32", Kind.F32),
        ("round(i * 0.5)", "int32", Kind.F64),
        ("saturate(x)", "uint8", Kind.F32),
        ("saturate(i)", "uint8", Kind.INT),
        ("z * x + i * s", "complex64", Kind.C64),
        ("z * 2", "complex128", Kind.C128),  # stored as it is wanted
        ("z * d", "complex128", Kind.C128),
        ("d if m else z", "complex64", Kind.C64),  # computed in complex128
        ("1", "complex64", Kind.C64),
        ("abs(z)", "float32", Kind.F32),
        ("imag(w) + real(x)", "float32", Kind.F64),
        ("real(i) + imag(i)", "int32", Kind.INT),
        ("z == x or isnan(z)", "bool", Kind.BOOL),
    ],
)
def test_kinds(text: str, dtype: str, kind: Kind) -> None:
    assert result(text, dtype) is kind


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x * i", {Kind.F32}),  # converted as it is loaded
        ("x * (i + 1)", {Kind.F32, Kind.INT}),
        ("x * m", {Kind.F32}),
        ("x if m else 0", {Kind.F32, Kind.BOOL}),
        ("x if s > 0.5 else 0", {Kind.F32}),  # what is the same for every element does not count
        ("x * d", {Kind.F64}),
        ("real(z * d)", {Kind.F64, Kind.C64, Kind.C128}),
        ("conj(x) + imag(x)", {Kind.F32}),
    ],
)
def test_what_differs_from_element_to_element(text: str, kinds: set[Kind]) -> None:
    assert program(text).kinds() == kinds


@pytest.mark.parametrize(
    ("lines", "dtype", "kind"),
    [
        (["x * 2"], "float32", Kind.F32),
        (["x * d"], "float32", Kind.F64),
        (["x * (i + 1)"], "float32", None),
        (["m"], "bool", Kind.F32),
        (["s"], "float64", Kind.F64),  # what is the same for every element is stored in its own kind
        (["n"], "int64", None),
        (["16777217"], "float64", Kind.F64),
        (["16777217"], "int64", None),
        (["x", "16777217 + n"], "int64", None),
        (["z"], "complex64", None),
    ],
)
def test_what_is_computed_in_lanes(lines: list[str], dtype: str, kind: Kind | None) -> None:
    targets = [(f"y{i}", "float32" if text == "x" else dtype, expression(text)) for i, text in enumerate(lines)]
    assert lane_kind(build(targets, DTYPES, UNIFORMS, {"T": "float16"})) is kind


@pytest.mark.parametrize(
    ("own", "whole", "fits"),
    [
        ("n", "*p, n", True),
        ("1, n", "m, n", True),
        ("m, n", "*p, n", False),
        ("*p, n", "*broadcast(p, q), n", True),
        ("n, *p", "n, *broadcast(p, q)", False),  # with p = (), n would lie along the last dim of q
        ("1, *p", "n, *broadcast(p, q)", True),
        ("*p", "n, *broadcast(p, q)", True),
        ("m, *p", "m, *p", True),
        ("*p", "*broadcast(p, q), n", False),
    ],
)
def test_shapes_that_broadcast(operator: Callable[[str], Operator], own: str, whole: str, fits: bool) -> None:
    """`own` as that of an input that no line reads, so that no check is in the way."""
    op = operator(f"""
        inputs: {{x: "float32[{own}]", a: "float32[*p]", b: "float32[*q]", c: "float32[m, n]"}}
        outputs: {{y: "float32[{whole}]"}}
        elementwise: {{y: 1}}
    """)
    kind = op.argument("x").type
    assert isinstance(kind, TensorType)
    assert broadcasts(kind.shape, op.outputs[0].type.shape) is fits


def test_outputs_are_like_inputs_on_their_own_device(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        inputs: {h: "float32[*p] cpu", a: "float32[*p]", b: "float32[*q]"}
        outputs: {y: "float32[*broadcast(p, q)]"}
        elementwise: {y: a + b}
    """)
    assert alike(op, op.outputs[0]) == ("a", "b")


def wide(count: int, devices: str) -> str:
    """An operator of `count` inputs, all of them in its line."""
    names = [f"x{i}" for i in range(count)]
    inputs = ", ".join(f'{name}: "float32[n]"' for name in names)
    return f"""
        devices: {devices}
        inputs: {{{inputs}}}
        outputs: {{y: "float32[n]"}}
        elementwise: {{y: "min({", ".join(names)})"}}
    """


def test_operands_that_loops_cannot_take(wrong: Callable[[str], str], operator: Callable[[str], Operator]) -> None:
    operator(wide(52, "[cpu, cuda]"))
    assert "pointers, strides and scalars of 55 tensors, 4136 bytes, do not" in wrong(wide(54, "[cpu, cuda]"))
    operator(wide(63, "[cpu]"))
    assert "lines about 65 tensors; at most 64 are taken" in wrong(wide(64, "[cpu]"))


def test_gradients_that_loops_cannot_take(library: Callable[[str], Library]) -> None:
    """They are not derived, as where no gradient can be."""
    for count, derived in ((8, 2), (24, 1), (32, 0)):
        text = textwrap.indent(textwrap.dedent(wide(count, "[cpu]")), "    ")
        operators = library(f"namespace: demo\nops:\n  f:\n{text}").operators
        assert [op.backward is not None for op in operators] == [True] * derived + [False]


@pytest.mark.parametrize(
    ("text", "dtype", "problem"),
    [
        ("x + 1", "int32", "this is a float, and y0 is int32"),
        ("i / 2", "int32", "this is a float, and y0 is int32"),
        ("floor(x) / 2", "int32", "this is a float, and y0 is int32"),
        ("min(floor(x), s)", "int32", "this is a float, and y0 is int32"),
        ("x if m else floor(x)", "int32", "this is a float, and y0 is int32"),
        ("floor(x) if m else x", "int32", "this is a float, and y0 is int32"),
        ("i", "bool", "this is an int, and y0 is bool"),
        ("x", "bool", "this is a float, and y0 is bool"),
        ("d", "bool", "this is a float, and y0 is bool"),
        ("s", "bool", "this is a float, and y0 is bool"),
        ("saturate(x)", "float32", f"{CLAMPS}, and y0 is float32"),
        ("-saturate(x)", "int8", "saturate(...) stands outermost"),
        ("z", "float64", "this is a complex number, and y0 is float64"),
        ("z", "int64", "this is a complex number, and y0 is int64"),
        ("z", "bool", "this is a complex number, and y0 is bool"),
        ("x if z <= 1 else d", "float32", "complex numbers have no order, and this has `<=`"),
        ("saturate(z)", "int8", "saturate takes no complex numbers"),
        ("saturate(z)", "complex64", f"{CLAMPS}, and y0 is complex64"),
        *((f"{f}(z)", "complex64", f"{f} takes no complex numbers") for f in ("erf", "expm1", "log1p", "round")),
        *((f"{f}(x, z)", "complex64", f"{f} takes no complex numbers") for f in ("min", "max")),
    ],
)
def test_lines_that_mean_nothing(text: str, dtype: str, problem: str) -> None:
    with pytest.raises(KindProblem) as caught:
        program(text, dtype=dtype)
    assert caught.value.text == problem


@pytest.mark.parametrize(
    "text", ["floor(x)", "-trunc(x) + 2", "min(round(x), 3)", "ceil(x) if m else 0", "sign(x) * 5", "round(x) * i"]
)
def test_whole_numbers_can_be_stored_as_integers(text: str) -> None:
    assert program(text, dtype="int32").stores[0].whole


def test_equal_parts_are_computed_once() -> None:
    one = program("x * sigmoid(x)", "1 - sigmoid(x)", "sigmoid(x) if x > 0 else sigmoid(x)")
    assert [value.op for value in one.values].count("sigmoid") == 1
    assert [value.op for value in one.values].count("load") == 1


def test_zeros_keep_their_sign_and_kind() -> None:
    one = program("x + 0.0", "x + -0.0", "i + 0")
    constants = [repr(value.number) for value in one.values if value.op == "constant"]
    assert constants == ["0.0", "-0.0", "0.0"] or constants == ["0.0", "-0.0", "0"]


def test_long_lines_are_cut_in_comments(library: Callable[[str], Library]) -> None:
    line = f"min({', '.join(['x'] * 60)})"
    made = files_of(
        library(f"""namespace: demo
devices: [cpu]
ops:
  f:
    inputs: {{x: "float64[n]"}}
    outputs: {{y: "float64[n]"}}
    elementwise: {{y: "{line}"}}
""")
    )
    assert f"/* y: {line[:160]} ... */".encode() in made["c/f.cpu.c"]


def test_operators_without_dtype_variables(library: Callable[[str], Library]) -> None:
    """Their loops are compiled once, for a dtype that is there."""
    made = files_of(
        library("""namespace: demo
devices: [cpu]
ops:
  f:
    inputs: {x: "float64[n]"}
    outputs: {y: "float32[n]"}
    elementwise: {y: x + 1}
""")
    )
    assert b"\ntypedef CPU_SCALAR(float32) scalar_t;\ntypedef CPU_ACC(float32) acc_t;\n" in made["c/f.cpu.c"]


def test_small_powers_are_products() -> None:
    for text, ops in (
        ("x ** 3", {"load", "*"}),
        ("x ** 0.5", {"load", "sqrt"}),
        ("x ** -0.5", {"load", "rsqrt"}),
        ("x ** -2", {"load", "*", "constant", "/"}),
        ("x ** 0", {"constant"}),
        ("x ** 2.5", {"load", "constant", "pow"}),
        ("i ** 8", {"load", "*"}),
    ):
        one = program(text, dtype="float32" if "x" in text else "int32")
        assert {one.values[index].op for index in one.needed(one.stores[0])} == ops, text


def test_bools_are_compared_as_bools() -> None:
    for text, ops in (("(i > 0) != m", ["xor"]), ("(i > 0) == m", ["xor", "not"])):
        one = program(text, dtype="bool")
        values = [value for value in one.values if value.op in ("xor", "not")]
        assert [value.op for value in values] == ops
        assert {value.kind for value in values} == {Kind.BOOL}
        assert {one.values[operand].op for operand in values[0].operands} == {"load", ">"}


@pytest.mark.parametrize(("function", "answer"), [("isnan", False), ("isinf", False), ("isfinite", True)])
def test_integers_are_finite(function: str, answer: bool) -> None:
    one = program(f"{function}(i)", dtype="bool")
    assert one.values[one.stores[0].value].number is answer


def test_conditions_on_dtypes_are_decided() -> None:
    one = program("floor(x) if T == float32 else x * sizeof(T)")
    needed = [one.values[index] for index in sorted(one.needed(one.stores[0]))]
    assert [value.op for value in needed] == ["load", "constant", "*"]
    assert needed[1].number == 2.0


def test_conditions_that_have_no_value_are_left_to_the_lines() -> None:
    """Dividing a whole number by zero gives zero there."""
    one = program("x if 16 // (sizeof(T) - 2) == 0 else -x")
    assert [value.op for value in one.values][-1] == "select"


def test_where_and_if_are_one() -> None:
    assert program("where(m, x, 1)").values == program("x if m else 1").values
    assert program("clamp(x, 0, 1)").values == program("min(max(x, 0), 1)").values
    assert program("pow(x, s)").values == program("x ** s").values


def printed(text: str, dtype: str = "float32", lanes: Kind | None = None) -> list[str]:
    """The statements of one line."""
    return Printer(program(text, dtype=dtype), Style(c_function, lanes)).statements(None)


def test_membership_is_equality_with_one_of_them() -> None:
    assert " ".join(printed("i in [1, 2]", "bool")).count(" || ") == 1
    assert " ".join(printed("i in [1, 2]", "bool")).count(" == ") == 2
    assert "!" not in " ".join(printed("i in [1, 2]", "bool"))
    negated = " ".join(printed("i not in [1, 2]", "bool"))
    assert (negated.count(" || "), negated.count(" == "), negated.count("= !")) == (1, 2, 1)


def test_lanes_compute_the_choice_that_is_taken() -> None:
    """What one choice alone needs stands under it, choices under choices; what both need, or who else, does not."""
    lines = printed("(exp(x) + tanh(x)) if flag else (sin(x) if n > 1 else tanh(x)) * cos(x)", lanes=Kind.F32)
    under = {
        name: len(line) - len(line.lstrip())
        for line in lines
        for name in ("exp", "tanh", "sin", "cos")
        if f"cpu_lanes_{name}(" in line
    }
    assert under == {"exp": 4, "tanh": 0, "sin": 8, "cos": 4}
    assert [line.strip()[:4] for line in lines if "if" in line or "else" in line] == ["if (", "} el", "if (", "} el"]
    assert not any("if (" in line for line in printed("exp(x) if x > 1 else tanh(x)", lanes=Kind.F32))
    assert not any("if (" in line for line in printed("x if flag else 1", lanes=Kind.F32))


def test_conversions_are_printed_as_such() -> None:
    """A bool that differs from lane to lane is a mask; one element at a time it is a number in C."""
    assert any("cpu_of_mask(" in line for line in printed("x * (x > 1)", lanes=Kind.F32))
    assert not any("cpu_of_mask(" in line for line in printed("x * 2", lanes=Kind.F32))
    assert any("= (float)" in line for line in printed("x * (i + 1)"))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "INT64_C(0)"),
        (7, "INT64_C(7)"),
        (-7, "(-INT64_C(7))"),
        (2**63 - 1, f"INT64_C({2**63 - 1})"),
        (-(2**63) + 1, f"(-INT64_C({2**63 - 1}))"),
        (-(2**63), "INT64_MIN"),
    ],
)
def test_whole_numbers_are_literals(number: int, text: str) -> None:
    value = Value("constant", Kind.INT, number=number)
    assert Printer(Program((value,), ()), Style(c_function)).constant(value) == text


def test_no_gradient_is_derived_where_there_is_nothing_to_derive(library: Callable[[str], Library]) -> None:
    """Inputs without a gradient, outputs without one, and both with one."""
    spec = """\
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: floating, I: [int32, int64]}
    inputs: {x: "%s", i: "I[n]"}
    outputs: {y: "%s"}
    elementwise: {y: "%s"}
"""
    for types, derived in (
        (("T[n]", "T[n]", "x * i"), True),
        (("T[n]", "I[n]", "i + floor(x)"), False),
        (("I[n]", "T[n]", "i * x"), False),
        (("T[n] no_grad", "T[n]", "x * i"), False),
    ):
        found = library(spec % types).operators
        assert [op.name for op in found] == ["f", *(["f_backward", "f_backward_backward"] if derived else [])]


@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_what_saturate_keeps_finite(dtype: str) -> None:
    assert len(program("saturate(x)", dtype=dtype).values) > len(program("x", dtype=dtype).values)
