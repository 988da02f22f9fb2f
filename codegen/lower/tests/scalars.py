"""Values of scalar arguments for generated tests: the usual one, others that may break a check, and those for which
results are compared.

A list is a tuple. What a dtype(Q) and a device are follows from the dtypes and the device of a call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from codegen.contract import Argument, ScalarType, StarEntry, TensorType, numbers_in
from codegen.expr.tree import names
from codegen.messages.python import python_string
from codegen.messages.sentences import MAX_TEXT
from codegen.model import Operator
from codegen.rules import ChoiceRule, LengthRule, SizesRule, TextRule

Number: TypeAlias = int | float | bool
Scalar: TypeAlias = Number | str | tuple[Number, ...] | None

FLOATS = (1.0, 0.5, 0.0, -1.0, 2.0)
INTEGERS = (1, 2, 0, -1, 3, 4, 8)
BOOLS = (True, False)
SIZES = (3, 1, 0, 8)
TEXTS = ("ab", "", "\xe9\u20ac" * 40, "x" * MAX_TEXT)
DTYPES = ("float32", "int64", "bool")
USUAL_LENGTH = 2
MOST_VALUES = 64  # of a list that a check asks for
LENGTHS = (2, 0, 1, 3, 5)


def kind_of(argument: Argument) -> ScalarType:
    """The type of a scalar argument."""
    assert isinstance(argument.type, ScalarType)
    return argument.type


def sampled(op: Operator) -> Iterator[Argument]:
    """The scalar arguments that have a value of their own."""
    for argument in op.scalars:
        if kind_of(argument).kind != "device" and not kind_of(argument).variable:
            yield argument


def optional_dtypes(op: Operator) -> Iterator[str]:
    """The dtype(Q) arguments that may be absent."""
    for argument in op.scalars:
        if kind_of(argument).variable and kind_of(argument).optional:
            yield argument.name


def usual_scalar(argument: Argument) -> Scalar:
    """The default, else a value of its type."""
    kind = kind_of(argument)
    if argument.default is None:
        return _given(kind)[0]
    value = argument.default.value
    if isinstance(value, tuple):
        return tuple(item for item in value if isinstance(item, int | float))
    return float(value) if kind.kind == "float" and isinstance(value, int | float) else value


def candidates(argument: Argument) -> tuple[Scalar, ...]:
    """Values worth trying."""
    kind = kind_of(argument)
    return (*_given(kind), None) if kind.optional else _given(kind)


def _given(kind: ScalarType) -> tuple[Scalar, ...]:
    if kind.is_list:
        lengths = LENGTHS if kind.length is None else (kind.length,)
        found = [_list(kind, length, 0) for length in lengths]
        return (*found, _list(kind, USUAL_LENGTH if kind.length is None else kind.length, 3))
    others: dict[str, tuple[Scalar, ...]] = {"choice": kind.choices, "str": TEXTS, "dtype": DTYPES}
    return others.get(kind.kind, _numbers(kind))


def beside(argument: Argument, number: int) -> tuple[Scalar, ...]:
    """A number that a check names as the value of an argument, or as the length of a list."""
    kind = kind_of(argument)
    if kind.is_list:
        return (_list(kind, number, 0),) if kind.length is None and 0 <= number <= MOST_VALUES else ()
    return {"float": (float(number),), "int": (number,), "size": (number,)}.get(kind.kind, ())


def _numbers(kind: ScalarType) -> tuple[Number, ...]:
    return {"float": FLOATS, "bool": BOOLS}.get(kind.kind, INTEGERS)


def _list(kind: ScalarType, length: int, start: int) -> tuple[Number, ...]:
    """So many numbers; those from the fourth on may be negative."""
    numbers = (2, 3, 1, -2, 4) if kind.kind in ("int", "size") else _numbers(kind)
    return tuple(numbers[(start + i) % len(numbers)] for i in range(length))


def compared(op: Operator, argument: Argument) -> tuple[Scalar, ...]:
    """Values for which results are compared: what `samples:` says, else all that go another way through bodies."""
    stated = dict(op.samples.sizes).get(argument.name)
    if stated is not None:
        return stated
    kind = kind_of(argument)
    if kind.kind in ("bool", "choice", "str", "dtype") or kind.is_list:
        return candidates(argument)
    sizes: tuple[Scalar, ...] = SIZES if argument.name in _in_shapes(op) else ()
    return (*sizes, None, _given(kind)[0]) if kind.optional else sizes


def _in_shapes(op: Operator) -> set[str]:
    """The names in the shapes of inputs and outputs."""
    kinds = [argument.type for argument in op.tensors] + [output.type for output in op.outputs]
    entries = [entry for kind in kinds if isinstance(kind, TensorType) for entry in kind.shape.entries]
    found = {name.name for entry in entries for expr in numbers_in(entry) for name in names(expr)}
    return found | {entry.name for entry in entries if isinstance(entry, StarEntry)}


def breaking(rule: ChoiceRule | TextRule | LengthRule | SizesRule) -> tuple[Scalar, ...]:
    """Values that break a rule on an argument alone."""
    match rule:
        case ChoiceRule():
            word = max(rule.choices, key=len)
            return (word + "s", "", "\x01" + "\xe9\u20ac" * 200)
        case TextRule():
            return ("x" * (MAX_TEXT + 1), "a\0b")
        case SizesRule():
            return ((2, -1),)
    number: Number = {"float": 0.5, "bool": True}.get(rule.kind, 1)
    return ((number,) * (rule.length + 1),)


def literal(scalar: Scalar, kind: ScalarType) -> str:
    """A value as generated tests write it."""
    if isinstance(scalar, str):
        return f'Dtype("{scalar}")' if kind.kind == "dtype" else _text(scalar)
    return repr(list(scalar)) if isinstance(scalar, tuple) else repr(scalar)


def _text(text: str) -> str:
    """A string; one that repeats itself to its end as a product."""
    for start, unit in ((0, 1), (1, 2)):
        count = (len(text) - start) // unit
        if count > 20 and text[start:] == text[start : start + unit] * count:
            first = f"{python_string(text[:start])} + " if start else ""
            return f"{first}{python_string(text[start : start + unit])} * {count}"
    return python_string(text)
