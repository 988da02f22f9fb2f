"""Values of scalar arguments for generated tests: the usual one, others that may break a check, and those for which
results are compared.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.contract import Argument, Default, DimEntry, ScalarType, TensorType
from codegen.expr import names
from codegen.model import Operator

Scalar: TypeAlias = int | float | bool | str | None

FLOATS = (1.0, 0.5, 0.0, -1.0, 2.0)
INTEGERS = (1, 2, 0, -1, 3, 4, 8)
SIZES = (3, 1, 0, 8)


def kind_of(argument: Argument) -> ScalarType:
    """The type of a scalar argument."""
    assert isinstance(argument.type, ScalarType)
    return argument.type


def usual(argument: Argument) -> Scalar:
    """The default, else a value of its type."""
    kind = kind_of(argument)
    if argument.default is None:
        return _some(kind)
    return _default(kind, argument.default)


def _default(kind: ScalarType, default: Default) -> Scalar:
    value = default.value
    assert not isinstance(value, tuple)
    return float(value) if kind.kind == "float" and isinstance(value, int | float) else value


def _some(kind: ScalarType) -> Scalar:
    return {"float": 1.0, "bool": True}.get(kind.kind, 1)


def candidates(argument: Argument) -> tuple[Scalar, ...]:
    """Values worth trying."""
    kind = kind_of(argument)
    given: tuple[Scalar, ...] = {"float": FLOATS, "bool": (True, False)}.get(kind.kind, INTEGERS)
    return (*given, None) if kind.optional else given


def compared(op: Operator, argument: Argument) -> tuple[Scalar, ...]:
    """Values for which results are compared: what `samples:` says, else all that take another road through bodies."""
    kind = kind_of(argument)
    stated = dict(op.samples.sizes).get(argument.name)
    if stated is not None:
        return stated
    if kind.kind == "bool":
        return candidates(argument)
    sizes: tuple[Scalar, ...] = SIZES if argument.name in _in_shapes(op) else ()
    return (*sizes, None, _some(kind)) if kind.optional else sizes


def _in_shapes(op: Operator) -> set[str]:
    """The names in the shapes of inputs and outputs."""
    kinds = [argument.type for argument in op.tensors] + [output.type for output in op.outputs]
    shapes = [kind.shape for kind in kinds if isinstance(kind, TensorType)]
    exprs = [entry.expr for shape in shapes for entry in shape.entries if isinstance(entry, DimEntry)]
    return {name.name for expr in exprs for name in names(expr)}
