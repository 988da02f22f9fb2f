"""What a run-time error text is made of: a sequence of fixed texts and run-time values.

c.py prints it as a printf format with arguments, python.py as an f-string; so the host function and the fake kernel say
the same.

How values are spelled, in both languages: integers in decimal; floats as `float_text`; bools as True and False;
dtypes by their torch name; devices as cuda:0; a shape as [2, 3], strides as (3, 1). Tensors have at most 64 dims
and names and expressions are limited, so the length of every message is bounded.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.expr.tree import Expr, Name, NameKind, Type
from codegen.frozen import dataclass

# Spelled-out values (floats, shapes, dtypes) of one message; the C runtime keeps room for this many.
MAX_SPELLED = 4


@dataclass(frozen=True, slots=True)
class Text:
    """Fixed text."""

    text: str


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression, spelled by its type. Only names and queries: it cannot fail."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """[2, 3]"""

    argument: str


@dataclass(frozen=True, slots=True)
class StridesOf:
    """(1, 8)"""

    argument: str


@dataclass(frozen=True, slots=True)
class StarOf:
    """The dims that a star covers, or the values of a list: [2, 3]"""

    name: str


@dataclass(frozen=True, slots=True)
class ComputedDims:
    """The dims of function of stars number `index`: [2, 3]"""

    index: int


@dataclass(frozen=True, slots=True)
class DimCount:
    """How many dims a star has, and `named` more: a star of an input by its name, a function of stars by its number."""

    star: str | int
    named: int


@dataclass(frozen=True, slots=True)
class DtypeOf:
    """float16"""

    argument: str


@dataclass(frozen=True, slots=True)
class AccDtypeOf:
    """The accumulation dtype of an argument's dtype: float32"""

    argument: str


@dataclass(frozen=True, slots=True)
class DeviceOf:
    """cuda:0"""

    argument: str


@dataclass(frozen=True, slots=True)
class TextOf:
    """A string argument as it came, in double quotes, at most 60 characters of it."""

    argument: str


@dataclass(frozen=True, slots=True)
class RankOf:
    """2"""

    argument: str


@dataclass(frozen=True, slots=True)
class ElementIndex:
    """Where the first offending element of an argument stands: [2], [0, 3], or nothing for a 0-d tensor."""

    argument: str


@dataclass(frozen=True, slots=True)
class ElementValue:
    """The first offending element of an argument."""

    argument: str


@dataclass(frozen=True, slots=True)
class ElementBefore:
    """The element before the first offending one, of offsets."""

    argument: str


@dataclass(frozen=True, slots=True)
class ElementSum:
    """The sum of the elements that a rule is about; `type` is INT or FLOAT."""

    argument: str
    type: Type


@dataclass(frozen=True, slots=True)
class ListIndex:
    """Which tensor of the list `of` a rule is about: 3. `index` is _i, _j for the second of two, or _f for the first
    one that is given.
    """

    index: str
    of: str


Part: TypeAlias = (
    Text
    | ListIndex
    | Value
    | ShapeOf
    | StridesOf
    | StarOf
    | ComputedDims
    | DimCount
    | DtypeOf
    | AccDtypeOf
    | DeviceOf
    | TextOf
    | RankOf
    | ElementIndex
    | ElementValue
    | ElementBefore
    | ElementSum
)


@dataclass(frozen=True, slots=True)
class Message:
    """An error text with holes."""

    parts: tuple[Part, ...]


def float_text(value: float) -> str:
    """How messages spell a float: the shortest of %.6g to %.17g that reads back as the same number, nan without a sign.

    csrc/runtime/error.c and the generated package do the same.
    """
    if value != value:
        return "nan"
    for digits in range(6, 17):
        text = f"{value:.{digits}g}"
        if float(text) == value:
            return text
    return f"{value:.17g}"


def quoted(text: str) -> str:
    """How messages spell a string: in double quotes, cut behind 60 characters, control characters as `?`.

    csrc/runtime/argument.c and the generated package do the same.
    """
    shown = "".join("?" if character < " " or character == "\x7f" else character for character in text[:60])
    return f'"{shown}{"..." if len(text) > 60 else ""}"'


def joined(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Neighbouring texts as one."""
    result: list[Part] = []
    for part in parts:
        last = result[-1] if result else None
        if isinstance(part, Text) and isinstance(last, Text):
            result[-1] = Text(last.text + part.text)
        else:
            result.append(part)
    return tuple(result)


def spelled(text: Message) -> int:
    """How many values of a message are spelled out in memory of their own (everything but integers and bools)."""
    plain = (Type.INT, Type.BOOL, Type.DTYPE)
    return sum(
        not isinstance(part, Text | ListIndex | RankOf | DimCount | DtypeOf | AccDtypeOf)
        and not (isinstance(part, Value) and part.expr.type in plain and not _optional_int(part.expr))
        for part in text.parts
    )


def may_be_absent(expr: Expr) -> bool:
    """Whether a value is that of an optional argument, which is spelled None when it is absent."""
    return isinstance(expr, Name) and expr.kind is NameKind.OPTIONAL


def _optional_int(expr: Expr) -> bool:
    return may_be_absent(expr) and expr.type is Type.INT
