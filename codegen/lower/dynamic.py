"""Sizes that are known only after the kernel ran, in a host function: csrc/runtime/dynamic.h has what is called."""

from __future__ import annotations

from codegen.contract import DimEntry, Output
from codegen.expr.tree import Name, NameKind
from codegen.lower.checks import Checks, declared
from codegen.lower.statements import all_or_return, conjunction
from codegen.messages.sentences import too_many
from codegen.model import DynamicDim, Operator


def sized_by(output: Output) -> str:
    """The size of `dynamic:` that an output begins with, or ""."""
    first = output.type.shape.entries[0] if output.type.shape.entries else None
    name = first.expr if isinstance(first, DimEntry) else None
    return name.name if isinstance(name, Name) and name.kind is NameKind.DYNAMIC else ""


def make_calls(op: Operator, device: str) -> list[str]:
    """What a kernel finds the bounds in."""
    return [f'dynamic_make(e, &f->t.{size.name}, "{size.name}", &f->n.{size.name}, {device})' for size in op.dynamic]


def may_read_calls(op: Operator) -> list[str]:
    """Asked before the first launch on a GPU."""
    return [f'dynamic_may_read(e, scope, "{size.name}", &f->n.{size.name})' for size in op.dynamic]


def narrow_lines(op: Operator) -> list[str]:
    """The body of <op>_narrow, which reads the sizes and cuts the outputs; none where all sizes are known before."""
    if not op.dynamic:
        return []
    checks = Checks(op)
    sizes = ", ".join(f"&f->n.{size.name}" for size in op.dynamic)
    found = ", ".join(f"f->call.{size.name}" for size in op.dynamic)
    lines = [f"dynamic_size *const sizes[] = {{{sizes}}};", f"const void *const found[] = {{{found}}};"]
    lines += all_or_return([f"dynamic_read(e, scope, {len(op.dynamic)}, sizes, found)"])
    for size in op.dynamic:
        lines += _in_bounds(checks, size)
    cut = [(output.name, sized_by(output)) for output in op.outputs if sized_by(output)]
    calls = [f'dynamic_cut(e, &f->t.{name}, "{name}", f->n.{size}.count)' for name, size in cut]
    return [*declared(f"const {op.name}_call *const c = &f->call;", lines), *lines, *conjunction(calls)]


def _in_bounds(checks: Checks, size: DynamicDim) -> list[str]:
    """The number that a kernel leaves is looked at before anything is done with it."""
    count = f"f->n.{size.name}.count"
    text = checks.renamed({size.name: count})
    return text.check(f"{count} >= 0 && {count} <= f->n.{size.name}.bound", too_many(size))
