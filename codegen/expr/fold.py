"""Folding: what an expression is once the dtypes of a call, or the parameters of a launch, are known.

Sizes of dtypes, comparisons of dtypes and arithmetic on constants become constants; `and`, `or` and `if` drop what
cannot be reached, so that `T == float32 and n > 4` is plainly False for half. Integer results outside 64 bits and
divisions by zero raise FoldError.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import is_

from codegen.expr.tree import (
    INT_MAX,
    INT_MIN,
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expr,
    Logic,
    Member,
    Name,
    NameKind,
    Query,
    Type,
    Unary,
    children,
    rebuild,
    walk,
)
from codegen.types import DTYPES, element_size


class FoldError(Exception):
    """An expression that has no value: integer overflow or division by zero. The text says which."""


# Functions of constants that are computed here; those of elements are left to the code that computes them.
FUNCTIONS = ("min", "max", "abs", "ceil_div", "round_up", "next_pow2")

TRUE = Constant(True, Type.BOOL)
FALSE = Constant(False, Type.BOOL)


def fold(expr: Expr, dtypes: Mapping[str, str]) -> Expr:
    """`expr` with the dtype variables in `dtypes` (name -> torch name) known, as small as it gets."""
    match expr:
        case Constant():
            return expr
        case Name():
            if expr.kind is NameKind.VARIABLE and expr.name in dtypes:
                return Constant(dtypes[expr.name], Type.DTYPE)
            return expr
        case Query(function="sizeof"):
            name = dtypes.get(expr.subject, expr.subject)
            size = element_size(name)
            return Constant(size, Type.INT) if size is not None else expr
        case Logic():
            return _fold_logic(expr, dtypes)
        case Conditional():
            condition = fold(expr.condition, dtypes)
            if isinstance(condition, Constant):
                taken = fold(expr.then if condition.value else expr.otherwise, dtypes)
                return _as_type(taken, expr.type)
            return Conditional(condition, fold(expr.then, dtypes), fold(expr.otherwise, dtypes), expr.type)
        case Compare():
            return _fold_compare(expr, dtypes)
        case Member():
            return _fold_member(expr, dtypes)
    before = children(expr)
    parts = tuple([fold(part, dtypes) for part in before])
    if isinstance(expr, Unary | Binary) or (isinstance(expr, Call) and expr.function in FUNCTIONS):
        values = [part.value for part in parts if isinstance(part, Constant)]
        if len(values) == len(parts):
            return Constant(_finite(expr, operation(expr, values), values), expr.type)
    return expr if all(map(is_, parts, before)) else rebuild(expr, parts)


def zero_divisor(expr: Expr) -> Expr | None:
    """A part of `expr` that divides by what is plainly zero."""
    for part in walk(expr):
        divides = isinstance(part, Binary) and part.operator in ("/", "//", "%")
        divides = divides or (isinstance(part, Call) and part.function in ("ceil_div", "round_up"))
        if divides and constant(children(part)[1], {}) == 0:
            return part
    return None


def depends_on_dtypes(expr: Expr) -> bool:
    """Whether folding for another choice of dtypes can give another result."""
    return any(
        (isinstance(part, Name) and part.kind is NameKind.VARIABLE)
        or (isinstance(part, Query) and part.function == "sizeof" and part.subject not in DTYPES)
        for part in walk(expr)
    )


def constant(expr: Expr, dtypes: Mapping[str, str]) -> int | float | bool | str | None:
    """The value of `expr` when folding makes it a constant, else None."""
    folded = fold(expr, dtypes)
    return folded.value if isinstance(folded, Constant) else None


def _as_type(expr: Expr, wanted: Type) -> Expr:
    """A constant branch of a float conditional is a float, also when it was written `1`."""
    if wanted is Type.FLOAT and isinstance(expr, Constant) and expr.type is Type.INT:
        return Constant(float(expr.value), Type.FLOAT)
    return expr


def _fold_logic(expr: Logic, dtypes: Mapping[str, str]) -> Expr:
    """A constant operand that decides is the result, wherever it stands; the others disappear."""
    decides = expr.operator == "or"
    kept: list[Expr] = []
    for operand in expr.operands:
        part = fold(operand, dtypes)
        if not isinstance(part, Constant):
            kept.append(part)
        elif bool(part.value) == decides:
            return TRUE if decides else FALSE
    if not kept:
        return FALSE if decides else TRUE
    if len(kept) == 1:
        return kept[0]
    if len(kept) == len(expr.operands) and all(map(is_, kept, expr.operands)):
        return expr
    return Logic(expr.operator, tuple(kept))


def _fold_compare(expr: Compare, dtypes: Mapping[str, str]) -> Expr:
    """A link that is false makes the chain false; links that are true stay when their operands are shared with open
    ones.
    """
    operands = tuple([fold(operand, dtypes) for operand in expr.operands])
    unknown: list[int] = []
    for i, operator in enumerate(expr.operators):
        left, right = operands[i], operands[i + 1]
        if not isinstance(left, Constant) or not isinstance(right, Constant):
            unknown.append(i)
        elif not compare(operator, left.value, right.value):
            return FALSE
    if not unknown:
        return TRUE
    first, last = unknown[0], unknown[-1]
    if len(unknown) == len(expr.operators) and all(map(is_, operands, expr.operands)):
        return expr
    return Compare(operands[first : last + 2], expr.operators[first : last + 1])


def _fold_member(expr: Member, dtypes: Mapping[str, str]) -> Expr:
    operand = fold(expr.operand, dtypes)
    choices = tuple(fold(choice, dtypes) for choice in expr.choices)
    if isinstance(operand, Constant):
        if any(isinstance(choice, Constant) and choice.value == operand.value for choice in choices):
            return FALSE if expr.negated else TRUE
        if all(isinstance(choice, Constant) for choice in choices):
            return TRUE if expr.negated else FALSE
    return Member(operand, choices, expr.negated)


def compare(operator: str, left: float | bool | str, right: float | bool | str) -> bool:
    """One comparison of two values; only numbers are ordered."""
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    if isinstance(left, str) or isinstance(right, str):
        raise TypeError("only numbers are ordered")
    if operator == "<":
        return left < right
    if operator == "<=":
        return left <= right
    if operator == ">":
        return left > right
    return left >= right


def operation(expr: Unary | Binary | Call, values: list[int | float | bool | str]) -> int | float | bool:
    """The value of an operation on values, exact in integers and IEEE in floats."""
    if isinstance(expr, Unary) and expr.operator == "not":
        return not values[0]
    numbers = [value for value in values if not isinstance(value, str)]
    if expr.type is Type.FLOAT:
        return _float(expr, [float(number) for number in numbers])
    result = _integer(expr, [int(number) for number in numbers])
    if not INT_MIN <= result <= INT_MAX:
        raise FoldError("integer overflow")
    return result


def _finite(
    expr: Unary | Binary | Call, result: int | float | bool, values: list[int | float | bool | str]
) -> int | float | bool:
    """The constant that a spec means: not what comes of constants that are divided by zero or become too large."""
    if not isinstance(result, float) or math.isfinite(result):
        return result
    if isinstance(expr, Binary) and expr.operator == "/" and values[1] == 0:
        raise FoldError("division by zero")
    raise FoldError("a root of a negative number" if math.isnan(result) else "a number too large for a float")


def _integer(expr: Unary | Binary | Call, numbers: list[int]) -> int:
    if isinstance(expr, Unary):
        return -numbers[0]
    if isinstance(expr, Call):
        return _integer_call(expr.function, numbers)
    left, right = numbers
    match expr.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            return left // _divisor(right)
        case "%":
            return left % _divisor(right)
    return integer_power(left, right)


def integer_power(base: int, exponent: int) -> int:
    """`base ** exponent` without computing numbers that are far too large; a negative exponent has no integer value."""
    if exponent < 0:
        raise FoldError("negative power of an integer")
    if abs(base) > 1 and exponent > 64:
        raise FoldError("integer overflow")
    result: int = base ** (exponent if abs(base) > 1 else min(exponent, 2 + exponent % 2))
    return result


def _divisor(value: int) -> int:
    if value == 0:
        raise FoldError("division by zero")
    return value


def _integer_call(function: str, numbers: list[int]) -> int:
    match function:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "abs":
            return abs(numbers[0])
        case "ceil_div":
            return -(-numbers[0] // _divisor(numbers[1]))
        case "round_up":
            return -(-numbers[0] // _divisor(numbers[1])) * numbers[1]
    return 1 << max(numbers[0] - 1, 0).bit_length()


def _float(expr: Unary | Binary | Call, numbers: list[float]) -> float:
    if isinstance(expr, Unary):
        return -numbers[0]
    if isinstance(expr, Call):
        return abs(numbers[0]) if expr.function == "abs" else min(numbers) if expr.function == "min" else max(numbers)
    left, right = numbers
    match expr.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left * math.copysign(math.inf, right) if right == 0 else left / right
    return real_power(left, right)


def real_power(base: float, exponent: float) -> float:
    """`base ** exponent` as C computes it, where Python raises."""
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        if base < 0 and exponent % 1 != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf
