"""Whatever text a spec holds, a page shows those characters and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from codegen import markdown

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    "<script>alert(1)</script>",
    "![x](http://e.com/x.png) [a](b) <http://e.com>",
    "a | b || c",
    "``` code ```",
    "`a` ``b``",
    "*a* **b** _c_ __d__ ~~e~~ snake_case _x",
    "# heading",
    "- item",
    "+ item",
    "1. item",
    "23) item",
    "> quotation",
    "===",
    "---",
    "&amp; &lt; &#65;",
    "\\*a\\*",
    "    code",
    "\tcode",
    "a  \nb",
    "<!-- comment",
    "]]> --> */ \"\"\" '''",
    "[a]: http://e.com",
    "$x^2$ $$y$$",
    "a\\",
    "https://e.com www.e.com",
    "{{ x }} {% y %}",
    "\u202e reversed \x1b[31m",
    "Zeile\u00a0mit é und 中",
    "~~~ fence",
    "|---|---|",
    "!",
    "[^1]",
    "* * *",
    "+",
    "1.",
]


def shown(text: str) -> str:
    """What `text` looks like on a page."""
    line = "".join(character if character.isprintable() else " " for character in " ".join(text.split()))
    return " ".join(line.split())


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens if token.type == "inline" for child in token.children or []]


def content(tokens: list[Token]) -> str:
    return " ".join("".join(token.content for token in tokens).split())


@settings(max_examples=1500, deadline=None)
@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.text("`|*_<>[]()!#-+=~&\\:/.w 1a", max_size=30)))
def test_text_stays_text(text: str) -> None:
    tokens = PARSER.parse(f"before\n\n{markdown.text(text)}\n\nafter\n")
    kinds = [token.type for token in tokens]
    paragraph = ["paragraph_open", "inline", "paragraph_close"]
    assert kinds == paragraph * (3 if shown(text) else 2)
    found = inline(tokens)
    assert {token.type for token in found} <= {"text", "text_special"}
    assert content(found[1:-1]) == shown(text)


@settings(max_examples=1500, deadline=None)
@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40), st.text("`|*_<>[]()!#-+=~&\\:/.w 1a", max_size=30)))
def test_cells_stay_cells(text: str) -> None:
    """Two columns, whatever stands in them; as text and as code."""
    for cell in (markdown.text(text), markdown.code(text)):
        tokens = PARSER.parse(f"| a | b |\n|---|---|\n| {cell} | end |\n")
        assert [token.type for token in tokens].count("td_open") == 2, cell
        assert not {"html_block", "html_inline"} & {token.type for token in tokens}
        found = inline(tokens)
        assert {token.type for token in found} <= {"text", "text_special", "code_inline"}
        assert content(found[2:-1]) == shown(text) or "code_inline" in {token.type for token in found}
        if any(token.type == "code_inline" for token in found):
            assert content([token for token in found if token.type == "code_inline"]) == shown(text)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(HOSTILE), st.text("`~ \na", max_size=20)), max_size=5))
def test_blocks_stay_blocks(lines: list[str]) -> None:
    split = [line for text in lines for line in text.splitlines()]
    fence = markdown.fence(split)
    (token,) = PARSER.parse(f"{fence}\n" + "".join(f"{line}\n" for line in split) + f"{fence}\n")
    assert token.type == "fence"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * x, as in rms_norm.", "x \\* x, as in rms_norm."),
        ("_a_ b", "\\_a\\_ b"),
        ("1. one", "1\\. one"),
        ("- one", "\\- one"),
        ("see https://e.com", "see https\\://e.com"),
        ("a - b + 1.", "a - b + 1."),
        ("a\n\nb", "a b"),
    ],
)
def test_only_what_must_be_is_escaped(text: str, expected: str) -> None:
    assert markdown.text(text) == expected


def test_code() -> None:
    assert markdown.code("T[*rows, n]") == "`T[*rows, n]`"
    assert markdown.code("") == ""
    assert markdown.code("a`b|c") == "a\\`b\\|c"


def test_paragraphs() -> None:
    assert markdown.paragraphs("one\ntwo\n\n  \nthree\n") == ("one two", "three")
    assert markdown.paragraphs(" \n") == ()
