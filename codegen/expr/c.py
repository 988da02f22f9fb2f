"""Prints an expression as C11.

Integer arithmetic goes through the checked helpers of csrc/runtime/arith.h (`add_i64(&overflow, a, b)` and so
on), where `overflow` is a `bool` in scope that is set when a result leaves 64 bits or a divisor is zero. `can_overflow`
tells whether the flag can be touched at all. Floats are doubles and need <math.h> for pow and fabs; an integer becomes
one where it meets them, but is compared with them exactly. The text is clean under -Wconversion, and `&&`, `||` and
`?:` evaluate no more than Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from codegen.expr.tree import (
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
    walk,
)
from codegen.frozen import dataclass

_INTEGER = {"+": "add_i64", "-": "sub_i64", "*": "mul_i64", "//": "floordiv_i64", "%": "mod_i64", "**": "pow_i64"}
# Functions that only choose among their arguments.
_ORDERS = ("min", "max")
# Binding strengths of C, weakest first.
_CONDITIONAL, _OR, _AND, _ORDER, _SUM, _TERM, _UNARY, _ATOM = range(8)
_FLOAT = {"+": _SUM, "-": _SUM, "*": _TERM, "/": _TERM}


@dataclass(frozen=True)
class CNames:
    """What the names of the spec are called in the C code around an expression.

    `query(question, operands)` prints numel, size, given and the like; `dtype` the number of a dtype; `word` the
    position of a choice's word (argument, word).
    """

    names: Mapping[str, str] = field(default_factory=dict)
    query: Callable[[Query, tuple[str, ...]], str] | None = None
    dtype: Callable[[str], str] = "aoti_torch_dtype_{}()".format
    word: Callable[[str, str], str] | None = None

    def of(self, name: str) -> str:
        """The target of a name; names that nobody renamed stay."""
        return self.names.get(name, name)


def can_overflow(expr: Expr) -> bool:
    """Whether printing `expr` uses `overflow`: integer arithmetic that may leave 64 bits or divide by zero."""
    return any(
        (
            isinstance(part, Unary | Binary | Call)
            and part.type is Type.INT
            and getattr(part, "function", "") not in _ORDERS
        )
        or (isinstance(part, Name) and part.kind is NameKind.SPLICED)
        or (isinstance(part, Query) and part.function == "numel_of_list")
        for part in walk(expr)
    )


def print_c(expr: Expr, names: CNames) -> str:
    """`expr` as a C expression of type int64_t, double or bool (or int32_t for dtypes), without outer parentheses."""
    return _print(expr, names)[0]


def print_real(expr: Expr, names: CNames) -> str:
    """A number as a C expression of type double."""
    return _as(expr, Type.FLOAT, names, _CONDITIONAL)


def _print(expr: Expr, names: CNames) -> tuple[str, int]:
    match expr:
        case Constant():
            return _constant(expr, names)
        case Name():
            return names.of(expr.name), _ATOM
        case Query():
            if names.query is None:
                raise ValueError(f"{expr.function}() has no C form here")
            return names.query(expr, tuple(print_c(operand, names) for operand in expr.operands)), _ATOM
        case Unary(operator="not"):
            return f"!{_at_least(expr.operand, _UNARY, names)}", _UNARY
        case Unary(type=Type.FLOAT):
            # The parentheses keep a negative constant from making `--`.
            return f"-{_at_least(expr.operand, _ATOM, names)}", _UNARY
        case Unary():
            return f"neg_i64(&overflow, {print_c(expr.operand, names)})", _ATOM
        case Binary():
            return _binary(expr, names)
        case Compare():
            links = [_link(expr, i, names) for i in range(len(expr.operators))]
            return (links[0]) if len(links) == 1 else (" && ".join(text for text, _ in links), _AND)
        case Member():
            return _member(expr, names)
        case Logic(operator="and"):
            return " && ".join(_at_least(operand, _AND, names) for operand in expr.operands), _AND
        case Logic():
            # Not needed, but gcc asks for parentheses around && within ||.
            return " || ".join(_at_least(operand, _ORDER, names) for operand in expr.operands), _OR
        case Conditional():
            condition = _at_least(expr.condition, _OR, names)
            then, otherwise = (_as(part, expr.type, names, _OR) for part in (expr.then, expr.otherwise))
            return f"{condition} ? {then} : {otherwise}", _CONDITIONAL
        case Call():
            return _call(expr, names), _ATOM


def _at_least(expr: Expr, wanted: int, names: CNames) -> str:
    text, own = _print(expr, names)
    return text if own >= wanted else f"({text})"


def _as(expr: Expr, kind: Type, names: CNames, wanted: int) -> str:
    """`expr` converted to a double where a double is wanted and it is an integer."""
    if kind is not Type.FLOAT or expr.type is not Type.INT:
        return _at_least(expr, wanted, names)
    if isinstance(expr, Constant):
        return _at_least(Constant(float(expr.value), Type.FLOAT), wanted, names)
    return f"(double){_at_least(expr, _ATOM, names)}"


def _constant(constant: Constant, names: CNames) -> tuple[str, int]:
    value = constant.value
    if constant.type is Type.DTYPE:
        return names.dtype(str(value)), _ATOM
    if isinstance(value, bool):
        return ("true" if value else "false"), _ATOM
    if isinstance(value, int):
        if value == INT_MIN:
            return "INT64_MIN", _ATOM
        text = str(value) if abs(value) < 2**31 else f"{'-' if value < 0 else ''}INT64_C({abs(value)})"
        return text, _UNARY if value < 0 else _ATOM
    if isinstance(value, float):
        return repr(value), _UNARY if value < 0 else _ATOM
    raise ValueError("a word has no C form outside a comparison")


def _binary(expr: Binary, names: CNames) -> tuple[str, int]:
    if expr.type is Type.INT:
        left, right = print_c(expr.left, names), print_c(expr.right, names)
        return f"{_INTEGER[expr.operator]}(&overflow, {left}, {right})", _ATOM
    if expr.operator == "**":
        left, right = (_as(part, Type.FLOAT, names, _CONDITIONAL) for part in (expr.left, expr.right))
        return f"pow({left}, {right})", _ATOM
    own = _FLOAT[expr.operator]
    left, right = _as(expr.left, Type.FLOAT, names, own), _as(expr.right, Type.FLOAT, names, own + 1)
    return f"{left} {expr.operator} {right}", own


def _link(expr: Compare, i: int, names: CNames) -> tuple[str, int]:
    """One link of a chain. Operands are pure, so a shared one may be printed twice."""
    return _comparison(expr.operands[i], expr.operators[i], expr.operands[i + 1], names)


def _comparison(left: Expr, operator: str, right: Expr, names: CNames) -> tuple[str, int]:
    if left.type is Type.STR:
        return f"{_word(left, right, names)} {operator} {_word(right, left, names)}", _ORDER
    kind = Type.FLOAT if Type.FLOAT in (left.type, right.type) else left.type
    return f"{_compared(left, kind, names)} {operator} {_compared(right, kind, names)}", _ORDER


def _compared(expr: Expr, kind: Type, names: CNames) -> str:
    """One side of a comparison. A long double holds every int64_t (csrc/runtime/arith.h sees to that), a double does
    not.
    """
    mixed = kind is Type.FLOAT and expr.type is Type.INT
    if mixed and not (isinstance(expr, Constant) and float(expr.value) == expr.value):
        return f"(long double){_at_least(expr, _ATOM, names)}"
    # One step stronger than needed: gcc warns about comparisons of comparisons without parentheses.
    return _as(expr, kind, names, _SUM)


def _word(expr: Expr, other: Expr, names: CNames) -> str:
    """A choice is its position in C; a word is the constant of that position."""
    if isinstance(expr, Name):
        return names.of(expr.name)
    if not isinstance(expr, Constant) or not isinstance(other, Name) or names.word is None:
        raise ValueError("words are compared with a choice argument")
    return names.word(other.name, str(expr.value))


def _member(expr: Member, names: CNames) -> tuple[str, int]:
    operator, joint, own = ("!=", " && ", _AND) if expr.negated else ("==", " || ", _OR)
    links = [_comparison(expr.operand, operator, choice, names) for choice in expr.choices]
    return links[0] if len(links) == 1 else (joint.join(text for text, _ in links), own)


def _call(expr: Call, names: CNames) -> str:
    """min and max of several arguments nest to the left."""
    if expr.type is Type.FLOAT:
        return _float_call(expr, names)
    target = f"{expr.function}_i64(" if expr.function in _ORDERS else f"{expr.function}_i64(&overflow, "
    arguments = [print_c(argument, names) for argument in expr.arguments]
    if len(arguments) == 1:
        return f"{target}{arguments[0]})"
    result = arguments[0]
    for argument in arguments[1:]:
        result = f"{target}{result}, {argument})"
    return result


def _float_call(expr: Call, names: CNames) -> str:
    """min and max keep the first of equal or unordered numbers, as Python's do; fmin and fmax would drop a NaN."""
    if expr.function == "abs":
        return f"fabs({_as(expr.arguments[0], Type.FLOAT, names, _CONDITIONAL)})"
    order = "<" if expr.function == "min" else ">"
    result, *others = (_as(argument, Type.FLOAT, names, _SUM) for argument in expr.arguments)
    for other in others:
        result = f"({other} {order} {result} ? {other} : {result})"
    return result
