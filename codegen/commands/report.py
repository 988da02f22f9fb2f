"""How commands say what is wrong: text on stderr, or with --json one list on stdout that a program may read."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from codegen.errors import Diagnostics
from codegen.frozen import dataclass


@dataclass(frozen=True)
class Problem:
    """One entry of the list that --json prints. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    severity: str
    message: str
    hint: str


class Report:
    """The problems of one command."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.problems: list[Problem] = []
        self.answer: object = None  # what --json prints instead of the list, when a command has more to say

    def spec(self, file: str, source: str, found: Diagnostics) -> None:
        """What was found in a spec; `file` as the user wrote it."""
        for one in found.sorted():
            line, column = one.position.line, one.position.column
            self.problems.append(Problem(file, line, column, one.severity, one.text, one.hint))
        if found.count and not self.as_json:
            print(found.report(file, source), end="", file=sys.stderr)

    def failure(self, file: str, message: str, hint: str = "") -> None:
        """A problem that no line of a file is to blame for."""
        self.problems.append(Problem(file, 1, 1, "error", message, hint))
        if not self.as_json:
            print(f"{file}: error: {message}" + (f"\nhint: {hint}" if hint else ""), file=sys.stderr)

    def remark(self, file: str, message: str) -> None:
        """Something that a reader has to know, and that stops nothing."""
        self.problems.append(Problem(file, 1, 1, "warning", message, ""))
        if not self.as_json:
            print(f"{file}: warning: {message}", file=sys.stderr)

    def note(self, text: str) -> None:
        """A line for a person."""
        if not self.as_json:
            print(text, file=sys.stderr)

    def finish(self) -> None:
        """Prints the list, or the answer, where a program is to read it."""
        if self.as_json:
            problems = [asdict(problem) for problem in self.problems]
            print(json.dumps(problems if self.answer is None else self.answer, indent=2))
