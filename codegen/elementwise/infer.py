"""The kinds of expressions in the lines of `elementwise:`, for one choice of dtypes (kinds.py says what a kind is)."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.elementwise.kinds import (
    COMPLEX,
    COMPLEX_FUNCTIONS,
    FLOAT_FUNCTIONS,
    REAL,
    TESTS,
    TIMES_I,
    TO_REAL,
    WHOLE_FUNCTIONS,
    Kind,
    KindProblem,
    complex_of,
    joint,
    kind_of,
    real_of,
)
from codegen.expr.fold import FoldError, constant
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
    NameKind,
    Query,
    Unary,
    walk,
)

KIND_NAMES = {
    Kind.BOOL: "a bool",
    Kind.INT: "an int",
    **dict.fromkeys((Kind.WEAK, *REAL), "a float"),
    **dict.fromkeys(COMPLEX, "a complex number"),
}
A_PART = "real(...), imag(...) and abs(...) of it are floats"


class Kinds:
    """Of expressions, from those of their parts."""

    def __init__(self, operands: Mapping[str, str], uniforms: Mapping[str, Kind], variables: Mapping[str, str]) -> None:
        self.operands = operands
        self.uniforms = uniforms
        self.variables = variables
        self.known: dict[int, Kind] = {}

    def kind(self, expr: Expr) -> Kind:
        """The kind of an expression, from those of its parts. Expressions live as long as this."""
        if id(expr) not in self.known:
            self.known[id(expr)] = self._kind(expr)
        return self.known[id(expr)]

    def _kind(self, expr: Expr) -> Kind:
        match expr:
            case Constant():
                return _constant_kind(expr)
            case Name(kind=NameKind.ELEMENT):
                return kind_of(self.operands[expr.name])
            case Name():
                return self.uniforms[expr.name]
            case Query(function="sizeof"):
                return Kind.INT
            case Query() | Compare() | Member() | Logic() | Unary(operator="not"):
                return Kind.BOOL
            case Unary():
                return max(self.kind(expr.operand), Kind.INT)
            case Binary():
                return self._binary(expr)
            case Conditional():
                taken = self.decided(expr.condition)
                if taken is not None:
                    return self.kind(expr.then if taken else expr.otherwise)
                return joint(self.kind(expr.then), self.kind(expr.otherwise))
            case Call():
                return self._call(expr)

    def decided(self, condition: Expr) -> bool | None:
        """The value of a condition on dtypes alone. One that divides by zero is left to the lines' rule."""
        if any(isinstance(part, Name) and part.kind is not NameKind.VARIABLE for part in walk(condition)):
            return None
        try:
            folded = constant(condition, self.variables)
        except FoldError:
            return None
        return folded if isinstance(folded, bool) else None

    def _binary(self, expr: Binary) -> Kind:
        kind = joint(self.kind(expr.left), self.kind(expr.right), Kind.INT)
        if expr.operator == "/":
            return max(kind, Kind.WEAK)
        if expr.operator in ("//", "%") and kind is not Kind.INT:
            hint = "" if kind in COMPLEX else "floor(a / b) divides floats"
            raise KindProblem(f"`{expr.operator}` takes int, and this is {KIND_NAMES[kind]}", hint)
        if expr.operator == "**":
            exponent = exponent_of(expr)
            whole = isinstance(exponent, int) and 0 <= exponent <= 64
            return kind if whole else max(kind, Kind.WEAK)
        return kind

    def _call(self, expr: Call) -> Kind:
        kind = joint(*(self.kind(argument) for argument in expr.arguments))
        if expr.function in TESTS:
            return Kind.BOOL
        if expr.function == "saturate":
            raise KindProblem("saturate(...) stands outermost", "for instance y: saturate(x / scale)")
        if expr.function == TIMES_I:
            return complex_of(kind)
        if kind in COMPLEX:
            if expr.function not in COMPLEX_FUNCTIONS:
                raise KindProblem(f"{expr.function} takes no complex numbers", A_PART)
            return real_of(kind) if expr.function in TO_REAL else kind
        return max(kind, Kind.WEAK if expr.function in FLOAT_FUNCTIONS else Kind.INT)

    def is_whole(self, expr: Expr) -> bool:
        """Whether an expression can only be a whole number (or infinite, or no number)."""
        match expr:
            case Constant():
                return not isinstance(expr.value, str) and expr.value == int(expr.value)
            case Call(function="min" | "max" | "abs"):
                return all(self.is_whole(argument) for argument in expr.arguments)
            case Call():
                return expr.function in (*WHOLE_FUNCTIONS, "sign")
            case Conditional():
                return self.is_whole(expr.then) and self.is_whole(expr.otherwise)
            case Unary():
                return self.is_whole(expr.operand)
            case Binary(operator="+" | "-" | "*"):
                return self.is_whole(expr.left) and self.is_whole(expr.right)
        return self.kind(expr) in (Kind.BOOL, Kind.INT)


def _constant_kind(constant: Constant) -> Kind:
    if isinstance(constant.value, bool):
        return Kind.BOOL
    return Kind.INT if isinstance(constant.value, int) else Kind.WEAK


def exponent_of(expr: Binary) -> int | float | None:
    """A constant exponent."""
    number = expr.right.value if isinstance(expr.right, Constant) else None
    return None if isinstance(number, bool | str) else number
