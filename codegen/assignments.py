"""Rules of a call that check nothing: each gives a name of the spec its value. Where a value can leave 64 bits, that is
an error of its own.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.expr.tree import Expr
from codegen.frozen import dataclass
from codegen.positions import Index, Span


@dataclass(frozen=True, slots=True)
class FirstDtype:
    """`variable`, which no given argument binds, takes the dtype of `first`, an earlier variable."""

    variable: str
    first: str


@dataclass(frozen=True, slots=True)
class BindDim:
    """The dim `name` takes the size of `argument` at `index`."""

    name: str
    argument: str
    index: Index


@dataclass(frozen=True, slots=True)
class BindStar:
    """The star `name` takes the dims `span`; its number is their product (overflow is an error)."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Derive:
    """The name of `dims:` takes the value of `expr` (overflow is an error)."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class BindDynamic:
    """The size `name` of outputs is `value` at most, or exactly where `given` holds; else it is known only
    after the kernel ran (overflow is an error).
    """

    name: str
    value: Expr
    bound: Expr
    given: Expr | None
    text: str


@dataclass(frozen=True, slots=True)
class Decide:
    """The output `output` is there where `condition` holds (overflow is an error)."""

    output: str
    condition: Expr
    text: str


Assignment: TypeAlias = FirstDtype | BindDim | BindStar | Derive | BindDynamic | Decide
