"""Where rules look: dims of a shape, what they are compared with, and tensors of a list.

A rule on a tensor of a list names it `xs[0]`, the first one, or `xs[_i]`, each in turn; where the list or what is in it
may be absent, `xs[_f]` is the first one that is given, if there is one. Spec names have no brackets.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.expr.tree import Expr
from codegen.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Index:
    """A position in a shape: `index` counted from the front, or, behind a star, from the back (1 is the last dim)."""

    index: int
    from_back: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The dims that a star covers in an argument: all but `front` leading and `back` trailing ones."""

    argument: str
    front: int
    back: int

    def covered(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Their sizes in a shape of the argument."""
        return shape[self.front : len(shape) - self.back]


@dataclass(frozen=True, slots=True)
class DimCompare:
    """The size at `index` equals `expected`."""

    index: Index
    expected: Expr


@dataclass(frozen=True, slots=True)
class StarCompare:
    """The dims `span` of this argument equal those of the star `name` in number and in each size."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class ComputedCompare:
    """The dims `span` of this argument equal function of stars number `index`."""

    index: int
    span: Span


Comparison: TypeAlias = DimCompare | StarCompare | ComputedCompare


def first_of(name: str) -> str:
    """The first tensor of a list."""
    return f"{name}[0]"


def each_of(name: str) -> str:
    """Each tensor of a list in turn."""
    return f"{name}[_i]"


def first_given_of(name: str) -> str:
    """The first tensor of a list that is given."""
    return f"{name}[_f]"


def list_of(tensor: str) -> str:
    """The argument that a tensor is, or is in."""
    return tensor.partition("[")[0]
