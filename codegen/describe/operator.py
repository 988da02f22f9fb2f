"""An operator in words: what `explain` prints and docs/ops/ shows, worked out once.

Every string is raw: what a terminal or a page takes for syntax is the affair of whoever prints it.
"""

from __future__ import annotations

from codegen.assignments import Assignment
from codegen.contract import Argument, dtypes_of
from codegen.defaults import default_text
from codegen.describe.keys import operator_notes
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Type
from codegen.frozen import dataclass
from codegen.launches import LaunchEntry, Param, Pass
from codegen.lower.custom import param_text
from codegen.lower.schema import public_schema
from codegen.messages.sentences import message
from codegen.messages.text import print_message_text
from codegen.model import Backward, Binding, Library, Operator
from codegen.rules import Rule, plain
from codegen.steps import step
from codegen.tags import tags_of
from codegen.tolerance import per_term, rounding


@dataclass(frozen=True)
class Entry:
    """An argument, output or scratch tensor. `kind` is its type as written, `default` a literal or ""."""

    name: str
    kind: str
    doc: str
    default: str = ""
    keyword_only: bool = False
    saved: bool = False


@dataclass(frozen=True)
class Named:
    """A name and what it stands for."""

    name: str
    text: str


@dataclass(frozen=True)
class Check:
    """A rule of a call: the step that it belongs to, and what a call says that breaks it."""

    step: str
    error: str


@dataclass(frozen=True)
class Launch:
    """One launch shape; `when` is "" for the one that is left."""

    when: str
    params: str
    grid: str
    block: str
    shared: str
    cluster: str


@dataclass(frozen=True)
class Kernel:
    """One pass: its kernel, when it runs, what [begin, end) of its C body counts; in place of a body the lines of
    `elementwise:`, or the operator whose gradient was derived, or how the kernel in Triton is called, and its file.
    """

    name: str
    when: str
    units: str
    lines: tuple[str, ...]
    gradient_of: str
    triton: str
    triton_file: str
    launches: tuple[Launch, ...]


@dataclass(frozen=True)
class Description:
    """One operator."""

    name: str
    schema: str
    doc: str
    types: tuple[Named, ...]
    arguments: tuple[Entry, ...]
    outputs: tuple[Entry, ...]
    scratch: tuple[Entry, ...]
    dims: tuple[Named, ...]
    checks: tuple[Check, ...]
    kernels: tuple[Kernel, ...]
    host_code: str  # the file whose code on the host launches on CUDA, or ""
    launched: tuple[Named, ...]  # by a launcher: kernel -> what it is compiled for
    devices: tuple[str, ...]
    gradient: str  # a sentence
    backward: str  # the operator, or ""
    takes: tuple[Named, ...]  # input of the backward -> what it is here
    gives: tuple[Named, ...]  # output of the backward -> what it is the gradient of
    reference: str
    tolerance: tuple[Named, ...]  # dtype of an output -> relative error that tests allow
    flops: str
    notes: tuple[str, ...]  # sentences
    tags: tuple[str, ...]


def describe(library: Library, op: Operator) -> Description:
    """The operator `op`."""
    backward = op.backward
    return Description(
        name=op.name,
        schema=public_schema(library.namespace, op),
        doc=op.doc,
        types=tuple(Named(v.name, ", ".join(v.allowed)) for v in op.types),
        arguments=(*(_argument(argument) for argument in op.arguments), *_grad_mask(op)),
        outputs=tuple(Entry(o.name, o.text, o.doc, saved=o.saved) for o in op.outputs),
        scratch=tuple(Entry(s.name, s.text, "") for s in op.scratch),
        dims=(
            *(Named(dim.name, dim.text) for dim in op.derived),
            *(Named(size.name, f"{size.text}, known after the kernel ran") for size in op.dynamic),
        ),
        checks=tuple(_check(rule) for rule in op.rules if not isinstance(plain(rule), Assignment)),
        kernels=tuple(_kernel(one, op) for one in op.passes),
        host_code=_host_code(op),
        launched=tuple(Named(kernel.name, "; ".join(map(param_text, kernel.params))) for kernel in op.custom),
        devices=op.devices,
        gradient=_gradient(op),
        backward=backward.operator if backward else "",
        takes=tuple(Named(b.argument, _source(b)) for b in backward.bindings) if backward else (),
        gives=_gives(backward),
        reference=op.reference,
        tolerance=_tolerance(op),
        flops=print_text(op.flops) if op.flops is not None else "",
        notes=operator_notes(op),
        tags=tags_of(op),
    )


def _argument(argument: Argument) -> Entry:
    default = default_text(argument) if argument.default is not None else ""
    return Entry(argument.name, argument.text, argument.doc, default, argument.keyword_only)


def _grad_mask(op: Operator) -> tuple[Entry, ...]:
    if not op.grad_mask:
        return ()
    if op.list_outputs:
        doc = "Which gradients are wanted, one for each tensor, in order; all where it is empty."
        return (Entry("grad_mask", "bool[]", doc, "[]", keyword_only=True),)
    count = len(op.outputs)
    doc = "Which gradients are wanted, in order of the outputs; the others come back as None."
    return (Entry("grad_mask", f"bool[{count}]", doc, f"[{', '.join(['True'] * count)}]", keyword_only=True),)


def _check(conditional: Rule) -> Check:
    rule = plain(conditional)
    assert not isinstance(rule, Assignment)
    return Check(step(rule), print_message_text(message(rule)))


def _host_code(op: Operator) -> str:
    if not op.launches_itself:
        return ""
    return f"csrc/{op.name}.launch.c" if op.custom else f"csrc/{op.name}.cu"


def _param(param: Param) -> str:
    """`VEC = 4`, or `HEAD: d in [64, 128]` for a switch."""
    if not param.choices:
        return f"{param.name} = {print_text(param.expr)}"
    listed = ", ".join(print_text(Constant(value, param.expr.type)) for value in param.choices)
    is_bool = param.expr.type is Type.BOOL
    return f"{param.name}: {print_text(param.expr)}" + ("" if is_bool else f" in [{listed}]")


def _numbers(exprs: tuple[Expr, ...]) -> str:
    return ", ".join(print_text(expr) for expr in exprs)


def _kernel(one: Pass, op: Operator) -> Kernel:
    when = print_text(one.when) if one.when is not None else ""
    lines = tuple(f"{line.target}: {line.text}" for line in op.elementwise if not op.derived_from)
    launches = tuple(_launch(entry) for entry in one.launches)
    call, file = "", ""
    if op.triton is not None:
        constants = [f"{param.name}=..." for param in op.triton.launch.params]
        call, file = f"{op.triton.name}({', '.join([*op.triton.args, *constants])})", f"csrc/{op.name}.py"
        launches = (_launch(op.triton.launch),)
    return Kernel(one.kernel, when, print_text(one.units), lines, op.derived_from or "", call, file, launches)


def _launch(entry: LaunchEntry) -> Launch:
    return Launch(
        when=print_text(entry.when) if entry.when is not None else "",
        params=", ".join(_param(param) for param in entry.params),
        grid=_numbers(entry.grid),
        block=_numbers(entry.block),
        shared=print_text(entry.shared) if entry.shared is not None else "",
        cluster=_numbers(entry.cluster),
    )


def _gradient(op: Operator) -> str:
    if op.backward is not None:
        return f"computed by {op.backward.operator}"
    if op.never_requires_grad:
        return "none: outputs never require grad"
    return "none: backward raises an error that names this operator"


def _source(binding: Binding) -> str:
    match binding.source:
        case "gradient":
            return f"gradient of {binding.name}"
        case "dim":
            return f"the size {binding.name}"
    return f"the {binding.source} {binding.name}"


def _gives(backward: Backward | None) -> tuple[Named, ...]:
    return tuple(Named(g.output, f"gradient of {g.input}") for g in backward.gradients) if backward else ()


def _tolerance(op: Operator) -> tuple[Named, ...]:
    declared = dict(op.tolerance)
    found: dict[str, str] = {}
    for output in op.public_outputs:
        for dtype in dtypes_of(output.type.dtype, op.types):
            if dtype in declared:
                found[dtype] = f"{declared[dtype]:.3g}"
            elif rounding(dtype):
                found[dtype] = f"{rounding(dtype):.3g} + {per_term(dtype):.3g} * sqrt(terms)"
            else:
                found[dtype] = "exact"
    return tuple(Named(dtype, text) for dtype, text in found.items())
