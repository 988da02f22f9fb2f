"""The grammar of types: everything on the language's page is read."""

from __future__ import annotations

import pytest

from codegen import keys
from codegen.contract import Default
from codegen.defaults import parse_default
from codegen.parse_type import ParsedScalar, ParsedTensor, Piece, TypeProblem, parse_type

WORDS = (*keys.words("inputs"), *keys.words("outputs"))


def tensor(text: str) -> ParsedTensor:
    parsed = parse_type(text, WORDS).type
    assert isinstance(parsed, ParsedTensor)
    return parsed


def scalar(text: str) -> ParsedScalar:
    parsed = parse_type(text, WORDS).type
    assert isinstance(parsed, ParsedScalar)
    return parsed


def test_tensors() -> None:
    parsed = tensor("T[*rows, n]")
    assert [(entry.text, entry.offset, entry.star, entry.name) for entry in parsed.entries] == [
        ("*rows", 2, True, "rows"),
        ("n", 9, False, "n"),
    ]
    assert tensor("T[]").entries == ()
    assert [entry.text for entry in tensor("float32[n, 2*k, min(a, b)]").entries] == ["n", "2*k", "min(a, b)"]
    assert tensor("acc(T)[n]").acc
    assert tensor("acc( T )[n]").dtype_at == 5


@pytest.mark.parametrize(
    ("text", "optional", "is_list", "element_optional", "written"),
    [
        ("T[n]", False, False, False, False),
        ("T[n]?", True, False, False, False),
        ("T[*s][]", False, True, False, False),
        ("T[n]?[]", False, True, True, False),
        ("T[n][]?", True, True, False, False),
        ("T[n]?[]?", True, True, True, False),
        ("T[*s]!", False, False, False, True),
        ("T[n]?!", True, False, False, True),
        ("T[*s][]!", False, True, False, True),
    ],
)
def test_marks(text: str, optional: bool, is_list: bool, element_optional: bool, written: bool) -> None:
    parsed = tensor(text)
    assert (parsed.optional_at is not None, parsed.list_at is not None) == (optional, is_list)
    assert (parsed.element_optional, parsed.written_at is not None) == (element_optional, written)


def test_scalars() -> None:
    for kind in ("float", "int", "size", "bool", "str", "dtype", "device"):
        assert scalar(kind).kind == kind
        assert scalar(f"{kind}?").optional_at is not None
    assert scalar("dtype(Q)").variable == Piece("Q", 6)
    assert [piece.text for piece in scalar("choice(none, tanh) = none").choices] == ["none", "tanh"]
    assert scalar("int[]").list_at is not None
    assert scalar("int[2]").length == 2
    assert scalar("size[]?").optional_at is not None


def test_words_conditions_and_defaults() -> None:
    parsed = parse_type("T[n] inner(2) no_grad", WORDS)
    assert [(word.name, word.argument) for word in parsed.words] == [("inner", "2"), ("no_grad", "")]
    assert parse_type("T[n] inner", WORDS).words[0].argument == ""
    assert parse_type("T[n] fill(0)", WORDS).words[0].argument == "0"
    assert parse_type("T[*rows] if return_lse", WORDS).condition == Piece("return_lse", 12)
    parsed = parse_type("T[n]?  =  None", WORDS)
    assert parsed.default == Piece("None", 10)
    assert parsed.text == "T[n]?"
    assert parse_type("float = 1e-6", WORDS).default == Piece("1e-6", 8)


def test_star_functions() -> None:
    entry = tensor("T[*broadcast(a, b), n]").entries[0]
    assert (entry.function, [part.text for part in entry.parts]) == ("broadcast", ["a", "b"])
    entry = tensor("T[*replace(s, dim, k + 1)]").entries[0]
    assert [(part.text, part.offset) for part in entry.parts] == [("s", 11), ("dim", 14), ("k + 1", 19)]
    assert tensor("T[*drop(s, dim)]").entries[0].function == "drop"


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("", 0), ("T", 0), ("T[n", 1), ("T[n)]", 3), ("T[n]x", 4), ("T[n][3]", 4), ("T[*a, *b]", 6),
        ("T[n] saved saved", 11),
        ("T[n] like", 5), ("T[n] fill(1, 2)", 5), ("choice(a, a)", 10), ("choice(a-b)", 7), ("dtype()", 0),
        ("int[n]", 4),
        ("int[0]", 4), ("T[n] = ", 5), ("T[n]!?", 5), ("T[*drop(s)]", 2), ("T[*union(a, b)]", 2), ("x" * 401, 0),
        ("float x", 6),
    ],
)  # fmt: skip
def test_problems(text: str, offset: int) -> None:
    with pytest.raises(TypeProblem) as found:
        parse_type(text, WORDS)
    assert found.value.offset == offset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("float = 1e-6", 1e-6), ("float = -1", -1.0), ("float = .5", 0.5), ("int = -3", -3), ("size = 0", 0),
        ("bool = True", True),
        ("bool = False", False), ('str = "a b"', "a b"), ("str = 'x'", "x"), ("str = ''", ""), ("dtype = float16",
        "float16"),
        ("device = cuda:1", "cuda:1"), ("choice(none, tanh) = tanh", "tanh"), ('choice(none, tanh) = "none"', "none"),
        ("int? = None", None), ("T[n]? = None", None), ("int[] = [1, 2]", (1, 2)), ("float[] = []", ()),
        ("bool[2] = [True, False]", (True, False)),
        ("int = 9223372036854775807", 2**63 - 1),
    ],
)  # fmt: skip
def test_defaults(text: str, value: object) -> None:
    parsed = parse_type(text, WORDS)
    assert parsed.default is not None
    found = parse_default(parsed.type, parsed.default)
    assert found == Default(value)  # type: ignore[arg-type]
    assert type(found.value) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "float = x", "float = inf", "float = 1e999", "float = True", "int = 1.0", "int = 010", "int = 1_000",
        "int = 9223372036854775808",
        "bool = 1", "bool = yes", "str = a", 'str = "\\n"', 'str = "a" "b"', "dtype = float33", "device = tpu",
        "choice(a, b) = c",
        "int = None", "T[n] = None", "T[n]? = 0", "int[] = 1", "int[2] = [1]", "int[] = [1, x]", "int[] = [[1]]",
        "float = (1)",
    ],
)  # fmt: skip
def test_wrong_defaults(text: str) -> None:
    parsed = parse_type(text, WORDS)
    assert parsed.default is not None
    with pytest.raises(TypeProblem):
        parse_default(parsed.type, parsed.default)
