"""Whether something optional is surely there, given the conditions that an expression has met so far.

Questions `given(x)` are the atoms; every other condition may be true or false. A use of an optional is right when its
holders cannot all be absent while every condition met so far holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from codegen.expr.tree import Conditional, Constant, Expr, Logic, Query, Type, Unary, walk
from codegen.frozen import dataclass

MAX_ATOMS = 10  # more optionals than this in the conditions around one use are not looked through


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that is known to be true, or, with `holds` false, known to be false."""

    expr: Expr
    holds: bool = True


def surely_given(holders: Iterable[str], met: Sequence[Condition]) -> bool:
    """Whether the conditions leave no way for all `holders` to be absent."""
    absent = frozenset(holders)
    asked = sorted({name for condition in met for name in _asked(condition.expr)} - absent)
    if len(asked) > MAX_ATOMS:
        return False
    for values in product((False, True), repeat=len(asked)):
        given = dict(zip(asked, values, strict=True)) | dict.fromkeys(absent, False)
        if all(condition.holds in _possible(condition.expr, given) for condition in met):
            return False
    return True


def _asked(expr: Expr) -> set[str]:
    return {part.subject for part in walk(expr) if isinstance(part, Query) and part.function == "given"}


_EITHER = frozenset((False, True))


def _possible(expr: Expr, given: Mapping[str, bool]) -> frozenset[bool]:
    """What a condition can be, when this is known of the optionals and nothing of the rest."""
    match expr:
        case Constant(type=Type.BOOL):
            return frozenset((bool(expr.value),))
        case Query(function="given"):
            return frozenset((given[expr.subject],))
        case Unary(operator="not"):
            return frozenset(not value for value in _possible(expr.operand, given))
        case Logic():
            parts = [_possible(operand, given) for operand in expr.operands]
            decides = expr.operator == "or"
            can = set()
            if any(decides in part for part in parts):
                can.add(decides)
            if all(decides not in part for part in parts):
                can.add(not decides)
            return frozenset(can)
        case Conditional(type=Type.BOOL):
            branches = _possible(expr.condition, given)
            taken = [expr.then] * (True in branches) + [expr.otherwise] * (False in branches)
            return frozenset(value for branch in taken for value in _possible(branch, given))
    return _EITHER
