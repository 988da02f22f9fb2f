"""Scalar arguments as expressions and bodies see them: their names, what may be asked about them, and the fields that
come with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from codegen import load
from codegen.expr import Name, NameKind, Type
from codegen.expr_parse import parse
from codegen.fields import Field, Take
from codegen.load import Mapping, Scalar
from codegen.parse_type import ParsedScalar
from codegen.presence import Condition
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


def reserve_fields(inputs: Iterable[Field], take: Take) -> None:
    """Takes the names of the fields that bodies see beside those of the arguments."""
    for field, parsed in _scalars(inputs):
        if parsed.optional_at is not None:
            take(field.key, f"{field.name}_given", f"what bodies see of {field.name}")


def scalar_names(inputs: Iterable[Field]) -> dict[str, Name]:
    """The scalar arguments that expressions may name."""
    found: dict[str, Name] = {}
    for field, parsed in _scalars(inputs):
        if parsed.kind in _TYPES and parsed.list_at is None:
            kind = NameKind.SCALAR if parsed.optional_at is None else NameKind.OPTIONAL
            found[field.name] = Name(field.name, kind, _TYPES[parsed.kind])
    return found


def scalar_holders(inputs: Iterable[Field]) -> dict[str, tuple[str, ...]]:
    """The scalar arguments that may be absent; each is there when it is given itself."""
    return {field.name: (field.name,) for field, parsed in _scalars(inputs) if parsed.optional_at is not None}


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
