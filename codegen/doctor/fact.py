"""What was found, and how programs are asked."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.frozen import dataclass

_SECONDS = 120  # in which a program answers, or never will


@dataclass(frozen=True)
class Fact:
    """One line. `mend` is a command, or what to set; a problem that does not stop a build is one of what is built."""

    name: str
    ok: bool
    text: str
    mend: str = ""
    stops_build: bool = False


@dataclass(frozen=True)
class Answer:
    """What a program said. Its exit code is 127 where it could not be run."""

    code: int
    out: str
    err: str

    @property
    def first(self) -> str:
        """The line that says what is wrong: the first one with "error" or "fatal" in it, or the first of all."""
        lines = [line.strip() for line in f"{self.err}\n{self.out}".splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
        return (telling or lines or [f"exit code {self.code}"])[0]


def fine(name: str, text: str) -> Fact:
    return Fact(name, True, text)


def problem(name: str, text: str, mend: str, *, stops: bool = False) -> Fact:
    return Fact(name, False, text, mend, stops)


def ask(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Answer:
    """Runs a program, whatever comes of it."""
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer(127, "", f"no answer within {_SECONDS} seconds")
    except (OSError, ValueError) as error:
        return Answer(127, "", str(error))
    return Answer(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def number(version: str) -> tuple[int, ...]:
    """12.4 as something to compare; () for what is no version."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
