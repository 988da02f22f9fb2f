"""Gradient operators that are derived, and what they must not be called like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen import names
from codegen.check.arguments import check_constants
from codegen.check.elementwise import size_problem
from codegen.elementwise import derive_operators
from codegen.frozen import dataclass, replace
from codegen.load import Scalar
from codegen.model import Operator
from codegen.reader import Reader

_OTHERWISE = "or say backward: <operator>, or differentiable: false"


@dataclass(frozen=True)
class _Taken:
    """Names of the spec over the whole library: its operators, and its kernels with whose they are."""

    operators: frozenset[str]
    kernels: Mapping[str, str]


def with_gradients(read: Reader, operators: Sequence[Operator], places: Mapping[str, Scalar]) -> list[Operator]:
    """The operators, each element-wise one followed by its gradient and the gradient of that."""
    taken = _Taken(
        frozenset(op.name for op in operators), {one.kernel: op.name for op in operators for one in op.passes}
    )
    found: list[Operator] = []
    for op in operators:
        if not derive_operators.differentiable(op):
            found.append(op)
        elif derive_operators.never_differentiable(op):
            found.append(replace(op, differentiable=False))
        else:
            found += _derived(read.within(op.name), op, taken, places[op.name])
    return found


def origin(op: Operator, operators: Mapping[str, Operator]) -> str:
    """The operator of the spec that an operator belongs to."""
    while op.derived_from:
        op = operators[op.derived_from]
    return op.name


def _derived(read: Reader, op: Operator, taken: _Taken, place: Scalar) -> list[Operator]:
    """An operator with its gradient and the gradient of that, as far as they can be derived."""
    try:
        first = _derive(op)
        second = _derive(first.operator) if first is not None else None
    except derive_operators.TwoMeanings as problem:
        read.error(place, str(problem), f"give it another name, {_OTHERWISE}")
        return [op]
    if first is None:
        return [op]
    found = [replace(first.operator, backward=second.backward if second else None)]
    found += [second.operator] if second else []
    for one in found:
        _collisions(read, place, one, taken)
    return [replace(op, backward=first.backward), *found]


def _derive(op: Operator) -> derive_operators.Derived | None:
    """The gradient of an operator, where it can be derived and its loops can take its operands."""
    derived = derive_operators.derive(op)
    return None if derived is None or size_problem(derived.operator) else derived


def _collisions(read: Reader, place: Scalar, op: Operator, taken: _Taken) -> None:
    """Names that must be distinct over the whole library, as library.py looks at them for operators of the spec."""
    called = f'its gradient is derived and called "{op.name}"'
    if op.name in taken.operators:
        read.error(place, f"{called}, and there is an operator of that name", f"for instance backward: {op.name}")
    elif op.name in taken.kernels:
        read.error(
            place, f"{called}, and so is a kernel of {taken.kernels[op.name]}", f"rename one of them, {_OTHERWISE}"
        )
    for suffix in names.OPERATOR_SUFFIXES:
        if op.name + suffix in taken.operators:
            text = f"{called}, and generated code for that uses the name of the operator {op.name}{suffix}"
            read.error(place, text, f"rename one of them, {_OTHERWISE}")
    check_constants(read, place, op, taken.operators | {op.name})
