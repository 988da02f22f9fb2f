"""View of generated/cuda/<op>.cu for an element-wise operator: its lines, once for each form that dtypes ask for, and
its entry points.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from codegen.elementwise.kinds import Kind, Program, Store
from codegen.frozen import dataclass, replace
from codegen.lower.cuda import has_complex, has_float8
from codegen.lower.elementwise.cpu import comments, given, maskable, optional, program, tensor_dtypes
from codegen.lower.elementwise.host import CUDA_KERNELS
from codegen.lower.elementwise.print import Printer, Style, members, result_members
from codegen.lower.launch import cpu_symbol
from codegen.lower.record import cuda_element
from codegen.lower.schema import public_schema
from codegen.lower.statements import c_comment
from codegen.model import Library, Operator
from codegen.names import choice_constant
from codegen.types import DTYPES

_RUN = {
    "flat": "run_flat<{}>",
    "vectors": "run_vectors<{}>",
    "crossed": "run_crossed<{}>",
    "narrow": "run_singles<{}, uint32_t>",
    "wide": "run_singles<{}, uint64_t>",
}


@dataclass(frozen=True)
class CudaOperand:
    """A tensor of the loops: the statement that loads or stores its elements."""

    name: str
    type: str
    load: str
    store: str


@dataclass(frozen=True)
class CudaForm:
    """The lines for some choices of dtypes. The loop over elements is unswitched on `condition`, which is uniform;
    `condition_lines` are the statements that compute it. Both are empty where there is none.
    """

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    condition: str
    condition_lines: tuple[str, ...]
    statements: tuple[str, ...]
    unpacked: tuple[str, ...]
    packed: tuple[str, ...]


@dataclass(frozen=True)
class CudaEntry:
    """One extern "C" kernel."""

    symbol: str
    run: str


@dataclass(frozen=True)
class ElementwiseCudaView:
    """generated/cuda/<op>.cu."""

    op: str
    schema: str
    float8: bool
    complex: bool
    lines: tuple[str, ...]
    template: str
    count: int
    types: str
    operands: tuple[CudaOperand, ...]
    forms: tuple[CudaForm, ...]
    kernels: tuple[CudaEntry, ...]


def _function(function: str, kind: Kind) -> str:
    """The name of a function of csrc/device/element_math.cuh, which has one for each kind."""
    del kind
    return f"elementwise::{function}"


def _style(op: Operator) -> Style:
    word = partial(choice_constant, op.name)
    return Style(
        _function,
        complex64="float2",
        complex128="double2",
        a="a.",
        into="in.",
        out="out.",
        given=partial(given, op, "a.", "nullptr"),
        word=word,
    )


def _stored(store: Store, element: str) -> str:
    value = f"out.{store.target}"
    if store.whole:
        value = f"elementwise::whole{64 if DTYPES[store.dtype].size == 8 else 32}({value})"
    return f"d.{store.target}.value[k] = elementwise::narrow<{element}>({value});"


def _uniform_condition(one: Program) -> int | None:
    """The condition between two values of an element that is the same for every element: the first there is."""
    for value in one.values:
        if value.op == "select" and not value.uniform and one.values[value.operands[0]].uniform:
            return value.operands[0]
    return None


def _form(op: Operator, one: Program) -> CudaForm:
    uniform = _uniform_condition(one)
    asked, printer = Printer(one, _style(op)), Printer(one, _style(op), uniform)
    absent = maskable(op)
    elements = {name: cuda_element(dtype) for name, dtype in tensor_dtypes(op).items()}
    loaded = members(one)
    before = sorted(one.behind(uniform)) if uniform is not None else []
    return CudaForm(
        name="",
        inputs=tuple(f"{printer.member_type(member.kind)} {member.name};" for member in loaded),
        results=tuple(result_members(one, printer)),
        condition=asked.atom(uniform) if uniform is not None else "",
        condition_lines=tuple(asked.statement(index) for index in before if asked.named(index)),
        statements=tuple(printer.statements("a.{} != nullptr".format if absent else None)),
        unpacked=tuple(
            f"in.{m.name} = static_cast<{printer.member_type(m.kind)}>("
            f"elementwise::widen<{elements[m.operand]}>(d.{m.operand}.value[k]));"
            for m in loaded
        ),
        packed=tuple(_stored(store, elements[store.target]) for store in one.stores),
    )


def _operand(op: Operator, index: int, name: str, loaded: Collection[str]) -> CudaOperand:
    element = cuda_element(tensor_dtypes(op)[name])
    targets = [line.target for line in op.elementwise]
    read = f"access.template load<{index}>(static_cast<const {element} *>(a.{name}), d.{name}.value);"
    load = read if name not in targets or name in loaded else ""
    if load and name in optional(op):
        load = f"if (a.{name} != nullptr) {{ {load} }} else {{ d.{name} = {{}}; }}"
    store = f"access.template store<{index}>(static_cast<{element} *>(a.{name}), d.{name}.value);"
    if name in maskable(op):
        store = f"if (a.{name} != nullptr) {{ {store} }}"
    return CudaOperand(name, element, load, store if name in targets else "")


def elementwise_cuda_view(library: Library, op: Operator) -> ElementwiseCudaView:
    """The entry points of one operator."""
    forms: dict[CudaForm, str] = {}
    kernels = []
    loaded: set[str] = set()
    for choice in op.dtype_choices:
        one = program(op, choice)
        loaded |= {member.operand for member in members(one)}
        name = forms.setdefault(_form(op, one), f"{op.name}__loops{len(forms) + 1}")
        types = ", ".join(DTYPES[dtype].cuda for _, dtype in choice) or "void"
        for kind in CUDA_KERNELS:
            run = _RUN[kind].format(f"{name}<{types}>")
            kernels.append(CudaEntry(f"{cpu_symbol(op.name, choice)}__{kind}", run))
    dtypes = tensor_dtypes(op)
    listed = op.operands
    parameters = ", ".join(f"typename {variable.name}" for variable in op.types)
    return ElementwiseCudaView(
        op=op.name,
        schema=c_comment(public_schema(library.namespace, op)),
        float8=has_float8(op),
        complex=has_complex(op),
        lines=comments(op),
        template=f"template <{parameters}>" if parameters else "template <typename>",
        count=len(listed),
        types=", ".join(dict.fromkeys(cuda_element(dtypes[name]) for name in listed)),
        operands=tuple(_operand(op, index, name, loaded) for index, name in enumerate(listed)),
        forms=tuple(replace(form, name=name) for form, name in forms.items()),
        kernels=tuple(kernels),
    )
