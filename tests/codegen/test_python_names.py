"""Texts of errors in generated Python: literals that are too long for a line are cut, and mean the same."""

from __future__ import annotations

import pytest

from codegen.lower.python.names import problem
from codegen.wrap import COLUMNS


@pytest.mark.parametrize("words", [8, 16, 17, 18, 40])
@pytest.mark.parametrize("word", ["plain ", "{{braces}} ", "{a} ", "{b[1, 2]} ", 'a \\"quote\\" '])
def test_a_long_literal_is_cut_into_lines_that_mean_the_same(words: int, word: str) -> None:
    start = 'f"{a} ' if "{" in word else '"'
    literal = f'{start}{word * words}end"'
    lines = problem(literal)
    names = {"a": 3, "b": {(1, 2): "here"}}
    assert eval("\n".join(lines), names)() == eval(literal, names)
    assert (len(lines) > 1) == (len(literal) + 17 > COLUMNS)
    assert all(len(line) + 8 <= COLUMNS for line in lines)
