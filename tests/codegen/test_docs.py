"""Pages of operators: one for each, whole, and hostile texts stay texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from codegen.commands.project import files_of
from codegen.lower import DOCS
from codegen.model import Library
from tests.codegen.test_markdown import HOSTILE, shown

ROOT = Path(__file__).parents[2]
PARSER = MarkdownIt("commonmark").enable("table")


def pages(library: Library) -> dict[str, str]:
    files = {path: data for path, data in files_of(library).items() if path.startswith(DOCS)}
    return {path.removeprefix(DOCS): data.decode() for path, data in files.items()}


def test_links_lead_somewhere() -> None:
    """Those of all pages, generated or not, to files and to headings of pages."""
    folders = [ROOT.glob("*.md"), *((ROOT / name).rglob("*.md") for name in ("docs", "tests", "benchmarks"))]
    links = [(page, target) for pages in folders for page in pages for target in links_of(page)]
    lost = []
    for page, target in links:
        path, _, heading = target.partition("#")
        found = page.parent / path if path else page
        if not found.exists() or (heading and heading not in headings(found)):
            lost.append((page.name, target))
    assert lost == []
    assert len(links) > 50


def links_of(page: Path) -> list[str]:
    """What a page links to, but for other sites."""
    parts = [child for token in PARSER.parse(page.read_text()) for child in token.children or []]
    targets = [str(part.attrs["href"]) for part in parts if part.type == "link_open"]
    return [target for target in targets if not target.startswith(("http://", "https://"))]


def headings(page: Path) -> set[str]:
    """As GitHub names them in links."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_pages_are_current(library: Callable[[str], Library]) -> None:
    text = (ROOT / "ops.yaml").read_text()
    for name, page in pages(library(text)).items():
        assert page == (ROOT / "docs" / "ops" / name).read_text()


def hostile_spec(text: str) -> str:
    quoted = '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'
    return f"""
namespace: demo
devices: [cpu]
ops:
  f:
    doc: {quoted}
    inputs: {{x: {{type: "float32[n]", doc: {quoted}}}}}
    outputs: {{y: {{type: "float32[n]", doc: {quoted}}}}}
    checks: [{{that: n > 0, message: {quoted}}}]
"""


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.isprintable()])
def test_hostile_texts(library: Callable[[str], Library], text: str) -> None:
    found = pages(library(hostile_spec(text)))
    plain = pages(library(hostile_spec("word")))

    def structure(page: str) -> list[str]:
        return [token.type for token in PARSER.parse(page)]

    for name in ("f.md", "README.md"):
        assert structure(found[name]) == structure(plain[name]), found[name]
        kinds = {child.type for token in PARSER.parse(found[name]) for child in token.children or []}
        assert kinds <= {"text", "text_special", "code_inline", "link_open", "link_close", "softbreak"}
    cells = [
        "".join(child.content for child in token.children or [])
        for token in PARSER.parse(found["f.md"])
        if token.type == "inline"
    ]
    assert [" ".join(cell.split()) for cell in cells].count(shown(text)) == 3
