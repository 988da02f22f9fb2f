"""What `batch:` says of each tensor of a call: where the dim is along which results are independent.

A backward operator has the batch of the operator whose gradient it is: where rows of y depend on rows of x alone, so do
rows of the gradient of x on rows of that of y, and the gradient of what has no rows is a sum over them.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.contract import Argument, DimEntry, Output, Shape, ShapeEntry, StarEntry, TensorType, names_of
from codegen.expr.tree import Name
from codegen.frozen import dataclass
from codegen.model import Library, Operator


@dataclass(frozen=True)
class Place:
    """Where a shape has the dim: its index, from the end where a star stands before it. `others`: the dims of a tensor
    besides those of a star.
    """

    index: int
    others: int


@dataclass(frozen=True)
class Batch:
    """`dim` of `batch:`, a star or one dim. What is not in `arguments`, and None in `outputs`, has no such dim."""

    dim: str
    star: bool
    arguments: Mapping[str, Place]
    broadcast: tuple[str, ...]  # arguments that are: they may lack the dim, or have one of it
    outputs: tuple[Place | None, ...]


def batch_of(library: Library, op: Operator) -> Batch | None:
    """The batch along which calls of an operator can be joined, if there is one; a star rather than a dim."""
    if op.random or op.dynamic or any(one.keyword_only for one in op.tensors):
        return None
    found = [batch for dim in batch_dims(library, op) if (batch := _batch(op, dim)) is not None]
    return next((batch for batch in found if batch.star), found[0] if found else None)


def batch_dims(library: Library, op: Operator, behind: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The names in `batch:`, or those of every operator whose gradient this one is, be it a gradient of a gradient; an
    operator `behind` which this one is asked for can be one of them.
    """
    if op.batch:
        return op.batch
    behind |= {op.name}
    forwards = [batch_dims(library, one, behind) for one in library.forwards_of(op.name) if one.name not in behind]
    known = {dim.name for dim in op.dims}
    return tuple(
        dim for dim in (forwards[0] if forwards else ()) if dim in known and all(dim in one for one in forwards)
    )


def _batch(op: Operator, dim: str) -> Batch | None:
    """None where a shape has the dim in an expression, or twice: joined calls would have other sizes there."""
    arguments: dict[str, Place] = {}
    for argument in op.tensors:
        if _is_used_otherwise(argument, dim):
            return None
        place = _place(argument, dim)
        if place is not None:
            arguments[argument.name] = place
    if any(_is_used_otherwise(output, dim) for output in op.outputs):
        return None
    star = any(_is_star(argument, dim) for argument in op.tensors)
    broadcast = tuple(one.name for one in op.tensors if one.name in arguments and one.has_word("expand"))
    return Batch(dim, star, arguments, broadcast, tuple(_place(output, dim) for output in op.outputs))


def _shape(tensor: Argument | Output) -> Shape:
    assert isinstance(tensor.type, TensorType)
    return tensor.type.shape


def _is_star(tensor: Argument | Output, dim: str) -> bool:
    return any(isinstance(entry, StarEntry) and entry.name == dim for entry in _shape(tensor).entries)


def _is_dim(entry: ShapeEntry, dim: str) -> bool:
    if isinstance(entry, DimEntry):
        return isinstance(entry.expr, Name) and entry.expr.name == dim
    return isinstance(entry, StarEntry) and entry.name == dim


def _place(tensor: Argument | Output, dim: str) -> Place | None:
    entries = _shape(tensor).entries
    for index, entry in enumerate(entries):
        if _is_dim(entry, dim):
            behind_star = not all(isinstance(before, DimEntry) for before in entries[:index])
            others = sum(isinstance(other, DimEntry) for other in entries)
            return Place(index - len(entries) if behind_star else index, others)
    return None


def _is_used_otherwise(tensor: Argument | Output, dim: str) -> bool:
    naming = [entry for entry in _shape(tensor).entries if dim in names_of(entry)]
    return len(naming) > 1 or not all(_is_dim(entry, dim) for entry in naming)
