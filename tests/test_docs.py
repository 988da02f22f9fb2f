"""There is a page for each operator, and the program on it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import my_ops

PAGES = sorted(path for path in (Path(__file__).parents[1] / "docs" / "ops").glob("*.md") if path.name != "README.md")


def program(page: Path) -> str:
    (found,) = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_program(page: Path) -> None:
    exec(compile(program(page), page.name, "exec"), {})


def test_there_is_one_for_each_operator() -> None:
    modules = Path(my_ops.__file__).parent / "ops"
    assert [page.stem for page in PAGES] == sorted(path.stem for path in modules.glob("[!_]*.py"))
