"""How many operations the lines of `elementwise:` are, for PyTorch's counter."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expr.tree import Binary, Call, Conditional, Expr, Type, Unary, children


def operations(lines: Sequence[Expr]) -> int:
    """Of one element: operators and functions on numbers, a part that is used twice once, and the longer branch of a
    condition.
    """
    seen: set[int] = set()
    return sum(_count(line, seen) for line in lines)


def _count(expr: Expr, seen: set[int]) -> int:
    if id(expr) in seen:
        return 0
    seen.add(id(expr))
    if isinstance(expr, Conditional):
        before = _count(expr.condition, seen)
        branches = [(_count(branch, own), own) for branch, own in ((expr.then, {*seen}), (expr.otherwise, {*seen}))]
        most, used = max(branches, key=lambda branch: branch[0])
        seen |= used
        return before + most
    own = isinstance(expr, Binary | Call) or (isinstance(expr, Unary) and expr.operator == "-")
    return (own and expr.type is not Type.BOOL) + sum(_count(part, seen) for part in children(expr))
