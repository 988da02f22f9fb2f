"""Views of the documentation: a page for each operator, and the list of them."""

from __future__ import annotations

from codegen import markdown
from codegen.describe.operator import Description, Entry, Kernel, describe
from codegen.frozen import dataclass
from codegen.lower.example import example
from codegen.model import Library, Operator


@dataclass(frozen=True)
class Row:
    """The cells of a row of a table."""

    cells: str


@dataclass(frozen=True)
class KernelView:
    """One kernel: what is said of it, and its launches."""

    name: str
    notes: tuple[str, ...]
    has_launches: bool
    launches: tuple[Row, ...]


@dataclass(frozen=True)
class Link:
    """An operator in the list, or one that another page names."""

    name: str
    page: str
    summary: str


@dataclass(frozen=True)
class PageView:
    """docs/ops/<op>.md."""

    title: str
    schema_fence: str
    schema: str
    paragraphs: tuple[str, ...]
    arguments: tuple[Row, ...]
    outputs: tuple[Row, ...]
    has_types: bool
    types: tuple[Row, ...]
    has_checks: bool
    error_fence: str
    errors: tuple[str, ...]
    example_fence: str
    example: tuple[str, ...]
    gradient: str
    has_backward: bool
    backward: Link
    bindings: tuple[Row, ...]
    gradients: tuple[Row, ...]
    kernels: tuple[KernelView, ...]
    host_code: str
    has_launched: bool
    launched: tuple[Row, ...]
    has_scratch: bool
    scratch: tuple[Row, ...]
    has_dims: bool
    dims: tuple[Row, ...]
    devices: str
    notes: tuple[Row, ...]
    tags: str
    reference: str
    tolerance: tuple[Row, ...]
    has_flops: bool
    flops: str


@dataclass(frozen=True)
class IndexView:
    """docs/ops/README.md."""

    namespace: str
    operators: tuple[Link, ...]


def page_view(library: Library, op: Operator) -> PageView:
    """The page of one operator."""
    found = describe(library, op)
    errors = tuple(f"{library.namespace}::{op.name}: {check.error}" for check in found.checks)
    program = example(library, op)
    return PageView(
        title=markdown.text(op.name),
        schema_fence=markdown.fence([found.schema]),
        schema=found.schema,
        paragraphs=markdown.paragraphs(found.doc),
        arguments=tuple(_argument(entry) for entry in found.arguments),
        outputs=tuple(_output(entry) for entry in found.outputs),
        has_types=bool(found.types),
        types=tuple(_row(markdown.code(one.name), one.text) for one in found.types),
        has_checks=bool(errors),
        error_fence=markdown.fence(errors),
        errors=errors,
        example_fence=markdown.fence(program),
        example=program,
        gradient=found.gradient[0].upper() + markdown.text(found.gradient[1:]) + ".",
        has_backward=bool(found.backward),
        backward=Link(markdown.text(found.backward), f"{found.backward}.md", ""),
        bindings=tuple(_row(markdown.code(one.name), markdown.text(one.text)) for one in found.takes),
        gradients=tuple(_row(markdown.code(one.name), markdown.text(one.text)) for one in found.gives),
        kernels=tuple(_kernel(kernel, found) for kernel in found.kernels if kernel.launches or "cpu" in found.devices),
        host_code=markdown.code(found.host_code),
        has_launched=bool(found.launched),
        launched=tuple(_row(markdown.code(one.name), markdown.code(one.text)) for one in found.launched),
        has_scratch=bool(found.scratch),
        scratch=tuple(_row(markdown.code(one.name), markdown.code(one.kind)) for one in found.scratch),
        has_dims=bool(found.dims),
        dims=tuple(_row(markdown.code(one.name), markdown.code(one.text)) for one in found.dims),
        devices=" and ".join(found.devices),
        notes=tuple(Row(markdown.text(note)) for note in found.notes),
        tags=", ".join(markdown.code(tag) for tag in found.tags),
        reference=markdown.code(found.reference),
        tolerance=tuple(_row(markdown.code(one.name), markdown.code(one.text)) for one in found.tolerance),
        has_flops=bool(found.flops),
        flops=markdown.code(found.flops),
    )


def index_view(library: Library) -> IndexView:
    """The list of operators."""
    links = tuple(Link(markdown.text(op.name), f"{op.name}.md", _summary(op.doc)) for op in library.operators)
    return IndexView(markdown.code(library.namespace), links)


def _summary(doc: str) -> str:
    """The first sentence of a doc."""
    first = markdown.paragraphs(doc.split(". ")[0])[:1]
    return first[0].removesuffix(".") + "." if first else ""


def _row(*cells: str) -> Row:
    return Row(" | ".join(cells))


def _argument(entry: Entry) -> Row:
    note = "keyword only" if entry.keyword_only else ""
    doc = "; ".join(part for part in (note, markdown.text(entry.doc)) if part)
    return _row(markdown.code(entry.name), markdown.code(entry.kind), markdown.code(entry.default), doc)


def _output(entry: Entry) -> Row:
    note = "kept for the gradient, not returned" if entry.saved else ""
    doc = "; ".join(part for part in (note, markdown.text(entry.doc)) if part)
    return _row(markdown.code(entry.name), markdown.code(entry.kind), doc)


def _kernel(kernel: Kernel, op: Description) -> KernelView:
    notes = [f"Runs only when {markdown.code(kernel.when)}."] if kernel.when else []
    lines = [markdown.code(line) for line in kernel.lines]
    if kernel.gradient_of:
        source = markdown.code(kernel.gradient_of)
        notes.append(f"Its loops are generated, and its lines derived from those of {source}.")
    elif lines:
        notes.append(f"Its loops are generated, from {' and '.join(lines)}.")
    elif "cpu" in op.devices:
        notes.append(f"On the CPU, `[begin, end)` counts {markdown.code(kernel.units)}.")
    if kernel.triton:
        call, file = markdown.code(kernel.triton), markdown.code(kernel.triton_file)
        notes.append(f"On CUDA it is {call} of {file}, compiled by Triton with the library.")
    rows = tuple(
        _row(*(markdown.code(cell) for cell in (one.when, one.params, one.grid, one.block, one.shared, one.cluster)))
        for one in kernel.launches
    )
    return KernelView(markdown.code(kernel.name), tuple(notes), bool(rows), rows)
