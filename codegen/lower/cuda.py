"""Views of the CUDA files: the typed arguments of the device functions, and the entry points."""

from __future__ import annotations

from codegen.contract import FixedDtype, TensorType
from codegen.frozen import dataclass
from codegen.lower.host import dtype_constant
from codegen.lower.launch import EntryPoints, cuda_units
from codegen.lower.lists import store_kernel
from codegen.lower.record import C_SCALARS, Field, cuda_element, fields, real_is_accumulated
from codegen.lower.schema import public_schema
from codegen.lower.statements import c_comment
from codegen.model import DtypeChoice, Library, Operator
from codegen.types import BITS, DTYPES, cuda_type


@dataclass(frozen=True)
class TypedField:
    """A field of the typed arguments."""

    declaration: str


@dataclass(frozen=True)
class TypedCase:
    """The arguments under one choice of dtypes."""

    condition: str
    types: str


@dataclass(frozen=True)
class TypedCallView:
    """The function through which host code reaches them."""

    cases: tuple[TypedCase, ...]


@dataclass(frozen=True)
class ArgumentsView:
    """generated/cuda/<op>.cuh."""

    op: str
    schema: str
    template: str
    qualifiers: str
    float8: bool
    unseen: str
    typed: TypedCallView | None
    fields: tuple[TypedField, ...]
    first_initializer: str
    initializers: tuple[str, ...]


@dataclass(frozen=True)
class EntryView:
    """One extern "C" kernel."""

    symbol: str
    bounds: str
    body: str
    arguments: str
    types: str


@dataclass(frozen=True)
class UnitView:
    """The kernels that are compiled together."""

    number: int
    kernels: tuple[EntryView, ...]


@dataclass(frozen=True)
class EntriesView:
    """generated/cuda/<op>.cu."""

    op: str
    schema: str
    lists: bool
    store: str  # the kernel that stores what bodies see of lists
    bodies: tuple[str, ...]  # the functions that csrc/<op>.cu defines
    units: tuple[UnitView, ...]


def has_float8(op: Operator) -> bool:
    """Whether some tensor can be of a float8 dtype, whose header takes longer to compile than others."""
    return _has(op, "float8")


def has_complex(op: Operator) -> bool:
    """The same of complex dtypes."""
    return _has(op, "complex")


def _has(op: Operator, category: str) -> bool:
    kinds = [argument.type for argument in op.tensors if isinstance(argument.type, TensorType)]
    kinds += [output.type for output in op.outputs] + [scratch.type for scratch in op.scratch]
    fixed = [kind.dtype.name for kind in kinds if isinstance(kind.dtype, FixedDtype)]
    known = [*fixed, *(dtype for variable in op.types for dtype in variable.dtypes)]
    return any(DTYPES[dtype].category == category for dtype in known)


def _declaration(op: Operator, field: Field) -> str:
    if field.kind == "tensor":
        assert field.dtype is not None
        return f"{'const ' if field.constant else ''}{cuda_element(field.dtype)} *{field.name}"
    if field.kind == "tensors":
        assert field.dtype is not None
        return f"{'const ' if field.constant else ''}{cuda_element(field.dtype)} *const *{field.name}"
    if field.kind == "tables":
        return f"const int64_t *const *{field.name}"
    if field.kind == "numbers":
        return f"const int64_t *{field.name}"
    if field.kind == "sizes":
        return f"int64_t {field.name}[{field.count}]"
    if field.kind == "table":
        return f"const int64_t *{field.name}"
    if field.kind == "list":
        return f"const {field.element} *{field.name}"
    if field.kind == "text":
        return f"const char *{field.name}"
    if field.kind == "real" and real_is_accumulated(op):
        return f"acc_t<{op.types[0].name}> {field.name}"
    return f"{C_SCALARS[field.kind]} {field.name}"


def _initializer(op: Operator, field: Field) -> str:
    if field.kind == "tensor":
        assert field.dtype is not None
        constant = "const " if field.constant else ""
        return f"{field.name}(static_cast<{constant}{cuda_element(field.dtype)} *>(call.{field.name}))"
    if field.kind == "tensors":
        assert field.dtype is not None
        kind = f"{'const ' if field.constant else ''}{cuda_element(field.dtype)} *const *"
        return f"{field.name}(reinterpret_cast<{kind}>(call.{field.name}))"
    if field.kind == "sizes":
        values = ", ".join(f"call.{field.name}[{i}]" for i in range(field.count))
        return f"{field.name}{{{values}}}"
    if field.kind in ("list", "text"):
        target = f"call.{field.name}_values" if field.kind == "list" else f"call.{field.name}"
        return (
            f"{field.name}(call.{field.name}_given ? {target} : nullptr)"
            if field.optional
            else f"{field.name}({target})"
        )
    if field.kind == "real" and real_is_accumulated(op):
        return f"{field.name}(static_cast<acc_t<{op.types[0].name}>>(call.{field.name}))"
    return f"{field.name}(call.{field.value})"


def arguments_view(library: Library, op: Operator) -> ArgumentsView:
    """What the device functions of one operator see."""
    unseen = {argument.name for argument in op.tensors if op.custom and argument.has_word("cpu")}
    seen = [field for field in fields(op) if not field.unseen and field.name not in unseen]
    initializers = [_initializer(op, field) for field in seen]
    parameters = ", ".join(f"typename {variable.name}" for variable in op.types)
    return ArgumentsView(
        op=op.name,
        schema=c_comment(public_schema(library.namespace, op)),
        float8=has_float8(op),
        template=f"template <{parameters}>" if parameters else "template <typename = void>",
        qualifiers="__host__ __device__" if op.full_cuda else "__device__",
        unseen=", ".join(argument.name for argument in op.tensors if argument.name in unseen),
        typed=TypedCallView(tuple(_typed_case(choice) for choice in op.kernel_choices)) if op.full_cuda else None,
        fields=tuple(TypedField(_declaration(op, field)) for field in seen),
        first_initializer=initializers[0],
        initializers=tuple(initializers[1:]),
    )


def _typed_case(choice: DtypeChoice) -> TypedCase:
    """A place of a `bits` variable is an element size."""
    conditions = [
        f"dtype_size(static_cast<dtype>(call.{name})) == {BITS[place]}"
        if place in BITS
        else f"call.{name} == {dtype_constant(place)}"
        for name, place in choice
    ]
    return TypedCase(" && ".join(conditions) or "true", ", ".join(cuda_type(place) for _, place in choice))


def _literal(value: int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def entries_view(library: Library, op: Operator, points: EntryPoints) -> EntriesView:
    """The entry points of one operator."""
    unit_of = cuda_units(points)
    views: dict[int, list[EntryView]] = {unit: [] for unit in range(max(unit_of.values(), default=0) + 1)}
    for kernel, entries in points.items():
        for entry in entries:
            types = [cuda_type(dtype) for dtype in entry.dtypes]
            arguments = types + [_literal(value) for value in entry.params]
            bounds = f" __launch_bounds__({entry.bounds})" if entry.bounds else ""
            view = EntryView(entry.symbol, bounds, kernel, ", ".join(arguments), ", ".join(types))
            views[unit_of[entry.symbol]].append(view)
    units = tuple(UnitView(number, tuple(kernels)) for number, kernels in views.items())
    schema = c_comment(public_schema(library.namespace, op))
    return EntriesView(op.name, schema, bool(op.lists), store_kernel(op), tuple(points), units)
