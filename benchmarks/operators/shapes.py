"""The named shapes that operators are measured at, in the order in which a run takes them.

- wide: 64 million elements (134 MB in bfloat16), whole vectors a row.
- odd: as many, rows that are no whole vectors, or an odd number of heads.
- decode: one to 64 rows, what generating a token gives; few: some hundred.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..cuda_cases import Shape

ELEMENTS = 64 << 20
TINY = 1 << 12  # elements of a dry run
COMPILED = ("wide 256", "wide 1024", "wide 4096", "wide 16384", "few 256 x 4096", "decode 1 x 4096")


@dataclass(frozen=True)
class Named:
    """A shape under its name: `wide 4096`, `decode 16 x 4096`."""

    name: str
    shape: Shape

    @property
    def group(self) -> str:
        return self.name.split()[0]


def _all(wide: list[int], odd: list[int], rows: dict[str, list[tuple[int, int]]]) -> list[Named]:
    found = [
        Named(f"{group} {n}", Shape(ELEMENTS // n, n))
        for group, widths in (("wide", wide), ("odd", odd))
        for n in widths
    ]
    return found + [Named(f"{group} {m} x {n}", Shape(m, n)) for group, pairs in rows.items() for m, n in pairs]


DECODE = [(1, 4096), (4, 4096), (16, 4096), (64, 4096), (1, 8192), (64, 8192)]
ROWS = _all(
    [64, 128, 256, 512, 1024, 2048, 4096, 5120, 8192, 16384, 32768, 65536],
    [65, 1000, 4097, 12345, 50257],
    {"few": [(256, 4096)], "decode": DECODE},
)
# n is the columns of all heads of 128
HEADS = _all(
    [256, 512, 1024, 2048, 4096, 5120, 8192, 12288, 16384, 32768, 65536],
    [384, 896, 3200],
    {"few": [(256, 4096), (1024, 4096), (512, 5120), (2048, 8192)], "decode": DECODE},
)
# n is the elements of each tensor
LISTS = _all(
    [1 << bits for bits in range(16, 27)],
    [4097, 65537, 1000003, 12345677],
    {"few": [(256, 4096), (64, 65536), (16, 1 << 20), (300, 1000)], "decode": [(1, 4096), (16, 4096), (64, 4096)]},
)
OF_OPERATOR = {"rope": HEADS, "adamw_step": LISTS, "global_norm": LISTS}


def shapes_of(operator: str, tiny: bool = False) -> list[Named]:
    """Those of an operator; `tiny`: with few elements each, for a dry run."""
    found = OF_OPERATOR.get(operator, ROWS)
    return (
        [Named(s.name, Shape(max(1, min(s.shape.rows, TINY // s.shape.n)), s.shape.n)) for s in found]
        if tiny
        else found
    )


def chosen(named: list[Named], words: Sequence[str]) -> list[Named]:
    """Those that a word names: a group, or a whole name; all without a word."""
    return [shape for shape in named if not words or shape.group in words or shape.name in words]
