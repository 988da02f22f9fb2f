"""How many operations the lines of `elementwise:` are, for PyTorch's counter."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.expr.tree import Binary, Call, Conditional, Expr, Type, Unary, children


def operations(lines: Sequence[Expr]) -> int:
    """Of one element: operators and functions on numbers, a part that is used twice once, and the longer branch of a
    condition.
    """
    found: dict[int, int] = {}
    together = 0
    for line in lines:
        together |= _parts(line, found)
    return together.bit_count()


def _parts(expr: Expr, found: dict[int, int]) -> int:
    """The operations of an expression, each a bit of its own. Derived lines share parts, which are looked at once:
    walked anew under every condition they would take for ever.
    """
    if id(expr) in found:
        return found[id(expr)]
    if isinstance(expr, Conditional):
        condition = _parts(expr.condition, found)
        branches = [_parts(branch, found) for branch in (expr.then, expr.otherwise)]
        parts = condition | max(branches, key=lambda branch: (branch & ~condition).bit_count())
    else:
        own = isinstance(expr, Binary | Call) or (isinstance(expr, Unary) and expr.operator == "-")
        parts = 0
        for part in children(expr):
            parts |= _parts(part, found)
        if own and expr.type is not Type.BOOL:
            parts |= 1 << len(found)
    found[id(expr)] = parts
    return parts
