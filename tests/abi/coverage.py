"""Branches of the generated host C that no call has taken, by gcov; what may stay untaken stands in a list."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from tests.abi.project import HERE, Project

ALLOWED = HERE / "untaken.txt"


@dataclass(frozen=True)
class Untaken:
    """A line of which some branch was never taken."""

    file: str
    line: int
    code: str
    branches: str


@dataclass(frozen=True)
class Allowed:
    """An entry of untaken.txt: a pattern of file names, a regular expression for the code, and why."""

    files: str
    code: str
    reason: str

    def covers(self, one: Untaken) -> bool:
        """Whether it is about this line."""
        return fnmatch(one.file, self.files) and re.search(self.code, one.code) is not None


def allowed() -> list[Allowed]:
    """`file-pattern: code: reason` lines; code may hold `: `, the others not."""
    found = []
    for line in ALLOWED.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            files, rest = line.split(": ", 1)
            code, reason = rest.rsplit(": ", 1)
            found.append(Allowed(files, code, reason))
    return found


def measure(project: Project) -> tuple[int, int, list[Untaken]]:
    """After a run: how many branches there are, how many were taken, and where some were not."""
    total = taken = 0
    missing: list[Untaken] = []
    for name in project.hosts:
        if name.endswith(".launch.c"):  # written by hand
            continue
        source = project.source / name
        lines = source.read_text().splitlines()
        for number, counts in _branches(project, source):
            total += len(counts)
            taken += sum(count > 0 for count in counts)
            if 0 in counts:
                text = " ".join(str(min(count, 1)) for count in counts)
                missing.append(Untaken(name, number, statement(lines, number), text))
    return total, taken, missing


def statement(lines: list[str], number: int) -> str:
    """The line, and those that continue it: up to the one that ends a statement or opens a block."""
    first = last = number - 1
    while first > 0 and not re.search(r"[;{}:]$|\*/$|^$", lines[first - 1]):
        first -= 1
    while last < len(lines) - 1 and not re.search(r"[;{}]$", lines[last]):
        last += 1
    return " ".join(line.strip() for line in lines[first : last + 1])


def _branches(project: Project, source: Path) -> Iterator[tuple[int, list[int]]]:
    data = project.folder / "o" / f"c_{source.stem}.gcda"
    done = subprocess.run(
        ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(data)],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    for file in json.loads(done.stdout)["files"]:
        if Path(file["file"]).name == source.name:
            for line in file["lines"]:
                counts = [branch["count"] for branch in line["branches"] if not branch["throw"]]
                if counts:
                    yield line["line_number"], counts
