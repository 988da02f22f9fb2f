"""Scalar arguments as expressions and bodies see them: their names, what may be asked about them, and the fields that
come with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Mapping as Map

from codegen import load
from codegen.contract import Default, ScalarType, TypeVariable
from codegen.errors import one_of, shown
from codegen.expr.parse import parse
from codegen.expr.tree import Name, NameKind, Type
from codegen.fields import Field, Take
from codegen.frozen import replace
from codegen.load import Mapping, Scalar
from codegen.model import Operator
from codegen.names import choice_constant, taken_constant
from codegen.parse_type import ParsedScalar, ParsedTensor
from codegen.presence import Condition
from codegen.reader import Reader
from codegen.scope import Scope, Subject

_TYPES = {
    "float": Type.FLOAT,
    "int": Type.INT,
    "size": Type.INT,
    "bool": Type.BOOL,
    "choice": Type.STR,
    "dtype": Type.DTYPE,
}


def _scalars(inputs: Iterable[Field]) -> Iterator[tuple[Field, ParsedScalar]]:
    for field in inputs:
        if isinstance(field.parsed.type, ParsedScalar):
            yield field, field.parsed.type


def reserve_fields(inputs: Sequence[Field], take: Take) -> None:
    """Takes the names of the fields that bodies see beside those of the arguments."""
    for field, parsed in _scalars(inputs):
        endings = ["given"] if parsed.optional_at is not None else []
        endings += ["count", "values"] if parsed.list_at is not None else []
        for ending in endings:
            take(field.key, f"{field.name}_{ending}", f"what bodies see of {field.name}")
    for field in inputs:
        if isinstance(field.parsed.type, ParsedTensor) and field.parsed.type.list_at is not None:
            take(field.key, f"{field.name}_count", f"what bodies see of {field.name}")


def check_scalar(
    read: Reader,
    field: Field,
    parsed: ParsedScalar,
    default: Default | None,
    variables: Map[str, TypeVariable],
) -> None:
    """What a scalar argument says beyond its grammar: its dtype variable, and whether PyTorch can state its default."""
    if parsed.variable is not None and parsed.variable.text not in variables:
        known = f"dtype variables here are {', '.join(variables)}" if variables else "declare it under types:"
        place = field.node.at(parsed.variable.offset)
        read.error(place, f'dtype() takes a dtype variable, and "{shown(parsed.variable.text)}" is none', known)
    elif parsed.variable is not None and default is not None and default.value is not None:
        dtypes = variables[parsed.variable.text].dtypes
        if default.value not in dtypes and field.parsed.default is not None:
            text = f"{default.value} is none of the dtypes of {parsed.variable.text}"
            read.error(field.node.at(field.parsed.default.offset), text, f"expected {one_of(dtypes)}")


def choice_words(inputs: Iterable[Field]) -> dict[str, tuple[str, ...]]:
    """The choice arguments and what they can be."""
    return {
        field.name: tuple(choice.text for choice in parsed.choices)
        for field, parsed in _scalars(inputs)
        if parsed.kind == "choice"
    }


def spliced_names(inputs: Iterable[Field], fields: Iterable[Field]) -> dict[str, Name]:
    """The `size[]` arguments that are stars in shapes. As one number they are the product."""
    starred = {entry.name for field in fields for entry in field.entries if entry.star}
    return {
        field.name: Name(field.name, NameKind.SPLICED, Type.INT)
        for field, parsed in _scalars(inputs)
        if field.name in starred and parsed.kind == "size" and parsed.list_at is not None and parsed.optional_at is None
    }


def scalar_names(inputs: Iterable[Field]) -> dict[str, Name]:
    """The scalar arguments that expressions may name."""
    found: dict[str, Name] = {}
    for field, parsed in _scalars(inputs):
        if parsed.variable is not None:
            found[field.name] = Name(parsed.variable.text, NameKind.VARIABLE, Type.DTYPE)
        elif parsed.kind in _TYPES and parsed.list_at is None:
            kind = NameKind.SCALAR if parsed.optional_at is None else NameKind.OPTIONAL
            found[field.name] = Name(field.name, kind, _TYPES[parsed.kind])
    return found


def scalar_absent(inputs: Iterable[Field]) -> dict[str, str]:
    """The scalar arguments that no expression may name -> why."""
    reasons = {"str": "a string is not compared; a choice is", "device": "a device is not compared"}
    return {field.name: reasons[parsed.kind] for field, parsed in _scalars(inputs) if parsed.kind in reasons}


def scalar_holders(inputs: Iterable[Field]) -> dict[str, tuple[str, ...]]:
    """The scalar arguments that may be absent; each is there when it is given itself."""
    return {
        field.name: (field.name,)
        for field, parsed in _scalars(inputs)
        if parsed.optional_at is not None and parsed.variable is None  # its variable always stands for something
    }


def scalar_subjects(inputs: Iterable[Field]) -> dict[str, Subject]:
    """The scalar arguments that functions may ask about: optionals and lists."""
    return {
        field.name: field.subject
        for field, parsed in _scalars(inputs)
        if parsed.optional_at is not None or parsed.list_at is not None
    }


def stated_conditions(node: Mapping, scope: Scope) -> tuple[Condition, ...]:
    """The conditions under `checks:`, which hold wherever outputs are made and kernels run. Problems in them are
    reported where they are read for good.
    """
    listed = node.get("checks")
    found: tuple[Condition, ...] = ()
    for item in listed.items if isinstance(listed, load.Sequence) else ():
        that = item.get("that") if isinstance(item, Mapping) else item
        if isinstance(that, Scalar):
            condition, _ = parse(that.text.strip(), replace(scope, met=found))
            found += (Condition(condition),) if condition is not None and condition.type is Type.BOOL else ()
    return found


def check_constants(read: Reader, place: Scalar, op: Operator, operators: Collection[str]) -> None:
    """The constants of the words of choices must not be called like one another or like anything generated."""
    seen: dict[str, str] = {}
    kernels = [one.kernel for one in op.passes] + [kernel.name for kernel in op.custom]
    for argument in op.arguments:
        for word in argument.type.choices if isinstance(argument.type, ScalarType) else ():
            name = choice_constant(op.name, argument.name, word)
            other = seen.get(name) or taken_constant(op.name, name, operators, kernels)
            if other:
                read.error(place, f"bodies would see the word {word} of {argument.name} as {name}, which is {other}")
            seen[name] = f"the word {word} of {argument.name}"
