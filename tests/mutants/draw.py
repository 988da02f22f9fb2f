"""Which changes are made: drawn from all of codegen/, every node that can be changed alike.

Each node has a number that depends on the seed, its module and its statement alone, and those of the least numbers are
taken. So a change of one module leaves the mutants of the others as they are, and a survivor can be looked at again.
"""

from __future__ import annotations

import ast
import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.operators import Site, changed, sites

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).resolve().parent / "equivalent.txt"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    path: str  # codegen/load.py
    line: int
    function: int  # the first line of the outermost function that it is in; 0 where importing runs it
    above: str  # the line above what is changed
    before: str  # what is changed, on one line
    after: str
    source: bytes

    @property
    def key(self) -> str:
        """What tells a mutant of a module, by any Python: they do not print quotes alike."""
        return key(self.path, self.above, self.before, self.after)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  {self.above}\n- {self.before}\n+ {self.after}\n"


@dataclass(frozen=True)
class Equivalent:
    """A change that no test can miss, and why."""

    path: str
    above: str
    before: str
    after: str
    reason: str

    @property
    def key(self) -> str:
        """That of the mutant."""
        return key(self.path, self.above, self.before, self.after)


def key(*lines: str) -> str:
    """A mutant as a text without quotes."""
    return re.sub(r"""['"\\]""", "", "\n".join(lines))


def draw(count: int, seed: int) -> list[Mutant]:
    """So many mutants, in the order of their modules and lines."""
    drawn = heapq.nsmallest(count, _numbered(seed), key=lambda one: one[0])
    mutants = [_mutant(path, source, site, number) for number, path, source, site in drawn]
    return sorted(mutants, key=lambda one: (one.path, one.line))


def every(path: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    source = (ROOT / path).read_bytes()
    for site in sites(ast.parse(source)):
        for i in range(len(site.changes)):
            yield _mutant(path, source, site, i)


def equivalents() -> list[Equivalent]:
    """What equivalent.txt lists, in blocks: the module, the line above, the change in two lines, and the reason."""
    text = re.sub(r"^#.*\n", "", EQUIVALENT.read_text(), flags=re.M)
    blocks = [block.splitlines() for block in text.strip().split("\n\n") if block]
    return [
        Equivalent(path, above.strip(), before.removeprefix("- "), after.removeprefix("+ "), " ".join(reason))
        for path, above, before, after, *reason in blocks
    ]


def _numbered(seed: int) -> Iterator[tuple[int, str, bytes, Site]]:
    for file in sorted((ROOT / "codegen").rglob("*.py")):
        path, source, seen = file.relative_to(ROOT).as_posix(), file.read_bytes(), Counter[str]()
        lines = source.decode().splitlines()
        for site in sites(ast.parse(source)):
            names = ".".join(getattr(node, "name", "") for node in site.scope)
            statement = f"{path}:{names}:{lines[site.statement.lineno - 1].strip()}"
            seen[statement] += 1
            digest = hashlib.sha256(f"{seed}:{statement}:{seen[statement]}".encode()).digest()
            yield int.from_bytes(digest[:8], "big"), path, source, site


def _mutant(path: str, source: bytes, site: Site, number: int) -> Mutant:
    new = changed(source, site, site.changes[number % len(site.changes)])
    first, last = site.anchor.lineno, site.anchor.end_lineno
    old_lines, new_lines = source.decode().splitlines(), new.decode().splitlines()
    end = last + len(new_lines) - len(old_lines)
    outermost = next((node for node in site.scope if isinstance(node, FUNCTIONS)), None)
    function = 0
    if outermost is not None:
        function = min([outermost.lineno, *(decorator.lineno for decorator in outermost.decorator_list)])
    above = old_lines[first - 2].strip() if first > 1 else ""
    before, after = _joined(old_lines[first - 1 : last]), _joined(new_lines[first - 1 : end])
    return Mutant(path, first, function, above, before, after, new)


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)
