"""What words after a type say about memory, and what the call record holds for it."""

from __future__ import annotations

import pytest

from codegen.contract import Argument, DimEntry, FixedDtype, Shape, StarEntry, TensorType, Word
from codegen.expr.tree import Name, NameKind, Type
from codegen.layouts import Layout, facts, layout, tables

N = DimEntry(Name("n", NameKind.DIM, Type.INT), "n")
ROWS = Shape((StarEntry("rows", "*rows"), N))


def argument(name: str, word: str, shape: Shape = ROWS, optional: bool = False) -> Argument:
    return Argument(name, TensorType(FixedDtype("float32"), shape, optional), words=(Word(word),))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), Layout("")),
        ((Word("cpu"), Word("rows")), Layout("rows")),
        ((Word("inner", 1),), Layout("inner", 1)),
        ((Word("inner", 2), Word("expand")), Layout("inner", 2, expand=True)),
        ((Word("expand"),), Layout("strided", expand=True)),
        ((Word("expand"), Word("rows")), Layout("rows", expand=True)),
        ((Word("like", "x"), Word("saved")), Layout("strided")),
        ((Word("fill", 0), Word("transposed")), Layout("")),
    ],
)
def test_words(words: tuple[Word, ...], expected: Layout) -> None:
    assert layout(words) == expected


def test_facts() -> None:
    assert facts("x", Layout("rows"), True, 2) == ("x_stride",)
    assert facts("x", Layout("strided"), False, 2) == ("x_stride",)
    assert facts("x", Layout("inner", 1), True, 2) == ("x_dim", "x_size", "x_stride")
    assert facts("x", Layout("strided"), False, 0) == ()
    assert facts("x", Layout(""), True, 2) == ()


def test_sizes_in_common() -> None:
    """An input that may be absent has no sizes to lend; one without a star needs none."""
    found = tables(
        [
            argument("bias", "expand", optional=True),
            argument("x", "strided"),
            argument("z", "inner"),
            argument("w", "strided", Shape((N,))),
            argument("v", "rows"),
            argument("s", "strided", Shape((StarEntry("rows", "*rows"),)), optional=True),
        ]
    )
    assert found == {"bias": "x", "x": "x", "z": "x", "s": "s"}
