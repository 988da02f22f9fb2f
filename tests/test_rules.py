"""The helpers of fake kernels: exact 64-bit arithmetic, symbolic sizes, and how errors spell values."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from codegen.expr import value as expr_value
from codegen.expr.c import CNames, print_c
from codegen.expr.parse import parse
from codegen.expr.python import PythonNames, print_python
from codegen.expr.tree import Name, NameKind, Type
from codegen.messages import parts as messages_parts
from codegen.scope import Scope
from my_ops import _rules

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
integers = st.integers(SMALLEST, LARGEST) | st.integers(-9, 9)


def value_or_error(function: Callable[[], int]) -> int | None:
    """None for an OverflowError."""
    try:
        return function()
    except OverflowError:
        return None


def fitting(value: int) -> int | None:
    """The exact value, where 64 bits hold it."""
    return value if SMALLEST <= value <= LARGEST else None


@given(integers, integers)
def test_divisions(a: int, b: int) -> None:
    expected = [None] * 4
    if b:
        up = -(-a // b)
        expected = [fitting(a // b), a % b, fitting(up), fitting(up * b) if fitting(up) is not None else None]
    functions = (_rules.floordiv, _rules.mod, _rules.ceil_div, _rules.round_up)
    assert [value_or_error(lambda f=f: f(a, b)) for f in functions] == expected


@given(integers, st.integers(-3, 200) | integers)
def test_power(base: int, exponent: int) -> None:
    expected = None
    if exponent >= 0 and (abs(base) <= 1 or exponent <= 64):
        expected = fitting(base ** (exponent if abs(base) > 1 else min(exponent, 2 + exponent % 2)))
    assert value_or_error(lambda: _rules.power(base, exponent)) == expected


# What C computes where Python raises, or is exact.
reals = st.floats() | st.integers(-4, 4).map(float) | st.sampled_from([0.0, -0.0, 1e308, -1e308, 0.5, -0.5])


@given(reals | integers, reals | integers)
@example(0.0, -1.0)
@example(-0.0, -3)
@example(-1e308, 3)
@example(-8.0, 1 / 3)
@example(1, 0)
@example(-1, -0.0)
@example(0, 0)
@example(2**53 + 1, 3)
def test_floats_are_those_of_c(left: float, right: float) -> None:
    with np.errstate(all="ignore"):
        a, b = np.float64(left), np.float64(right)
        np.testing.assert_equal(_rules.divide(left, right), float(a / b))
        np.testing.assert_allclose(_rules.real_power(left, right), float(np.power(a, b)), rtol=1e-15)
    assert type(_rules.real(left)) is float


C_PROGRAM = """
#include <math.h>
#include <stdio.h>
#include "arith.h"
static void show(double a, double b, int64_t n)
{{
    bool overflow = false;
{shown}
    putchar(overflow ? '!' : '\\n');
}}
int main(void)
{{
{calls}
    return 0;
}}
"""


def test_floats_mean_the_same_everywhere(tmp_path: Path) -> None:
    """In C, in Python, and where the generator looks for calls that are right or wrong."""
    scope = Scope(
        {
            "a": Name("a", NameKind.SCALAR, Type.FLOAT),
            "b": Name("b", NameKind.SCALAR, Type.FLOAT),
            "n": Name("n", NameKind.SCALAR, Type.INT),
        }
    )
    exprs = []
    for text in (
        *("a / b", "a ** b", "n / b", "a / n", "n / n", "n ** a", "a ** n", "-a", "abs(a)", "a * b - n", "n / 3"),
        *("a if b < n else n", "min(a, b, n)", "max(n, a, b)", "1 if n <= a < b else 0", "1 if n in [a, b] else 0"),
        *("1 if a == n or not b != n else 0", "(n if a > b else b) / (b if n > 0 else n)"),
    ):
        expr, problems = parse(text, scope)
        assert expr is not None, problems
        exprs.append(expr)
    reals = (0.0, -0.0, 1.5, -2.0, -1 / 3, 2.0**53, 1e308, -1e308, math.inf, -math.inf, math.nan)
    calls = [(a, b, n) for a in reals for b in reals for n in (0, 3, -7, 2**53 + 1)]
    shown = "\n".join(f'    printf("%.17g ", (double)({print_c(expr, CNames())}));' for expr in exprs)
    c_calls = "\n".join(f"    show({_c(a)}, {_c(b)}, INT64_C({n}));" for a, b, n in calls)
    (tmp_path / "program.c").write_text(C_PROGRAM.format(shown=shown, calls=c_calls))
    runtime = Path(__file__).parents[1] / "csrc" / "runtime"
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", str(runtime), "program.c", "-lm"]
    subprocess.run([*command, "-o", "program"], check=True, cwd=tmp_path)
    lines = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True).stdout.splitlines()
    for (a, b, n), line in zip(calls, lines, strict=True):
        names: dict[str, float] = {"a": a, "b": b, "n": n}
        in_c = [float(number) for number in line.split()]
        in_python = [eval(print_python(expr, PythonNames(helper="r.")), {"r": _rules}, dict(names)) for expr in exprs]
        of_calls = [expr_value.value(expr, names.__getitem__, lambda _: 0) for expr in exprs]
        np.testing.assert_equal([float(number) for number in in_python], in_c, f"{names}")
        np.testing.assert_equal([float(number) for number in of_calls], in_c, f"{names}")


def _c(number: float) -> str:
    return "(double)NAN" if math.isnan(number) else str(number).replace("inf", "(double)INFINITY")


@given(integers)
def test_next_pow2(value: int) -> None:
    expected = next(2**k for k in range(65) if 2**k >= value)
    assert value_or_error(lambda: _rules.next_pow2(value)) == fitting(expected)


@given(st.lists(integers, min_size=1))
def test_min_max(values: list[int]) -> None:
    assert (_rules.min(*values), _rules.max(*values)) == (min(values), max(values))


def test_fit() -> None:
    assert (_rules.fit(LARGEST), _rules.fit(SMALLEST)) == (LARGEST, SMALLEST)
    for value in (LARGEST + 1, SMALLEST - 1):
        with pytest.raises(OverflowError):
            _rules.fit(value)


def test_errors_name_the_operator() -> None:
    check = _rules.Check("ns::op")
    check(True, lambda: "not looked at")
    for wrong in (
        lambda: check(1 > 2, lambda: "text"),
        lambda: check.sizes([2, 3], [2], lambda: "text"),
        lambda: check.sizes([2, 3], [2, 4], lambda: "text"),
        lambda: check.star([2**40, 2**40], lambda: "text"),
        lambda: check.computed(lambda: _rules.mod(1, 0), lambda: "text"),
        lambda: check.computed(lambda: _rules.item([1, 2], 2), lambda: "text"),
    ):
        with pytest.raises(RuntimeError, match=r"^ns::op: text$"):
            wrong()
    assert check.star([2**40, 0, 2**40], lambda: "text") == [2**40, 0, 2**40]
    assert check.computed(lambda: _rules.item([1, 2], -1), lambda: "text") == 2


def test_symbolic_sizes() -> None:
    """Symbols go through, and a check becomes a guard on them."""
    environment = ShapeEnv()
    mode = torch._subclasses.FakeTensorMode(shape_env=environment)
    a, b = mode.from_tensor(torch.empty(5, 7)).shape
    check = _rules.Check("ns::op")
    check.sizes([a], [a], lambda: "text")
    assert not environment.guards
    with pytest.raises(RuntimeError, match=r"^ns::op: a = s\d+$"):
        check(a > b, lambda: f"a = {a}")
    assert environment.guards
    assert list(check.star([a, b], lambda: "text")) == [a, b]
    assert (_rules.min(a, b), _rules.max(a, b), _rules.product([a, b])) == (5, 7, 35)
    assert (_rules.floordiv(b, a), _rules.mod(b, a), _rules.ceil_div(b, a), _rules.fit(a * b)) == (1, 2, 2, 35)
    assert (_rules.real(a), _rules.divide(b, a), _rules.real_power(a, 2.0)) == (5.0, 1.4, 25.0)
    assert all(isinstance(one, torch.SymFloat) for one in (_rules.real(a), _rules.divide(b, a)))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-6, "1e-06"), (-1.0, "-1"), (100.0, "100"), (0.1, "0.1"), (1 / 3, "0.3333333333333333"), (1e300, "1e+300"),
     (float("nan"), "nan"), (-float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "-inf"), (3, "3")],
)  # fmt: skip
def test_floats(value: float, text: str) -> None:
    assert _rules.float_text(value) == text


@given(st.floats(allow_nan=False))
def test_floats_read_back(value: float) -> None:
    assert float(_rules.float_text(value)) == value


def test_other_spelling() -> None:
    assert _rules.sizes_text(torch.empty(2, 3).shape) == "[2, 3]"
    assert _rules.sizes_text(()) == "[]"
    assert _rules.dtype_text(torch.bfloat16) == "bfloat16"
    assert _rules.acc(torch.float16) == torch.float32


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("tan", '"tan"'),
        ("", '""'),
        (None, "None"),
        ("a\nb\x7f", '"a?b?"'),
        ("é€" * 30, '"' + "é€" * 30 + '"'),
        ("x" * 61, '"' + "x" * 60 + '..."'),
    ],
)
def test_strings(value: str | None, text: str) -> None:
    """As the generator spells them for its tests; the C host function says the same in those."""
    assert _rules.quoted(value) == text
    assert value is None or messages_parts.quoted(value) == text


def test_strings_that_fit() -> None:
    assert _rules.fits("é" * 127, 255)
    assert not _rules.fits("é" * 128, 255)
    assert not _rules.fits("a\0b", 255)


def test_devices() -> None:
    cuda = torch.device("cuda:1")
    assert [_rules.means(value, cuda) for value in ("cuda", "cuda:1", "cuda:0", "cpu")] == [True, True, False, False]
    assert _rules.means(torch.device("cpu"), torch.device("cpu"))
