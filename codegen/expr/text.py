"""Prints an expression as the spec language writes it: for messages, comments and documentation.

Parentheses appear only where they are needed, so a text that was written without odd ones comes out as it went in.
"""

from __future__ import annotations

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

# Binding strengths of Python, weakest first; also used by python.py.
CONDITIONAL, OR, AND, NOT, COMPARE, SUM, TERM, SIGN, POWER, ATOM = range(10)
_BINARY = {"+": SUM, "-": SUM, "*": TERM, "//": TERM, "%": TERM, "/": TERM, "**": POWER}


def print_text(expr: Expr) -> str:
    """`expr` in the spelling of the spec."""
    return _print(expr)[0]


def strength(expr: Expr) -> int:
    """How strongly the outermost operator of `expr` binds, in Python."""
    match expr:
        case Conditional():
            return CONDITIONAL
        case Logic():
            return AND if expr.operator == "and" else OR
        case Unary():
            return NOT if expr.operator == "not" else SIGN
        case Compare() | Member():
            return COMPARE
        case Binary():
            return _BINARY[expr.operator]
        case Constant() if not isinstance(expr.value, str) and expr.value < 0:
            return SIGN
    return ATOM


def operand_strengths(operator: str) -> tuple[int, int]:
    """What the left and right operand of a binary operator must at least bind like to stand without parentheses."""
    own = _BINARY[operator]
    return (ATOM, SIGN) if own == POWER else (own, own + 1)


def constant_text(constant: Constant) -> str:
    """A literal of the spec language, which is also one of Python but for dtypes."""
    if constant.type is Type.STR:
        return f'"{constant.value}"'
    return repr(constant.value) if constant.type is not Type.DTYPE else str(constant.value)


def _print(expr: Expr) -> tuple[str, int]:
    return _bare(expr), strength(expr)


def _at_least(expr: Expr, wanted: int) -> str:
    text, own = _print(expr)
    return text if own >= wanted else f"({text})"


def _bare(expr: Expr) -> str:
    match expr:
        case Constant():
            return constant_text(expr)
        case Name():
            return expr.name
        case Query(function="column"):
            return f"{expr.subject}{_written(expr.operands)}"
        case Query(function="entry"):
            return f"{expr.subject}[{print_text(expr.operands[0])}]"
        case Query(function="numel_of_list"):
            return f"numel({expr.subject})"
        case Query(function="sum"):
            return f"sum({expr.subject}{_written(expr.operands)})"
        case Query():
            inside = ([expr.subject] if expr.subject else []) + [print_text(operand) for operand in expr.operands]
            return f"{expr.function}({', '.join(inside)})"
        case Unary(operator="not"):
            return f"not {_at_least(expr.operand, NOT)}"
        case Unary():
            return f"-{_at_least(expr.operand, SIGN)}"
        case Binary():
            left, right = operand_strengths(expr.operator)
            return f"{_at_least(expr.left, left)} {expr.operator} {_at_least(expr.right, right)}"
        case Compare():
            parts = [_at_least(operand, SUM) for operand in expr.operands]
            links = (f" {operator} {part}" for operator, part in zip(expr.operators, parts[1:], strict=True))
            return parts[0] + "".join(links)
        case Member():
            word = "not in" if expr.negated else "in"
            return f"{_at_least(expr.operand, SUM)} {word} [{', '.join(print_text(c) for c in expr.choices)}]"
        case Logic():
            wanted = (AND if expr.operator == "and" else OR) + 1
            return f" {expr.operator} ".join(_at_least(operand, wanted) for operand in expr.operands)
        case Conditional():
            then, condition = _at_least(expr.then, OR), _at_least(expr.condition, OR)
            return f"{then} if {condition} else {_at_least(expr.otherwise, CONDITIONAL)}"
        case Call():
            return f"{expr.function}({', '.join(print_text(argument) for argument in expr.arguments)})"


def _written(column: tuple[Expr, ...]) -> str:
    """`[:, 0]`: behind the index of a column stands how it is written."""
    written = column[1] if len(column) > 1 else None
    return str(written.value) if isinstance(written, Constant) else ""
