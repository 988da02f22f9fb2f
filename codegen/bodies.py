"""Whether the bodies that a spec promises are there: csrc/<op>.c for the CPU, csrc/<op>.cu for the GPU."""

from __future__ import annotations

from pathlib import Path

from codegen.check import Checked
from codegen.errors import Diagnostics, Position
from codegen.model import Operator

_SUFFIXES = {"cpu": ".c", "cuda": ".cu"}


def body_files(operator: Operator) -> dict[str, str]:
    """The files in csrc/ that a person writes for an operator -> the device that each is for."""
    if operator.elementwise:
        return {}
    return {operator.name + _SUFFIXES[device]: device for device in operator.devices}


def check_bodies(checked: Checked, folder: Path, diagnostics: Diagnostics) -> None:
    """Reports bodies that are missing, and warns of files in `folder` that belong to no operator."""
    there = {path.name for path in folder.glob("*") if path.suffix in _SUFFIXES.values()}
    expected: set[str] = set()
    for operator in checked.library.operators:
        for name, device in body_files(operator).items():
            expected.add(name)
            if name not in there:
                other = [kept for kept in operator.devices if kept != device]
                hint = f", or say devices: [{other[0]}]" if other else ""
                text = f"{operator.name}: the {device} body {folder.name}/{name} is missing"
                diagnostics.error(checked.places[operator.name], text, f"write {folder.name}/{name}{hint}")
    for name in sorted(there - expected):
        diagnostics.warning(Position(1, 1), f"{folder.name}/{name} belongs to no operator")
