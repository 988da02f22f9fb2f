"""What expressions about the elements of inputs may name: those of `values:` and the lines of `elementwise:`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.contract import TypeVariable
from codegen.expr.tree import Name, NameKind, Type
from codegen.fields import Field
from codegen.frozen import replace
from codegen.parse_type import ParsedTensor
from codegen.scope import Scope
from codegen.types import DTYPES


def value_scope(checks: Scope, inputs: Sequence[Field], variables: Mapping[str, TypeVariable]) -> Scope:
    """In `values:` the name of an input is one of its elements; those of bools are 0 and 1."""
    elements: dict[str, Name] = {}
    for field in inputs:
        tensor = field.parsed.type
        if isinstance(tensor, ParsedTensor) and tensor.list_at is None:
            kind = _element_type(tensor, variables)
            elements[field.name] = Name(field.name, NameKind.ELEMENT, Type.INT if kind is Type.BOOL else kind)
    return replace(checks, names={**checks.names, **elements}, elements=True)


def element_scope(
    checks: Scope, inputs: Sequence[Field], variables: Mapping[str, TypeVariable], devices: Sequence[str]
) -> Scope:
    """In `elementwise:` the name of an input is its element; only optionals can be asked about."""
    elements: dict[str, Name] = {}
    absent: dict[str, str] = {}
    for field in inputs:
        tensor = field.parsed.type
        if not isinstance(tensor, ParsedTensor):
            continue
        if tensor.list_at is not None and (tensor.element_optional or field.optional):
            absent[field.name] = "lines read lists that are there, and whole"
        elif field.has_word("cpu") and "cuda" in devices:
            absent[field.name] = "it stays on the host, and lines run on a GPU too"
        elif field.has_word("out"):
            absent[field.name] = "it is written and never read"
        else:
            elements[field.name] = Name(field.name, NameKind.ELEMENT, _element_type(tensor, variables))
    subjects = {name: subject for name, subject in checks.subjects.items() if subject.may_be_absent}
    holders = {name: (name,) for name in subjects if name in elements}
    return replace(
        checks,
        names={**checks.names, **elements},
        subjects=subjects,
        absent={**checks.absent, **absent},
        holders={**checks.holders, **holders},
        lines=True,
    )


def _element_type(tensor: ParsedTensor, variables: Mapping[str, TypeVariable]) -> Type:
    """What an element counts as while expressions are read; lines look at each choice of dtypes afterwards."""
    variable = variables.get(tensor.dtype)
    dtypes = variable.dtypes if variable is not None else (tensor.dtype,)
    # What is no dtype was reported.
    categories = {DTYPES[name].category for name in dtypes if name in DTYPES} or {"integral"}
    if categories == {"bool"}:
        return Type.BOOL
    return Type.INT if categories <= {"integral", "bool"} else Type.FLOAT
