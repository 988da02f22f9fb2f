"""Breaks C where a line would get too long: at its outermost commas or operators first, at inner ones only where that
does not do. What follows stands below what it continues, as clang-format puts it. Literals stay whole, so that the text
of an error can be searched for.
"""

from __future__ import annotations

import re

COLUMNS = 120

# What binds least comes first.
_SEPARATORS = (", ", " ? ", " || ", " && ", " == ", " != ", " <= ", " >= ", " < ", " > ")
_OPENING, _CLOSING = "([{", ")]}"
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[][(){}]|, | (?:\?|:|&&|\|\||[=!<>]=|[<>]) ')


def fitted(start: str, text: str, end: str, indent: int = 4) -> list[str]:
    """`start`, `text` and `end` as the lines of a statement that stands `indent` columns in; only `text` is broken."""
    if indent + len(start) + len(text) + len(end) <= COLUMNS:
        return [start + text + end]
    lines = _behind(start, _lines(text, indent + len(start), len(end)))
    return [*lines[:-1], lines[-1] + end]


def _lines(text: str, column: int, room: int) -> list[str]:
    """`text` as lines whose first one starts at `column`; behind the last one `room` columns are kept free."""
    if column + len(text) + room <= COLUMNS:
        return [text]
    marks, (start, end) = _outermost(text)
    separator = next((separator for separator in _SEPARATORS if separator in marks), "")
    if separator == " ? ":
        return _conditional(text, marks, column, room)
    if separator:
        starts = [0, *(at + len(separator) for at in marks[separator])]
        ends = [*(at + len(separator.rstrip()) for at in marks[separator]), len(text)]
        return _filled([text[start:end] for start, end in zip(starts, ends, strict=True)], column, room)
    if start == end:
        return [text]
    inner = _behind(text[:start], _lines(text[start:end], column + start, room + len(text) - end))
    return [*inner[:-1], inner[-1] + text[end:]]


def _behind(start: str, lines: list[str]) -> list[str]:
    indent = " " * len(start)
    return [start + lines[0], *[indent + line for line in lines[1:]]]


def _conditional(text: str, marks: dict[str, list[int]], column: int, room: int) -> list[str]:
    """Each branch on a line of its own. The printer puts a conditional within another one into parentheses."""
    (question,), (colon,) = marks[" ? "], marks[" : "]
    inside = column + len("    ? ")
    return [
        *_lines(text[:question], column, 0),
        *_behind("    ? ", _lines(text[question + 3 : colon], inside, 0)),
        *_behind("    : ", _lines(text[colon + 3 :], inside, room)),
    ]


def _filled(pieces: list[str], column: int, room: int) -> list[str]:
    """As many pieces to a line as fit; one that takes several lines has them for itself."""
    lines: list[str] = []
    open_line = False
    for i, piece in enumerate(pieces):
        needed = room if i == len(pieces) - 1 else 0
        if open_line and column + len(lines[-1]) + 1 + len(piece) + needed <= COLUMNS:
            lines[-1] += " " + piece
            continue
        found = _lines(piece, column, needed)
        open_line = len(found) == 1
        lines += found
    return lines


def _outermost(text: str) -> tuple[dict[str, list[int]], tuple[int, int]]:
    """Where the separators stand that are in no brackets, and the inside of the longest pair of brackets."""
    marks: dict[str, list[int]] = {}
    longest, start, depth = (0, 0), 0, 0
    for match in _TOKENS.finditer(text):
        token = match[0]
        if token in _OPENING:
            depth += 1
            start = match.end() if depth == 1 else start
        elif token in _CLOSING:
            depth -= 1
            if depth == 0 and match.start() - start > longest[1] - longest[0]:
                longest = (start, match.start())
        elif depth == 0 and token[0] != '"':
            marks.setdefault(token, []).append(match.start())
    return marks, longest
