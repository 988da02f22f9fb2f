"""Files that a person goes on writing: bodies and references are added where there are none, and then the spec."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from codegen.frozen import dataclass


@dataclass(frozen=True)
class Addition:
    """An operator: its bodies by the name of their file in csrc/, and its function for tests/references.py."""

    name: str
    bodies: Mapping[str, bytes]
    reference: bytes


def add(spec: Path, data: bytes, additions: Sequence[Addition]) -> list[str]:
    """Writes what is not there yet, and the spec last; what was done, a line each. Raises OSError, and has added no
    body then.
    """
    root = spec.parent
    created: list[Path] = []
    said: list[str] = []
    try:
        for addition in additions:
            for name, content in addition.bodies.items():
                body = root / "csrc" / name
                if body.exists():
                    said.append(f"{body}: is there already, and stays as it is")
                    continue
                body.parent.mkdir(exist_ok=True)
                body.write_bytes(content)
                created.append(body)
                said.append(f"{body}: written")
        said += _references(root / "tests" / "references.py", additions)
        waiting = spec.with_name(f".{spec.name}.new")
        try:
            waiting.write_bytes(data)
            os.replace(waiting, spec)
        except OSError:
            waiting.unlink(missing_ok=True)
            raise
    except OSError:
        for path in created:
            path.unlink(missing_ok=True)
        raise
    return said


def _references(path: Path, additions: Sequence[Addition]) -> list[str]:
    old = path.read_text() if path.exists() else None
    if old is None:
        return []
    missing = [one for one in additions if not re.search(rf"^def {one.name}\(", old, re.MULTILINE)]
    if missing:
        path.write_text(old.rstrip("\n") + "".join("\n\n\n" + one.reference.decode() for one in missing))
    return [f"{path}: function {one.name} added" for one in missing]
