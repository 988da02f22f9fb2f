"""Where the generator, the runtime in C and what bodies include are: in the source tree, or beside this package in a
wheel, where the build puts a copy of them.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from .failure import QuickError

_HERE = Path(__file__).resolve().parent
# All that decides what is made of a spec and its bodies.
_PARTS = ("codegen", "templates", "csrc/runtime", "csrc/cpu", "csrc/device", "csrc/elementwise_layout.h")
_SUFFIXES = (".py", ".j2", ".c", ".h", ".cuh")

_seen: dict[Path, tuple[object, str]] = {}


def root() -> Path:
    """The folder that holds codegen/, templates/ and csrc/."""
    for folder in (_HERE / "sources", _HERE.parents[1]):
        if all((folder / part).exists() for part in _PARTS):
            return folder
    raise QuickError(f"{_HERE}: the sources of the generator and the runtime are missing; install the package again")


def digest() -> str:
    """Of the content of every file. Read again when one of them looks different from last time."""
    folder = root()
    files = sorted(_files(folder))
    look = [(path, os.stat(path)) for path in files]
    looks = tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in look)
    if folder not in _seen or _seen[folder][0] != looks:
        found = hashlib.sha256()
        for path in files:
            with open(path, "rb") as file:
                data = file.read()
            found.update(f"{path.removeprefix(str(folder))} {len(data)}\n".encode() + data)
        _seen[folder] = (looks, found.hexdigest())
    return _seen[folder][1]


def _files(folder: Path) -> list[str]:
    found = [str(path) for path in _HERE.glob("*.py")]
    for part in _PARTS:
        if (folder / part).is_file():
            found.append(str(folder / part))
        for parent, folders, names in os.walk(folder / part):
            folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
            found += [os.path.join(parent, name) for name in names if name.endswith(_SUFFIXES)]
    return found
