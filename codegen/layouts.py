"""What the words after a type say about memory: which views a body takes as they are, and which strides are its own
to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.contract import Argument, DimEntry, Shape, TensorType, Word

# Words of inputs that choose among the ways in which memory may lie; there is one of them at most.
POLICIES = ("contiguous", "rows", "inner", "strided")


@dataclass(frozen=True)
class Layout:
    """How an input may lie where a body sees it.

    policy: "" (contiguous, or a copy that is), or one of POLICIES; an input that is only to `expand` is "strided".
    """

    policy: str
    inner: int = 0  # trailing dims that are contiguous among themselves
    expand: bool = False

    @property
    def free(self) -> bool:
        """Whether each dim has a stride of its own, which the body reads."""
        return self.policy in ("inner", "strided")


def layout(words: Sequence[Word]) -> Layout:
    """The layout that the words after the type of an input ask for."""
    expand = any(word.name == "expand" for word in words)
    for word in words:
        if word.name in POLICIES:
            inner = word.argument if isinstance(word.argument, int) else 1
            return Layout(word.name, inner if word.name == "inner" else 0, expand)
    return Layout("strided" if expand else "", 0, expand)


def facts(name: str, asked: Layout, has_star: bool, dims: int) -> tuple[str, ...]:
    """The names under which a body finds what it needs to know of a tensor's memory; `dims` counts the entries of its
    shape.
    """
    if asked.policy == "rows" or (asked.free and not has_star and dims):
        return (f"{name}_stride",)
    return (f"{name}_dim", f"{name}_size", f"{name}_stride") if asked.free and has_star else ()


def tables(arguments: Sequence[Argument]) -> dict[str, str]:
    """The tensors whose sizes and strides are tables: their strides are free, and their shape has a star.

    Each with the one that has the sizes of both: the first of the same shape that is always given, or itself.
    """
    shapes = {
        argument.name: argument.type
        for argument in arguments
        if isinstance(argument.type, TensorType) and layout(argument.words).free and rank(argument.type.shape) is None
    }
    owners: dict[Shape, str] = {}
    for name, kind in shapes.items():
        if not kind.optional:
            owners.setdefault(kind.shape, name)
    return {name: owners.get(kind.shape, name) for name, kind in shapes.items()}


def rank(shape: Shape) -> int | None:
    """The number of dims, where it is the same in every call."""
    entries = shape.entries
    return len(entries) if all(isinstance(entry, DimEntry) for entry in entries) else None
