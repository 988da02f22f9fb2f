"""The value of an expression in one concrete call: every name is known, and nothing is rebuilt on the way.

fold.py makes expressions smaller; this only computes, which is what thousands of sample calls need. Both use the same
arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from codegen.expr.fold import compare, operation
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
    Type,
    Unary,
)

Value: TypeAlias = int | float | bool | str


def value(expr: Expr, name: Callable[[str], Value], query: Callable[[Query], Value]) -> Value:
    """What `expr` is where `name` gives the value of a name (a dtype variable: its torch name) and `query` answers
    questions about arguments. Raises FoldError where there is no value.
    """
    match expr:
        case Constant():
            return expr.value
        case Name():
            return name(expr.name)
        case Query():
            return query(expr)
        case Logic():
            decides = expr.operator == "or"
            return decides == any(bool(value(part, name, query)) == decides for part in expr.operands)
        case Conditional():
            taken = expr.then if value(expr.condition, name, query) else expr.otherwise
            result = value(taken, name, query)
            return float(result) if expr.type is Type.FLOAT else result
        case Compare():
            left = value(expr.operands[0], name, query)
            for operator, operand in zip(expr.operators, expr.operands[1:], strict=True):
                right = value(operand, name, query)
                if not compare(operator, left, right):
                    return False
                left = right
            return True
        case Member():
            sought = value(expr.operand, name, query)
            return expr.negated != any(sought == value(choice, name, query) for choice in expr.choices)
        case Unary():
            return operation(expr, [value(expr.operand, name, query)])
        case Binary():
            return operation(expr, [value(expr.left, name, query), value(expr.right, name, query)])
        case Call():
            return operation(expr, [value(argument, name, query) for argument in expr.arguments])
