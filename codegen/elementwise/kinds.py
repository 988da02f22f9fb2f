"""What the lines of `elementwise:` compute: functions, kinds of numbers, and the form of a program.

An operand enters in the accumulation type of its dtype. Kinds promote bool < int64 < float32 < float64 < complex where
two meet; float64 and complex64 make complex128. Literals, `float` arguments and what divisions and functions make of
integers are floats without a width of their own (WEAK): they take that of the float they meet, else that of the output
that they are stored in, else float64.

A program is a list of values, each computed once however often it is used; build.py makes it, and its printers
are in lower/.
"""

from __future__ import annotations

import dataclasses
from enum import IntEnum

from codegen.frozen import dataclass
from codegen.types import DTYPES

# Functions of one float that give a float.
FLOAT_FUNCTIONS = (
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log1p",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "tanh",
    "erf",
    "sin",
    "cos",
)
# Functions that give whole numbers; round goes to the even one of two that are as near.
WHOLE_FUNCTIONS = ("floor", "ceil", "trunc", "round")
TESTS = ("isnan", "isinf", "isfinite")
# Parts of a complex number; of a real one it is the number itself, and 0.
PARTS = ("real", "imag")
# Functions of a complex number that give a real one.
TO_REAL = ("abs", *PARTS)
# Times the imaginary unit: no line can say it, and the derivative of imag does.
TIMES_I = "times_i"
# What takes complex numbers, beside tests.
COMPLEX_FUNCTIONS = (
    *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sigmoid", "tanh", "sin", "cos"),
    *(*TO_REAL, "sign", "conj", TIMES_I),
)
# Everything that can be called in a line beside min and max -> its number of arguments.
FUNCTIONS: dict[str, int] = {
    **dict.fromkeys((*FLOAT_FUNCTIONS, *WHOLE_FUNCTIONS, *TESTS, *PARTS, "abs", "sign", "conj", "saturate"), 1),
    "pow": 2,
    "where": 3,
    "clamp": 3,
}


class Kind(IntEnum):
    """The kinds of numbers, in order of promotion."""

    BOOL = 0
    INT = 1
    WEAK = 2
    F32 = 3
    F64 = 4
    C64 = 5
    C128 = 6


REAL = (Kind.F32, Kind.F64)
COMPLEX = (Kind.C64, Kind.C128)
_OF_ACC = {
    "int64": Kind.INT,
    "float32": Kind.F32,
    "float64": Kind.F64,
    "complex64": Kind.C64,
    "complex128": Kind.C128,
}


def kind_of(dtype: str) -> Kind:
    """What an operand of this dtype enters as."""
    return Kind.BOOL if dtype == "bool" else _OF_ACC[DTYPES[dtype].acc]


def joint(*kinds: Kind) -> Kind:
    """The kind that numbers of these become where they meet."""
    widest = max(kinds)
    return Kind.C128 if widest is Kind.C64 and Kind.F64 in kinds else widest


def real_of(kind: Kind) -> Kind:
    """The kind of the parts of a complex number; other kinds are their own."""
    return {Kind.C64: Kind.F32, Kind.C128: Kind.F64}.get(kind, kind)


def complex_of(kind: Kind) -> Kind:
    """The complex numbers whose parts are of this kind."""
    return Kind.C64 if kind in (Kind.F32, Kind.C64) else Kind.C128


class KindProblem(Exception):
    """A line that means nothing for some choice of dtypes."""

    def __init__(self, text: str, hint: str = "") -> None:
        self.text = text
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Value:
    """One step of a program.

    `op` is "load" (an operand, `name`), "uniform" (a scalar argument or dim, `name`), "given", "word" (whether the
    choice `name` is `word`), "constant" (`number`), "convert", "select", an operator, or a function. Uniform values are
    the same for every element.
    """

    op: str
    kind: Kind
    operands: tuple[int, ...] = ()
    name: str = ""
    number: int | float | bool = 0
    uniform: bool = False
    word: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """The value that a line writes to its target; `whole`: a float that is stored as an integer."""

    target: str
    dtype: str
    value: int
    whole: bool = False


@dataclasses.dataclass
class Program:
    """What one call of an operator computes for each element, for one choice of dtypes."""

    values: list[Value] = dataclasses.field(default_factory=list)
    stores: list[Store] = dataclasses.field(default_factory=list)

    def kinds(self) -> frozenset[Kind]:
        """The kinds of what differs from element to element."""
        return frozenset(value.kind for value in self.values if not value.uniform)

    def needed(self, store: Store) -> frozenset[int]:
        """The values that a line depends on."""
        return self.behind(store.value)

    def behind(self, value: int) -> frozenset[int]:
        """A value and all that it depends on."""
        found: set[int] = set()
        waiting = [value]
        while waiting:
            index = waiting.pop()
            if index not in found:
                found.add(index)
                waiting += self.values[index].operands
        return frozenset(found)
