"""diff OLD NEW: every change between two specs, and which of them break callers."""

from __future__ import annotations

from codegen.commands.project import Spec, read_spec
from codegen.commands.report import Problem, Report
from codegen.compare.libraries import Found, compare_libraries
from codegen.errors import Position


def run(old_path: str, new_path: str, report: Report) -> int:
    """The exit code: 1 when a change breaks callers, or a spec is wrong."""
    old = read_spec(old_path, report, bodies=False)
    new = read_spec(new_path, report, bodies=False)
    if old is None or new is None:
        return 1
    found = compare_libraries(old.checked.library, new.checked.library)
    broken = sum(one.change.breaking for one in found)
    if report.as_json:
        report.problems += [_problem(one, old, new) for one in found]
    else:
        for severity in ("breaking", "compatible"):
            _print(severity, [one for one in found if one.change.breaking == (severity == "breaking")])
        print(f"{broken} breaking, {len(found) - broken} compatible" if found else "no changes")
    return 1 if broken else 0


def _print(title: str, found: list[Found]) -> None:
    if found:
        print(title)
    for one in found:
        print(f"  {one.operator}: {one.change.what}" if one.operator else f"  {one.change.what}")
        print(f"      {one.change.why}")


def _problem(one: Found, old: Spec, new: Spec) -> Problem:
    spec = old if one.removed else new
    place = spec.checked.places.get(one.operator, Position(1, 1))
    severity = "breaking" if one.change.breaking else "compatible"
    text = f"{one.operator}: {one.change.what}" if one.operator else one.change.what
    return Problem(spec.shown, place.line, place.column, severity, text, one.change.why)
