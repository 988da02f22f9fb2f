"""Calls that differ from a usual one in one name or in two, and among them the first that is as wanted.

There are hundreds for an operator with one name, and hundreds of thousands with sixty. But what a rule says of a call
follows from a few names: it is asked once for each change of these. And where a call is not as wanted because of one
rule, only a change of a name that this rule depends on can mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from codegen.contract import DimEntry, ShapeEntry, StarEntry, StarFunction, named_stars, numbers_in
from codegen.expr.tree import Expr, Name, Query, distinct
from codegen.frozen import replace
from codegen.lower.sample import Sample, Size
from codegen.lower.tests.scalars import Scalar
from codegen.model import Operator

MOST_SHAPES = 60_000  # of calls in which all rules are as wanted, and that are not right for another reason


class Change:
    """Another size of a dim, another value of a scalar argument, or another length of all lists of tensors, for which
    the name of one of them stands. Each is equal to itself alone.
    """

    def __init__(
        self, name: str, dims: Mapping[str, Size], scalars: Mapping[str, Scalar], length: int | None = None
    ) -> None:
        self.name, self.dims, self.scalars, self.length = name, dims, scalars, length


Changes: TypeAlias = tuple[Change, ...]
Rule: TypeAlias = Expr | StarFunction
"""What has a value in a call: a function of stars is true where it has sizes."""


class _Asked:
    """One rule: the names that its value can depend on, and its values by the changes of these."""

    def __init__(self, op: Operator, rule: Rule) -> None:
        self.rule = rule
        self.sources = sources(op, rule)
        self.known: dict[Changes, object] = {}


class Calls:
    """What rules say of calls that differ from a usual one. The rules live as long as this does."""

    def __init__(self, usual: Sample) -> None:
        self.usual = usual
        self._asked: dict[int, _Asked] = {}

    def sources(self, rule: Rule) -> set[str]:
        """The names that the value of a rule can depend on."""
        return self._about(rule).sources

    def value(self, rule: Rule, changes: Changes) -> object:
        """What the rule says of a call; of two changes of one name the second counts."""
        asked = self._about(rule)
        deciding = tuple([change for change in changes if change.name in asked.sources])
        if len(deciding) == 2 and deciding[0].name > deciding[1].name:
            deciding = deciding[::-1]  # of two names either may come first
        if deciding not in asked.known:
            sample = changed(self.usual, deciding)
            found = sample.star(rule) is not None if isinstance(rule, StarFunction) else sample.value(rule)
            asked.known[deciding] = found
        return asked.known[deciding]

    def _about(self, rule: Rule) -> _Asked:
        found = self._asked.get(id(rule))
        if found is None:
            found = self._asked[id(rule)] = _Asked(self.usual.op, rule)
        return found

    def broken(self, wanted: Iterable[tuple[Rule, bool]], changes: Changes) -> Rule | None:
        """The first rule whose value is another one than is wanted."""
        return next((rule for rule, value in wanted if self.value(rule, changes) is not value), None)

    def first(
        self, changes: Sequence[Change], wanted: Sequence[tuple[Rule, bool]], right: Callable[[Sample], bool]
    ) -> Sample | None:
        """The first call of one change, then of two, in which each rule has the value that is wanted, and which is
        `right`.
        """
        left = MOST_SHAPES // (len(self.usual.op.shapes) + 1)
        for made in self._candidates(changes, wanted):
            sample = changed(self.usual, made)
            if right(sample):
                return sample
            left -= 1
            if left == 0:
                break
        return None

    def _candidates(self, changes: Sequence[Change], wanted: Sequence[tuple[Rule, bool]]) -> Iterator[Changes]:
        unchanged = self.broken(wanted, ())
        broken = {
            one: self.broken(wanted, (one,)) if unchanged is None or one.name in self.sources(unchanged) else unchanged
            for one in changes
        }
        for change in changes:
            if broken[change] is None:
                yield (change,)
        mending: dict[int, list[Change]] = {}
        for first in changes:
            rule = broken[first]
            if id(rule) not in mending:
                mending[id(rule)] = [one for one in changes if rule is None or one.name in self.sources(rule)]
            for second in mending[id(rule)]:
                other = broken[second]
                if second.name == first.name:
                    continue  # the same as the second alone
                if other is not None and first.name not in self.sources(other):
                    continue
                if self.broken(wanted, (first, second)) is None:
                    yield first, second


def changed(sample: Sample, changes: Changes) -> Sample:
    """The call with these changes, one after the other."""
    dims, scalars, length = dict(sample.dims), dict(sample.scalars), sample.length
    for change in changes:
        dims.update(change.dims)
        scalars.update(change.scalars)
        length = length if change.length is None else change.length
    return replace(sample, dims=dims, scalars=scalars, length=length)


def sources(op: Operator, rule: Rule) -> set[str]:
    """The names that the value of a rule can depend on."""
    computed = {derived.name: derived.expr for derived in op.derived} | {size.name: size.value for size in op.dynamic}
    shapes = dict(op.shapes)
    found: set[str] = set()
    waiting: list[Expr] = []

    def entry_names(entry: ShapeEntry) -> None:
        waiting.extend(numbers_in(entry))
        if not isinstance(entry, DimEntry):
            found.update([entry.name] if isinstance(entry, StarEntry) else named_stars(entry))

    if isinstance(rule, StarFunction):
        entry_names(rule)
    else:
        waiting.append(rule)
    while waiting:
        for node in distinct(waiting.pop()):
            if isinstance(node, Name):
                found.add(node.name)
                waiting += [computed.pop(node.name)] if node.name in computed else []
            elif isinstance(node, Query):
                found |= {node.subject, op.free_sizes.get(node, ""), *(one.name for one in op.lists)}
                about_sizes = node.function != "len" and node.subject in shapes
                for entry in shapes.pop(node.subject).entries if about_sizes else ():
                    entry_names(entry)
    return found
