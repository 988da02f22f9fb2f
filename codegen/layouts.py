"""What the words after a type say about memory: which views a body takes as they are, and which strides are its own
to read.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.contract import Argument, DimEntry, Output, Shape, TensorType, Word
from codegen.frozen import dataclass

# Words of inputs that choose among the ways in which memory may lie; there is one of them at most.
POLICIES = ("contiguous", "rows", "inner", "strided")


@dataclass(frozen=True)
class Layout:
    """How a tensor may lie where a body sees it.

    policy: "" (contiguous, or a copy that is), or one of POLICIES; an input that is only to `expand`, and an output
    `like` another tensor, are "strided".
    """

    policy: str
    inner: int = 0  # trailing dims that are contiguous among themselves
    expand: bool = False

    @property
    def free(self) -> bool:
        """Whether each dim has a stride of its own, which the body reads."""
        return self.policy in ("inner", "strided")


def layout(words: Sequence[Word]) -> Layout:
    """The layout that the words after a type ask for."""
    expand = any(word.name == "expand" for word in words)
    if any(word.name == "like" for word in words):
        return Layout("strided")
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


def tables(tensors: Sequence[Argument | Output]) -> dict[str, str]:
    """The tensors whose sizes and strides are tables: their strides are free, and their shape has a star.

    Each with the one that has the sizes of both: the first input of the same shape that is always given, or itself.
    """
    shapes: dict[str, Shape] = {}
    owners: dict[Shape, str] = {}
    for tensor in tensors:
        kind = tensor.type
        alone = isinstance(kind, TensorType) and not kind.is_list
        if isinstance(kind, TensorType) and alone and layout(tensor.words).free and rank(kind.shape) is None:
            shapes[tensor.name] = kind.shape
            if isinstance(tensor, Argument) and not kind.optional:
                owners.setdefault(kind.shape, tensor.name)
    return {name: owners.get(shape, name) for name, shape in shapes.items()}


def rank(shape: Shape) -> int | None:
    """The number of dims, where it is the same in every call."""
    entries = shape.entries
    return len(entries) if all(isinstance(entry, DimEntry) for entry in entries) else None
