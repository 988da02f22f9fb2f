"""The call record: what a host function hands to the kernels of its operator, field by field.

Three files print it: the C header that host, CPU unit and CUDA unit share, and the typed arguments that C and CUDA
bodies see.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from codegen.contract import (
    MAX_DIMS,
    Acc,
    Argument,
    Dtype,
    FixedDtype,
    Output,
    ScalarType,
    Scratch,
    TensorType,
    Variable,
)
from codegen.frozen import dataclass
from codegen.layouts import facts, layout, rank, tables
from codegen.messages.sentences import MAX_LIST, MAX_TEXT
from codegen.model import Operator
from codegen.types import DTYPES

Kind = Literal[
    "tensor",
    "tensors",
    "numbers",
    "tables",
    "sizes",
    "table",
    "integer",
    "real",
    "boolean",
    "place",
    "text",
    "list",
    "layout",
    "operands",
]

Fact = Literal["", "strides", "sizes", "dim", "row stride"]

# Fields of element-wise operators; nothing in a spec can be called so.
LAYOUT, STRIDES = "layout__", "stride__"

# A "place" is that of a choice among its words, or the number of a dtype.
C_SCALARS: dict[Kind, str] = {"integer": "int64_t", "real": "double", "boolean": "bool", "place": "int32_t"}
SCALAR_KINDS: dict[str, Kind] = {
    "float": "real",
    "int": "integer",
    "size": "integer",
    "bool": "boolean",
    "choice": "place",
    "dtype": "place",
    "str": "text",
}


@dataclass(frozen=True)
class Field:
    """One field. `dtype` and `constant` are for tensors, `count` for sizes and strides; `text` is a comment.

    `tensor` is whose memory it tells about: its strides, sizes, number of dims, or the stride of its rows (`fact`).
    A table has an entry for each dim of a tensor whose number of dims differs from call to call: the record has room
    for MAX_DIMS, and a body sees a pointer to it. `source` is the field that it shows, "" when the record has it under
    its own name. "tensors" are the pointers of a list of tensors, "numbers" have one for each of them, "tables" a
    pointer. `element` and `room` (kernels on the GPU are handed the values themselves) are for lists of scalars;
    `optional` is for what bodies see as a null pointer when it is absent.
    """

    name: str
    kind: Kind
    dtype: Dtype | None = None
    constant: bool = False
    text: str = ""
    count: int = 0
    tensor: str = ""
    fact: Fact = ""
    source: str = ""
    element: str = ""
    room: bool = False
    optional: bool = False
    unseen: bool = False  # by bodies: it is for code on the host that launches them

    @property
    def value(self) -> str:
        """The field of the record that holds it."""
        return self.source or self.name


def fields(op: Operator) -> tuple[Field, ...]:
    """Inputs, outputs, scratch, sizes of scratch, dims, derived dims, scalars. Loops of element-wise operators see one
    tensor of a list, and its dims.
    """
    found: list[Field] = []
    for argument in op.tensors:
        assert isinstance(argument.type, TensorType)
        if argument.type.is_list and not op.elementwise:
            note = f"{argument.text}, null where absent" if argument.type.may_lack_tensors else argument.text
            found.append(Field(argument.name, "tensors", argument.type.dtype, not argument.type.written, note))
            found.append(Field(f"{argument.name}_count", "integer"))
            continue
        note = f"{argument.text}, null when absent" if argument.type.optional else argument.text
        found.append(Field(argument.name, "tensor", argument.type.dtype, not argument.type.written, note))
    for output in op.outputs:
        kept = output.saved and not op.draws(output.name)
        note = f"{output.text}, null in inference" if kept else output.text
        note = f"{note}, null when not wanted" if op.grad_mask else note
        if output.type.is_list and not op.elementwise:
            found.append(Field(output.name, "tensors", output.type.dtype, False, note))
            found.append(Field(f"{output.name}_count", "integer"))
            continue
        found.append(Field(output.name, "tensor", output.type.dtype, False, note))
    found += [Field(scratch.name, "tensor", scratch.type.dtype, False, scratch.text) for scratch in op.scratch]
    for scratch in op.scratch:
        found += scratch_sizes(scratch)
    for size in op.dynamic:
        found.append(Field(size.name, "tensor", FixedDtype("int64"), False, f"{size.text}: the bound, then the count"))
    found += layout_fields(op)
    dims = [
        Field(dim.name, "numbers", text=f"of each of {dim.each}")
        if dim.each and not op.elementwise
        else Field(dim.name, "integer")
        for dim in op.dims
    ]
    dims += [Field(derived.name, "integer") for derived in op.derived]
    scalars = [field for scalar in op.scalars for field in _scalar(op, scalar)]
    if op.elementwise:  # a short kernel waits for each line of its arguments: what it reads comes first
        layout = Field(LAYOUT, "layout", text="what the loops run over")
        strides = Field(STRIDES, "operands", text="of each operand", count=len(op.operands))
        return (*found, *scalars, layout, *dims, strides)
    found += dims + scalars
    if op.launches_itself:
        found += [Field(v.name, "place", text="its dtype, a DTYPE_ constant", unseen=True) for v in op.types]
    return tuple(found)


def scratch_sizes(scratch: Scratch) -> list[Field]:
    """The sizes of a scratch tensor; with a star in its shape also how many they are."""
    count = rank(scratch.type.shape)
    if count is not None:
        return [Field(f"{scratch.name}_size", "sizes", count=count)]
    return [Field(f"{scratch.name}_dim", "integer"), Field(f"{scratch.name}_size", "table", count=MAX_DIMS)]


def layout_fields(op: Operator) -> list[Field]:
    """Strides where they are free, and what else is needed to use them where a shape has a star: the number of dims
    and their sizes. Tensors of equal shapes have these in common.
    """
    found: list[Field] = []
    if op.elementwise:
        return found
    owners = tables((*op.tensors, *op.outputs))
    tensors: tuple[Argument | Output, ...] = (*op.tensors, *op.outputs)
    for tensor in tensors:
        assert isinstance(tensor.type, TensorType)
        asked, name, count = layout(tensor.words), tensor.name, len(tensor.type.shape.entries)
        if tensor.type.is_list:
            found += list_fields(tensor)
        elif asked.policy == "rows":
            text = f"from one row of {name} to the next"
            found.append(Field(f"{name}_stride", "sizes", text=text, count=1, tensor=name, fact="row stride"))
        elif name in owners:
            found += _tables(name, owners[name])
        elif asked.free and count:
            found.append(Field(f"{name}_stride", "sizes", count=count, tensor=name, fact="strides"))
    return found


def list_fields(tensor: Argument | Output) -> list[Field]:
    """The same of each tensor of a list."""
    name = tensor.name
    assert isinstance(tensor.type, TensorType)
    shape = tensor.type.shape
    told: list[Field] = []
    for fact in facts(name, layout(tensor.words), rank(shape) is None, len(shape.entries)):
        if fact == f"{name}_dim":
            told.append(Field(fact, "numbers", text=f"of each of {name}", tensor=name, fact="dim"))
        else:
            told.append(Field(fact, "tables", tensor=name, fact="sizes" if fact == f"{name}_size" else "strides"))
    return told


def _tables(name: str, owner: str) -> list[Field]:
    """What tells about a tensor whose shape has a star; `owner` has the number of dims and their sizes."""

    def shared(what: str) -> str:
        return "" if owner == name else f"{owner}_{what}"

    return [
        Field(f"{name}_dim", "integer", tensor=name, fact="dim", source=shared("dim")),
        Field(f"{name}_size", "table", count=MAX_DIMS, tensor=name, fact="sizes", source=shared("size")),
        Field(f"{name}_stride", "table", count=MAX_DIMS, tensor=name, fact="strides"),
    ]


def _scalar(op: Operator, scalar: Argument) -> Iterator[Field]:
    """What bodies see of a scalar argument. Devices and dtype variables are no fields."""
    assert isinstance(scalar.type, ScalarType)
    kind = scalar.type
    if kind.is_list:
        element = C_SCALARS[SCALAR_KINDS[kind.kind]]
        yield Field(scalar.name, "list", element=element, room="cuda" in op.devices, optional=kind.optional)
        yield Field(f"{scalar.name}_count", "integer")
    elif kind.kind != "device" and not kind.variable:
        text = scalar.text if kind.kind in ("choice", "dtype") else ""
        yield Field(scalar.name, SCALAR_KINDS[kind.kind], text=text, optional=kind.optional)
    if kind.optional:
        yield Field(f"{scalar.name}_given", "boolean")


def record_declarations(field: Field) -> list[str]:
    """The field in the untyped record."""
    match field.kind:
        case "tensor":
            return [f"const void *{field.name}" if field.constant else f"void *{field.name}"]
        case "tensors":
            return [f"void **{field.name}"]
        case "numbers":
            return [f"int64_t *{field.name}"]
        case "tables":
            return [f"const int64_t **{field.name}"]
        case "sizes" | "table":
            return [f"int64_t {field.name}[{field.count}]"]
        case "layout":
            return [f"elementwise_layout {field.name}"]
        case "operands":
            return [f"int64_t {field.name}[{field.count}][ELEMENTWISE_DIMS]"]
        case "text":
            return [f"char {field.name}[{MAX_TEXT + 1}]"]
        case "list":
            values = [f"{field.element} {field.name}_values[{MAX_LIST}]"] if field.room else []
            return [f"const {field.element} *{field.name}", *values]
    return [f"{C_SCALARS[field.kind]} {field.name}"]


def real_is_accumulated(op: Operator) -> bool:
    """Whether `float` arguments reach bodies as acc_t: when the first dtype variable is real floating. Else double."""
    return bool(op.types) and all(DTYPES[name].category in ("floating", "float8") for name in op.types[0].dtypes)


def c_element(dtype: Dtype, op: Operator) -> str:
    """The element type that a C body sees."""
    first = op.types[0].name if op.types else ""
    match dtype:
        case Variable():
            return "scalar_t" if dtype.name == first else f"{dtype.name}_t"
        case Acc():
            return "acc_t" if dtype.variable == first else f"{dtype.variable}_acc_t"
        case FixedDtype():
            return f"CPU_SCALAR({dtype.name})"


def cuda_element(dtype: Dtype) -> str:
    """The element type that a CUDA body sees, in terms of its template parameters."""
    match dtype:
        case Variable():
            return dtype.name
        case Acc():
            return f"acc_t<{dtype.variable}>"
        case FixedDtype():
            return DTYPES[dtype.name].cuda
