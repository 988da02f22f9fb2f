"""Views of the other C files: the call record, the CPU unit, the registration, and the list for CMake."""

from __future__ import annotations

from codegen.frozen import dataclass
from codegen.lower.c.arguments import choice_lines
from codegen.lower.elementwise.cpu import ElementwiseView, elementwise_view
from codegen.lower.record import C_SCALARS, Field, c_element, fields, real_is_accumulated, record_declarations
from codegen.lower.schema import boxed_symbol, direct_symbol, dispatched, only_direct, public_schema
from codegen.lower.statements import c_comment
from codegen.messages.c import c_escape
from codegen.model import Library, Operator
from codegen.names import checking_variable
from codegen.tags import tags_of


@dataclass(frozen=True)
class HeaderField:
    """A field of the call record as C."""

    declaration: str
    comment: str


@dataclass(frozen=True)
class HeaderView:
    """generated/c/<op>_call.h."""

    op: str
    schema: str
    guard: str
    choices: tuple[str, ...]
    elementwise: bool
    fields: tuple[HeaderField, ...]


@dataclass(frozen=True)
class TypedField:
    """A field of the typed arguments of a C body, and what it is copied from."""

    name: str
    declaration: str
    value: str


@dataclass(frozen=True)
class UnitVariable:
    """A dtype variable of a C body."""

    name: str


@dataclass(frozen=True)
class CpuUnitView:
    """generated/c/<op>.cpu.c."""

    op: str
    schema: str
    macros: str
    variables: tuple[UnitVariable, ...]
    first: str
    vectors: bool
    fields: tuple[TypedField, ...]
    kernels: tuple[str, ...]
    elementwise: ElementwiseView | None


@dataclass(frozen=True)
class RegistrationEntry:
    """A row of the registration table."""

    schema: str
    name: str
    cpu: str
    cuda: str
    composite: str
    tags: str


@dataclass(frozen=True)
class LibraryView:
    """generated/c/library.c and operators.h."""

    namespace: str
    replaceable: bool  # whether another library of this namespace may take its place while the process runs
    when: str
    guard: str
    checking: str  # the environment variable that turns checking mode on
    symbols: tuple[str, ...]
    direct: tuple[str, ...]  # what the direct module calls
    entries: tuple[RegistrationEntry, ...]


@dataclass(frozen=True)
class BuildOperator:
    """An operator in generated/ops.cmake."""

    name: str
    cpu: bool
    cuda: bool
    kernels: str
    choices: tuple[str, ...]
    cuda_flags: str
    triton: bool


@dataclass(frozen=True)
class BuildView:
    """generated/ops.cmake."""

    namespace: str
    operators: tuple[BuildOperator, ...]


def header_view(library: Library, op: Operator) -> HeaderView:
    """The call record of one operator."""
    return HeaderView(
        op=op.name,
        schema=c_comment(public_schema(library.namespace, op)),
        guard=f"{library.namespace}_{op.name}_CALL_H".upper(),
        choices=choice_lines(op),
        elementwise=bool(op.elementwise),
        fields=tuple(
            HeaderField(line, f" /* {field.text} */" if field.text else "")
            for field in fields(op)
            if not field.source
            for line in record_declarations(field)
        ),
    )


def _typed(op: Operator, field: Field) -> TypedField:
    if field.kind == "tensor":
        assert field.dtype is not None
        constant = "const " if field.constant else ""
        return TypedField(field.name, f"{constant}{c_element(field.dtype, op)} *{field.name}", f"call->{field.name}")
    if field.kind == "tensors":
        assert field.dtype is not None
        kind = f"{'const ' if field.constant else ''}{c_element(field.dtype, op)} *const *"
        return TypedField(field.name, f"{kind}{field.name}", f"({kind})call->{field.name}")
    if field.kind == "tables":
        return TypedField(field.name, f"const int64_t *const *{field.name}", f"call->{field.name}")
    if field.kind == "numbers":
        return TypedField(field.name, f"const int64_t *{field.name}", f"call->{field.name}")
    if field.kind == "sizes":
        values = ", ".join(f"call->{field.name}[{i}]" for i in range(field.count))
        return TypedField(field.name, f"int64_t {field.name}[{field.count}]", f"{{{values}}}")
    if field.kind == "table":
        return TypedField(field.name, f"const int64_t *{field.name}", f"call->{field.value}")
    if field.kind == "list":
        return TypedField(field.name, f"const {field.element} *{field.name}", f"call->{field.name}")
    if field.kind == "text":
        value = f"call->{field.name}_given ? call->{field.name} : NULL" if field.optional else f"call->{field.name}"
        return TypedField(field.name, f"const char *{field.name}", value)
    if field.kind == "layout":
        return TypedField(field.name, f"const elementwise_layout *{field.name}", f"&call->{field.name}")
    if field.kind == "operands":
        declaration = f"const int64_t (*{field.name})[ELEMENTWISE_DIMS]"
        return TypedField(field.name, declaration, f"call->{field.name}")
    if field.kind == "real" and real_is_accumulated(op):
        return TypedField(field.name, f"acc_t {field.name}", f"(acc_t)call->{field.name}")
    return TypedField(field.name, f"{C_SCALARS[field.kind]} {field.name}", f"call->{field.value}")


def cpu_unit_view(library: Library, op: Operator) -> CpuUnitView:
    """The unit that compiles the C body of one operator."""
    macros = [f"{variable.name}_DTYPE" for variable in op.types]
    return CpuUnitView(
        op=op.name,
        schema=c_comment(public_schema(library.namespace, op)),
        macros=", ".join(macros) if macros else "nothing",
        variables=tuple(UnitVariable(variable.name) for variable in op.types),
        first=op.types[0].name if op.types else "",
        vectors=bool(op.types) and op.types[0].group != "bits",
        fields=tuple(_typed(op, field) for field in fields(op) if not field.unseen),
        kernels=tuple(one.kernel for one in op.passes),
        elementwise=elementwise_view(op) if op.elementwise else None,
    )


def library_view(library: Library, *, replaceable: bool = False) -> LibraryView:
    """What is registered with PyTorch: when the library is loaded, or if it is `replaceable` when it is told to."""
    entries, symbols, direct = [], [], list[str]()
    for op in library.operators:
        direct += [direct_symbol(entry) for entry in (*dispatched(op), *only_direct(op))]
        for entry in dispatched(op):
            symbol = boxed_symbol(entry)
            symbols.append(symbol)
            cpu, cuda = (symbol if device in op.devices else "NULL" for device in ("cpu", "cuda"))
            # With empty lists a call may have no tensor, and no device.
            anywhere = symbol if all(argument in op.lists for argument in op.tensors) else "NULL"
            kernels = (cpu, cuda, anywhere) if op.tensors else ("NULL", "NULL", symbol)
            entries.append(RegistrationEntry(c_escape(entry.schema), entry.name, *kernels, _tags(op)))
    unique = tuple(dict.fromkeys(symbols))
    guard, checking = f"{library.namespace}_OPERATORS_H".upper(), checking_variable(library.namespace)
    called = tuple(dict.fromkeys(direct))
    when = "" if replaceable else " when the library is loaded"
    return LibraryView(library.namespace, replaceable, when, guard, checking, unique, called, tuple(entries))


def _tags(op: Operator) -> str:
    """The getters of the tags of an operator, and how many there are."""
    getters = [f"torch_tag_{tag}" for tag in tags_of(op)]
    return f"(torch_tag *const[]){{{', '.join(getters)}}}, {len(getters)}" if getters else "NULL, 0"


def build_view(library: Library) -> BuildView:
    """What CMake compiles."""
    operators = []
    for op in library.operators:
        operators.append(
            BuildOperator(
                name=op.name,
                cpu="cpu" in op.devices,
                cuda="cuda" in op.devices and op.triton is None,
                kernels=" ".join(one.kernel for one in op.passes),
                choices=tuple(" ".join(f"{name}={dtype}" for name, dtype in choice) for choice in op.kernel_choices),
                cuda_flags=(" FULL" if op.full_cuda else "")
                + (f" ARCH {op.oldest_arch}" if op.oldest_arch else "")
                + (" --use_fast_math" if op.fast_math else ""),
                triton=op.triton is not None,
            )
        )
    return BuildView(library.namespace, tuple(operators))
