"""Adds an operator to the text of a spec, without touching the rest of it."""

from __future__ import annotations

from codegen.load import Mapping, Node


class CannotEdit(Exception):
    """Why the spec has no place for another operator."""


def add_operator(source: str, tree: Node, entry: str) -> str:
    """`source` with `entry`, whose first line is `name:` and whose lines are indented by steps of two, as the last
    operator.
    """
    operators, key = (tree.get("ops"), tree.key("ops")) if isinstance(tree, Mapping) else (None, None)
    if not isinstance(tree, Mapping) or not isinstance(operators, Mapping) or key is None:
        raise CannotEdit("it has no `ops:`")
    if tree.flow or operators.flow:
        raise CannotEdit("`ops:` is written in braces")
    newline = "\r\n" if "\r\n" in source else "\n"
    lines = source.split(newline)
    later = [place.position.line for place, _ in tree.entries if place.position.line > key.position.line]
    end = _last(lines, key.position.line, min(later, default=len(lines) + 1) - 1)
    indent = " " * (operators.entries[0][0].position.column - 1)
    added = [indent + line if line else "" for line in entry.rstrip("\n").split("\n")]
    return newline.join([*lines[:end], "", *added, *(lines[end:] or [""])])


def _last(lines: list[str], first: int, last: int) -> int:
    """The number of the last line of a section that ends before line `last`: blank lines and comments at the margin
    belong to what follows.
    """
    while last > first and (not lines[last - 1].strip() or lines[last - 1].startswith(("#", "..."))):
        last -= 1
    return last
