"""`types:`, the dtype variables of an operator, and what the dtype in front of a shape means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Mapping as Map
from math import prod

from codegen import load, names
from codegen.contract import Acc, Dtype, FixedDtype, TypeVariable, Variable
from codegen.errors import nearest, shown
from codegen.fields import Field, Take
from codegen.frozen import replace
from codegen.load import Mapping, Scalar
from codegen.parse_type import ParsedScalar, ParsedTensor
from codegen.reader import Reader
from codegen.types import DTYPES, GROUPS

MAX_COMBINATIONS = 4096


def read_types(read: Reader, operator: Mapping, take: Take) -> dict[str, TypeVariable]:
    """The dtype variables, in order."""
    node = operator.get("types")
    section = read.within("types").mapping(node, "types: {T: floating}") if node is not None else None
    found: dict[str, TypeVariable] = {}
    for key, value in section.entries if section else ():
        inner = read.within(f"types: {shown(key.text)}")
        problem = names.variable_problem(key.text)
        if problem:
            inner.error(key, f'"{shown(key.text)}" cannot be a dtype variable: {problem}')
            continue
        take(key, key.text, "a dtype variable")
        variable = _variable(inner, key.text, value, found)
        # After an error the variable still exists, so that its uses are not reported as well.
        found[key.text] = variable or TypeVariable(key.text, GROUPS["floating"], "floating")
    return found


def _variable(read: Reader, name: str, value: load.Node, earlier: Map[str, TypeVariable]) -> TypeVariable | None:
    if isinstance(value, Scalar) and value.text in GROUPS:
        return TypeVariable(name, GROUPS[value.text], value.text)
    items: Sequence[load.Node] = [value] if isinstance(value, Scalar) else read.items(value, "I: [int32, int64]")
    if isinstance(value, load.Sequence) and not items:
        read.error(value, "a dtype variable has at least one dtype")
    known = [*DTYPES, *([] if isinstance(value, load.Sequence) else GROUPS)]
    dtypes: list[str] = []
    listed: list[str] = []
    for item in items:
        scalar = read.text(item, "a dtype")
        if scalar is None:
            continue
        if scalar.text in listed:
            read.error(scalar, f"{scalar.text} is there twice")
        elif scalar.text in earlier and earlier[scalar.text].group == "bits":
            read.error(scalar, f"{scalar.text} can be any dtype, and no list holds them all")
        elif scalar.text in earlier:
            listed.append(scalar.text)
            dtypes += earlier[scalar.text].dtypes
        elif scalar.text not in DTYPES:
            close = nearest(scalar.text, known)
            hint = f'did you mean "{close}"?' if close else f"groups are {', '.join(GROUPS)}"
            read.error(scalar, f'unknown dtype "{shown(scalar.text)}"', hint)
        else:
            listed.append(scalar.text)
            dtypes.append(scalar.text)
    mixed = tuple(listed) if any(text in earlier for text in listed) else ()
    return TypeVariable(name, tuple(dict.fromkeys(dtypes)), "", mixed) if dtypes else None


def bound_types(
    read: Reader,
    operator: Mapping,
    variables: Map[str, TypeVariable],
    fields: Sequence[Field],
    unread: Collection[str],
) -> tuple[TypeVariable, ...]:
    """The variables with the dtypes that calls can give them: one that no input binds has its first dtype only.
    `unread` are words of entries with errors, which may use any of them.
    """
    tensors = [(field.section, field.parsed.type) for field in fields if isinstance(field.parsed.type, ParsedTensor)]
    used = {tensor.dtype for _, tensor in tensors}
    bound = {tensor.dtype for section, tensor in tensors if section in ("inputs", "keywords") and not tensor.acc}
    scalars = [field.parsed.type for field in fields if isinstance(field.parsed.type, ParsedScalar)]
    bound |= {scalar.variable.text for scalar in scalars if scalar.variable is not None}
    used |= bound
    section = operator.get("types")
    for name in variables:
        key = section.key(name) if isinstance(section, Mapping) else None
        if name not in used and name not in unread and key is not None:
            read.warning(key, f'types: the dtype variable "{name}" is not used')
    types = tuple(v if v.name in bound else _first(v, variables) for v in variables.values())
    count = prod(len(variable.dtypes) for variable in types)
    if isinstance(section, Mapping) and count > MAX_COMBINATIONS:
        hint = "tensors that always have the same dtype share a variable"
        read.error(section, f"types: {count} combinations of dtypes; at most {MAX_COMBINATIONS} are compiled", hint)
        return tuple(replace(variable, dtypes=variable.dtypes[:1], listed=()) for variable in types)
    return types


def _first(variable: TypeVariable, variables: Map[str, TypeVariable]) -> TypeVariable:
    """A variable that no input binds: its first dtype, or any of the variable that its list begins with."""
    first = variable.allowed[0]
    if first in variables:
        return replace(variable, dtypes=variables[first].dtypes, listed=(first,))
    return replace(variable, dtypes=variable.dtypes[:1], listed=())


def resolve_dtype(read: Reader, field: Field, parsed: ParsedTensor, variables: Map[str, TypeVariable]) -> Dtype | None:
    """What stands in front of the brackets: a variable, acc(variable) or a dtype."""
    name = parsed.dtype
    if name in variables:
        if parsed.acc and variables[name].group == "bits":
            read.error(field.node.at(parsed.dtype_at), f"{name} can be any dtype, and nothing accumulates in bits")
            return None
        return Acc(name) if parsed.acc else Variable(name)
    place = field.node.at(parsed.dtype_at)
    known = f"dtype variables here are {', '.join(variables)}" if variables else ""
    if parsed.acc:
        read.error(place, f'acc() takes a dtype variable, and "{shown(name)}" is none', known)
        return None
    if name in DTYPES:
        return FixedDtype(name)
    if name in GROUPS:
        read.error(place, f'"{name}" is a group of dtypes', f"give it a variable: types: {{T: {name}}}, and T here")
        return None
    close = nearest(name, [*variables, *DTYPES])
    hint = f'did you mean "{close}"?' if close else known or f"declare it: types: {{{name}: floating}}"
    read.error(place, f'unknown dtype "{shown(name)}"', hint)
    return None
