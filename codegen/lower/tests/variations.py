"""Calls that differ from a usual one in one name or in two, and among them those that break a rule.

There are hundreds for an operator, but what a rule says of a call follows from a few names only: it is asked once for
each change of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from codegen.contract import DimEntry, StarEntry, StarFunction, named_stars, numbers_in
from codegen.expr.tree import Constant, Expr, Name, Query, distinct
from codegen.frozen import replace
from codegen.lower.sample import Sample, Size
from codegen.lower.tests.scalars import Scalar, beside, candidates, sampled
from codegen.model import Operator

Given = Mapping[str, tuple[int | float | bool | str, ...]]  # what `samples:` lists for a name

STARS: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (0,), (3, 0, 2), (2, 3), (1, 5, 1))
DIMS = (1, 2, 7, 33, 64, 1000, 1024, 1100, 0)
LENGTHS = (1, 2, 5)
# What a check on a constant may ask for: a dim, and tensors of a list.
LARGEST = 100_001
MOST_TENSORS = 64


class _Change:
    """Another size of a dim, another value of a scalar argument, or another length of all lists of tensors, for which
    the name of one of them stands. Each is equal to itself alone.
    """

    def __init__(
        self, name: str, dims: Mapping[str, Size], scalars: Mapping[str, Scalar], length: int | None = None
    ) -> None:
        self.name, self.dims, self.scalars, self.length = name, dims, scalars, length


def chosen(op: Operator) -> list[tuple[str, bool]]:
    """The names that a sample has sizes for, and whether they are stars."""
    return [(dim.name, dim.star) for dim in op.dims] + [(text, False) for text in op.free_sizes.values()]


def variations(usual: Sample) -> Iterator[Sample]:
    """One name changed, then two."""
    for changes in _one_or_two(usual.op, dict(usual.op.samples.sizes)):
        yield _changed(usual, changes)


def failing(usual: Sample, condition: Expr, earlier: Sequence[Expr]) -> Sample | None:
    """A call, close to the usual one, for which `condition` is false and everything before it holds."""
    sources = _sources(usual.op, condition)
    known: dict[tuple[_Change, ...], bool] = {}  # whether it is false, by the changes that it can depend on
    for changes in chain(_wrong(usual.op), _near(usual.op, condition)):
        deciding = tuple([change for change in changes if change.name in sources])
        if deciding not in known:
            known[deciding] = _changed(usual, deciding).value(condition) is False
        if known[deciding]:
            sample = _changed(usual, changes)
            if all(sample.value(one) is True for one in earlier) and _has_sizes(sample):
                return sample
    return None


def without_star(
    usual: Sample, entry: StarFunction, earlier: Sequence[Expr], stars: Sequence[StarFunction]
) -> Sample | None:
    """A call in which a function of stars has no value and everything before it holds. An input whose shape it stands
    in has some sizes there: they are not looked at any more.
    """
    for changes in _wrong(usual.op):
        sample = replace(_changed(usual, changes), missing=(1,))
        if sample.star(entry) is not None or None in map(sample.star, stars):
            continue
        if all(sample.value(one) is True for one in earlier) and _has_sizes(sample):
            return sample
    return None


def _wrong(op: Operator) -> Iterator[tuple[_Change, ...]]:
    """One change, then two; and then beyond what `samples:` gives, which are sizes of right calls."""
    given = dict(op.samples.sizes)
    yield from _one_or_two(op, given)
    if given:
        yield from _one_or_two(op, {})


def _one_or_two(op: Operator, given: Given) -> Iterator[tuple[_Change, ...]]:
    changes = list(_changes(op, given))
    for change in changes:
        yield (change,)
    for first in changes:
        for second in changes:
            yield first, second


def _near(op: Operator, condition: Expr) -> Iterator[tuple[_Change, ...]]:
    """One change, to a number that the condition names or one beside it."""
    named = [node.value for node in distinct(condition) if isinstance(node, Constant)]
    numbers = {int(value) + step for value in named if isinstance(value, int | float) for step in (0, 1, -1)}
    numbers |= {-number - 1 for number in numbers}  # for what it is added to
    found: list[_Change] = []
    for number in sorted(numbers, key=abs):
        if 0 <= number <= LARGEST:
            found += [_Change(name, {name: (number,) if star else number}, {}) for name, star in chosen(op)]
        if 0 < number <= MOST_TENSORS and op.lists:
            found.append(_Change(op.lists[0].name, {}, {}, number))
        for argument in sampled(op):
            found += [_Change(argument.name, {}, {argument.name: value}) for value in beside(argument, number)]
    for change in found:
        yield (change,)


def _changes(op: Operator, given: Given) -> Iterator[_Change]:
    for name, star in chosen(op):
        listed = tuple((int(size),) if star else int(size) for size in given.get(name, ()))
        for size in listed or (STARS if star else DIMS):
            yield _Change(name, {name: size}, {})
    for length in LENGTHS if op.lists else ():
        yield _Change(op.lists[0].name, {}, {}, length)
    for argument in sampled(op):
        for scalar in given.get(argument.name, ()) or candidates(argument):
            yield _Change(argument.name, {}, {argument.name: scalar})


def _changed(sample: Sample, changes: tuple[_Change, ...]) -> Sample:
    dims, scalars, length = dict(sample.dims), dict(sample.scalars), sample.length
    for change in changes:
        dims.update(change.dims)
        scalars.update(change.scalars)
        length = length if change.length is None else change.length
    return replace(sample, dims=dims, scalars=scalars, length=length)


def _has_sizes(sample: Sample) -> bool:
    """Whether there are tensors of the sizes that the inputs then have."""
    return all(size >= 0 for shape in sample.inputs() for size in shape)


def _sources(op: Operator, expr: Expr) -> set[str]:
    """The names that the value of an expression can depend on."""
    computed = {derived.name: derived.expr for derived in op.derived} | {size.name: size.value for size in op.dynamic}
    shapes = dict(op.shapes)
    found: set[str] = set()
    waiting = [expr]
    while waiting:
        for node in distinct(waiting.pop()):
            if isinstance(node, Name):
                found.add(node.name)
                waiting += [computed.pop(node.name)] if node.name in computed else []
            elif isinstance(node, Query):
                found |= {node.subject, op.free_sizes.get(node, ""), *(one.name for one in op.lists)}
                for entry in shapes.pop(node.subject).entries if node.subject in shapes else ():
                    waiting += numbers_in(entry)
                    if not isinstance(entry, DimEntry):
                        found.update([entry.name] if isinstance(entry, StarEntry) else named_stars(entry))
    return found
