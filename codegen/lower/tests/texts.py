"""What a wrong call says, filled in from messages/sentences.py and the sizes of the call, and not by the printers that
are tested with it.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.contract import ScalarType
from codegen.expr.tree import Expr, Name, Query, Type
from codegen.frozen import dataclass
from codegen.lower.sample import Sample
from codegen.lower.tests.scalars import Scalar
from codegen.lower.tests.values import Number
from codegen.messages.parts import (
    AccDtypeOf,
    ComputedDims,
    DeviceOf,
    DimCount,
    DtypeOf,
    ElementBefore,
    ElementIndex,
    ElementSum,
    ElementValue,
    Message,
    Part,
    RankOf,
    ShapeOf,
    StarOf,
    StridesOf,
    Text,
    TextOf,
    Value,
    float_text,
    quoted,
)
from codegen.positions import Span
from codegen.rules import ComputeStar, plain
from codegen.types import DTYPES


@dataclass(frozen=True)
class WrongTensor:
    """A tensor of a wrong call. `other_device`: it is not on the device of the others. `elements` and `strides` are
    empty where they do not matter.
    """

    dtype: str
    shape: tuple[int, ...]
    other_device: bool = False
    elements: tuple[Number, ...] = ()
    strides: tuple[int, ...] = ()


@dataclass(frozen=True)
class Broken:
    """What a message tells of elements: where the wrong one stands in row-major order, which one it is, and the one
    before it or the sum of all.
    """

    place: int = 0
    element: Number = 0
    other: Number = 0


class WrongCall:
    """The usual call with some tensors and scalar arguments replaced, as messages see it."""

    def __init__(
        self,
        sample: Sample,
        replaced: dict[str, WrongTensor],
        broken: Broken | None = None,
        scalars: Mapping[str, Scalar] | None = None,
    ) -> None:
        self.sample, self.replaced, self.broken, self.scalars = sample, replaced, broken or Broken(), scalars or {}

    def dtype(self, name: str) -> str:
        kind = self.sample.op.argument(name).type
        if isinstance(kind, ScalarType):
            return str(self.scalars[name]) if name in self.scalars else self.sample.dtypes[kind.variable]
        return self.replaced[name].dtype if name in self.replaced else self.sample.dtype_of(name)

    def shape(self, name: str) -> tuple[int, ...]:
        return self.replaced[name].shape if name in self.replaced else self.sample.shapes()[name]

    def covered(self, span: Span) -> tuple[int, ...]:
        """The sizes that a star covers."""
        return span.covered(self.sample.shapes()[span.argument])

    def computed(self, number: int) -> tuple[int, ...]:
        """The sizes of a function of stars."""
        rules = {rule.index: rule.entry for rule in map(plain, self.sample.op.rules) if isinstance(rule, ComputeStar)}
        return self.sample.star(rules[number]) or ()

    def text(self, text: Message) -> str:
        return "".join(self.part(part) for part in text.parts)

    def part(self, part: Part) -> str:
        match part:
            case Text():
                return part.text
            case ShapeOf():
                return str(list(self.shape(part.argument)))
            case StridesOf():
                return str(self.replaced[part.argument].strides)
            case StarOf():
                return str(list(self.star(part.name)))
            case ComputedDims():
                return str(list(self.computed(part.index)))
            case DimCount():
                star = part.star
                return str(len(self.computed(star) if isinstance(star, int) else self.star(star)) + part.named)
            case DtypeOf():
                return self.dtype(part.argument)
            case AccDtypeOf():
                return DTYPES[self.dtype(part.argument)].acc
            case TextOf():
                return quoted(str(self.scalar(part.argument)))
            case DeviceOf() if part.argument in self.scalars:
                return str(self.scalar(part.argument))
            case DeviceOf():
                return "{other}" if part.argument in self.replaced else "{device}"
            case RankOf():
                return str(len(self.shape(part.argument)))
            case ElementIndex():
                return _place_text(self.broken.place, self.shape(part.argument))
            case ElementValue():
                return number_text(self.broken.element)
            case ElementBefore() | ElementSum():
                return number_text(self.broken.other)
            case Value():
                return self.value(part.expr)
        raise ValueError(f"{part} is not built yet")

    def scalar(self, name: str) -> Scalar:
        return self.scalars[name] if name in self.scalars else self.sample.scalars[name]

    def star(self, name: str) -> tuple[Number, ...]:
        size = self.sample.size(name) if name in self.sample.dims else self.scalar(name)
        assert isinstance(size, tuple)
        return size

    def value(self, expr: Expr) -> str:
        if isinstance(expr, Query) and expr.function == "len" and expr.subject in self.sample.scalars:
            values = self.scalar(expr.subject)
            assert isinstance(values, tuple)
            return str(len(values))
        if expr.type is Type.DTYPE and isinstance(expr, Name):
            return self.sample.dtypes[expr.name]
        if isinstance(expr, Name) and expr.name in self.sample.scalars and self.sample.scalars[expr.name] is None:
            return "None"
        value = self.sample.value(expr)
        if expr.type is Type.STR:
            return quoted(str(value))
        return number_text(value) if isinstance(value, int | float) else str(value)


def number_text(value: Number) -> str:
    """How messages spell a number or a bool."""
    return float_text(value) if isinstance(value, float) else str(value)


def _place_text(place: int, shape: tuple[int, ...]) -> str:
    """[0, 3]"""
    index: list[int] = []
    for size in reversed(shape):
        index.append(place % size)
        place //= size
    return str(index[::-1]) if shape else ""
