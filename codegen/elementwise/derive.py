"""Derivatives of element-wise lines, as expressions.

Reverse accumulation: each part of a line is visited once, from the whole to its operands, and hands on what reaches it
times its own derivative. Equal parts are one object, so that an expression stays as small as the work that it
describes; what is plainly 0 or times 1 disappears on the way.

Gradients of complex numbers are PyTorch's: what arrives is multiplied by the conjugate of the derivative. A real number
that complex ones are made of has the real part of what arrives as its gradient; build.py takes it where gradients are
stored, since nothing real on the way is more than multiplied by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi, sqrt

from codegen.elementwise.kinds import TESTS, TIMES_I, TO_REAL, WHOLE_FUNCTIONS
from codegen.expr.tree import (
    Binary,
    Call,
    Compare,
    Conditional,
    Constant,
    Expr,
    Logic,
    Name,
    Query,
    Type,
    Unary,
    children,
    rebuild,
)

_ZERO = Constant(0.0, Type.FLOAT)
# Whatever reaches these goes no further: their derivative is 0 wherever there is one.
_FLAT = (*WHOLE_FUNCTIONS, *TESTS, "saturate")


def gradients(lines: Sequence[tuple[Expr, Expr]], wanted: Sequence[str], complex_: bool = False) -> dict[str, Expr]:
    """For each operand in `wanted` that the lines depend on, the sum over all lines of (what arrives at the line) times
    (the derivative of the line). A line is its expression and what arrives at it; with `complex_`, some operand may be
    complex.
    """
    return _Derivation(lines, frozenset(wanted), complex_).run()


class _Derivation:
    def __init__(self, lines: Sequence[tuple[Expr, Expr]], wanted: frozenset[str], complex_: bool) -> None:
        self.wanted = wanted
        self.complex = complex_
        self.kept: dict[tuple[object, ...], Expr] = {}
        self.seen: dict[int, Expr] = {}
        self.order: list[Expr] = []  # every part, behind its own parts
        self.active: dict[int, bool] = {}
        self.arriving: dict[int, Expr] = {}
        self.kept_back: dict[int, bool] = {}
        self.sums: dict[tuple[int, int], Expr] = {}
        self.alive: list[Expr] = []  # what the numbers of `seen` stand for
        for expr, upstream in lines:
            self.arrive(self.unique(expr), self.unique(upstream))

    def run(self) -> dict[str, Expr]:
        found: dict[str, Expr] = {}
        parts = list(self.order)  # derivatives add parts of their own, which nothing arrives at
        for part in reversed(parts):
            arrived = self.arriving.get(id(part))
            if arrived is None or not self.active[id(part)]:
                continue
            if isinstance(part, Name):
                found[part.name] = arrived
            else:
                self.hand_on(part, arrived)
        return found

    # ---------------------------------------------------------------- equal parts are one

    def unique(self, expr: Expr) -> Expr:
        """The one object for this expression."""
        if id(expr) not in self.seen:
            self.alive.append(expr)
            parts = tuple(self.unique(part) for part in children(expr))
            self.seen[id(expr)] = self.nested(rebuild(expr, parts)) if parts else self.known(expr)
        return self.seen[id(expr)]

    def nested(self, expr: Expr) -> Expr:
        """min and max of several are min and max of two, to the left."""
        if not isinstance(expr, Call) or expr.function not in ("min", "max"):
            return self.known(expr)
        result = expr.arguments[0]
        for argument in expr.arguments[1:]:
            result = self.known(Call(expr.function, (result, argument), expr.type))
        return result

    def known(self, expr: Expr) -> Expr:
        """`expr`, whose parts are unique already, or the one that is equal to it."""
        parts = children(expr)
        # Of a constant its text: 0.0 is equal to -0.0, and True to 1.
        rest = repr(expr) if isinstance(expr, Constant) else rebuild(expr, tuple(_ZERO for _ in parts))
        key = (rest, *(id(part) for part in parts))
        if key not in self.kept:
            self.kept[key] = expr
            self.order.append(expr)
            self.seen[id(expr)] = expr
            wanted = isinstance(expr, Name) and expr.name in self.wanted
            differentiable = not isinstance(expr, Compare | Logic | Query)
            self.active[id(expr)] = wanted or (differentiable and any(self.active[id(part)] for part in parts))
        return self.kept[key]

    # ---------------------------------------------------------------- expressions that are made

    def number(self, value: float) -> Expr:
        return self.known(Constant(float(value), Type.FLOAT))

    def call(self, function: str, *arguments: Expr) -> Expr:
        return self.known(Call(function, arguments, Type.FLOAT))

    def add(self, a: Expr, b: Expr) -> Expr:
        if _is(a, 0) or _is(b, 0):
            return b if _is(a, 0) else a
        if isinstance(a, Conditional) and isinstance(b, Conditional) and a.condition is b.condition:
            return self.add_branches(a, b)
        if isinstance(b, Unary):  # a number: no `not`
            return self.subtract(a, b.operand)
        return self.known(Binary("+", a, b, Type.FLOAT))

    def add_branches(self, a: Conditional, b: Conditional) -> Expr:
        """The sum of two with one condition. Branches share parts, so that what two of them make is kept: without that
        each condition inside would double the work.
        """
        key = (id(a), id(b))
        if key not in self.sums:
            then, otherwise = self.add(a.then, b.then), self.add(a.otherwise, b.otherwise)
            self.sums[key] = self.chosen(a.condition, then, otherwise)
        return self.sums[key]

    def subtract(self, a: Expr, b: Expr) -> Expr:
        if _is(b, 0):
            return a
        if _is(a, 0):
            return self.negative(b)
        return self.known(Binary("-", a, b, Type.FLOAT))

    def negative(self, a: Expr) -> Expr:
        if isinstance(a, Constant) and not isinstance(a.value, str):
            return self.number(-float(a.value))
        if isinstance(a, Unary):
            return a.operand
        return self.known(Unary("-", a, Type.FLOAT))

    def times(self, a: Expr, b: Expr) -> Expr:
        for one, other in ((a, b), (b, a)):
            if _is(one, 0):
                return self.number(0)
            if _is(one, 1):
                return other
            if _is(one, -1):
                return self.negative(other)
        return self.known(Binary("*", a, b, Type.FLOAT))

    def divided(self, a: Expr, b: Expr) -> Expr:
        return a if _is(a, 0) or _is(b, 1) else self.known(Binary("/", a, b, Type.FLOAT))

    def power(self, a: Expr, exponent: Expr) -> Expr:
        if _is(exponent, 0):
            return self.number(1)
        return a if _is(exponent, 1) else self.known(Binary("**", a, exponent, Type.FLOAT))

    def chosen(self, condition: Expr, then: Expr, otherwise: Expr) -> Expr:
        if _is(then, 0) and _is(otherwise, 0):
            return self.number(0)
        return self.known(Conditional(condition, then, otherwise, Type.FLOAT))

    def conj(self, a: Expr) -> Expr:
        """The conjugate, where numbers may be complex."""
        if not self.complex or isinstance(a, Constant) or (isinstance(a, Call) and a.function in TO_REAL):
            return a
        return a.arguments[0] if isinstance(a, Call) and a.function == "conj" else self.call("conj", a)

    def real(self, a: Expr) -> Expr:
        """The real part, where numbers may be complex."""
        if not self.complex or isinstance(a, Constant) or (isinstance(a, Call) and a.function in TO_REAL):
            return a
        return self.call("real", a)

    def compared(self, a: Expr, operator: str, b: Expr) -> Expr:
        return self.known(Compare((a, b), (operator,)))

    # ---------------------------------------------------------------- what arrives

    def arrive(self, part: Expr, amount: Expr) -> None:
        """Adds to what reaches a part."""
        if not self.active[id(part)] or _is(amount, 0):
            return
        before = self.arriving.get(id(part))
        self.arriving[id(part)] = amount if before is None else self.add(before, amount)

    def hand_on(self, part: Expr, arrived: Expr) -> None:
        """Gives the operands of a part what is theirs."""
        match part:
            case Unary():
                self.pass_on(part.operand, arrived, self.negative)
            case Binary():
                self.binary(part, arrived)
            case Conditional():
                self.arrive(part.then, self.chosen(part.condition, arrived, self.number(0)))
                self.arrive(part.otherwise, self.chosen(part.condition, self.number(0), arrived))
            case Call(function="min" | "max"):
                self.order_of_two(part, arrived)
            case Call() if part.function not in _FLAT and (self.complex or part.function != "sign"):
                self.pass_on(part.arguments[0], arrived, lambda amount: self.function(part, part.arguments[0], amount))

    def pass_on(self, operand: Expr, arrived: Expr, by: Callable[[Expr], Expr]) -> None:
        """What `by`, which is linear, makes of all that arrives, for an operand."""
        if self.active[id(operand)]:
            self.arrive(operand, self.mapped(arrived, by))

    def mapped(self, arrived: Expr, by: Callable[[Expr], Expr]) -> Expr:
        """What `by` makes of all that arrives. Where a condition lets nothing arrive it stays 0: the derivative may be
        infinite there, and 0 times that would be no number.
        """
        made: dict[int, Expr] = {}

        def inside(amount: Expr) -> Expr:
            if id(amount) not in made:
                made[id(amount)] = amount if _is(amount, 0) else within(amount)
            return made[id(amount)]

        def within(amount: Expr) -> Expr:
            if not self.may_be_kept_back(amount):
                return by(amount)
            if isinstance(amount, Conditional):
                return self.chosen(amount.condition, inside(amount.then), inside(amount.otherwise))
            assert isinstance(amount, Binary)  # a sum, or a difference
            merge = self.add if amount.operator == "+" else self.subtract
            return merge(inside(amount.left), inside(amount.right))

        return inside(arrived)

    def may_be_kept_back(self, amount: Expr) -> bool:
        """Whether some part of a sum is behind a condition that lets nothing through otherwise."""
        if id(amount) not in self.kept_back:
            found, parts = False, tuple[Expr, ...]()
            if isinstance(amount, Conditional):
                parts = (amount.then, amount.otherwise)
                found = any(_is(part, 0) for part in parts)
            elif isinstance(amount, Binary) and amount.operator in ("+", "-"):
                parts = children(amount)
            found = found or any(self.may_be_kept_back(part) for part in parts)
            self.kept_back[id(amount)] = found
        return self.kept_back[id(amount)]

    def binary(self, part: Binary, arrived: Expr) -> None:
        left, right, times, conj = part.left, part.right, self.times, self.conj
        match part.operator:
            case "+":
                self.arrive(left, arrived)
                self.arrive(right, arrived)
            case "-":
                self.arrive(left, arrived)
                self.pass_on(right, arrived, self.negative)
            case "*":
                self.pass_on(left, arrived, lambda amount: times(amount, conj(right)))
                self.pass_on(right, arrived, lambda amount: times(amount, conj(left)))
            case "/":
                over = self.divided
                self.pass_on(left, arrived, lambda amount: over(amount, conj(right)))
                self.pass_on(right, arrived, lambda a: self.negative(times(over(a, conj(right)), conj(part))))
            case "**":
                self.pass_on(left, arrived, lambda amount: times(amount, conj(self.power_by_base(left, right))))
                self.pass_on(right, arrived, lambda amount: times(amount, conj(self.power_by_exponent(part))))

    def power_by_base(self, base: Expr, exponent: Expr) -> Expr:
        """exponent * base ** (exponent - 1); 0 where the exponent is, also for the base 0."""
        if isinstance(exponent, Constant) and not isinstance(exponent.value, str):
            lower = exponent.value - 1
            less = self.known(Constant(lower, Type.INT if isinstance(lower, int) else Type.FLOAT))
            return self.times(self.number(float(exponent.value)), self.power(base, less))
        slope = self.times(exponent, self.power(base, self.subtract(exponent, self.number(1))))
        return self.chosen(self.compared(exponent, "==", self.number(0)), self.number(0), slope)

    def power_by_exponent(self, part: Binary) -> Expr:
        """base ** exponent * log(base); 0 where the base is 0 and the power does not change with the exponent."""
        base, exponent = part.left, part.right
        slope = self.times(part, self.call("log", base))
        if isinstance(base, Constant) and base.value != 0:
            return slope
        still = (self.compared(base, "==", self.number(0)), self.compared(self.real(exponent), ">=", self.number(0)))
        return self.chosen(self.known(Logic("and", still)), self.number(0), slope)

    def order_of_two(self, part: Call, arrived: Expr) -> None:
        """min and max pass nothing to the one that they leave, half to each of two that are equal, and all to both
        where one is no number, as PyTorch does.
        """
        a, b = part.arguments
        left = ">" if part.function == "min" else "<"
        half = self.mapped(arrived, lambda amount: self.times(self.number(0.5), amount))
        passed = self.chosen(self.compared(a, "==", b), half, arrived)
        self.arrive(a, self.chosen(self.compared(a, left, b), self.number(0), passed))
        self.arrive(b, self.chosen(self.compared(b, left, a), self.number(0), passed))

    def function(self, call: Call, argument: Expr, arrived: Expr) -> Expr:
        """What arrives times the derivative of a function of one number, in terms of its value where that is known."""
        one, times = self.number(1), self.times
        part, x = self.conj(call), self.conj(argument)
        match call.function:
            case "conj":
                return self.conj(arrived)
            case "real":
                return self.real(arrived)
            case "imag":
                return self.call(TIMES_I, self.real(arrived))
            case "times_i":
                return self.negative(self.call(TIMES_I, arrived))
            case "sign":  # of a complex number x / abs(x), and 0 of 0
                across = self.subtract(arrived, times(self.real(times(arrived, part)), call))
                still = self.compared(argument, "==", self.number(0))
                return self.chosen(still, self.number(0), self.divided(across, self.call("abs", argument)))
            case "abs":
                return times(self.real(arrived), self.call("sign", argument))
            case "exp":
                return times(arrived, part)
            case "exp2":
                return times(times(arrived, part), self.number(log(2)))
            case "expm1":
                return times(arrived, self.add(part, one))
            case "log":
                return self.divided(arrived, x)
            case "log2":
                return self.divided(arrived, times(x, self.number(log(2))))
            case "log1p":
                return self.divided(arrived, self.add(one, x))
            case "sqrt":
                return self.divided(arrived, times(self.number(2), part))
            case "rsqrt":
                return times(times(self.number(-0.5), arrived), self.power(part, self.known(Constant(3, Type.INT))))
            case "sigmoid":
                return times(arrived, times(part, self.subtract(one, part)))
            case "tanh":
                return times(arrived, self.subtract(one, times(part, part)))
            case "erf":
                bell = self.call("exp", self.negative(times(x, x)))
                return times(times(self.number(2 / sqrt(pi)), arrived), bell)
            case "sin":
                return times(arrived, self.call("cos", x))
            case "cos":
                return self.negative(times(arrived, self.call("sin", x)))
        raise ValueError(f"{call.function} has no derivative")


def _is(expr: Expr, value: float) -> bool:
    return isinstance(expr, Constant) and not isinstance(expr.value, str | bool) and expr.value == value
