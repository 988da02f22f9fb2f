"""C shims of operators, for packages of AOTInductor: view of generated/c/shims.c and generated/<namespace>/aoti.py.

The order and the types of parameters are those that PyTorch's compiler writes calls with. Some operators have no shim
and go through the dispatcher: those with outputs that are lists, for which PyTorch writes no call; with a `str`, which
it writes without escapes; with a device, of which it keeps too little; and with more arguments than there is room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.contract import Argument, ScalarType, TensorType
from codegen.frozen import dataclass
from codegen.lower.schema import DispatchedOperator, direct_symbol, dispatched
from codegen.messages.c import c_escape
from codegen.messages.python import python_string
from codegen.model import Library, Operator

MOST = 64  # SHIM_MOST of csrc/runtime/shim.h

# For each kind of scalar: the type of its parameter, and what puts one and what puts a list of them on the stack.
_SCALARS = {
    "float": ("double", "shim_float", "shim_floats"),
    "int": ("int64_t", "shim_int", "shim_ints"),
    "size": ("int64_t", "shim_int", "shim_ints"),
    "bool": ("int32_t", "shim_bool", "shim_bools"),
    "dtype": ("int32_t", "shim_dtype", ""),
    "choice": ("const char *", "shim_text", ""),
}
_HANDLE = "AtenTensorHandle"
# Whether it is a list and whether it is written: what puts it on the stack.
_TENSORS = {
    (False, False): "tensor",
    (False, True): "written",
    (True, False): "tensors",
    (True, True): "written_tensors",
}


@dataclass(frozen=True)
class Shim:
    """One C function, and what it is exported as."""

    op: str
    symbol: str
    parameters: tuple[str, ...]  # lines, to the end of the head
    push: tuple[str, ...]  # `if (`, the condition that all arguments are on the stack, `) {`
    call: str
    give: tuple[str, ...]


@dataclass(frozen=True)
class ShimOverload:
    """One operator of the dispatcher, or an overload of one, whose calls may be those of a shim."""

    op: str
    symbol: str
    schema: str  # the inside of a C literal
    row: tuple[str, ...]  # of the table in Python


@dataclass(frozen=True)
class ShimsView:
    """generated/c/shims.c and generated/<namespace>/aoti.py."""

    namespace: str
    guard: str
    shims: tuple[Shim, ...]
    overloads: tuple[ShimOverload, ...]


@dataclass(frozen=True)
class _Parameter:
    """An argument of the operator: its parameters with their types, and what puts it on the stack."""

    declared: tuple[str, ...]
    names: tuple[str, ...]
    push: str


def _declared(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"


def _pointer(kind: str) -> str:
    """A pointer to a value of this type, which is only read."""
    return f"{kind}const *" if kind.endswith("*") else f"const {kind} *"


def _argument(argument: Argument, written: bool) -> _Parameter:
    name, kind = f"in_{argument.name}", argument.type  # whatever it is called, nothing else is
    if isinstance(kind, TensorType):
        own = _pointer(_HANDLE) if kind.element_optional else _HANDLE
        put = f"shim_{'some_' if kind.element_optional else ''}{_TENSORS[kind.is_list, written]}"
        extra = f', "{argument.name}"'
    else:
        assert isinstance(kind, ScalarType)
        own, one, many = _SCALARS[kind.kind]
        put, extra = many if kind.is_list else one, ""
    own = _pointer(own) if kind.is_list else own
    given = f"*{name}" if kind.optional else name
    count = [f"count_{argument.name}"] if kind.is_list else []
    push = f"{put}(&s{extra}, {', '.join([given, *count])})"
    if kind.optional:
        own = _pointer(own)
        push = f"({name} == NULL ? shim_none(&s) : {push} && shim_box(&s))"
    declared = (_declared(own, name), *(f"int64_t {one}" for one in count))
    return _Parameter(declared, (name, *count), push)


def _mask() -> _Parameter:
    values, count = "in_grad_mask", "count_grad_mask"
    push = f"shim_bools(&s, {values}, {count})"
    return _Parameter((f"const int32_t *{values}", f"int64_t {count}"), (values, count), push)


def _given(name: str) -> _Parameter:
    """An output of the caller."""
    return _Parameter((f"{_HANDLE} in_{name}",), (f"in_{name}",), f'shim_written(&s, "{name}", in_{name})')


def has_shim(op: Operator, entry: DispatchedOperator) -> bool:
    """Whether a call can be that of a shim. What only eager calls use has none."""
    if not (entry.public or entry.saved):
        return False
    kinds = [argument.type for argument in op.arguments if isinstance(argument.type, ScalarType)]
    returned = op.outputs if entry.saved else op.public_outputs
    room = len(op.arguments) + len(op.outputs) + 1 <= MOST
    plain = all(kind.kind in _SCALARS and (not kind.is_list or _SCALARS[kind.kind][2]) for kind in kinds)
    plain = plain and not any('"' in word or "\\" in word for kind in kinds for word in kind.choices)
    return room and plain and not any(output.type.is_list or output.condition is not None for output in returned)


def _parameters(op: Operator, entry: DispatchedOperator) -> list[_Parameter]:
    written = {argument.name for argument in op.written}
    outputs: list[str] = []
    if entry.variant is not None and entry.variant.kind == "inplace":
        written |= {given for _, given in entry.variant.writes}
    elif entry.variant is not None:
        outputs = [given for _, given in entry.variant.writes]
    found = [_argument(argument, argument.name in written) for argument in op.arguments]
    return [*found, *([_mask()] if op.grad_mask else []), *map(_given, outputs)]


def _symbol(library: Library, entry: DispatchedOperator) -> str:
    """What a shim is exported as: two overloads of one C function share it."""
    return f"aoti_torch_{library.namespace}_{direct_symbol(entry).removesuffix('_direct')}"


def _condition(pushes: Sequence[str]) -> tuple[str, ...]:
    """`if (a &&`, `    b) {`."""
    lines = [f"{'    ' if i else 'if ('}{push}" for i, push in enumerate(pushes or ["true"])]
    return (*(f"{line} &&" for line in lines[:-1]), f"{lines[-1]}) {{")


def _results(op: Operator, entry: DispatchedOperator) -> list[str]:
    if entry.variant is not None:
        return []
    return [f"ret{i}" for i in range(len(op.outputs if entry.saved else op.public_outputs))]


def _declarations(parameters: Sequence[_Parameter], results: Sequence[str]) -> list[str]:
    declared = [one for parameter in parameters for one in parameter.declared]
    return [*declared, *(f"{_HANDLE} *{name}" for name in results)]


def _shim(library: Library, op: Operator, entry: DispatchedOperator) -> Shim:
    parameters, results = _parameters(op, entry), _results(op, entry)
    declared = _declarations(parameters, results) or ["void"]
    return Shim(
        op=f"{library.namespace}::{op.name}",
        symbol=_symbol(library, entry),
        parameters=(*(f"{one}," for one in declared[:-1]), f"{declared[-1]}) {{"),
        push=_condition([parameter.push for parameter in parameters]),
        call=direct_symbol(entry),
        give=tuple(f"shim_give(&s, {i}, {name});" for i, name in enumerate(results)),
    )


def _overloads(library: Library) -> Iterator[tuple[Operator, DispatchedOperator]]:
    for op in library.operators:
        for entry in dispatched(op):
            if has_shim(op, entry):
                yield op, entry


def _overload(library: Library, op: Operator, entry: DispatchedOperator) -> ShimOverload:
    parameters, results = _parameters(op, entry), _results(op, entry)
    names = [one for parameter in parameters for one in parameter.names]
    row = (
        entry.name,
        " ".join(op.devices),
        f"{library.namespace}::{op.name}",
        _symbol(library, entry),
        c_escape(entry.schema),
        ", ".join(_declarations(parameters, results)),
        ", ".join([*names, *results]),
    )
    return ShimOverload(row[2], row[3], row[4], tuple(map(python_string, row)))


def shims_view(library: Library) -> ShimsView:
    """All shims, and all overloads that have one."""
    found = list(_overloads(library))
    functions = {_symbol(library, entry): (op, entry) for op, entry in reversed(found)}
    return ShimsView(
        namespace=library.namespace,
        guard=f"{library.namespace}_SHIMS".upper(),
        shims=tuple(_shim(library, op, entry) for op, entry in reversed(functions.values())),
        overloads=tuple(_overload(library, op, entry) for op, entry in found),
    )
