"""The program of the lines of `elementwise:` for one choice of dtypes (elementwise.py says what it is)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import copysign

from codegen.contract import Argument, ScalarType, TensorType, dtype_of
from codegen.elementwise.kinds import (
    FLOAT_FUNCTIONS,
    REAL,
    TESTS,
    WHOLE_FUNCTIONS,
    Kind,
    KindProblem,
    Program,
    Store,
    Value,
    kind_of,
)
from codegen.expr.fold import constant
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
    walk,
)
from codegen.types import DTYPES, whole_range

# Floating dtypes whose finite numbers saturate() clamps to; others reach about as far as what is computed with.
_CLAMPED = ("float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
_SCALAR_KINDS = {"float": Kind.WEAK, "int": Kind.INT, "size": Kind.INT, "bool": Kind.BOOL}
_NAMES = {Kind.BOOL: "a bool", Kind.INT: "an int", Kind.WEAK: "a float", Kind.F32: "a float", Kind.F64: "a float"}


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
) -> Program:
    """The program of lines (target, its dtype, expression); `operands` gives the dtype of each tensor that is read,
    `variables` that of each dtype variable.
    """
    builder = _Builder(operands, uniforms, variables)
    for target, dtype, expr in lines:
        builder.store(target, dtype, expr)
    return builder.program


class _Builder:
    def __init__(self, operands: Mapping[str, str], uniforms: Mapping[str, Kind], variables: Mapping[str, str]) -> None:
        self.operands = operands
        self.uniforms = uniforms
        self.variables = variables
        self.program = Program()
        self.numbers: dict[tuple[object, ...], int] = {}
        self.known: dict[int, Kind] = {}
        self.made: dict[tuple[int, Kind], int] = {}

    # ---------------------------------------------------------------- kinds

    def kind(self, expr: Expr) -> Kind:
        """The kind of an expression, from those of its parts. Expressions live as long as the builder."""
        if id(expr) not in self.known:
            self.known[id(expr)] = self._kind(expr)
        return self.known[id(expr)]

    def _kind(self, expr: Expr) -> Kind:
        match expr:
            case Constant():
                return _constant_kind(expr)
            case Name(kind=NameKind.ELEMENT):
                kind = kind_of(self.operands[expr.name])
                if kind is None:
                    raise KindProblem(f"{expr.name} can be complex, which lines cannot compute with")
                return kind
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
                return max(self.kind(expr.then), self.kind(expr.otherwise))
            case Call():
                return self._call(expr)

    def decided(self, condition: Expr) -> bool | None:
        """The value of a condition on dtypes alone."""
        if any(isinstance(part, Name) and part.kind is not NameKind.VARIABLE for part in walk(condition)):
            return None
        folded = constant(condition, self.variables)
        return folded if isinstance(folded, bool) else None

    def _binary(self, expr: Binary) -> Kind:
        joint = max(self.kind(expr.left), self.kind(expr.right), Kind.INT)
        if expr.operator == "/":
            return max(joint, Kind.WEAK)
        if expr.operator in ("//", "%") and joint is not Kind.INT:
            raise KindProblem(f"`{expr.operator}` takes int, and this is a float", "floor(a / b) divides floats")
        if expr.operator == "**":
            exponent = _exponent(expr)
            whole = isinstance(exponent, int) and 0 <= exponent <= 64
            return joint if whole else max(joint, Kind.WEAK)
        return joint

    def _call(self, expr: Call) -> Kind:
        joint = max(self.kind(argument) for argument in expr.arguments)
        if expr.function in TESTS:
            return Kind.BOOL
        if expr.function == "saturate":
            raise KindProblem("saturate(...) stands outermost", "for instance y: saturate(x / scale)")
        return max(joint, Kind.WEAK if expr.function in FLOAT_FUNCTIONS else Kind.INT)

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
        kind = self.kind(expr)
        if isinstance(expr, Constant):
            return self.constant(expr.value, wanted)
        if isinstance(expr, Name):
            if expr.kind is not NameKind.ELEMENT:
                return self.convert(self.add("uniform", kind, name=expr.name), wanted)
            # Whatever it is stored as, an operand is converted as it is loaded.
            return self.add("load", wanted if wanted in REAL else kind, name=expr.name)
        own = (wanted if wanted in REAL else Kind.F64) if kind is Kind.WEAK else kind
        return self.convert(self.computed(expr, own), wanted)

    def constant(self, number: float | bool | str, wanted: Kind) -> int:
        assert not isinstance(number, str)
        if wanted in REAL:
            return self.add("constant", wanted, number=float(number))
        return self.add("constant", wanted, number=bool(number) if wanted is Kind.BOOL else int(number))

    def convert(self, index: int, wanted: Kind) -> int:
        value = self.program.values[index]
        if value.kind is wanted:
            return index
        return self.constant(value.number, wanted) if value.op == "constant" else self.add("convert", wanted, index)

    def computed(self, expr: Expr, kind: Kind) -> int:
        match expr:
            case Compare() | Member() if (decided := self.decided(expr)) is not None:
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
            case Conditional() if (decided := self.decided(expr.condition)) is not None:
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
        kind = self.kind(expr)
        if kind is not Kind.BOOL:
            text = f"a condition is a bool, and this is {_NAMES[kind]}"
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
        joint = max(self.kind(left), self.kind(right))
        if joint is Kind.BOOL and operator in ("==", "!="):
            differ = self.add("xor", Kind.BOOL, self.value(left, joint), self.value(right, joint))
            return differ if operator == "!=" else self.add("not", Kind.BOOL, differ)
        joint = Kind.F64 if joint is Kind.WEAK else max(joint, Kind.INT)
        return self.add(operator, Kind.BOOL, self.value(left, joint), self.value(right, joint))

    def word(self, left: Expr, operator: str, right: Expr) -> int:
        """A choice compared with one of its words."""
        name, word = (left, right) if isinstance(left, Name) else (right, left)
        if not isinstance(name, Name) or not isinstance(word, Constant):
            raise KindProblem("only a choice is compared with a word")
        same = self.add("word", Kind.BOOL, name=name.name, word=str(word.value))
        return same if operator == "==" else self.add("not", Kind.BOOL, same)

    def power(self, expr: Binary, kind: Kind) -> int:
        """Small constant powers are products, square roots and quotients."""
        base, exponent = self.value(expr.left, kind), _exponent(expr)
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
            own = self.kind(expr.arguments[0])
            if own in (Kind.BOOL, Kind.INT):
                return self.constant(function == "isfinite", Kind.BOOL)
            return self.add(function, kind, self.value(expr.arguments[0], Kind.F64 if own is Kind.WEAK else own))
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
        if acc is None:
            raise KindProblem(f"{target} can be {dtype}, and lines cannot compute complex numbers")
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
        kind = self.kind(expr)
        if acc in REAL:
            return self.value(expr, kind if kind in REAL else acc)
        if acc is Kind.BOOL:
            if kind is not Kind.BOOL:
                raise KindProblem(f"this is {_NAMES[kind]}, and {target} is bool", "compare it, for instance with != 0")
            return self.value(expr, Kind.BOOL)
        if kind in (Kind.BOOL, Kind.INT):
            return self.value(expr, Kind.INT)
        if not self.is_whole(expr):
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

    def saturated(self, expr: Expr, dtype: str) -> int:
        """Rounded where it is no whole number, and clamped to the range of `dtype`."""
        info = DTYPES[dtype]
        low, high = whole_range(dtype)
        kind = self.kind(expr)
        if kind in (Kind.BOOL, Kind.INT):
            kind = Kind.INT
            value = self.value(expr, kind)
        else:
            kind = kind if kind in REAL else Kind.F64
            value = self.value(expr, kind)
            value = value if self.is_whole(expr) else self.add("round", kind, value)
        if info.size < 4 or (kind is Kind.INT and info.size < 8):
            value = self.add("max", kind, value, self.constant(low, kind))
            value = self.add("min", kind, value, self.constant(high, kind))
        return value  # the conversion of floats clamps to 32 or 64 bits itself


def _constant_kind(constant: Constant) -> Kind:
    if isinstance(constant.value, bool):
        return Kind.BOOL
    return Kind.INT if isinstance(constant.value, int) else Kind.WEAK


def _exponent(expr: Binary) -> int | float | None:
    """A constant exponent."""
    number = expr.right.value if isinstance(expr.right, Constant) else None
    return None if isinstance(number, bool | str) else number
