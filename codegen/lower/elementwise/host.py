"""The host function of an element-wise operator: strides of outputs, the space that its loops run over, its kernels."""

from __future__ import annotations

from codegen.contract import BroadcastEntry, Output, TensorType
from codegen.expr.tree import names as names_in
from codegen.frozen import dataclass
from codegen.lower.c.arguments import device_values_lines
from codegen.lower.host import HostNames
from codegen.lower.launch import cpu_symbol, nested
from codegen.lower.statements import all_or_return, guarded, indented
from codegen.model import Operator
from codegen.positions import each_of

# Each has a number in csrc/runtime/elementwise.h, ELEMENTWISE_FLAT and so on.
CUDA_KERNELS = ("flat", "vectors", "crossed", "narrow", "wide")


@dataclass(frozen=True)
class OperandView:
    """One operand."""

    name: str
    tensor: str  # of a list one at a time, at[i]


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
    # Of lists one tensor at a time: the ending of the functions that do so, number i as their parameter and argument,
    # how many there are, and whether there is something to compute for one; all empty where lines are about no lists.
    one: str
    place_parameter: str
    place: str
    length: str
    some: str
    dims: tuple[str, ...]


def alike(op: Operator, output: Output) -> tuple[str, ...]:
    """The inputs of which the first with the sizes of a broadcast output gives it its strides. An output that has the
    shape of an input as the spec states it has the word `like`.
    """
    broadcast = any(isinstance(entry, BroadcastEntry) for entry in output.type.shape.entries)
    if not op.elementwise or not broadcast or output.has_word("like") or output.has_word("transposed"):
        return ()
    tensors = [(argument, argument.type) for argument in op.device_tensors if isinstance(argument.type, TensorType)]
    sure = [a.name for a, kind in tensors if not kind.may_lack_tensors and not kind.written]
    return tuple(name for name in sure if name in op.operands or not op.is_listed(name))


def empty_call(op: Operator, output: Output, dtype: str) -> str:
    """The call that makes such an output."""
    like = alike(op, output)
    listed = ", ".join(f"&f->t.{_tensor(op, name)}" for name in like)
    return (
        f'elementwise_empty(e, &f->t.{_tensor(op, output.name)}, "{output.name}", &s, {dtype}, '
        f"(const tensor *const[]){{{listed}}}, {len(like)})"
    )


def _tensor(op: Operator, name: str) -> str:
    """An operand in the frame; of a list tensor number i."""
    return f"{name}.at[i]" if op.is_listed(name) else name


def place_parameter(op: Operator) -> str:
    """The parameter of functions that are about one tensor of each list."""
    return ", int64_t i" if op.elementwise and op.is_listed(op.elementwise[0].target) else ""


def _of_each(op: Operator, names: HostNames) -> tuple[str, ...]:
    """Puts the dims that lines name, of tensor number i, into the record."""
    used = {part.name for line in op.elementwise for part in names_in(line.expr)}
    return tuple(f"c->{dim.name} = {names.c.names[dim.name]};" for dim in op.dims if dim.each and dim.name in used)


def elementwise_host_view(op: Operator) -> ElementwiseHostView:
    """The element-wise part of one host function."""
    names = HostNames(op)
    listed = op.operands
    dtypes = {a.name: a.type.dtype for a in op.tensors if isinstance(a.type, TensorType)}
    dtypes |= {output.name: output.type.dtype for output in op.outputs}
    assert op.iterated is not None
    target, place = op.elementwise[0].target, place_parameter(op)
    owner = each_of(target) if place else ""
    stars = [names.star_call(rule) for rule in names.stars if owner and rule.owner == owner]  # each has a value
    calls = [*stars, *names.shape_calls(op.iterated, owner)]
    lines = guarded(all_or_return(calls), "the shape that operands broadcast to")
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
    sizes = [f"tensor_bytes(&f->t.{_tensor(op, name)})" for name in listed]
    some = [f"f->t.{line.target}.at[i].numel != 0" for line in op.elementwise]  # none in what is not wanted
    return ElementwiseHostView(
        operands=tuple(OperandView(name, _tensor(op, name)) for name in listed),
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
        one="_one" if place else "",
        place_parameter=place,
        place=", i" if place else "",
        length=f"f->t.{target}.count" if place else "",
        some=(f"({' || '.join(some)})" if len(some) > 1 else some[0]) if place else "",
        dims=_of_each(op, names),
    )
