"""Elements that `values:` allows, for generated tests: how a tensor of a sample is filled, and what is wrong in it.

Rules are exact; what is made here suits every dtype that the argument can have, so that one sample serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, frexp, isfinite, isnan, nan, prod
from typing import TypeAlias

from codegen.contract import Argument, TensorType, TypeVariable, dtypes_of
from codegen.expr.fold import compare
from codegen.expr.tree import Expr
from codegen.frozen import dataclass, replace
from codegen.lower.values import limits
from codegen.rules import ElementsRule, OffsetsRule, SumRule, ValueRule
from codegen.types import DTYPES, whole_range

Number: TypeAlias = int | float
Evaluate: TypeAlias = Callable[[Expr, dict[str, Number]], object]
"""The value of an expression in a sample, with some names known beforehand; None where it has none."""

_COMPARED = {"BELOW": "<", "AT_MOST": "<=", "ABOVE": ">", "AT_LEAST": ">=", "EQUAL_TO": "==", "OTHER_THAN": "!="}
_SPREAD = 100  # how far whole numbers go where nothing limits them
_STEPS = (0.25, 0.5, 1.0, 2.0, 3.0, 8.0)  # and real ones


@dataclass(frozen=True)
class Elements:
    """How a tensor is filled: with whole numbers from `low` up to but without `high`, but for those in `without`, or
    with numbers of the list `among`; here and there with one of `also`.

    `total`: they sum to it; `offsets`: they rise from 0 to it. `columns` (index, elements) are filled otherwise.
    """

    low: int = 0
    high: int = _SPREAD
    without: tuple[int, ...] = ()
    among: tuple[Number, ...] = ()
    also: tuple[Number, ...] = ()
    total: int | None = None
    offsets: int | None = None
    columns: tuple[tuple[int, Elements], ...] = ()

    def listed(self, shape: tuple[int, ...]) -> list[Number]:
        """One tensor of this kind, in row-major order."""
        count = prod(shape)
        found: list[Number]
        if self.offsets is not None:
            found = [self.offsets * i // max(count - 1, 1) for i in range(count)]
        elif self.total is not None:
            share, rest = divmod(self.total - self.low * count, max(count, 1))
            found = [self.low + share + (i < rest) for i in range(count)]
        else:
            whole = (number for number in range(self.low, self.high) if number not in self.without)
            found = [self.among[0] if self.among else next(whole)] * count
        for column, elements in self.columns:
            found[column :: shape[-1]] = elements.listed(shape[:-1])
        return found


def _whole(dtype: str) -> bool:
    return DTYPES[dtype].category in ("integral", "bool")


def _span(dtype: str) -> tuple[int, int]:
    """The smallest and largest whole number that every tensor of a dtype can hold beside its neighbours."""
    if not _whole(dtype):
        most = 2 ** (DTYPES[dtype].fraction + 1)
        return -most, most
    return whole_range(dtype)


def rounded(number: Number, dtype: str) -> Number | None:
    """The number as a dtype holds it, rounded to nearest even; None where it is out of range."""
    if _whole(dtype):
        low, high = _span(dtype)
        return int(number) if number == int(number) and low <= number <= high else None
    if dtype == "float64" or number == 0 or isnan(number):
        return float(number)
    info = DTYPES[dtype]
    step = 2.0 ** (max(frexp(number)[1] - 1, info.exponent) - info.fraction)
    result = round(number / step) * step
    return result if abs(result) <= info.largest and (dtype != "float8_e8m0fnu" or result > 0) else None


class Filling:
    """What some rules on one argument, or on a column of it, allow in one sample."""

    def __init__(self, dtypes: Sequence[str], rules: Sequence[ValueRule], evaluate: Evaluate, count: int) -> None:
        self.dtypes, self.rules, self.evaluate, self.count = dtypes, rules, evaluate, count
        self.allowed = [
            (
                [(_COMPARED[how], self._number(bound)) for how, bound in limits(rule.condition)],
                [self._number(number) for number in rule.besides],
            )
            for rule in rules
            if isinstance(rule, ElementsRule)
        ]
        self.limits = [limit for each, _ in self.allowed for limit in each]

    def _number(self, expr: Expr) -> Number:
        """A bound; what has no value allows nothing, as a NaN does."""
        value = self.evaluate(expr, {})
        return value if isinstance(value, int | float) else nan

    def allows(self, number: Number) -> bool:
        """Whether an element may be this number in every dtype, and also what it is rounded to there."""
        held = [rounded(number, dtype) for dtype in self.dtypes]
        return all(one is not None and self.right(one) for one in held)

    def right(self, number: Number) -> bool:
        """Whether a number obeys the rules on each element."""
        return all(
            number in besides or all(compare(operator, number, bound) for operator, bound in each)
            for each, besides in self.allowed
        )

    def fill(self) -> Elements | None:
        """How to fill the tensor, or None where nothing does."""
        offsets = [rule for rule in self.rules if isinstance(rule, OffsetsRule)]
        sums = [rule for rule in self.rules if isinstance(rule, SumRule)]
        if offsets:
            return self._offsets(offsets) if not sums else None
        if sums:
            return self._sum(sums)
        if self.count == 0:
            return Elements()
        found = self._integers() if all(map(_whole, self.dtypes)) else self._reals()
        also = tuple(filter(self.allows, dict.fromkeys(number for _, besides in self.allowed for number in besides)))
        return replace(found, also=also) if found is not None else None

    def _integers(self) -> Elements | None:
        low, high = self._between()
        holes = tuple(int(bound) for operator, bound in self.limits if operator == "!=" and bound == bound // 1)
        if low is None and high is None and holes:
            low, high = holes[0] - _SPREAD // 2, holes[0] + _SPREAD // 2
        low = low if low is not None else (high - _SPREAD if high is not None else 0)
        high = high if high is not None else low + _SPREAD
        spans = [_span(dtype) for dtype in self.dtypes]
        low, high = max([low, *(span[0] for span in spans)]), min([high, *(span[1] for span in spans)])
        inside = tuple(hole for hole in dict.fromkeys(holes) if low <= hole <= high)
        return Elements(low, high + 1, inside) if high - low + 1 > len(inside) else None

    def _between(self) -> tuple[int | None, int | None]:
        """The smallest and the largest whole number that the rules allow, None where they do not say."""
        low: int | None = None
        high: int | None = None
        for operator, bound in self.limits:
            if not isfinite(bound):
                if isnan(bound):
                    return 1, 0
                continue
            if operator in (">", ">=", "=="):
                least = floor(bound) + 1 if operator == ">" else ceil(bound)
                low = least if low is None else max(low, least)
            if operator in ("<", "<=", "=="):
                most = ceil(bound) - 1 if operator == "<" else floor(bound)
                high = most if high is None else min(high, most)
        return low, high

    def _reals(self) -> Elements | None:
        lower = [float(bound) for operator, bound in self.limits if operator in (">", ">=") and isfinite(bound)]
        upper = [float(bound) for operator, bound in self.limits if operator in ("<", "<=") and isfinite(bound)]
        exact = [float(bound) for operator, bound in self.limits if operator == "=="]
        around = [float(bound) for operator, bound in self.limits if operator == "!=" and isfinite(bound)] or [0.0]
        if exact:
            inside, edges = exact[:1], []
        elif lower and upper:
            low, high = max(lower), min(upper)
            inside, edges = [low + (high - low) * k / 8 for k in range(1, 8)], [low, high]
        elif lower:
            inside, edges = [max(lower) + step for step in _STEPS], [max(lower)]
        elif upper:
            inside, edges = [min(upper) - step for step in _STEPS], [min(upper)]
        else:
            inside, edges = [around[0] + sign * step for step in _STEPS for sign in (1, -1)], []
        # Away from its limits an element can be changed a little, as numerical derivatives do.
        good = tuple(filter(self.allows, inside)) or tuple(filter(self.allows, edges))
        return Elements(among=good) if good else None

    def _offsets(self, rules: list[OffsetsRule]) -> Elements | None:
        totals = {self._number(rule.total) for rule in rules}
        total = totals.pop()
        fits = not totals and total >= 0 and total == total // 1 and self.count > (total > 0)
        if not fits or not self.allows(0) or not self.allows(total):
            return None
        return Elements(offsets=int(total))

    def _sum(self, rules: list[SumRule]) -> Elements | None:
        """A total that the rules allow, and whole numbers that can sum to it."""
        low, high = self._between()
        spans = [_span(dtype) for dtype in self.dtypes]
        low = max([0 if low is None else low, *(span[0] for span in spans)])
        high = min([*([] if high is None else [high]), *(span[1] for span in spans)])
        bounds = [self._number(bound) for rule in rules for _, bound in limits(rule.condition)]
        near = [bound + step for bound in bounds if isfinite(bound) for step in (0, -1, 1)]
        for total in (*map(floor, near), low * self.count, high * self.count):
            reachable = low <= high and low * self.count <= total <= high * self.count
            if reachable and all(self.evaluate(rule.condition, {rule.argument: total}) is True for rule in rules):
                return Elements(low, high + 1, total=total) if self.count else Elements()
        return None


def elements(
    argument: Argument,
    types: Sequence[TypeVariable],
    rules: Sequence[ValueRule],
    shape: tuple[int, ...],
    evaluate: Evaluate,
) -> Elements | None:
    """How to fill an argument of this shape so that its rules hold; None where nothing does."""
    assert isinstance(argument.type, TensorType)
    dtypes = dtypes_of(argument.type.dtype, types)
    own = [rule for rule in rules if rule.argument == argument.name]
    columns = sorted({rule.column for rule in own if rule.column is not None})
    whole = [rule for rule in own if rule.column is None]
    if not columns:
        return Filling(dtypes, whole, evaluate, prod(shape)).fill()
    if len(shape) == 0 or columns[-1] >= shape[-1] or any(not isinstance(rule, ElementsRule) for rule in whole):
        return None
    rest = Filling(dtypes, whole, evaluate, prod(shape)).fill() if whole else Elements()
    found: list[tuple[int, Elements]] = []
    for column in columns:
        mine = [*whole, *(rule for rule in own if rule.column == column)]
        filled = Filling(dtypes, mine, evaluate, prod(shape[:-1])).fill()
        if filled is None:
            return None
        found.append((column, filled))
    return replace(rest, columns=tuple(found)) if rest is not None else None


def wrong_numbers(filling: Filling, rule: ElementsRule, dtype: str) -> list[Number]:
    """Elements that break one rule, just beyond its limits; a NaN where there are any."""
    found: list[Number] = []
    besides = [filling.evaluate(number, {}) for number in rule.besides]
    for how, bound in limits(rule.condition):
        number = filling.evaluate(bound, {})
        if not isinstance(number, int | float) or not isfinite(number):
            continue
        operator = _COMPARED[how]
        for step in (0, 1, -1, 8, -8):
            held = rounded(number + step, dtype) if not _whole(dtype) or number == number // 1 else None
            if held is not None and not compare(operator, held, number) and held not in besides:
                found.append(held)
                break
    if not _whole(dtype) and dtype != "float8_e8m0fnu":
        found.append(nan)
    return found
