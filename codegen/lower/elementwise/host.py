"""The host function of an element-wise operator: strides of outputs, the space that its loops run over, its kernels."""

from __future__ import annotations

from codegen.contract import BroadcastEntry, Output, TensorType
from codegen.frozen import dataclass
from codegen.lower.c.arguments import device_values_lines
from codegen.lower.host import HostNames
from codegen.lower.launch import cpu_symbol, nested
from codegen.lower.statements import all_or_return, guarded, indented
from codegen.model import Operator

# Each has a number in csrc/runtime/elementwise.h, ELEMENTWISE_FLAT and so on.
CUDA_KERNELS = ("flat", "vectors", "narrow", "wide")


@dataclass(frozen=True)
class OperandView:
    """One operand."""

    name: str


@dataclass(frozen=True)
class ElementwiseHostView:
    """The part of generated/c/<op>.c that stands where passes are planned otherwise."""

    operands: tuple[OperandView, ...]
    count: int
    inputs: int
    shape: tuple[str, ...]
    places: tuple[str, ...]
    subscripts: str
    cpu_subscripts: str
    bytes: tuple[str, ...]
    cuda_rows: tuple[str, ...]
    device_values: tuple[str, ...]
    vector: str  # how many elements fill 16 bytes in the largest dtype


def alike(op: Operator, output: Output) -> tuple[str, ...]:
    """The inputs of which the first with the sizes of a broadcast output gives it its strides. An output that has the
    shape of an input as the spec states it has the word `like`.
    """
    broadcast = any(isinstance(entry, BroadcastEntry) for entry in output.type.shape.entries)
    if not op.elementwise or not broadcast or output.has_word("like") or output.has_word("transposed"):
        return ()
    tensors = [(argument, argument.type) for argument in op.placed if isinstance(argument.type, TensorType)]
    return tuple(a.name for a, kind in tensors if not kind.optional and not kind.written)


def empty_call(op: Operator, output: Output, dtype: str) -> str:
    """The call that makes such an output."""
    like = alike(op, output)
    listed = ", ".join(f"&f->t.{name}" for name in like)
    return (
        f'elementwise_empty(e, &f->t.{output.name}, "{output.name}", &s, {dtype}, '
        f"(const tensor *const[]){{{listed}}}, {len(like)})"
    )


def elementwise_host_view(op: Operator) -> ElementwiseHostView:
    """The element-wise part of one host function."""
    names = HostNames(op)
    listed = op.operands
    dtypes = {a.name: a.type.dtype for a in op.tensors if isinstance(a.type, TensorType)}
    dtypes |= {output.name: output.type.dtype for output in op.outputs}
    assert op.iterated is not None
    lines = guarded(all_or_return(names.shape_calls(op.iterated)), "the shape that operands broadcast to")
    subscripts = "".join(f"[{variable.name}_index]" for variable in op.types)
    rows = []
    for kind in CUDA_KERNELS:
        cells = [
            f'{{.name = "{cpu_symbol(op.name, choice)}__{kind}", .module = &module}}'
            if choice in op.kernel_choices
            else "{0}"
            for choice in op.kernel_places
        ]
        row = ["{", *indented(nested(op, cells)), "},"] if op.types else [f"{cells[0]},"]
        rows += [f"[ELEMENTWISE_{kind.upper()}] = {row[0]}", *row[1:]]
    largest = ""
    for dtype in dict.fromkeys(names.dtype(dtypes[name]) for name in listed):
        largest = f"max_i64({largest}, dtype_size({dtype}))" if largest else f"dtype_size({dtype})"
    sizes = [f"tensor_bytes(&f->t.{name})" for name in listed]
    return ElementwiseHostView(
        operands=tuple(OperandView(name) for name in listed),
        count=len(listed),
        inputs=len(listed) - len(op.elementwise),
        shape=tuple(lines),
        places=tuple(f"const int {v.name}_index = index_of_{v.name}(f->d.{v.name});" for v in op.types),
        subscripts=subscripts,
        cpu_subscripts=subscripts or "[0]",
        bytes=tuple([f"{size} +" for size in sizes[:-1]] + [f"{sizes[-1]};"]),
        cuda_rows=tuple(rows),
        device_values=tuple(device_values_lines(op)),
        vector=f"16 / {largest}",
    )
