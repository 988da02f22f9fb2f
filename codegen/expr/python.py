"""Prints an expression as Python, for fake kernels and wrappers; sizes may be symbolic there.

Plain operators wherever Python's meaning is ours. The functions of the language, and divisions whose divisor may be
zero, become calls of functions in the _rules module of the generated package. Those on integers (floordiv, mod, power,
min, max, ceil_div, round_up, next_pow2) mean what those of csrc/runtime/arith.h mean; a division by zero or a result
outside 64 bits raises OverflowError. Those on floats (divide, real_power, real, min, max) mean what C does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from codegen.expr.text import (
    AND,
    ATOM,
    COMPARE,
    CONDITIONAL,
    NOT,
    OR,
    SIGN,
    SUM,
    constant_text,
    operand_strengths,
    strength,
)
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
from codegen.frozen import dataclass

_INTEGER = {"//": "floordiv", "%": "mod", "**": "power"}
_FLOAT = {"/": "divide", "**": "real_power"}


@dataclass(frozen=True)
class PythonNames:
    """What the names of the spec are called in the Python code around an expression.

    `query(question, operands)` prints numel, size, given and the like; `helper` is put before the name of a function of
    the generated package ("_rules.").
    """

    names: Mapping[str, str] = field(default_factory=dict)
    query: Callable[[Query, tuple[str, ...]], str] | None = None
    helper: str = ""

    def of(self, name: str) -> str:
        """The target of a name; names that nobody renamed stay."""
        return self.names.get(name, name)


def print_python(expr: Expr, names: PythonNames) -> str:
    """`expr` as a Python expression, without outer parentheses."""
    match expr:
        case Constant():
            return f"torch.{expr.value}" if expr.type is Type.DTYPE else constant_text(expr)
        case Name():
            return names.of(expr.name)
        case Query():
            operands = tuple(print_python(operand, names) for operand in expr.operands)
            if names.query is None:
                raise ValueError(f"{expr.function}() has no Python form here")
            return names.query(expr, operands)
        case Unary(operator="not", operand=Query(function="given") as asked):
            text = print_python(asked, names)
            bare = text.removesuffix(" is not None")
            return f"{bare} is None" if bare != text else f"not {text}"
        case Unary(operator="not"):
            return f"not {_at_least(expr.operand, NOT, names)}"
        case Unary():
            return f"-{_at_least(expr.operand, SIGN, names)}"
        case Binary():
            return _binary(expr, names)
        case Compare():
            parts = [_at_least(operand, SUM, names) for operand in expr.operands]
            return parts[0] + "".join(f" {op} {part}" for op, part in zip(expr.operators, parts[1:], strict=True))
        case Member():
            choices = ", ".join(print_python(choice, names) for choice in expr.choices)
            word = "not in" if expr.negated else "in"
            return f"{_at_least(expr.operand, SUM, names)} {word} ({choices}{',' if len(expr.choices) == 1 else ''})"
        case Logic():
            wanted = (AND if expr.operator == "and" else OR) + 1
            return f" {expr.operator} ".join(_at_least(operand, wanted, names) for operand in expr.operands)
        case Conditional():
            then, condition = _as(expr.then, expr.type, OR, names), _at_least(expr.condition, OR, names)
            return f"{then} if {condition} else {_as(expr.otherwise, expr.type, CONDITIONAL, names)}"
        case Call():
            return f"{_call_name(expr, names)}({', '.join(print_python(part, names) for part in expr.arguments)})"


def _helper(expr: Binary) -> str:
    """The function that an operator becomes, or "". Divisions by a constant other than zero mean the same in both
    languages, but where Python divides integers: its quotient is rounded once, that of two floats in C twice.
    """
    found = (_FLOAT if expr.type is Type.FLOAT else _INTEGER).get(expr.operator, "")
    divides = expr.operator != "**" and isinstance(expr.right, Constant) and expr.right.value != 0
    return "" if divides and (expr.type is Type.INT or expr.left.type is Type.FLOAT) else found


def _binary(expr: Binary, names: PythonNames) -> str:
    helper = _helper(expr)
    if helper:
        left, right = print_python(expr.left, names), print_python(expr.right, names)
        return f"{names.helper}{helper}({left}, {right})"
    left_strength, right_strength = operand_strengths(expr.operator)
    left, right = _at_least(expr.left, left_strength, names), _at_least(expr.right, right_strength, names)
    return f"{left} {expr.operator} {right}"


def _call_name(expr: Call, names: PythonNames) -> str:
    return expr.function if expr.function == "abs" else names.helper + expr.function


def _as(expr: Expr, kind: Type, wanted: int, names: PythonNames) -> str:
    """A branch: an integer beside a float is a float in C."""
    if kind is Type.FLOAT and expr.type is Type.INT and not isinstance(expr, Constant):
        return f"{names.helper}real({print_python(expr, names)})"
    return _at_least(expr, wanted, names)


def _at_least(expr: Expr, wanted: int, names: PythonNames) -> str:
    own = ATOM if isinstance(expr, Binary) and _helper(expr) else strength(expr)
    if isinstance(expr, Query) and expr.function == "given":
        own = COMPARE  # x is not None
    text = print_python(expr, names)
    return text if own >= wanted else f"({text})"
