"""The binding analysis: which rules a call obeys, and in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.assignments import BindDim, BindStar, Derive
from codegen.expr.text import print_text
from codegen.expr.tree import Name, NameKind, Type
from codegen.model import Dim, Operator, Place
from codegen.positions import DimCompare, Index, Span, StarCompare
from codegen.rules import (
    AccDtypeRule,
    CheckRule,
    ComputeStar,
    DeviceRule,
    DtypeRule,
    ElementsRule,
    Known,
    RankRule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    When,
)

FLOATING = ("float64", "float32", "float16", "bfloat16")
N = Name("n", NameKind.DIM, Type.INT)


def test_rms_norm_backward(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: floating}
        inputs:
          grad_y: T[*rows, n]
          x: T[*rows, n]
          weight: T[n]
          rstd: acc(T)[*rows]
          eps: float = 1e-6
        outputs: {grad_x: "T[*rows, n]", grad_weight: "T[n]"}
        checks: [eps >= 0]
        launch: {grid: rows, block: 32}
    """)
    rows = Span("grad_y", 0, 1)
    known = Known("rows", "grad_y", star=True), Known("n", "grad_y")
    assert op.rules == (
        DtypeRule("grad_y", "T", FLOATING),
        SameDtypeRule("x", "T", "grad_y"),
        SameDtypeRule("weight", "T", "grad_y"),
        AccDtypeRule("rstd", "T", "grad_y"),
        DeviceRule("x", "grad_y"),
        DeviceRule("weight", "grad_y"),
        DeviceRule("rstd", "grad_y"),
        RankRule("grad_y", 1, exact=False),
        BindStar("rows", rows),
        BindDim("n", "grad_y", Index(1, True)),
        RankRule("x", 1, exact=False),
        RankRule("weight", 1, exact=True),
        ShapeRule(
            "x",
            "[*rows, n]",
            (StarCompare("rows", Span("x", 0, 1)), DimCompare(Index(1, True), N)),
            known,
        ),
        ShapeRule("weight", "[n]", (DimCompare(Index(0, False), N),), known[1:]),
        ShapeRule("rstd", "[*rows]", (StarCompare("rows", Span("rstd", 0, 0)),), known[:1]),
        CheckRule(op.checks[0].condition, "eps >= 0", ""),
    )
    assert op.grad_mask
    assert op.dims == (
        Dim("rows", True, (Place("grad_y", rows),)),
        Dim("n", False, (Place("grad_y", Index(1, True)),)),
    )


def test_plain_names_bind_first(operator: Callable[[str], Operator]) -> None:
    """`b + 1` does not bind b, and an accumulation dtype waits for its variable."""
    op = operator("""
        types: {T: [float32, float16], I: [int32]}
        inputs:
          s: acc(T)[b + 1]
          x: T[b, k, b]
          i: I[size(x, 0), s2]
          s2: size
        dims: {c: b * 2}
        outputs: {y: "T[c, b - 1]"}
        values: [0 <= i < c]
        launch: {grid: b, block: 32}
    """)
    kinds = [type(rule) for rule in op.rules]
    assert kinds == [
        *(DtypeRule, DtypeRule, AccDtypeRule, DeviceRule, DeviceRule),
        *(RankRule, RankRule, BindDim, BindDim, RankRule),
        *(ShapeRule, ShapeRule, ShapeRule, Derive, SizeRule, SizeRule, ElementsRule),
    ]
    assert op.rules[2] == AccDtypeRule("s", "T", "x")
    shapes = [rule for rule in op.rules if isinstance(rule, ShapeRule)]
    assert [rule.shape for rule in shapes] == ["[b + 1]", "[b, k, b]", "[size(x, 0), s2]"]
    assert shapes[1].comparisons == (DimCompare(Index(2, False), Name("b", NameKind.DIM, Type.INT)),)
    assert shapes[2].known == (Known("s2", ""),)
    assert [print_text(rule.expr) for rule in op.rules if isinstance(rule, SizeRule)] == ["c", "b - 1"]


def test_dims_are_computed_where_they_are_needed(operator: Callable[[str], Operator]) -> None:
    """A check that keeps a divisor from being 0 comes before the quotient."""
    op = operator("""
        types: {T: [float32]}
        inputs: {x: "T[n]", w: "T[early]", step: int}
        dims: {early: n * 2, last: early + 1, wide: "round_up(n, step)", tiles: "ceil_div(wide, step)"}
        outputs: {y: "T[tiles]"}
        checks: [step > 0, tiles < 9, n > 1]
        parallel: n
        devices: [cpu]
    """)
    order = []
    for rule in op.rules:
        if isinstance(rule, Derive):
            order.append(rule.name)
        elif isinstance(rule, CheckRule):
            order.append(rule.text)
        elif isinstance(rule, ShapeRule):
            order.append(rule.argument)
    assert order == ["early", "w", "step > 0", "wide", "tiles", "tiles < 9", "n > 1", "last"]


def test_dims_are_computed_before_functions_of_stars(operator: Callable[[str], Operator]) -> None:
    """Also those that say which dim is dropped or replaced, and by what."""
    op = operator("""
        types: {T: [float32]}
        inputs: {x: "T[*s]", k: int, h: "T[*replace(s, last, part)]", d: "T[*drop(s, first)]"}
        dims: {last: dim(x) - 1, part: k // 2, first: last - last, later: part}
        outputs: {y: "T[*s]"}
        parallel: 1
        devices: [cpu]
    """)
    order = []
    for rule in op.rules:
        if isinstance(rule, Derive):
            order.append(rule.name)
        elif isinstance(rule, ComputeStar):
            order.append(rule.entry.text)
    assert order == ["last", "part", "*replace(s, last, part)", "first", "*drop(s, first)", "later"]


def test_a_star_used_as_a_dim_is_its_product(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: [float32]}
        inputs: {a: "T[rows]", x: "T[b, *rows, n]"}
        outputs: {y: "T[rows, n]"}
        launch: {grid: rows, block: 32}
    """)
    assert [dim.name for dim in op.dims] == ["b", "rows", "n"]
    (rule,) = [rule for rule in op.rules if isinstance(rule, ShapeRule)]
    assert rule.comparisons == (DimCompare(Index(0, False), Name("rows", NameKind.STAR, Type.INT)),)
    assert BindStar("rows", Span("x", 1, 1)) in op.rules
    assert BindDim("n", "x", Index(1, True)) in op.rules
    assert BindDim("b", "x", Index(0, False)) in op.rules


def test_what_no_input_binds_takes_its_first_dtype(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: floating, U: [int32, int64], V: [float16, float32]}
        inputs: {x: "T[n]", v: "acc(V)[n]"}
        outputs: {y: "U[n]"}
        launch: {grid: n, block: 32}
    """)
    assert [variable.dtypes for variable in op.types] == [FLOATING, ("int32",), ("float16",)]
    assert op.rules[1] == DtypeRule("v", "", ("float32",))
    assert len(op.dtype_choices) == 4


def test_sizes_that_cannot_be_negative_need_no_rule(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: [float32]}
        inputs: {x: "T[*s, n]", k: size}
        outputs: {y: "T[n * 2 + 1, s, min(n, 3), max(k, 0), n % 4, n // 2, numel(x), next_pow2(k), abs(k), k]"}
        launch: {grid: n, block: 32}
    """)
    assert [rule.text for rule in op.rules if isinstance(rule, SizeRule)] == ["k"]


def test_optionals_bind_last(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: floating, W: floating}
        inputs: {lo: "T[n]?", x: "T[*s]", hi: "T[n]?", w: "W[k]?", v: "W[k]?"}
        outputs: {y: "T[*s]"}
        launch: {grid: 1, block: 32}
    """)
    assert [dim for dim in op.dims if dim.name == "n"] == [
        Dim("n", False, (Place("lo", Index(0, False)), Place("hi", Index(0, False))), optional=True)
    ]
    assert op.rules[:6] == (
        DtypeRule("x", "T", FLOATING),
        When(("lo",), (), SameDtypeRule("lo", "T", "x")),
        When(("hi",), (), SameDtypeRule("hi", "T", "x")),
        When(("w",), (), DtypeRule("w", "W", FLOATING)),
        When(("v", "w"), (), SameDtypeRule("v", "W", "w")),
        When(("v",), ("w",), DtypeRule("v", "W", FLOATING)),
    )
    assert When(("lo",), (), BindDim("n", "lo", Index(0, False))) in op.rules
    assert When(("hi",), ("lo",), BindDim("n", "hi", Index(0, False))) in op.rules
    n = Name("n", NameKind.DIM, Type.INT)
    assert When(("hi",), (), ShapeRule("hi", "[n]", (DimCompare(Index(0, False), n),), (Known("n", "lo"),))) in op.rules


@pytest.mark.parametrize(
    ("check", "texts"),
    [
        ("k > 0", []),
        ("0 < k <= n", []),
        ("n >= k >= 0 and n > 1", []),
        ("k > -1", ["k"]),
        ("k < 8", ["k"]),
        ("0 <= n", ["k"]),
        ("0 != k", ["k"]),
    ],
)
def test_what_a_check_says_of_a_size_is_not_said_again(
    operator: Callable[[str], Operator], check: str, texts: list[str]
) -> None:
    op = operator(f"""
        inputs: {{x: "float32[n]", k: int}}
        outputs: {{y: "float32[k]"}}
        checks: ["{check}"]
        devices: [cpu]
    """)
    assert [rule.text for rule in op.rules if isinstance(rule, SizeRule)] == texts
