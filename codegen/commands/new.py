"""new OP: a new operator that copies its input: an entry in the spec, bodies and a reference, into which the math goes.

Files that are there stay as they are; the spec is written last, so that a run that fails has added nothing to it.
"""

from __future__ import annotations

from codegen import names
from codegen.bodies import body_files
from codegen.check.library import check
from codegen.commands.project import RENDERER, Spec, read_spec
from codegen.commands.report import Report
from codegen.commands.skeletons import Addition, add
from codegen.edit import CannotEdit, add_operator
from codegen.errors import Diagnostics
from codegen.frozen import dataclass
from codegen.load import load


@dataclass(frozen=True)
class View:
    """What is asked for, and what the templates of a body and a reference print."""

    name: str
    cuda_only: bool = False
    elementwise: bool = False
    custom: bool = False
    full_cuda: bool = False


@dataclass(frozen=True)
class EntryView:
    """What the template of an entry prints; `how` says what computes y: a formula, or bodies and their launch."""

    name: str
    how: tuple[str, ...]


def _entry(view: View) -> EntryView:
    if view.elementwise:
        how = ["elementwise:", "  y: x", *(["devices: [cuda]"] if view.cuda_only else [])]
        return EntryView(view.name, tuple(how))
    how = ["devices: [cuda]" if view.cuda_only else "parallel: numel(x)"]
    if view.custom:
        how += ["launch: custom", "kernels:", f"  {view.name}: {{VEC: [1, 4]}}"]
    elif view.full_cuda:
        how += ["full_cuda: true"]
    else:
        how += ["launch:", "  grid: ceil_div(numel(x), 256)", "  block: 256"]
    return EntryView(view.name, tuple(how))


def run(spec_path: str, view: View, report: Report) -> int:
    """The exit code: 1 when nothing was added."""
    spec = read_spec(spec_path, report, bodies=False)
    if spec is None:
        return 1
    problem = names.operator_problem(view.name)
    if problem:
        report.failure(spec_path, f'"{view.name}" cannot be an operator: {problem}')
        return 1
    if view.name in spec.checked.places:
        line = spec.checked.places[view.name].line
        report.failure(spec_path, f'the operator "{view.name}" is there already, in line {line}')
        return 1
    edited = _edited(spec, view, report)
    return 1 if edited is None else _write(edited, view, report)


def _edited(spec: Spec, view: View, report: Report) -> Spec | None:
    """The spec with the new entry, if that makes a right one."""
    source = spec.data.decode("utf-8-sig")
    tree = load(spec.data, Diagnostics())
    assert tree is not None
    try:
        text = add_operator(source, tree, RENDERER.render("new_entry.yaml.j2", _entry(view)).decode())
    except CannotEdit as problem:
        report.failure(spec.shown, f"no place for another operator: {problem}")
        return None
    mark = b"\xef\xbb\xbf" if spec.data.startswith(b"\xef\xbb\xbf") else b""
    data = mark + text.encode()
    found = Diagnostics()
    checked = check(load(data, found), found)
    if checked is None:
        report.spec(spec.shown, text, found)
        report.failure(spec.shown, f'the entry of "{view.name}" would be wrong; nothing was written')
        return None
    return Spec(spec.shown, spec.path, data, checked)


def _write(spec: Spec, view: View, report: Report) -> int:
    files = body_files(spec.checked.library.operator(view.name))
    bodies = {file.name: RENDERER.render(f"new_body.{file.kind}.j2", view) for file in files}
    try:
        said = add(spec.path, spec.data, [Addition(view.name, bodies, RENDERER.render("new_reference.py.j2", view))])
    except OSError as error:
        report.failure(spec.shown, f"{error}; the spec was not changed")
        return 1
    said.append(f"{spec.shown}: operator {view.name} added")
    if not report.as_json:
        print("\n".join(said))
    return 0
