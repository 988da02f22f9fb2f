"""Conditions imply that something optional is there exactly when they do."""

from __future__ import annotations

import pytest

from codegen.expr.parse import parse
from codegen.expr.tree import Name, NameKind, Type
from codegen.scope import Scope, Subject

OPTIONAL = Subject(front=1, is_tensor=True, may_be_absent=True)
SCOPE = Scope(
    names={name: Name(name, NameKind.DIM, Type.INT) for name in ("m", "n")}
    | {"flag": Name("flag", NameKind.SCALAR, Type.BOOL)},
    subjects={"a": OPTIONAL, "b": OPTIONAL, "x": Subject(front=1)},
    holders={"n": ("a", "b")},
)


@pytest.mark.parametrize(
    "text",
    [
        "n > 0 if given(a) else True",
        "not given(b) or n > 0",
        "given(a) and n > 0",
        "(given(a) or given(b)) and n > m",
        "not (given(a) or given(b)) or n > 0",
        "m > 0 if not given(a) else n > 0",
        "flag and given(a) and n > 0",
        "(given(a) if flag else given(b)) and n > 0",
        "given(a) and numel(a) > 0",
        "not given(a) or size(a, 0) == m",
        "(given(a) or flag) and (given(b) or not flag) and True or numel(x) > 0",
    ],
)
def test_right(text: str) -> None:
    expr, problems = parse(text, SCOPE)
    assert not problems
    assert expr is not None


@pytest.mark.parametrize(
    ("text", "name", "offset"),
    [
        ("n", "n", 0),
        ("n > 0", "n", 0),
        ("given(a) or n > 0", "", -1),  # where a is absent, b may be too
        ("(given(a) or flag) and n > 0", "n", 23),
        ("n > 0 if not given(a) else True", "n", 0),
        ("given(b) and numel(a) > 0", "a", 19),
        ("not given(a) and n > 0", "n", 17),
        ("(given(a) if flag else True) and n > 0", "n", 33),
        ("(True if flag else given(a)) and n > 0", "n", 33),
    ],
)
def test_wrong(text: str, name: str, offset: int) -> None:
    _, problems = parse(text, SCOPE)
    assert len(problems) == 1
    assert problems[0].text == f'"{name or "n"}" may be absent here'
    assert problems[0].offset == (offset if offset >= 0 else text.index("n >"))
