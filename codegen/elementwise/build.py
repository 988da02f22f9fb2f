"""The program of the lines of `elementwise:` for one choice of dtypes (kinds.py says what it is)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign

from codegen.contract import Argument, ScalarType, TensorType, dtype_of
from codegen.elementwise.infer import A_PART, KIND_NAMES, Kinds, exponent_of
from codegen.elementwise.kinds import (
    COMPLEX,
    PARTS,
    REAL,
    TESTS,
    TIMES_I,
    TO_REAL,
    WHOLE_FUNCTIONS,
    Kind,
    KindProblem,
    Program,
    Store,
    Value,
    complex_of,
    joint,
    kind_of,
    real_of,
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
    NameKind,
    Query,
    Type,
    Unary,
)
from codegen.types import DTYPES, whole_range

# Floating dtypes whose finite numbers saturate() clamps to; others reach about as far as what is computed with.
_CLAMPED = ("float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
_SCALAR_KINDS = {"float": Kind.WEAK, "int": Kind.INT, "size": Kind.INT, "bool": Kind.BOOL}


def operand_dtypes(arguments: Sequence[Argument], choice: Mapping[str, str]) -> dict[str, str]:
    """The dtype of every tensor argument for one choice of dtypes."""
    return {a.name: dtype_of(a.type.dtype, choice) for a in arguments if isinstance(a.type, TensorType)}


def uniform_kinds(arguments: Sequence[Argument], sizes: Sequence[str]) -> dict[str, Kind]:
    """The kinds of what is the same for every element: scalar arguments, and dims."""
    found = dict.fromkeys(sizes, Kind.INT)
    for argument in arguments:
        if isinstance(argument.type, ScalarType) and argument.type.kind in _SCALAR_KINDS and not argument.type.is_list:
            found[argument.name] = _SCALAR_KINDS[argument.type.kind]
    return found


def build(
    lines: Sequence[tuple[str, str, Expr]],
    operands: Mapping[str, str],
    uniforms: Mapping[str, Kind],
    variables: Mapping[str, str],
    gradients: bool = False,
) -> Program:
    """The program of lines (target, its dtype, expression); `operands` gives the dtype of each tensor that is read,
    `variables` that of each dtype variable. Of `gradients` a real target takes the real part.
    """
    builder = _Builder(operands, uniforms, variables, gradients)
    for target, dtype, expr in lines:
        builder.store(target, dtype, expr)
    return builder.program


class _Builder:
    def __init__(
        self,
        operands: Mapping[str, str],
        uniforms: Mapping[str, Kind],
        variables: Mapping[str, str],
        gradients: bool,
    ) -> None:
        self.gradients = gradients
        self.operands = operands
        self.variables = variables
        self.kinds = Kinds(operands, uniforms, variables)
        self.program = Program()
        self.numbers: dict[tuple[object, ...], int] = {}
        self.made: dict[tuple[int, Kind], int] = {}

    # ---------------------------------------------------------------- values

    def add(self, op: str, kind: Kind, *operands: int, name: str = "", number: float = 0, word: str = "") -> int:
        """The number of a value, the same for equal ones."""
        # 0 and 0.0 and False are equal, and their kinds tell them apart; -0.0 is told by its sign.
        key = (op, kind, operands, name, number, copysign(1, number), word)
        index = self.numbers.get(key)
        if index is None:
            index = self.numbers[key] = len(self.program.values)
            uniform = op != "load" and all(self.program.values[operand].uniform for operand in operands)
            self.program.values.append(Value(op, kind, operands, name, number, uniform, word))
        return index

    def value(self, expr: Expr, wanted: Kind) -> int:
        """The value of an expression, as `wanted`."""
        key = (id(expr), wanted)
        if key not in self.made:
            self.made[key] = self._value(expr, wanted)
        return self.made[key]

    def _value(self, expr: Expr, wanted: Kind) -> int:
        kind = self.kinds.kind(expr)
        if isinstance(expr, Constant):
            return self.constant(expr.value, wanted)
        if isinstance(expr, Name):
            if expr.kind is not NameKind.ELEMENT:
                return self.convert(self.add("uniform", kind, name=expr.name), wanted)
            # Whatever it is stored as, an operand is converted as it is loaded.
            loaded = self.add("load", wanted if wanted in REAL else kind, name=expr.name)
            return self.convert(loaded, wanted)  # a bool that meets a number is 1 or 0, where masks of lanes are not
        parts = real_of(wanted)  # of a complex number
        own = (parts if parts in REAL else Kind.F64) if kind is Kind.WEAK else kind
        return self.convert(self.computed(expr, own), wanted)

    def constant(self, number: float | bool | str, wanted: Kind) -> int:
        assert not isinstance(number, str)
        if wanted in REAL or wanted in COMPLEX:
            return self.add("constant", wanted, number=float(number))
        return self.add("constant", wanted, number=bool(number) if wanted is Kind.BOOL else int(number))

    def convert(self, index: int, wanted: Kind) -> int:
        value = self.program.values[index]
        if value.kind is wanted:
            return index
        if value.op == "constant":
            return self.constant(value.number, wanted)
        if wanted in COMPLEX and value.kind not in COMPLEX:
            return self.add("complex", wanted, self.convert(index, real_of(wanted)))
        return self.add("convert", wanted, index)

    def computed(self, expr: Expr, kind: Kind) -> int:
        match expr:
            case Compare() | Member() if (decided := self.kinds.decided(expr)) is not None:
                return self.constant(decided, kind)
            case Unary(operator="not"):
                return self.add("not", kind, self.condition(expr.operand))
            case Unary():
                return self.add("neg", kind, self.value(expr.operand, kind))
            case Binary(operator="**"):
                return self.power(expr, kind)
            case Binary():
                return self.add(expr.operator, kind, self.value(expr.left, kind), self.value(expr.right, kind))
            case Compare():
                links = [
                    self.comparison(left, operator, right)
                    for left, operator, right in zip(expr.operands, expr.operators, expr.operands[1:], strict=False)
                ]
                return self.joined("and", links)
            case Member():
                found = self.joined("or", [self.comparison(expr.operand, "==", choice) for choice in expr.choices])
                return self.add("not", kind, found) if expr.negated else found
            case Logic():
                return self.joined(expr.operator, [self.condition(operand) for operand in expr.operands])
            case Conditional() if (decided := self.kinds.decided(expr.condition)) is not None:
                return self.value(expr.then if decided else expr.otherwise, kind)
            case Conditional():
                return self.add(
                    "select",
                    kind,
                    self.condition(expr.condition),
                    self.value(expr.then, kind),
                    self.value(expr.otherwise, kind),
                )
            case Call():
                return self.call(expr, kind)
            case Query(function="sizeof"):
                return self.constant(DTYPES[self.variables.get(expr.subject, expr.subject)].size, kind)
            case Query(function="given"):
                return self.add("given", kind, name=expr.subject)
        raise KindProblem("this cannot be computed for each element")

    def condition(self, expr: Expr) -> int:
        kind = self.kinds.kind(expr)
        if kind is not Kind.BOOL:
            text = f"a condition is a bool, and this is {KIND_NAMES[kind]}"
            raise KindProblem(text, "compare it, for instance with != 0")
        return self.value(expr, Kind.BOOL)

    def joined(self, operator: str, parts: list[int]) -> int:
        result = parts[0]
        for part in parts[1:]:
            result = self.add(operator, Kind.BOOL, result, part)
        return result

    def comparison(self, left: Expr, operator: str, right: Expr) -> int:
        if left.type is Type.STR:
            return self.word(left, operator, right)
        kind = joint(self.kinds.kind(left), self.kinds.kind(right))
        if kind is Kind.BOOL and operator in ("==", "!="):
            differ = self.add("xor", Kind.BOOL, self.value(left, kind), self.value(right, kind))
            return differ if operator == "!=" else self.add("not", Kind.BOOL, differ)
        kind = Kind.F64 if kind is Kind.WEAK else max(kind, Kind.INT)
        parts = self.value(left, kind), self.value(right, kind)
        if kind in COMPLEX:
            if operator not in ("==", "!="):
                raise KindProblem(f"complex numbers have no order, and this has `{operator}`", A_PART)
            same = self.add("equal", Kind.BOOL, *parts)
            return same if operator == "==" else self.add("not", Kind.BOOL, same)
        return self.add(operator, Kind.BOOL, *parts)

    def word(self, left: Expr, operator: str, right: Expr) -> int:
        """A choice compared with one of its words."""
        name, word = (left, right) if isinstance(left, Name) else (right, left)
        if not isinstance(name, Name) or not isinstance(word, Constant):
            raise KindProblem("only a choice is compared with a word")
        same = self.add("word", Kind.BOOL, name=name.name, word=str(word.value))
        return same if operator == "==" else self.add("not", Kind.BOOL, same)

    def power(self, expr: Binary, kind: Kind) -> int:
        """Small constant powers are products, square roots and quotients."""
        base, exponent = self.value(expr.left, kind), exponent_of(expr)
        if exponent is not None and 0 <= exponent <= 4 and exponent == int(exponent):
            return self.product(base, int(exponent), kind)
        if kind is Kind.INT:
            return self.product(base, int(exponent or 0), kind)
        if exponent == 0.5:
            return self.add("sqrt", kind, base)
        if exponent == -0.5:
            return self.add("rsqrt", kind, base)
        if exponent in (-1, -2):
            return self.add("/", kind, self.constant(1.0, kind), self.product(base, -int(exponent), kind))
        return self.add("pow", kind, base, self.value(expr.right, kind))

    def product(self, base: int, exponent: int, kind: Kind) -> int:
        if exponent == 0:
            return self.constant(1, kind)
        result = None
        square = base
        while exponent > 0:
            if exponent % 2:
                result = square if result is None else self.add("*", kind, result, square)
            exponent //= 2
            square = self.add("*", kind, square, square) if exponent else square
        assert result is not None
        return result

    def call(self, expr: Call, kind: Kind) -> int:
        function = expr.function
        if function in TESTS:
            own = self.kinds.kind(expr.arguments[0])
            if own in (Kind.BOOL, Kind.INT):
                return self.constant(function == "isfinite", Kind.BOOL)
            return self.add(function, kind, self.value(expr.arguments[0], Kind.F64 if own is Kind.WEAK else own))
        if function in (*TO_REAL, "conj", TIMES_I):
            own = self.kinds.kind(expr.arguments[0])
            if own in COMPLEX or function == TIMES_I:
                return self.add(function, kind, self.value(expr.arguments[0], complex_of(own)))
            if function in (*PARTS, "conj"):
                return self.constant(0, kind) if function == "imag" else self.value(expr.arguments[0], kind)
        arguments = [self.value(argument, kind) for argument in expr.arguments]
        if function in WHOLE_FUNCTIONS and kind is Kind.INT:
            return arguments[0]
        result = arguments[0]
        if function in ("min", "max"):
            for argument in arguments[1:]:
                result = self.add(function, kind, result, argument)
            return result
        return self.add(function, kind, *arguments)

    # ---------------------------------------------------------------- stores

    def store(self, target: str, dtype: str, expr: Expr) -> None:
        """A line: what its expression makes, in a form that the target's dtype takes."""
        acc = kind_of(dtype)
        saturate = isinstance(expr, Call) and expr.function == "saturate"
        if saturate and acc is not Kind.INT and dtype not in _CLAMPED:
            raise KindProblem(f"saturate clamps to the range of integers, float8 and float16, and {target} is {dtype}")
        if saturate:
            assert isinstance(expr, Call)
            inner = expr.arguments[0]
            value = self.saturated(inner, dtype) if acc is Kind.INT else self.clamped(target, dtype, acc, inner)
        else:
            value = self.stored(target, dtype, acc, expr)
        whole = acc is Kind.INT and self.program.values[value].kind in REAL
        self.program.stores.append(Store(target, dtype, value, whole))

    def stored(self, target: str, dtype: str, acc: Kind, expr: Expr) -> int:
        kind = self.kinds.kind(expr)
        if acc in COMPLEX:
            return self.convert(self.value(expr, joint(kind, acc)), acc)
        if kind in COMPLEX and self.gradients:
            return self.add("real", real_of(kind), self.value(expr, kind))
        if kind in COMPLEX:
            raise KindProblem(f"this is a complex number, and {target} is {dtype}", A_PART)
        if acc in REAL:
            return self.value(expr, kind if kind in REAL else acc)
        if acc is Kind.BOOL:
            if kind is not Kind.BOOL:
                raise KindProblem(
                    f"this is {KIND_NAMES[kind]}, and {target} is bool", "compare it, for instance with != 0"
                )
            return self.value(expr, Kind.BOOL)
        if kind in (Kind.BOOL, Kind.INT):
            return self.value(expr, Kind.INT)
        if not self.kinds.is_whole(expr):
            raise KindProblem(
                f"this is a float, and {target} is {dtype}", "say how: round, floor, ceil, trunc or saturate it"
            )
        return self.value(expr, kind if kind in REAL else Kind.F64)

    def clamped(self, target: str, dtype: str, acc: Kind, expr: Expr) -> int:
        """To the finite numbers of a floating dtype; a NaN stays one."""
        value = self.stored(target, dtype, acc, expr)
        kind, largest = self.program.values[value].kind, float(DTYPES[dtype].largest)
        value = self.add("max", kind, value, self.constant(-largest, kind))
        return self.add("min", kind, value, self.constant(largest, kind))

    def saturated(self, expr: Expr, dtype: str) -> int:
        """Rounded where it is no whole number, and clamped to the range of `dtype`."""
        info = DTYPES[dtype]
        low, high = whole_range(dtype)
        kind = self.kinds.kind(expr)
        if kind in (Kind.BOOL, Kind.INT):
            kind = Kind.INT
            value = self.value(expr, kind)
        elif kind in COMPLEX:
            raise KindProblem("saturate takes no complex numbers", A_PART)
        else:
            kind = kind if kind in REAL else Kind.F64
            value = self.value(expr, kind)
            value = value if self.kinds.is_whole(expr) else self.add("round", kind, value)
        if info.size < 4 or (kind is Kind.INT and info.size < 8):
            value = self.add("max", kind, value, self.constant(low, kind))
            value = self.add("min", kind, value, self.constant(high, kind))
        return value  # the conversion of floats clamps to 32 or 64 bits itself
