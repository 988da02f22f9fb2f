"""Rules on elements: how they are read, and what generated tests fill tensors with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.expr.text import print_text
from codegen.lower.sample import Sample
from codegen.lower.tests.refused import wrong_calls
from codegen.lower.tests.samples import base
from codegen.lower.tests.values import Elements, rounded
from codegen.lower.values import limits
from codegen.model import Operator
from codegen.rules import ElementsRule, OffsetsRule, SumRule


def _operator(operator: Callable[[str], Operator], inputs: str, rules: list[str]) -> Operator:
    listed = "\n".join(f'  - "{rule}"' for rule in rules)
    return operator(
        f"types: {{T: [float16, float32], B: [bool]}}\ninputs: {{x: 'float32[n]', {inputs}}}\n"
        f"outputs: {{y: 'float32[n]'}}\nvalues:\n{listed}\ndevices: [cpu]"
    )


def test_forms(operator: Callable[[str], Operator]) -> None:
    inputs = "a: 'int32[n]', b: 'int32[n, 4]', c: 'int32[*s, m]', d: 'int32[n, m, 2]'"
    rules = ["0 <= a < n", "b[:, 3] != 3", "sum(c[..., 1]) == n", "offsets(a, n + 1)", "sum(b) > 0"]
    rules.append("sum(d[:, :, 1]) < n")
    found = _operator(operator, inputs, rules).values
    assert [type(rule) for rule in found] == [ElementsRule, ElementsRule, SumRule, OffsetsRule, SumRule, SumRule]
    assert [rule.column for rule in found] == [None, 3, 1, None, None, 1]
    assert [rule.of for rule in found if isinstance(rule, SumRule)] == ["c[..., 1]", "b", "d[:, :, 1]"]
    assert [rule.text for rule in found] == rules


@pytest.mark.parametrize(
    ("argument", "rules", "expected"),
    [
        ("int32[n]", ["0 <= v < n"], Elements(0, 7)),
        ("int32[n]", ["v != 3"], Elements(-47, 54, (3,))),
        ("uint8[n]", ["v != 3"], Elements(0, 54, (3,))),
        ("uint8[n]", ["v < n"], Elements(0, 7)),
        ("uint8[n]", ["v > 250"], Elements(251, 256)),
        ("B[n]", ["v == 1"], Elements(1, 2)),
        ("B[n]", ["v != 1"], Elements(0, 2, (1,))),
        ("B[n]", ["v > 1"], None),
        ("int32[n]", ["v < 1.5", "v >= -0.5"], Elements(0, 2)),
        ("int32[n]", ["v == n"], Elements(7, 8)),
        ("int32[n]", ["0 <= v < n or v == -100 or v == 3 * n"], Elements(0, 7, also=(-100, 21))),
        ("uint8[n]", ["v < n or v == 300", "v > 2"], Elements(3, 7)),
        ("T[n]", ["0 < v < 8 or v == -1", "v != 3"], Elements(among=(1.0, 2.0, 4.0, 5.0, 6.0, 7.0), also=(-1,))),
        ("T[n]", ["v > 2"], Elements(among=(2.25, 2.5, 3.0, 4.0, 5.0, 10.0))),
        ("T[n]", ["v == 1"], Elements(among=(1.0,))),
        ("T[n]", ["v > 65504"], None),
        ("int32[n]", ["offsets(v, n)"], Elements(offsets=7)),
        ("int32[n]", ["offsets(v, -1)"], None),
        ("uint8[n]", ["offsets(v, 256)"], None),
        ("uint8[n]", ["sum(v) == n", "v < 2"], Elements(0, 2, total=7)),
        ("uint8[n]", ["sum(v) == n", "v < 1"], None),
        ("uint8[n]", ["sum(v) > 3 * n"], Elements(0, 256, total=22)),
        ("int32[n, 2]", ["v[:, 1] == 4"], Elements(columns=((1, Elements(4, 5)),))),
        ("int32[n, 2]", ["v >= 0", "v[:, 1] < 3"], Elements(0, 101, columns=((1, Elements(0, 3)),))),
    ],
)
def test_elements(
    operator: Callable[[str], Operator], argument: str, rules: list[str], expected: Elements | None
) -> None:
    op = _operator(operator, f"v: '{argument}'", rules)
    sample = Sample(op, {"n": 7}, {}, dict(op.dtype_choices[0]))
    assert sample.elements["v"] == expected
    assert sample.valid() == (expected is not None)


def test_what_is_listed_obeys() -> None:
    assert Elements(0, 9, (0,)).listed((2, 2)) == [1, 1, 1, 1]
    assert Elements(offsets=4).listed((3,)) == [0, 2, 4]
    assert Elements(1, 9, total=8).listed((3,)) == [3, 3, 2]
    assert Elements(columns=((1, Elements(5, 6)),)).listed((2, 2)) == [0, 5, 0, 5]


def test_wrong_elements(operator: Callable[[str], Operator]) -> None:
    op = _operator(operator, "v: 'uint8[n]', w: 'T[n]'", ["0 <= v < n or v == n", "w != 3", "w > 0"])
    found = wrong_calls(base(op))
    assert [wrong.text for wrong in found if wrong.elements] == [
        "v: expected 0 <= v < n or v == n with n = 7, got v[6] = 8",
        "w: expected w != 3, got w[6] = 3",
        "w: expected w != 3, got w[6] = nan",
        "w: expected w > 0, got w[6] = 0",
        "w: expected w > 0, got w[6] = nan",
    ]


def test_a_tensor_too_large_to_be_written_down(operator: Callable[[str], Operator]) -> None:
    small, large = (_operator(operator, f"v: 'int16[{n}]'", ["v >= 0"]) for n in (65536, 1234567890123))
    assert [any(wrong.elements for wrong in wrong_calls(base(op))) for op in (small, large)] == [True, False]


def test_lists_that_have_one_tensor(operator: Callable[[str], Operator]) -> None:
    """Where no right call has a second one, none is wrong."""
    op = operator(
        "types: {T: [float32, float16]}\ninputs: {xs: 'T[n][]!', ys: 'T[n][]'}\nchecks: [len(xs) == 1]\n"
        "devices: [cpu]\nparallel: 1\ndifferentiable: false"
    )
    texts = [wrong.text for wrong in wrong_calls(base(op))]
    assert not any("[1]" in text for text in texts)
    assert any(text.startswith("xs[0]: expected dtype") for text in texts)
    assert "ys: expected 1 tensors (as xs), got 2" in texts


def test_wrong_sizes_behind_one_that_follows_from_itself(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        inputs: {y: "float32[n]", x: "float32[2 * h, n]"}
        outputs: {z: "float32[n]"}
        dims: {h: "size(x, 0) // 2"}
        devices: [cpu]
    """)
    text = "x: expected shape [2 * h, n] with h = 1, n = 7 (from y), got [2, 8]"
    assert text in [wrong.text for wrong in wrong_calls(base(op))]


@pytest.mark.parametrize(
    ("number", "dtype", "expected"),
    [
        (0.1, "float64", 0.1),
        (1 + 2**-8, "bfloat16", 1.0),
        (1 + 2**-7, "bfloat16", 1 + 2**-7),
        (2**-25, "float16", 0.0),
        (2**-24, "float16", 2**-24),
        (65520, "float16", None),
        (449, "float8_e4m3fn", 448.0),
        (480, "float8_e4m3fn", None),
        (256, "uint8", None),
        (-1, "uint8", None),
        (1.5, "int32", None),
        (2, "bool", None),
    ],
)
def test_rounded(number: float, dtype: str, expected: float | None) -> None:
    assert rounded(number, dtype) == expected


def test_limits_from_both_sides(operator: Callable[[str], Operator]) -> None:
    """What an element must be, whichever side of the comparison it stands on."""
    pairs = {"<": "BELOW", "<=": "AT_MOST", ">": "ABOVE", ">=": "AT_LEAST", "==": "EQUAL_TO", "!=": "OTHER_THAN"}
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
    for sign, how in pairs.items():
        rules = _operator(operator, "v: 'int32[n]'", [f"v {sign} n", f"n {mirrored[sign]} v"]).values
        for rule in rules:
            assert isinstance(rule, ElementsRule)
            [(found, bound)] = limits(rule.condition)
            assert (found, print_text(bound)) == (how, "n")
    [chain] = _operator(operator, "v: 'int32[n]'", ["1 < v <= n"]).values
    assert isinstance(chain, ElementsRule)
    assert [(how, print_text(bound)) for how, bound in limits(chain.condition)] == [("ABOVE", "1"), ("AT_MOST", "n")]


@pytest.mark.parametrize(
    ("kind", "rule", "expected"),
    [
        ("float32[2]!", "", ["x: expected no overlap among its own elements, got strides (0,)"]),
        ("float32[3, 1]!", "", ["x: expected no overlap among its own elements, got strides (0, 0)"]),
        ("float32[1]!", "", []),  # one element lies on no other
        ("float32[2]! contiguous", "", []),  # that is said first
        ("int32[2]!", "x >= 0", []),  # its elements are what the rule wants
    ],
)
def test_elements_at_one_address(
    operator: Callable[[str], Operator], kind: str, rule: str, expected: list[str]
) -> None:
    op = operator(f"""
        inputs: {{x: "{kind}"}}
        values: [{rule}]
        devices: [cpu]
        differentiable: false
    """)
    found = [wrong.text for wrong in wrong_calls(base(op)) if "overlap" in wrong.text]
    assert found == expected


def test_what_has_no_columns(wrong: Callable[[str], str]) -> None:
    """The hint shows a column where there is one."""
    keys = """
        inputs: {x: "float32[n]", v: "%s"}
        outputs: {y: "float32[n]"}
        values: ["%s >= 0"]
        devices: [cpu]
    """
    for shape, column, hint in (
        ("int32[*s]", "v[..., 0]", "it has none"),
        ("int32[k]", "v[0]", "it has none"),
        ("int32[*s, k]", "v[:, 0]", "a column of v is written v[..., 0]"),
        ("int32[k, m]", "v[0]", "a column of v is written v[:, 0]"),
    ):
        text = wrong(keys % (shape, column))
        assert "this is not a column of v" in text
        assert f"hint: {hint}\n" in text
