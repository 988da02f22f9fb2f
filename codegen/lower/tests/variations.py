"""Which names of a call are changed, and to what: for a call that breaks a rule, or for one that breaks none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from codegen.contract import StarFunction
from codegen.expr.tree import Compare, Constant, Expr, distinct
from codegen.lower.sample import Sample
from codegen.lower.tests.scalars import beside, candidates, sampled
from codegen.lower.tests.search import Calls, Change, Changes, Rule, changed
from codegen.model import Check, Operator

Given = Mapping[str, tuple[int | float | bool | str, ...]]  # what `samples:` lists for a name

STARS: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (0,), (3, 0, 2), (2, 3), (1, 5, 1))
DIMS = (1, 2, 7, 33, 64, 1000, 1024, 1100, 0)
LENGTHS = (1, 2, 5)
# What a check on a constant may ask for: a dim, and tensors of a list.
LARGEST = 100_001
MOST_TENSORS = 64


def chosen(op: Operator) -> list[tuple[str, bool]]:
    """The names that a sample has sizes for, and whether they are stars."""
    return [(dim.name, dim.star) for dim in op.dims] + [(text, False) for text in op.free_sizes.values()]


def right(first: Sample) -> Sample | None:
    """A right call, close to one that may be wrong."""
    calls, wanted = Calls(first), [(check.condition, True) for check in first.op.checks]
    found = calls.first(changes(first.op, dict(first.op.samples.sizes)), wanted, Sample.valid)
    if found is not None:
        return found
    mended = changed(first, _mended(calls, [condition for condition, _ in wanted]))
    return mended if mended.valid() else None


def unmet(first: Sample) -> Check | None:
    """The check that no change mends, and how it reads; None where that is another rule."""
    made = changed(first, _mended(Calls(first), [check.condition for check in first.op.checks]))
    return next((check for check in first.op.checks if made.value(check.condition) is not True), None)


def _mended(calls: Calls, conditions: Sequence[Expr]) -> Changes:
    """Changes that mend check after check, up to the first that no single change mends."""
    op, made = calls.usual.op, Changes()
    given, wanted = dict(op.samples.sizes), list[tuple[Rule, bool]]()
    for condition in conditions:
        wanted.append((condition, True))
        if calls.broken(wanted, made) is None:
            continue
        near = _near(op, condition, changed(calls.usual, made))
        tried = [*changes(op, given), *(one for one in near if one.name not in given)]
        about = (one for one in tried if one.name in calls.sources(condition))
        found = next((one for one in about if calls.broken(wanted, (*made, one)) is None), None)
        if found is None:
            return made
        made = (*made, found)
    return made


def failing(calls: Calls, condition: Expr, earlier: Sequence[Rule]) -> Sample | None:
    """A call, close to the usual one, for which `condition` is false and everything before it holds."""
    op = calls.usual.op
    return _wrong(calls, condition, earlier) or calls.first(
        [one for one in _near(op, condition) if one.name in calls.sources(condition)],
        [(condition, False), *((one, True) for one in earlier)],
        _has_sizes,
    )


def without_star(calls: Calls, entry: StarFunction, earlier: Sequence[Rule]) -> Sample | None:
    """A call in which a function of stars has no value and everything before it holds. An input whose shape it stands
    in has some sizes there: they are not looked at any more.
    """
    return _wrong(calls, entry, earlier)


def _wrong(calls: Calls, rule: Rule, earlier: Sequence[Rule]) -> Sample | None:
    """One change, then two; and then beyond what `samples:` gives, which are sizes of right calls."""
    op = calls.usual.op
    given = dict(op.samples.sizes)
    wanted = [(rule, False), *((one, True) for one in earlier)]
    found = calls.first(changes(op, given), wanted, _has_sizes)
    return calls.first(changes(op, {}), wanted, _has_sizes) if found is None and given else found


def _near(op: Operator, condition: Expr, call: Sample | None = None) -> list[Change]:
    """Changes to a number that the condition names or one beside it, or which something is compared with in a call."""
    named = [node.value for node in distinct(condition) if isinstance(node, Constant)]
    if call is not None:
        compared = [part for node in distinct(condition) if isinstance(node, Compare) for part in node.operands]
        named += [value for value in map(call.value, compared) if value is not None]
    numbers = {int(value) + step for value in named if isinstance(value, int | float) for step in (0, 1, -1)}
    numbers |= {-number - 1 for number in numbers}  # for what it is added to
    found: list[Change] = []
    for number in sorted(numbers, key=abs):
        if 0 <= number <= LARGEST:
            found += [Change(name, {name: (number,) if star else number}, {}) for name, star in chosen(op)]
        if 0 < number <= MOST_TENSORS and op.lists:
            found.append(Change(op.lists[0].name, {}, {}, number))
        for argument in sampled(op):
            found += [Change(argument.name, {}, {argument.name: value}) for value in beside(argument, number)]
    return found


def changes(op: Operator, given: Given) -> list[Change]:
    """All changes of one name, of those that `samples:` lists to what it lists."""
    return list(_changes(op, given))


def _changes(op: Operator, given: Given) -> Iterator[Change]:
    for name, star in chosen(op):
        listed = tuple((int(size),) if star else int(size) for size in given.get(name, ()))
        for size in listed or (STARS if star else DIMS):
            yield Change(name, {name: size}, {})
    for length in LENGTHS if op.lists else ():
        yield Change(op.lists[0].name, {}, {}, length)
    for argument in sampled(op):
        for scalar in given.get(argument.name, ()) or candidates(argument):
            yield Change(argument.name, {}, {argument.name: scalar})


def _has_sizes(sample: Sample) -> bool:
    """Whether there are tensors of the sizes that the inputs then have."""
    return all(size >= 0 for shape in sample.inputs() for size in shape)
