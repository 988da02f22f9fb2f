"""Runs compilers, and turns what they say into an error that shows the user's own lines."""

from __future__ import annotations

import errno
import functools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from .failure import QuickError

_MAX_LINES = 60
# How the generated files reach a body, and the lines about the way there.
_WAY = re.compile(r"(?:\S*/)?generated/(?:c|cuda)/\.\./\.\./csrc/|(?<![\w./])csrc/")
_INCLUDED = re.compile(r"^(In file included from| +from) .*\n", re.MULTILINE)


def words(variable: str, default: str) -> list[str]:
    """A command that an environment variable may name, with its options."""
    return shlex.split(os.environ.get(variable, "")) or [default]


def found(command: Sequence[str]) -> str:
    """Where the program is, or ""."""
    return shutil.which(command[0]) or ""


@functools.cache
def _version(program: str, _size: int, _time: int) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, encoding="utf-8", check=False)
    return done.stdout


def version(command: Sequence[str]) -> str:
    """What a compiler says about itself."""
    path = found(command)
    stat = os.stat(path)
    return _version(path, stat.st_size, stat.st_mtime_ns)


def identity(command: Sequence[str]) -> str:
    """Other text, other compiler: its place, its options and what it says about itself."""
    return f"{found(command)} {command[1:]} {version(command)}"


def run(command: Sequence[str], folder: Path, what: str) -> None:
    """Runs a compiler in `folder`. `what` it compiles is how the error begins."""
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8",
                              errors="replace", check=False)  # fmt: skip
    except OSError as error:
        raise QuickError(f"{command[0]} cannot be run ({error.strerror}); set CC, or CUDACXX for nvcc") from None
    if done.returncode:
        refuse(what, done.stderr or done.stdout or f"{command[0]} ended with {done.returncode}", folder)


def refuse(what: str, said: str, folder: Path) -> NoReturn:
    """Raises what a compiler said; a full disk as what it is."""
    if os.strerror(errno.ENOSPC) in said or "Disk quota exceeded" in said or os.strerror(errno.EFBIG) in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    text = _INCLUDED.sub("", said.replace(f"{folder}/", ""))
    lines = _WAY.sub("", text).strip().splitlines()
    if len(lines) > _MAX_LINES:
        lines = [*lines[:_MAX_LINES], f"... {len(lines) - _MAX_LINES} more lines"]
    raise QuickError("\n".join([f"{what} does not compile", *lines]))
