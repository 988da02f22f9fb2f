"""YAML to a tree: everything is text, everything has a position, and both parsers say the same."""

from __future__ import annotations

import pytest
import yaml

from codegen.errors import Diagnostics, Position
from codegen.load import MAX_BYTES, Mapping, Node, Scalar, Sequence, _syntax_error, load

PARSERS = [True, False] if yaml.__with_libyaml__ else [False]


@pytest.fixture(params=PARSERS, ids=lambda libyaml: "libyaml" if libyaml else "python")
def libyaml(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def tree(text: str | bytes, libyaml: bool = True) -> Node:
    diagnostics = Diagnostics()
    node = load(text if isinstance(text, bytes) else text.encode(), diagnostics, libyaml=libyaml)
    assert node is not None
    assert not diagnostics.count, diagnostics.sorted()
    return node


def problems(text: str | bytes, libyaml: bool = True) -> list[tuple[int, int, str]]:
    diagnostics = Diagnostics()
    load(text if isinstance(text, bytes) else text.encode(), diagnostics, libyaml=libyaml)
    return [(found.position.line, found.position.column, found.text) for found in diagnostics.sorted()]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a: b: c", "a value that holds `: ` is quoted"),
        ("a:\n  - b\n c: d", "is the indentation right?"),
        ("{a: b", "inside braces and brackets, values with commas or brackets are quoted"),
        ("[a", "inside braces and brackets, values with commas or brackets are quoted"),
        ("a: 'b", ""),
        ("a: `b`", ""),
    ],
)
def test_hints_about_what_is_no_yaml(text: str, hint: str, libyaml: bool) -> None:
    diagnostics = Diagnostics()
    assert load(text.encode(), diagnostics, libyaml=libyaml) is None
    assert [found.hint for found in diagnostics.sorted()] == [hint]


def test_a_parser_that_says_nothing() -> None:
    diagnostics = Diagnostics()
    _syntax_error(yaml.YAMLError(), diagnostics)
    assert diagnostics.report("ops.yaml", "a") == "ops.yaml:1:1: error: not valid YAML: cannot be read\n    a\n    ^\n"


def test_every_scalar_is_text(libyaml: bool) -> None:
    node = tree("[1e-6, no, on, 010, 1:30, null, ~, 0x10, 2001-01-01, .inf, true, 'q']", libyaml)
    assert isinstance(node, Sequence)
    texts = [item.text for item in node.items if isinstance(item, Scalar)]
    assert texts == ["1e-6", "no", "on", "010", "1:30", "null", "~", "0x10", "2001-01-01", ".inf", "true", "q"]


def test_positions(libyaml: bool) -> None:
    node = tree("a:\n  'é b': \"x y\"\n  c: [1, two words]\n", libyaml)
    assert isinstance(node, Mapping)
    inner = node.get("a")
    assert isinstance(inner, Mapping)
    key, value = inner.entries[0]
    assert key.position == Position(2, 3)
    assert isinstance(value, Scalar)
    assert value.position == Position(2, 10)
    assert value.at(2) == Position(2, 13)
    items = inner.get("c")
    assert isinstance(items, Sequence)
    assert items.items[1].position == Position(3, 10)
    assert isinstance(items.items[1], Scalar)
    assert items.items[1].at(4) == Position(3, 14)
    assert node.key("a") == Scalar(Position(1, 1), "a", False, True)
    assert node.get("b") is None


def test_what_is_not_exact_points_at_its_start(libyaml: bool) -> None:
    node = tree('- "a\\u00e9b"\n- two\n  lines\n- |\n  block\n- "its"\n', libyaml)
    assert isinstance(node, Sequence)
    scalars = [item for item in node.items if isinstance(item, Scalar)]
    assert [item.text for item in scalars] == ["aéb", "two lines", "block", "its"]
    assert all(item.at(2) == item.position for item in scalars[:3])


def test_line_ends_and_marks(libyaml: bool) -> None:
    node = tree("\ufeffa: b\r\nc: d\r\n", libyaml)
    assert isinstance(node, Mapping)
    assert [key.position for key, _ in node.entries] == [Position(1, 1), Position(2, 1)]
    assert load(b"", Diagnostics(), libyaml=libyaml) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: *x\n", (1, 4, "aliases are not used in a spec")),
        ("a: &x 1\n", (1, 4, "anchors are not used in a spec")),
        ("&x a: 1\n", (1, 1, "anchors are not used in a spec")),
        ("a: !!int 1\n", (1, 4, "tags are not used in a spec")),
        ("a: !T [1]\n", (1, 4, "tags are not used in a spec")),
        ("a: 1\nb: 2\na: 3\n", (3, 1, 'the key "a" is there twice')),
        ("'a': 1\n\"a\": 3\n", (2, 1, 'the key "a" is there twice')),
        ("[a]: 1\n", (1, 1, "a key is a single word")),
        ("a: 1\n---\nb: 1\n", (2, 1, "a second document")),
        ("%YAML 1.1\n---\na: 1\n", (1, 1, "directives are not used in a spec")),
        ("a:\tb\n", (1, 3, "a tab")),
        ("a: b\rc: d\n", (1, 5, "the character U+000D is not allowed in a spec")),
        ("a: b\x85c: d\n", (1, 5, "the character U+0085 is not allowed in a spec")),
        ('a: "\\x07"\n', (1, 4, "the character U+0007 is not allowed in a spec")),
        ('a: "\\t"\n', (1, 4, "the character U+0009 is not allowed in a spec")),
        ('a: "\\ud800"\n', (1, 4, "the character U+D800 is not allowed in a spec")),
        ('a: "\\U00110000"\n', (1, 5, "not valid YAML: there is no such character")),
        ('a: "\\U0010FFFD \\UFFFFFFFF"\n', (1, 16, "not valid YAML: there is no such character")),
        ("a: [1, 2\n", (2, 1, "not valid YAML: expected ',' or ']', but got '<stream end>'")),
        ("a: b: c\n", (1, 5, "not valid YAML: mapping values are not allowed here")),
        ("a: @b\n", (1, 4, "not valid YAML: found character '@' that cannot start any token")),
        ("a: '" + "x" * 20001 + "'\n", (1, 4, "a text of 20001 characters; at most 20000 are read")),
        ("- " * 40 + "1\n", (1, 21, "nested more than 10 deep")),
        ("{a: " * 2000, (1, 41, "nested more than 10 deep")),
    ],
)
def test_refused(text: str, found: tuple[int, int, str], libyaml: bool) -> None:
    assert found in problems(text, libyaml)


def test_not_a_text(libyaml: bool) -> None:
    assert problems(b"a: b\n\xc3\x28\n", libyaml) == [(2, 1, "byte 0xc3 is not UTF-8")]
    assert "utf-16".encode("utf-16")[:1] == b"\xff"
    assert problems("a: b\n".encode("utf-16"), libyaml)[0][:2] == (1, 1)
    assert problems(b"#" * (MAX_BYTES + 1), libyaml)[0][2].startswith("the file has 4194305 bytes")
    assert len(problems("\t" * 1000, libyaml)) == 20


def test_pyyaml_without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert isinstance(tree("a: 1"), Mapping)
