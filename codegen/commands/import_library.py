"""import: a starting spec of the operators that a library has registered, and skeletons of their bodies.

Everything that is registered is accounted for: it has an entry, is part of one, or is named with the reason why not. A
file that is there is overwritten only with --force, bodies never; the spec is written last, and whole.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from codegen import names
from codegen.bodies import Body
from codegen.commands.project import RENDERER
from codegen.commands.report import Report
from codegen.commands.skeletons import Addition, add
from codegen.frozen import dataclass
from codegen.registered.ask import Answer, NoAnswer, Question, ask
from codegen.registered.draft import CannotImport, Draft
from codegen.registered.facts import TODO
from codegen.registered.select import Selection, select, spec, unknown

_FIRST = "# yaml-language-server: $schema=codegen/ops.schema.json\n"


@dataclass(frozen=True)
class View:
    """What the templates of skeletons print."""

    name: str
    namespace: str
    arguments: str


def run(question: Question, out: str, force: bool, report: Report) -> int:
    """The exit code: 1 when there is no spec."""
    shown = question.library or question.module
    if out and Path(out).exists() and not (force and Path(out).is_file()):
        report.failure(out, "this is there already; nothing was written", "another name, or --force to overwrite it")
        return 1
    try:
        answer = ask(question)
        missing = unknown(answer.operators, question.operators)
        for name, close in missing:
            hint = f'did you mean "{close}"?' if close else ""
            report.failure(shown, f"{answer.namespace}::{name} is not registered", hint)
        if missing:
            return 1
        namespace = _namespace(answer.namespace)
        found = select(namespace, answer.operators, question.operators)
    except NoAnswer as reason:
        report.failure(shown, reason.text, reason.hint)
        return 1
    except CannotImport as reason:
        report.failure(shown, f"no spec can be made of it: {reason}")
        return 1
    if not found.drafts:
        _account(shown, answer, found, report)
        report.failure(shown, f"no operator of {answer.namespace} can be said in a spec; nothing was written")
        return 1
    text = _text(answer, namespace, found, shown)
    if out and not _write(Path(out), text, namespace, found, report):
        return 1
    if not out and not report.as_json:
        print(text, end="")
    _account(out or shown, answer, found, report)
    if out and not report.as_json:
        print(f"{out}: {_operators(len(found.drafts))}{_waiting(found)}")
    return 0


def _namespace(registered: str) -> str:
    """The same, or one that a spec may have."""
    for name in (registered, registered.lower(), f"{registered.lower()}_ops", "imported_ops"):
        if not names.namespace_problem(name):
            return name
    raise AssertionError("imported_ops can be a namespace")


def _operators(count: int) -> str:
    return f"{count} operator{'' if count == 1 else 's'}"


def _waiting(found: Selection) -> str:
    places = sum(one.to_do for one in found.drafts)
    return f"; {places} place{'' if places == 1 else 's'} to fill in, marked {TODO}" if places else ""


def _text(answer: Answer, namespace: str, found: Selection, shown: str) -> str:
    said = [
        f"Begun by python -m codegen import, from {Path(shown).name}. A schema says neither shapes nor dtypes: look at "
        f"all of them, and write what is to stand for {TODO}."
    ]
    if namespace != answer.namespace:
        why = names.namespace_problem(answer.namespace)
        said.append(f"The namespace was {answer.namespace}, which cannot be one: {why}.")
    said += [f"Made with these operators, and without entries: {', '.join(found.parts)}."] if found.parts else []
    said += [f"Not here: {answer.namespace}::{name}: {reason}." for name, reason in found.left_out]
    comments = "".join(f"# {line}\n" for text in said for line in textwrap.wrap(text, 116, subsequent_indent="  "))
    return _FIRST + comments + spec(namespace, [one.text for one in found.drafts])


def _account(file: str, answer: Answer, found: Selection, report: Report) -> None:
    """Names what has no entry."""
    if _namespace(answer.namespace) != answer.namespace:
        why = names.namespace_problem(answer.namespace)
        report.remark(file, f'the namespace "{answer.namespace}" is {_namespace(answer.namespace)} here: {why}')
    if found.parts:
        report.remark(file, f"{len(found.parts)} are made with operators that have an entry: {', '.join(found.parts)}")
    for name, reason in found.left_out:
        report.remark(file, f"{answer.namespace}::{name} has no entry: {reason}")


def _write(out: Path, text: str, namespace: str, found: Selection, report: Report) -> bool:
    additions = [Addition(one.name, _bodies(one, namespace), _reference(one)) for one in found.drafts]
    try:
        said = add(out, text.encode(), additions)
    except OSError as error:
        report.failure(str(out), f"{error}; nothing was written")
        return False
    if not report.as_json:
        print("\n".join(said))
    return True


def _view(one: Draft, namespace: str) -> View:
    return View(one.name, namespace, ", ".join(f"{name}: object" for name in one.arguments))


def _bodies(one: Draft, namespace: str) -> dict[str, bytes]:
    kinds = {"cpu": Body(f"{one.name}.c", "cpu", "c"), "cuda": Body(f"{one.name}.cu", "cuda", "cu")}
    view = _view(one, namespace)
    return {
        kinds[device].name: RENDERER.render(f"imported_body.{kinds[device].kind}.j2", view) for device in one.devices
    }


def _reference(one: Draft) -> bytes:
    return RENDERER.render("imported_reference.py.j2", _view(one, ""))
