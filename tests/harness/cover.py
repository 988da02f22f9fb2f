"""Few combinations of the values of several axes in which any two values of two axes meet at least once.

A greedy cover, the same in every process. Some values exclude one another; two that meet in no combination at all need
not meet in the cover either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Axes = Mapping[str, Sequence[Any]]  # the values of each axis, those that cost least first
Excluded = Callable[[str, Any, str, Any], bool]  # whether a value of one axis excludes one of another
Combination = dict[str, Any]


class Cover:
    """Values are counted within their axis; a set of them is the bits of a number."""

    def __init__(self, axes: Axes, excluded: Excluded) -> None:
        self.names = list(axes)
        self.values = [list(values) for values in axes.values()]
        count = len(self.names)
        self.whole = [(1 << len(values)) - 1 for values in self.values]
        # fits[i][a][j]: the values of axis j that value a of axis i does not exclude
        self.fits = [
            [[self._fitting(i, a, j, excluded) for j in range(count)] for a in self._all(i)] for i in range(count)
        ]
        # missing[i][a][j]: those of axis j that value a of axis i has yet to meet
        self.missing = [[[0] * count for _ in self._all(i)] for i in range(count)]

    def _all(self, axis: int) -> range:
        return range(len(self.values[axis]))

    def _fitting(self, i: int, a: int, j: int, excluded: Excluded) -> int:
        if i == j:
            return 1 << a
        one, names, bits = self.values[i][a], (self.names[i], self.names[j]), 0
        for b, other in enumerate(self.values[j]):
            both = excluded(names[0], one, names[1], other) or excluded(names[1], other, names[0], one)
            bits |= (not both) << b
        return bits

    def product(self) -> Iterator[Combination]:
        """Every combination."""
        yield from map(self._named, self._completions({}, list(self.whole)))

    def pairwise(self) -> Iterator[Combination]:
        """The cover. Pairs with the last values of the first axis come first, so that these, which cost most, are in
        as few combinations as can be.
        """
        count = len(self.names)
        if count == 1:
            yield from self.product()
        for i in range(count):
            for a in self._all(i):
                for j in range(count):
                    for b in _members(self.fits[i][a][j]) if j != i else ():
                        self.missing[i][a][j] |= self._meet(i, a, j, b) << b
        widest = sorted(range(count), key=lambda axis: -len(self.values[axis]))
        for i in range(count):
            for a in reversed(self._all(i)):
                for j in widest:
                    while self.missing[i][a][j]:
                        yield self._named(self._filled(i, a, j, next(_members(self.missing[i][a][j]))))

    def _meet(self, i: int, a: int, j: int, b: int) -> bool:
        fits = [x & y for x, y in zip(self.fits[i][a], self.fits[j][b], strict=True)]
        return next(self._completions({i: a, j: b}, fits), None) is not None

    def _filled(self, i: int, a: int, j: int, b: int) -> dict[int, int]:
        """A combination of two values: on each other axis the one that meets most for the first time."""
        chosen = {i: a, j: b}
        left = [x & y for x, y in zip(self.fits[i][a], self.fits[j][b], strict=True)]
        while len(chosen) < len(self.names):
            axis = min((k for k in range(len(self.names)) if k not in chosen), key=lambda k: (left[k].bit_count(), k))
            masks = [self.missing[k][value][axis] for k, value in chosen.items()]
            new = {value: sum(mask >> value & 1 for mask in masks) for value in _members(left[axis])}
            for value in sorted(new, key=lambda value: (-new[value], value)):
                after = [x & y for x, y in zip(left, self.fits[axis][value], strict=True)]
                if next(self._completions({**chosen, axis: value}, after), None) is not None:
                    chosen[axis], left = value, after
                    break
        for k, value in chosen.items():
            for other, met in chosen.items():
                self.missing[k][value][other] &= ~(1 << met)
        return chosen

    def _completions(self, chosen: dict[int, int], left: list[int]) -> Iterator[dict[int, int]]:
        """The combinations with these values; `left` are the values that none of them excludes."""
        if len(chosen) == len(self.names):
            yield dict(sorted(chosen.items()))
            return
        axis = next(k for k in range(len(self.names)) if k not in chosen)
        if all(left):
            for value in _members(left[axis]):
                after = [x & y for x, y in zip(left, self.fits[axis][value], strict=True)]
                yield from self._completions({**chosen, axis: value}, after)

    def _named(self, chosen: dict[int, int]) -> Combination:
        return {name: self.values[axis][chosen[axis]] for axis, name in enumerate(self.names)}


def _members(bits: int) -> Iterator[int]:
    """The numbers in a set, from the lowest."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1
