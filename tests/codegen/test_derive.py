"""Derivatives of lines: against central differences, and as small as one would write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

from codegen.elementwise.derive import gradients
from codegen.expr.fold import compare
from codegen.expr.parse import parse
from codegen.expr.text import print_text
from codegen.expr.tree import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expr,
    Logic,
    Member,
    Name,
    NameKind,
    Query,
    Type,
    Unary,
    distinct,
)
from codegen.scope import Scope

NAMES = {name: Name(name, NameKind.ELEMENT, Type.FLOAT) for name in ("x", "y", "z", "g")}
G = NAMES["g"]
FUNCTIONS = {
    **{name: getattr(math, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "tanh", "erf")},
    **{name: getattr(math, name) for name in ("sin", "cos", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite")},
    "round": round,
    "abs": abs,
    "min": min,
    "max": max,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sign": lambda x: (x > 0) - (x < 0),
    "log": lambda x: math.log(x) if x else -math.inf,
}


def expression(text: str) -> Expr:
    expr, problems = parse(text, Scope(NAMES, lines=True))
    assert expr is not None, problems
    return expr


def value(expr: Expr, at: Mapping[str, float]) -> float:
    match expr:
        case Constant():
            assert not isinstance(expr.value, str)
            return expr.value
        case Name():
            return at[expr.name]
        case Unary():
            operand = value(expr.operand, at)
            return not operand if expr.operator == "not" else -operand
        case Binary():
            a, b = value(expr.left, at), value(expr.right, at)
            if expr.operator == "**":
                with np.errstate(divide="ignore"):
                    return float(np.power(a, b, dtype=np.float64))
            return a / b if expr.operator == "/" else {"+": a + b, "-": a - b, "*": a * b}[expr.operator]
        case Compare():
            parts = [value(part, at) for part in expr.operands]
            links = zip(expr.operators, parts, parts[1:], strict=False)
            return all(compare(operator, a, b) for operator, a, b in links)
        case Logic():
            return (all if expr.operator == "and" else any)(value(part, at) for part in expr.operands)
        case Conditional():
            return value(expr.then if value(expr.condition, at) else expr.otherwise, at)
        case Call():
            result: float = FUNCTIONS[expr.function](*(value(part, at) for part in expr.arguments))
            return result
        case Member() | Query():
            raise AssertionError(expr)


def derivatives(*lines: str, wanted: tuple[str, ...] = ("x", "y", "z")) -> dict[str, Expr]:
    return gradients([(expression(line), G) for line in lines], wanted)


@pytest.mark.parametrize(
    "line",
    [
        "x + y - 2 * z",
        "x * y / z",
        "-(x - y) * (x - y)",
        "exp(x) + exp2(y) + expm1(z)",
        "log(x + 3) * log2(y + 3) + log1p(z * z)",
        "sqrt(x * x + 1) * rsqrt(y * y + 1)",
        "sigmoid(x * y) + tanh(z) * erf(x)",
        "sin(x) * cos(y * z)",
        "x ** 3 + (y + 3) ** 0.5 + (z * z + 1) ** -2 + x ** 1 + y ** 0",
        "(x * x + 1) ** (y * z)",
        "2 ** x",
        "abs(x) * y",
        "min(x, y, z) + max(x * y, 0)",
        "clamp(x, -0.1, 0.3) * z",
        "x * y if x < y and z > 0 else z",
        "where(x > 0, x * x, -x)",
        "floor(x) * y + ceil(y) * z + trunc(z) * x + round(x) * sign(y)",
        "x if isnan(y) or isinf(z) or not isfinite(x) else y",
        "sigmoid(x) * sigmoid(x) * x * sigmoid(x)",
    ],
)
@pytest.mark.parametrize("at", [{"x": 0.37, "y": -1.21, "z": 0.83}, {"x": -0.58, "y": 0.44, "z": 1.9}])
def test_against_differences(line: str, at: dict[str, float]) -> None:
    expr, found = expression(line), derivatives(line)
    for name in ("x", "y", "z"):
        step = 1e-6
        after, before = ({**at, name: at[name] + sign * step} for sign in (1, -1))
        expected = 1.7 * (value(expr, after) - value(expr, before)) / (2 * step)
        got = value(found[name], {**at, "g": 1.7}) if name in found else 0.0
        assert got == pytest.approx(expected, rel=1e-6, abs=1e-8), f"{name}: {print_text(found[name])}"


@pytest.mark.parametrize(
    ("line", "by_x"),
    [
        ("x", "g"),
        ("x + 1", "g"),
        ("1 - x", "-g"),
        ("3 * x", "g * 3"),
        ("x * y", "g * y"),
        ("x / y", "g / y"),
        ("x * x", "g * x + g * x"),
        ("x ** 2", "g * (2.0 * x)"),
        ("exp(x)", "g * exp(x)"),
        ("tanh(x)", "g * (1.0 - tanh(x) * tanh(x))"),
        ("abs(x)", "g * sign(x)"),
        ("x if y > 0 else 0", "g if y > 0 else 0.0"),
        ("max(x, 0)", "0.0 if x < 0 else 0.5 * g if x == 0 else g"),
        ("x * 0 + floor(x)", "g * 0"),
    ],
)
def test_as_one_would_write_it(line: str, by_x: str) -> None:
    found = derivatives(line, wanted=("x",))
    assert (print_text(found["x"]) if found else "") == (by_x if by_x != "g * 0" else "")


@pytest.mark.parametrize(
    ("line", "function"),
    [
        ("min(x, y)", torch.minimum),
        ("max(x, y)", torch.maximum),
        ("x ** y", torch.pow),
        ("2 ** (x - y)", lambda x, y: 2 ** (x - y)),
        ("x ** 2 - y ** 0", lambda x, y: x**2 - y**0),
        ("abs(x) * y", lambda x, y: abs(x) * y),
    ],
)
@pytest.mark.parametrize("x", [0.0, 2.0, math.nan, math.inf])
@pytest.mark.parametrize("y", [0.0, 2.0, -1.0, 0.5, math.nan])
def test_kinks_and_numbers_that_are_none(
    line: str, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], x: float, y: float
) -> None:
    """The derivative is that of PyTorch where there is none, or more than one."""
    tensors = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in (x, y)]
    expected = torch.autograd.grad(1.7 * function(*tensors), tensors)
    found = derivatives(line, wanted=("x", "y"))
    for name, wanted in zip(("x", "y"), expected, strict=True):
        got = value(found[name], {"x": x, "y": y, "g": 1.7}) if name in found else 0.0
        assert got == pytest.approx(wanted.item(), rel=1e-12, nan_ok=True), f"{name}: {print_text(found[name])}"


@pytest.mark.parametrize(
    ("line", "by_x"),
    [
        ("sqrt(x) if x > 0 else 0", 0.0),
        ("where(x <= 0, y * x, y / x)", 1.7 * 3),
        ("(log(x) + log2(x) if x > 0 else 1) + (rsqrt(x) if x > 1 else x)", 1.7),
        ("y * ((sqrt(x) if x > 0 else x) if y > 5 else -x)", -1.7 * 3),
        ("-(y - (1 / x if x != 0 else 2) ** 3)", 0.0),
        ("(x ** 0.5 if x > 0 else 0) * y + (x ** 0.5 if x > 0 else 0)", 0.0),
        ("1 / (1 + (sqrt(x) if x > 0 else x))", -1.7),
        ("max(sqrt(x), x) if x > 0 else y", 0.0),
        ("(sqrt(x) if x > 0 else 1) if y > 0 else (1 if x > 0 else sqrt(x))", 0.0),
    ],
)
def test_what_is_not_taken_passes_nothing(line: str, by_x: str) -> None:
    """Even where its derivative is infinite, and 0 times that no number: x is 0 here, y is 3."""
    assert value(derivatives(line)["x"], {"x": 0.0, "y": 3.0, "g": 1.7}) == pytest.approx(by_x)


def test_flat_functions_pass_nothing_on() -> None:
    assert derivatives("floor(x) + sign(y) + round(z)") == {}


def test_only_what_is_wanted() -> None:
    assert set(derivatives("x * y * z", wanted=("y",))) == {"y"}


def test_lines_add_up() -> None:
    found = derivatives("x * y", "x + z")
    assert print_text(found["x"]) in ("g * y + g", "g + g * y")


def test_what_is_shared_stays_shared() -> None:
    """Twenty squares of squares have a derivative of some hundred parts; written out it would have millions."""
    expr: Expr = NAMES["x"]
    for _ in range(20):
        expr = Binary("*", expr, expr, Type.FLOAT)
    found = gradients([(expr, G)], ("x",))["x"]
    assert len(list(distinct(found))) < 200


def test_conditions_stay_shared() -> None:
    """So has a chain of conditions, each of which uses the one before three times."""
    expr: Expr = NAMES["x"]
    for i in range(20):
        below = Compare((expr, Constant(float(i), Type.FLOAT)), ("<",))
        expr = Conditional(below, Binary("*", expr, expr, Type.FLOAT), Call("sqrt", (expr,), Type.FLOAT), Type.FLOAT)
    found = gradients([(expr, G)], ("x",))["x"]
    assert len(list(distinct(found))) < 400
