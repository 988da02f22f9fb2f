"""Diagnostics: every problem of a spec, collected, sorted and printed with its line, a caret and a hint."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from codegen.synonyms import SYNONYMS

MAX_SHOWN = 200
_MAX_LINE = 160


@dataclass(frozen=True, order=True, slots=True)
class Position:
    """Line and column in the spec, both from 1."""

    line: int
    column: int


@dataclass(frozen=True, order=True, slots=True)
class Diagnostic:
    """One problem. Ordered by position, then text."""

    position: Position
    text: str
    hint: str = ""
    severity: str = "error"


class Diagnostics:
    """What was found in one run. Steps add to it and go on, so that one run reports everything."""

    def __init__(self) -> None:
        self._found: dict[tuple[Position, str], Diagnostic] = {}

    def error(self, position: Position, text: str, hint: str = "") -> None:
        """Adds an error; the same text at the same place is kept once."""
        self._found.setdefault((position, text), Diagnostic(position, text, hint))

    def warning(self, position: Position, text: str, hint: str = "") -> None:
        """Adds a warning."""
        self._found.setdefault((position, text), Diagnostic(position, text, hint, "warning"))

    def merge(self, other: Diagnostics) -> None:
        """Takes over what `other` found."""
        for key, found in other._found.items():
            self._found.setdefault(key, found)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(found.severity == "error" for found in self._found.values())

    @property
    def errors(self) -> int:
        """How many errors there are so far."""
        return sum(found.severity == "error" for found in self._found.values())

    @property
    def count(self) -> int:
        """How many errors and warnings there are so far."""
        return len(self._found)

    def sorted(self) -> list[Diagnostic]:
        """Everything, in order of position."""
        return sorted(self._found.values())

    def report(self, path: str, source: str) -> str:
        """The text for the terminal; `path` as the reader would write it, `source` the spec's text."""
        found = self.sorted()
        # Lines end where YAML ends them; str.splitlines would also split at form feeds and the like.
        lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        blocks = [_block(path, lines, diagnostic) for diagnostic in found[:MAX_SHOWN]]
        if len(found) > MAX_SHOWN:
            blocks.append(f"{path}: {len(found) - MAX_SHOWN} more problems are not shown\n")
        return "".join(blocks)


def _block(path: str, lines: list[str], diagnostic: Diagnostic) -> str:
    line, column = diagnostic.position.line, diagnostic.position.column
    block = f"{path}:{line}:{column}: {diagnostic.severity}: {diagnostic.text}\n"
    if 1 <= line <= len(lines):
        shown, caret = _window(lines[line - 1], column - 1)
        if shown.strip():
            block += f"    {shown}\n    {' ' * caret}^\n"
    if diagnostic.hint:
        block += f"hint: {diagnostic.hint}\n"
    return block


def _window(line: str, column: int) -> tuple[str, int]:
    """The line as it can be shown, and where the caret stands: indentation dropped, control characters made visible,
    long lines cut.
    """
    start = len(line) - len(line.lstrip(" "))
    start = min(start, column)
    if column - start > _MAX_LINE * 3 // 4:
        start = column - _MAX_LINE // 2
    shown = line[start : start + _MAX_LINE].rstrip()
    visible = "".join(character if character.isprintable() else "?" for character in shown)
    return visible, max(column - start, 0)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that `word` was probably meant to be, or ""."""
    listed, plain = list(known), word.strip().lower().removeprefix("torch.")
    for other in (plain, SYNONYMS.get(plain, "")):
        if other in listed:
            return other
    close = get_close_matches(word, listed, n=1, cutoff=0.6)
    return close[0] if close else ""


def shown(text: str) -> str:
    """A text of the spec as a message can quote it: on one line, not too long, and with names for what nobody sees."""
    line = " ".join(word for word in re.split("[ \n]", text) if word)
    line = "".join(letter if letter.isprintable() else f"<U+{ord(letter):04X}>" for letter in line)
    return line if len(line) <= 60 else line[:57] + "..."


def one_of(words: Iterable[str]) -> str:
    """`a, b or c`."""
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}" if listed else ""
