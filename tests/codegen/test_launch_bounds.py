"""How many threads the compiler is told that a block has at most."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from codegen.commands.project import RENDERER
from codegen.lower import operator_files
from codegen.model import Library

SPEC = """
namespace: demo
ops:
  f:
    types: {{T: float32}}
    inputs: {{x: "T[*rows, n]"}}
    outputs: {{y: "T[*rows, n]"}}
    dims:
      few: max(32, min(256, next_pow2(n)))
      many: max(few, n)
    launch: {{grid: rows, block: "{block}"}}
"""


@pytest.mark.parametrize(
    ("block", "bound"),
    [
        ("128", 128),
        ("min(n, 512)", 512),
        ("few", 256),
        ("min(few, 64)", 64),
        ("max(few, 512)", 512),
        ("many", 1024),
        ("round_up(few, 32)", 1024),
        ("n", 1024),
    ],
)
def test_bounds(library: Callable[[str], Library], block: str, bound: int) -> None:
    """Of a number, of the least of some, of the largest where all have one, of what stands in `dims:`."""
    found = library(SPEC.format(block=block))
    texts = [RENDERER.render(one.template, one.view).decode() for one in operator_files(found, found.operators[0])]
    assert re.findall(r"__launch_bounds__\((\w+)\)", "".join(texts)) == [str(bound)]
