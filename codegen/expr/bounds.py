"""Which numbers an integer expression can be, by what the checks of a call say of its names.

Kernels that are compiled when a library is built need to know: `next_pow2(n)` with `n <= 4096` is one of 13 numbers.
What is found may hold numbers that no call has, and never lacks one that a call can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codegen.expr.fold import FoldError, constant, fold, operation
from codegen.expr.tree import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expr,
    Logic,
    Member,
    Name,
    Query,
    Unary,
    children,
)
from codegen.frozen import dataclass

# So many numbers are gone through one by one; of more only the first and the last one are known.
MANY = 4096
_POWERS = tuple(1 << i for i in range(63))


@dataclass(frozen=True)
class Numbers:
    """Those from `low` to `high`, None where there is no such bound, or only those that are `listed`, in rising order.
    What is listed without a bound goes on.
    """

    low: int | None = None
    high: int | None = None
    listed: tuple[int, ...] | None = None

    def above(self, low: int) -> Numbers:
        """Those of them that are at least `low`."""
        return self if self.low is not None and self.low >= low else numbers(low, self.high)

    def below(self, high: int) -> Numbers:
        """Those of them that are at most `high`."""
        return self if self.high is not None and self.high <= high else numbers(self.low, high)


ANY = Numbers()
SIZE = Numbers(0, None)


def numbers(low: int | None, high: int | None) -> Numbers:
    """All from `low` to `high`."""
    few = low is not None and high is not None and high - low < MANY
    return Numbers(low, high, tuple(range(low, high + 1)) if few and low is not None and high is not None else None)


def listed(values: Iterable[int]) -> Numbers:
    """These and no others."""
    found = tuple(sorted(set(values)))
    return Numbers(found[0], found[-1], found) if found else Numbers(0, 0, ())


def bounds(conditions: Iterable[Expr], known: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """What `known` names can be where all of the conditions hold."""
    found = dict(known)
    for condition in conditions:
        parts = condition.operands if isinstance(condition, Logic) and condition.operator == "and" else (condition,)
        for part in parts:
            if isinstance(part, Compare):
                for left, operator, right in zip(part.operands, part.operators, part.operands[1:], strict=False):
                    _bound(found, left, operator, right)
                    _bound(found, right, _TURNED.get(operator, operator), left)
            elif isinstance(part, Member) and isinstance(part.operand, Name) and not part.negated:
                values = [constant(choice, {}) for choice in part.choices]
                whole = [value for value in values if isinstance(value, int)]
                if part.operand.name in found and len(whole) == len(values):
                    found[part.operand.name] = listed(whole)
    return found


_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _bound(found: dict[str, Numbers], left: Expr, operator: str, right: Expr) -> None:
    """One comparison of a name with a number."""
    value = constant(right, {})
    if not isinstance(left, Name) or left.name not in found or not isinstance(value, int):
        return
    known = found[left.name]
    if operator in ("<", "<=", "=="):
        known = known.below(value - (operator == "<"))
    if operator in (">", ">=", "=="):
        known = known.above(value + (operator == ">"))
    found[left.name] = known


def values(expr: Expr, dtypes: Mapping[str, str], known: Mapping[str, Numbers]) -> Numbers:
    """What `expr` can be under a choice of dtypes."""
    return _values(fold(expr, dtypes), known)


def _values(expr: Expr, known: Mapping[str, Numbers]) -> Numbers:
    match expr:
        case Constant(value=int(value)):
            return listed([value])
        case Name():
            return known.get(expr.name, ANY)
        case Query():
            return ANY if expr.function in ("stride", "entry") else SIZE
        case Conditional():
            return _either(_values(expr.then, known), _values(expr.otherwise, known))
        case Unary() | Binary() | Call():
            return _operation(expr, [_values(part, known) for part in children(expr)])
    return ANY


def _either(one: Numbers, other: Numbers) -> Numbers:
    low = None if one.low is None or other.low is None else min(one.low, other.low)
    high = None if one.high is None or other.high is None else max(one.high, other.high)
    if one.listed is not None and other.listed is not None:
        return Numbers(low, high, tuple(sorted({*one.listed, *other.listed})))
    return Numbers(low, high)


def _operation(expr: Unary | Binary | Call, parts: list[Numbers]) -> Numbers:
    function = expr.function if isinstance(expr, Call) else expr.operator
    if function in ("min", "max"):
        found = parts[0]
        for part in parts[1:]:
            found = _extreme(function, found, part)
        return found
    if function == "next_pow2" and (parts[0].listed is None or parts[0].high is None):
        (of,) = parts
        low = 1 if of.low is None else max(1, of.low)
        powers = [power for power in _POWERS if power >= low and (of.high is None or power < 2 * of.high)]
        return Numbers(powers[0], None if of.high is None else powers[-1], tuple(powers)) if powers else listed([1])
    count = 1
    for part in parts:
        if part.listed is None or part.high is None:
            return _between(function, parts)
        count *= len(part.listed)
    return _each(expr, [part.listed or () for part in parts]) if count <= MANY else _between(function, parts)


def _each(expr: Unary | Binary | Call, parts: list[tuple[int, ...]]) -> Numbers:
    """The operation on each number, or on each pair; a call in which it has no value is an error of its own."""
    rows: list[list[int | float | bool | str]] = [[]]
    for part in parts:
        rows = [[*row, value] for row in rows for value in part]
    found = set()
    for row in rows:
        try:
            found.add(int(operation(expr, row)))
        except FoldError:
            continue
    return listed(found)


def _extreme(function: str, one: Numbers, other: Numbers) -> Numbers:
    pick = min if function == "min" else max
    lows, highs = (one.low, other.low), (one.high, other.high)
    if function == "min":
        low = None if None in lows else min(value for value in lows if value is not None)
        high = min((value for value in highs if value is not None), default=None)
    else:
        low = max((value for value in lows if value is not None), default=None)
        high = None if None in highs else max(value for value in highs if value is not None)
    if one.listed is not None and other.listed is not None and len(one.listed) * len(other.listed) <= MANY:
        return Numbers(low, high, tuple(sorted({pick(a, b) for a in one.listed for b in other.listed})))
    return numbers(low, high)


def _between(function: str, parts: list[Numbers]) -> Numbers:
    """The bounds of what rises with its first operand, for operands and divisors that are not negative."""
    if len(parts) != 2 or any(part.low is None or part.low < 0 for part in parts):
        return ANY
    (low, high), (least, most) = [(part.low or 0, part.high) for part in parts]
    both = high is not None and most is not None
    match function:
        case "+":
            return numbers(low + least, high + most if high is not None and most is not None else None)
        case "*":
            return numbers(low * least, high * most if both and high is not None and most is not None else None)
        case "-":
            return numbers(None if most is None else low - most, None if high is None else high - least)
        case "%" if most is not None:
            return numbers(0, max(most - 1, 0))
        case "//" | "ceil_div" if least > 0:
            up = least - 1 if function == "ceil_div" else 0
            return numbers(low // most if most is not None else 0, None if high is None else (high + up) // least)
        case "round_up":
            return numbers(low, high + most - 1 if high is not None and most is not None else None)
    return ANY
