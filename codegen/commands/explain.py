"""explain OP: what an operator is, takes, checks, runs and trains by, and the files that make it up."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import asdict

from codegen.bodies import Body, body_files
from codegen.commands.project import read_spec, tree_of
from codegen.commands.report import Report
from codegen.describe.operator import Check, Description, Entry, Kernel, Launch, Named, describe
from codegen.errors import nearest
from codegen.frozen import dataclass
from codegen.lower import operator_files
from codegen.model import Operator


@dataclass(frozen=True)
class File:
    """A file of an operator and what it is."""

    path: str
    what: str


def run(spec_path: str, name: str, report: Report) -> int:
    """The exit code: 1 when the spec is wrong or has no such operator."""
    spec = read_spec(spec_path, report, bodies=False)
    if spec is None:
        return 1
    library = spec.checked.library
    known = [operator.name for operator in library.operators]
    if name not in known:
        close = nearest(name, known)
        hint = f'did you mean "{close}"?' if close else f"operators are {', '.join(known)}"
        report.failure(spec_path, f'there is no operator "{name}"', hint)
        return 1
    operator = library.operator(name)
    tree = tree_of(spec, "")
    found = describe(library, operator)
    generated = [tree.listed(file.path) for file in operator_files(library, operator)]
    files = [*_written(operator), *(File(path, "generated") for path in generated)]
    if report.as_json:
        report.answer = asdict(found) | {"files": [asdict(file) for file in files]}
    else:
        print("\n".join(_lines(found, files)))
    return 0


def _written(operator: Operator) -> list[File]:
    bodies = [File(f"csrc/{body.name}", _body(body)) for body in body_files(operator)]
    return [*bodies, File("tests/references.py", f"{operator.reference}, what is right")]


def _body(body: Body) -> str:
    if body.kind == "launch.c":
        return "launcher, cuda"
    return f"body, {body.device}" + {"full.cu": ", with host code", "py": ", in Triton"}.get(body.kind, "")


def _lines(op: Description, files: list[File]) -> Iterable[str]:
    yield op.schema
    if op.doc:
        yield ""
        for paragraph in op.doc.split("\n"):
            yield from textwrap.wrap(paragraph, 100) or [""]
    yield from _section("notes", op.notes)
    yield from _section("tags", [", ".join(op.tags)] if op.tags else [])
    yield from _section("dtypes", _columns((one.name, one.text) for one in op.types))
    yield from _section("arguments", _columns(_entry(entry) for entry in op.arguments))
    yield from _section("outputs", _columns(_entry(entry) for entry in op.outputs))
    yield from _section("scratch", _columns(_entry(entry) for entry in op.scratch))
    yield from _section("dims", _columns((one.name, one.text) for one in op.dims))
    yield from _section("a wrong call says, in this order", _checks(op.checks))
    for kernel in op.kernels:
        yield from _section(f"kernel {kernel.name}", _kernel(kernel, op.devices))
    if op.host_code:
        listed = _columns((kernel.name, kernel.text) for kernel in op.launched)
        yield from _section(f"launched on CUDA by {op.host_code}", listed or ["kernels of its own"])
    yield from _section("gradient", [op.gradient, *_gradient(op)])
    yield from _section("relative error that tests allow", _columns((one.name, one.text) for one in op.tolerance))
    yield from _section("flops", [op.flops] if op.flops else [])
    yield from _section("files", _columns((file.path, file.what) for file in files))


def _section(title: str, lines: Iterable[str]) -> Iterable[str]:
    listed = list(lines)
    if listed:
        yield ""
        yield title
        yield from (f"  {line}".rstrip() for line in listed)


def _columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows with their cells below each other; the last one may be as long as it is."""
    listed = [tuple(cell.replace("\n", " ") for cell in row) for row in rows]
    if not listed:
        return []
    widths = [min(max(len(row[i]) for row in listed), 40) for i in range(len(listed[0]) - 1)]
    return [
        "  ".join([*(f"{cell:{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in listed
    ]


def _entry(entry: Entry) -> tuple[str, str, str]:
    kind = entry.kind + (f" = {entry.default}" if entry.default else "")
    return entry.name, kind, ("(keyword only) " if entry.keyword_only else "") + entry.doc


def _checks(checks: tuple[Check, ...]) -> list[str]:
    return _columns((check.step, check.error) for check in checks)


def _kernel(kernel: Kernel, devices: tuple[str, ...]) -> Iterable[str]:
    if kernel.when:
        yield f"only when {kernel.when}"
    if kernel.gradient_of:
        yield f"derived from {kernel.gradient_of}"
    yield from kernel.lines
    if "cpu" in devices and not (kernel.lines or kernel.gradient_of):
        yield f"CPU: [begin, end) counts {kernel.units}"
    if kernel.triton:
        yield f"CUDA: {kernel.triton} of {kernel.triton_file}, compiled by Triton with the library"
    for launch in kernel.launches:
        yield from _launch(launch)


def _launch(launch: Launch) -> Iterable[str]:
    yield f"CUDA, when {launch.when}:" if launch.when else "CUDA:"
    for what, text in (
        ("params", launch.params),
        ("grid", launch.grid),
        ("block", launch.block),
        ("shared", launch.shared),
        ("cluster", launch.cluster),
    ):
        if text:
            yield f"  {what:7}  {text}"


def _gradient(op: Description) -> list[str]:
    rows: list[Named] = [*op.takes, *op.gives]
    arrows = ["<-"] * len(op.takes) + ["->"] * len(op.gives)
    return _columns((row.name, arrow, row.text) for row, arrow in zip(rows, arrows, strict=True))
