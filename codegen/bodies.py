"""Whether the files that a person writes for an operator are there: bodies, and the launcher of `launch: custom`; and
none in its way.
"""

from __future__ import annotations

from pathlib import Path

from codegen.check.library import Checked
from codegen.errors import Diagnostics, Position, nearest
from codegen.frozen import dataclass
from codegen.model import Operator

_SUFFIXES = (".c", ".cu", ".py")


@dataclass(frozen=True)
class Body:
    """A file in csrc/ that a person writes for an operator, and the device that it is for. `kind` is how its name ends,
    or full.cu where it has host code.
    """

    name: str
    device: str
    kind: str

    @property
    def what(self) -> str:
        """How messages call it."""
        if self.kind == "launch.c":
            return "launcher"
        return f"{self.device} body"


def body_files(operator: Operator) -> tuple[Body, ...]:
    """The files of an operator."""
    if operator.elementwise:
        return ()
    found = []
    if "cpu" in operator.devices:
        found.append(Body(f"{operator.name}.c", "cpu", "c"))
    if operator.triton is not None:
        found.append(Body(f"{operator.name}.py", "cuda", "py"))
    elif "cuda" in operator.devices:
        found.append(Body(f"{operator.name}.cu", "cuda", "full.cu" if operator.full_cuda else "cu"))
    if "cuda" in operator.devices and operator.custom:
        found.append(Body(f"{operator.name}.launch.c", "cuda", "launch.c"))
    return tuple(found)


def check_bodies(checked: Checked, folder: Path, diagnostics: Diagnostics) -> None:
    """Reports bodies that are missing, and warns of files in `folder` that belong to no operator."""
    there = {path.name for path in folder.glob("*") if path.suffix in _SUFFIXES and path.is_file()}
    bodies = [(operator, body) for operator in checked.library.operators for body in body_files(operator)]
    others = there - {body.name for _, body in bodies}
    for operator, body in bodies:
        if body.name not in there:
            end = body.name.removeprefix(operator.name)
            close = nearest(operator.name, sorted(name.removesuffix(end) for name in others if name.endswith(end)))
            other = [kept for kept in operator.devices if kept != body.device]
            hint = f"rename {folder.name}/{close}{end} to it" if close else f"write {folder.name}/{body.name}"
            hint += f", or say devices: [{other[0]}]" if other else ""
            text = f"{operator.name}: the {body.what} {folder.name}/{body.name} is missing"
            diagnostics.error(checked.places[operator.name], text, hint)
    for name in sorted(others):
        diagnostics.warning(Position(1, 1), f"{folder.name}/{name} belongs to no operator")


def check_modules(checked: Checked, folder: Path, diagnostics: Diagnostics) -> None:
    """Reports operators called like a module of the package that a person writes: its function would be hidden."""
    modules = {path.name for path in folder.glob("*") if path.is_dir()}
    for operator in checked.library.operators:
        if operator.name in modules:
            text = f"{operator.name}: {folder.name}/{operator.name} is a module of that name"
            diagnostics.error(checked.places[operator.name], text, "give one of the two another name")
