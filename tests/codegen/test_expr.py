"""The expression language: what is read, what it folds to, and that its three printers mean the same."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.expr.c import CNames, can_overflow, print_c
from codegen.expr.fold import FoldError, constant, depends_on_dtypes, fold, real_power
from codegen.expr.parse import parse
from codegen.expr.python import PythonNames, print_python
from codegen.expr.text import print_text
from codegen.expr.tree import INT_MAX, INT_MIN, Constant, Expr, Name, NameKind, Query, Type, names, product, substitute
from codegen.frozen import replace
from codegen.scope import Scope, Subject

RUNTIME = Path(__file__).parents[2] / "csrc" / "runtime"
KINDS = {"n": Type.INT, "m": Type.INT, "rows": Type.INT, "eps": Type.FLOAT, "causal": Type.BOOL, "mode": Type.STR}
SCOPE = Scope(
    {name: Name(name, NameKind.DIM if kind is Type.INT else NameKind.SCALAR, kind) for name, kind in KINDS.items()},
    {"x": Subject(1, 1, True), "w": Subject(2), "o": Subject(1, may_be_absent=True)},
    ("T",),
    launch=True,
    pointers=True,
    choices={"mode": ("none", "tanh")},
)


def read(text: str, scope: Scope = SCOPE) -> Expr:
    expr, problems = parse(text, scope)
    assert expr is not None, problems
    return expr


def query(question: Query, operands: tuple[str, ...]) -> str:
    return f"{question.function}({', '.join((question.subject, *operands))})"


@pytest.mark.parametrize(
    ("text", "c", "python"),
    [
        ("n > 0", "n > 0", "n > 0"),
        ("eps >= 0", "eps >= 0.0", "eps >= 0"),
        ("0 <= n < m", "0 <= n && n < m", "0 <= n < m"),
        (
            "n % 8 == 0 and aligned(16)",
            "mod_i64(&overflow, n, 8) == 0 && aligned(, 16)",
            "n % 8 == 0 and aligned(, 16)",
        ),
        ("n // m", "floordiv_i64(&overflow, n, m)", "h.floordiv(n, m)"),
        ("n // 2", "floordiv_i64(&overflow, n, 2)", "n // 2"),
        ("n / 2 > eps", "(double)n / 2.0 > eps", "h.divide(n, 2) > eps"),
        ("eps / 2 > eps / m", "eps / 2.0 > eps / (double)m", "eps / 2 > h.divide(eps, m)"),
        ("eps ** n > 2 ** 0.5", "pow(eps, (double)n) > pow(2.0, 0.5)", "h.real_power(eps, n) > h.real_power(2, 0.5)"),
        ("0 < n <= eps", "0 < n && (long double)n <= eps", "0 < n <= eps"),
        ("eps < 9007199254740993", "eps < (long double)INT64_C(9007199254740993)", "eps < 9007199254740993"),
        ("n + m in [eps]", "(long double)add_i64(&overflow, n, m) == eps", "n + m in (eps,)"),
        ("(eps if causal else n) > 1", "(causal ? eps : (double)n) > 1.0", "(eps if causal else h.real(n)) > 1"),
        ("n - (m - 3)", "sub_i64(&overflow, n, sub_i64(&overflow, m, 3))", "n - (m - 3)"),
        ("-n ** 2", "neg_i64(&overflow, pow_i64(&overflow, n, 2))", "-h.power(n, 2)"),
        ("(-n) ** 2", "pow_i64(&overflow, neg_i64(&overflow, n), 2)", "h.power(-n, 2)"),
        ("-eps < 1", "-eps < 1.0", "-eps < 1"),
        ("-(-eps) < 1", "-(-eps) < 1.0", "--eps < 1"),
        ("n if causal else m", "causal ? n : m", "n if causal else m"),
        ("eps if causal else 1", "causal ? eps : 1.0", "eps if causal else 1"),
        ("max(n, m, 1)", "max_i64(max_i64(n, m), 1)", "h.max(n, m, 1)"),
        ("max(eps, 1)", "(1.0 > eps ? 1.0 : eps)", "h.max(eps, 1)"),
        ("abs(eps)", "fabs(eps)", "abs(eps)"),
        ("n in [1, 2]", "n == 1 || n == 2", "n in (1, 2)"),
        ("n not in [1]", "n != 1", "n not in (1,)"),
        ("not n in [1, 2]", "!(n == 1 || n == 2)", "not n in (1, 2)"),
        ("not causal", "!causal", "not causal"),
        ("T == float16", "T == aoti_torch_dtype_float16()", "T == torch.float16"),
        ("n == -9223372036854775807", "n == -INT64_C(9223372036854775807)", "n == -9223372036854775807"),
        ("(causal or n > 1) and m > 2", "(causal || n > 1) && m > 2", "(causal or n > 1) and m > 2"),
        ("causal or n > 1 and m > 2", "causal || (n > 1 && m > 2)", "causal or n > 1 and m > 2"),
        ("size(x, -1)", "size(x, -1)", "size(x, -1)"),
        ("size(w, -1)", "size(w, 1)", "size(w, 1)"),
        ("given(o)", "given(o)", "given(o)"),
        ('mode == "tanh"', "mode == f_mode_tanh", 'mode == "tanh"'),
        ('"none" != mode', "f_mode_none != mode", '"none" != mode'),
        ('mode in ["none", "tanh"]', "mode == f_mode_none || mode == f_mode_tanh", 'mode in ("none", "tanh")'),
        ("-9223372036854775808", "INT64_MIN", "-9223372036854775808"),
        ("n > -9223372036854775808", "n > INT64_MIN", "n > -9223372036854775808"),
        ("not given(o)", "!given(o)", "not given(o)"),
    ],
)
def test_printers(text: str, c: str, python: str) -> None:
    expr = read(text)
    assert print_c(expr, CNames(query=query, word=lambda name, word: f"f_{name}_{word}")) == c
    assert print_python(expr, PythonNames(query=query, helper="h.")) == python


@pytest.mark.parametrize(
    "text",
    [
        "causal and (n > 1 and m > 2)",
        "(causal or n > 1) or m > 2",
        "causal or n > 1 and m > 2",
        "not (causal or n > 1)",
        "not causal and not n > 1",
        "(n if causal else m) + 1 > 2",
        "n + (m - rows) - 1 > -(n - m)",
        "(n * m) ** -2 ** rows > 0",
        "n if causal or n > 1 else m if n > 2 else rows",
        "(n if causal else m) if causal else rows",
        "n + 1 in [1, 2] and m not in [3]",
        "0 < n + m <= rows * 2 != 3",
    ],
)
def test_parentheses_stand_where_they_must(text: str) -> None:
    assert print_text(read(text)) == text


def test_comparisons_may_be_too_deep() -> None:
    def problems(depth: int) -> list[str]:
        return [one.text for one in parse("(" * depth + "n>0" + ")==True" * depth, SCOPE)[1]]

    assert problems(30) == []
    assert problems(45) == ["this expression is nested too deeply"]


def test_names_are_mapped() -> None:
    expr = read("n * m + numel(x)")
    names_of_c = CNames({"n": "c->n", "m": "c->m"}, query)
    assert print_c(expr, names_of_c) == "add_i64(&overflow, mul_i64(&overflow, c->n, c->m), numel(x))"
    assert print_python(expr, PythonNames({"n": "_n"}, query)) == "_n * m + numel(x)"
    assert [name.name for name in names(expr)] == ["n", "m"]


def test_lists_are_asked() -> None:
    """A number that may leave 64 bits, and entries where the length is stated."""
    betas = Subject(is_tensor=False, is_list=True, entries=(Type.FLOAT, Type.FLOAT))
    scope = replace(SCOPE, subjects={"xs": Subject(is_list=True), "betas": betas})
    text = "numel(xs) > n and 0 <= betas[1] < 1"
    expr = read(text, scope)
    assert print_text(expr) == text
    assert (
        print_c(expr, CNames({}, query)) == "numel_of_list(xs) > n && 0.0 <= entry(betas, 1) && entry(betas, 1) < 1.0"
    )
    assert print_python(expr, PythonNames({}, query)) == "numel_of_list(xs) > n and 0 <= entry(betas, 1) < 1"
    assert can_overflow(expr)
    assert not can_overflow(read("betas[0] < 1", scope))
    for wrong in ("betas[2] > 0", "betas[True] > 0", "dim(xs) > 0", "xs[0] > 0"):
        assert parse(wrong, scope)[0] is None


def test_folds_for_a_choice_of_dtypes() -> None:
    half = {"T": "float16"}
    assert constant(read("16 // sizeof(T)"), half) == 8
    assert constant(read("T in [float16, bfloat16]"), half) is True
    assert constant(read("n > 4 and T == float32"), half) is False
    assert constant(read("n > 4 or T == float16"), half) is True
    assert print_text(fold(read("n > 4 and T == float16"), half)) == "n > 4"
    assert print_text(fold(read("n if T == float16 else m // 0"), half)) == "n"
    assert print_text(fold(read("1 < 2 < n"), half)) == "2 < n"
    assert constant(read("n > 4"), half) is None
    assert constant(read("2 if T == float16 else 1.5"), half) == 2.0
    assert constant(read("next_pow2(5) + ceil_div(7, 2) + round_up(9, 8) + min(3, 1) + abs(-4)"), {}) == 33
    assert depends_on_dtypes(read("sizeof(T)"))
    assert not depends_on_dtypes(read("n + sizeof(float32)"))


@pytest.mark.parametrize(
    "text",
    ["2 ** 63", "9223372036854775807 + 1", "1 // 0", "7 % 0", "2 ** -1", "1.0 / 0", "0 / 0", "2.0 ** 2000", "10 ** 99"],
)
def test_what_has_no_value(text: str) -> None:
    with pytest.raises(FoldError):
        fold(read(text), {})


@pytest.mark.parametrize(
    ("base", "exponent", "result"),
    [
        (4.0, 0.5, 2.0),
        (0.0, -1.0, math.inf),
        (0.0, -0.5, math.inf),
        (-0.0, -3.0, -math.inf),
        (-0.0, -2.0, math.inf),
        (2.0, 1e4, math.inf),
        (-2.0, 1e4, math.inf),
        (-2.0, 1e4 + 1, -math.inf),
        (-8.0, 0.5, math.nan),
    ],
)
def test_powers_are_those_of_c(base: float, exponent: float, result: float) -> None:
    assert real_power(base, exponent) == pytest.approx(result, rel=0, nan_ok=True)


def test_substitution() -> None:
    expr = substitute(read("ceil_div(n, m)"), {"m": read("4")})
    assert print_text(expr) == "ceil_div(n, 4)"
    assert print_text(product((read("n"), read("m + 1"), read("3")))) == "n * (m + 1) * 3"
    assert print_text(product(())) == "1"


def test_what_can_overflow() -> None:
    assert not can_overflow(read("0 <= n < m and eps > 1"))
    assert not can_overflow(read("min(n, m, 1)"))
    assert can_overflow(read("n + 1 > 0"))
    assert can_overflow(read("min(n + 1, m)"))


# ---------------------------------------------------------------- agreement


def integers(depth: int) -> st.SearchStrategy[str]:
    leaf = st.one_of(st.sampled_from(["n", "m", "rows"]), st.integers(0, 9).map(str), st.integers(0, INT_MAX).map(str))
    if depth == 0:
        return leaf
    inner = integers(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%", "**"]), inner).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(st.sampled_from(["min", "max", "ceil_div", "round_up"]), inner, inner).map(
            lambda p: f"{p[0]}({p[1]}, {p[2]})"
        ),
        st.tuples(st.sampled_from(["abs", "next_pow2"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
        inner.map(lambda text: f"(-{text})"),
        st.tuples(inner, conditions(depth - 1), inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
    )


def conditions(depth: int) -> st.SearchStrategy[str]:
    operator = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    simple = st.tuples(integers(0), operator, integers(0)).map(" ".join)
    if depth == 0:
        return simple
    inner, number = conditions(depth - 1), integers(depth - 1)
    return st.one_of(
        simple,
        st.tuples(number, operator, number, operator, number).map(" ".join),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda p: f"({' '.join(p)})"),
        inner.map(lambda text: f"(not {text})"),
        st.tuples(number, st.sampled_from(["in", "not in"]), number).map(lambda p: f"({p[0]} {p[1]} [{p[2]}, 3])"),
    )


VALUES = [
    {"n": 0, "m": 0, "rows": 1},
    {"n": 7, "m": 3, "rows": -2},
    {"n": -7, "m": 3, "rows": 5},
    {"n": INT_MAX, "m": -1, "rows": 2},
    {"n": INT_MIN + 1, "m": -1, "rows": 63},
    {"n": 4096, "m": 2**40, "rows": 2**30},
]


class OverflowInPython(Exception):
    """A helper left 64 bits or divided by zero."""


def value_of(text: str, values: Mapping[str, int]) -> int | bool | None:
    """What the tree means: folded with every name known; None for no value."""
    constants = {name: Constant(value, Type.INT) for name, value in values.items()}
    try:
        result = constant(substitute(read(text), constants), {})
    except FoldError:
        return None
    assert isinstance(result, int)
    return result


C_PROGRAM = """
#include <inttypes.h>
#include <stdio.h>
#include "arith.h"
int main(void)
{{
    bool overflow = false;
{lines}
    return 0;
}}
"""


def run_c(folder: Path, expressions: list[str], values: Mapping[str, int]) -> list[str]:
    names_of = CNames({name: f"INT64_C({value})" if value > INT_MIN else "INT64_MIN" for name, value in values.items()})
    lines = []
    for text in expressions:
        printed = print_c(read(text), names_of)
        lines.append(f"    {{ overflow = false; const int64_t r = {printed};")
        lines.append('      if (overflow) puts("None"); else printf("%" PRId64 "\\n", r); }')
    source = folder / "program.c"
    source.write_text(C_PROGRAM.format(lines="\n".join(lines)))
    command = ["gcc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-type-limits"]
    command += ["-Wno-tautological-compare", "-I", str(RUNTIME), str(source), "-o", str(folder / "program")]
    subprocess.run(command, check=True)
    return subprocess.run([folder / "program"], check=True, capture_output=True, text=True).stdout.split()


def test_c_means_what_the_tree_means(tmp_path: Path) -> None:
    expressions = [
        "n + m", "n - m", "n * m", "n // (m - 3)", "n % m", "n ** rows", "-n", "abs(n)", "min(n, m, rows)", "max(n, m)",
        "ceil_div(n, m)", "round_up(n, m)", "next_pow2(n)", "n // -2", "n % -4", "n if n > m else rows", "-n ** 2",
        "1 if n < m < rows else 0", "1 if n in [7, 3] and not m == rows or rows > 4 else 2", "(n - m) * (n + m)",
        "0 if m == 0 else n // m", "1 if m != 0 and n % m == 0 else 0", "n - (m - (rows - 1))", "n ** 0 + m ** 1",
    ]  # fmt: skip
    for values in VALUES:
        wanted = [str(value_of(text, values)) for text in expressions]
        assert run_c(tmp_path, expressions, values) == wanted, values


@settings(max_examples=300, deadline=None)
@given(integers(3), st.sampled_from(VALUES))
def test_python_and_text_mean_what_the_tree_means(text: str, values: Mapping[str, int]) -> None:
    expr, problems = parse(text, SCOPE)
    if expr is None:
        assert problems
        return
    again = read(print_text(expr))
    assert again == expr
    wanted = value_of(text, values)
    printed = print_python(expr, PythonNames(helper="helper_"))
    try:
        got = eval(printed, {f"helper_{name}": function for name, function in HELPERS.items()}, dict(values))
    except OverflowInPython:
        got = None
    # Python's own + - * do not stop at 64 bits: only then may the two differ.
    assert got == wanted or wanted is None


def _floordiv(a: int, b: int) -> int:
    if b == 0:
        raise OverflowInPython
    return a // b


def _power(a: int, b: int) -> int:
    if b < 0 or (abs(a) > 1 and b > 64):
        raise OverflowInPython
    return int(a**b) if abs(a) > 1 else int(a ** min(b, 2 + b % 2))


HELPERS = {
    "floordiv": _floordiv,
    "mod": lambda a, b: a - b * _floordiv(a, b),
    "power": _power,
    "min": min,
    "max": max,
    "ceil_div": lambda a, b: -_floordiv(-a, b),
    "round_up": lambda a, b: -_floordiv(-a, b) * b,
    "next_pow2": lambda a: 1 << max(a - 1, 0).bit_length(),
}


# ---------------------------------------------------------------- hostile text


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')", "(lambda: 1)()", "[n for n in [1]]", "n; m", "n\nm", "f'{n}'", "n := 3",
        "().__class__", "x.__class__", "n @ m", "n | m", "~n", "...", "None", "b'a'", "1j", "'a\"b' == mode", "'\\x00'",
        "await n", "n if m", "(" * 300, "-" * 399 + "n", "not " * 99 + "causal", "9" * 390, "n" * 401, "#",
        "n # c", "`n`",
        "size(x, 10 ** 10)", "size(x, True)", "aligned(3)", "min(*x)", "min(n, key=m)", "{1: 2}", "(n, m)",
        "print", "é",
    ],
)  # fmt: skip
def test_is_refused(text: str) -> None:
    expr, problems = parse(text, SCOPE)
    assert expr is None
    assert problems
    assert all(0 <= problem.offset <= len(text) for problem in problems)


@settings(max_examples=500, deadline=None)
@given(st.text(st.sampled_from(list("nmx().,+-*/% <>=!andorifTelse0123[]\"'sizeof_")), max_size=40))
def test_never_raises(text: str) -> None:
    expr, problems = parse(text, SCOPE)
    assert (expr is None) == bool(problems)
    if expr is not None:
        print_text(expr)
