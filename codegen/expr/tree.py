"""The checked expression tree of the spec language.

One tree, three printers (c.py, python.py, text.py). Nodes are frozen and typed; they are made by parse.py, which knows
the names, and folded for one choice of dtypes by fold.py. Rules of the language: integers are exact and 64 bits wide
(leaving them is an error, never a wrap), `//` and `%` floor as in Python, `/` is a float division, `and`, `or` and `if`
evaluate only what they need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from operator import is_
from typing import TypeAlias

from codegen.frozen import dataclass

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1


class Type(Enum):
    """What an expression evaluates to."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"
    DTYPE = "dtype"


class NameKind(Enum):
    """What a name stands for; printers choose its target string by name, authors of views may look at the kind."""

    DIM = "dim"  # bound by one entry of a tensor's shape
    STAR = "star"  # bound by `*name`; in an expression it is one number, the product
    DERIVED = "derived"  # an entry of `dims:`
    SCALAR = "scalar"  # a scalar argument
    OPTIONAL = "optional"  # a scalar argument that may be absent
    SPLICED = "spliced"  # a `size[]` argument that is a star somewhere; one number too, the product
    PARAM = "param"  # a launch parameter; always replaced by its value before printing (fold.py)
    DYNAMIC = "dynamic"  # an entry of `dynamic:`, in shapes of outputs; as a number its bound
    HARDWARE = "hardware"  # sm_count, max_shared, arch: launches and scratch only
    VARIABLE = "variable"  # a dtype variable, type DTYPE
    ELEMENT = "element"  # one element of an input, in `values:`; or of an operand, in `elementwise:`


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal. With type DTYPE the value is the dtype's torch name."""

    value: int | float | bool | str
    type: Type


@dataclass(frozen=True, slots=True)
class Name:
    """A use of a name of the spec."""

    name: str
    kind: NameKind
    type: Type


@dataclass(frozen=True, slots=True)
class Query:
    """A question about an argument, output or dtype variable, named by `subject`.

    numel(x) dim(x) size(x, i) stride(x, i) len(xs) given(w) sizeof(T) aligned(x, 16); in aligned(16) the subject is "".
    numel(xs) of a list is numel_of_list, betas[0] of a list of scalars is entry. `operands` holds what follows the
    subject: the index, or the number of bytes.

    In `values:` also column (its index, and how it is written: [:, 0]), sum (of a column: the same) and offsets (the
    total, then the same). check/values.py makes rules of these, so that only text.py ever prints them.
    """

    function: str
    subject: str
    operands: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `not x`."""

    operator: str
    operand: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Binary:
    """`+ - * // % ** /`. The type is FLOAT as soon as one operand is, and for `/`."""

    operator: str
    left: Expr
    right: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Compare:
    """A chain `a < b <= c`: operands are one more than operators (`< <= > >= == !=`)."""

    operands: tuple[Expr, ...]
    operators: tuple[str, ...]
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Member:
    """`x in [a, b]`, or `not in` when negated."""

    operand: Expr
    choices: tuple[Expr, ...]
    negated: bool
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Logic:
    """`a and b and c`, `a or b`; left to right, no further than needed."""

    operator: str
    operands: tuple[Expr, ...]
    type: Type = Type.BOOL


@dataclass(frozen=True, slots=True)
class Conditional:
    """`then if condition else otherwise`; only one branch is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Call:
    """A function of values: min max abs ceil_div round_up next_pow2, and in `elementwise:` exp, log and so on."""

    function: str
    arguments: tuple[Expr, ...]
    type: Type


Expr: TypeAlias = Constant | Name | Query | Unary | Binary | Compare | Member | Logic | Conditional | Call


def integer(value: int) -> Constant:
    """The integer constant `value`."""
    return Constant(value, Type.INT)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of `expr`, in order of evaluation as written."""
    match expr:
        case Constant() | Name():
            return ()
        case Query():
            return expr.operands
        case Unary():
            return (expr.operand,)
        case Binary():
            return (expr.left, expr.right)
        case Compare() | Logic():
            return expr.operands
        case Member():
            return (expr.operand, *expr.choices)
        case Conditional():
            return (expr.then, expr.condition, expr.otherwise)
        case Call():
            return expr.arguments


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it, each before its parts, left to right."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))


def distinct(expr: Expr) -> Iterator[Expr]:
    """The same without going twice through a part that is used twice: expressions that are derived share much."""
    seen: set[int] = set()
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += reversed(children(node))


def names(expr: Expr) -> tuple[Name, ...]:
    """The distinct names that `expr` uses, in order of first use."""
    if isinstance(expr, Name):  # the commonest expression by far
        return (expr,)
    return tuple({node.name: node for node in distinct(expr) if isinstance(node, Name)}.values())


def uses(expr: Expr, kind: NameKind) -> bool:
    """Whether a name of this kind occurs in `expr`."""
    return any(isinstance(node, Name) and node.kind is kind for node in walk(expr))


def divides(expr: Expr) -> bool:
    """Whether `expr` divides integers, which by zero have no quotient."""
    return any(
        (isinstance(part, Binary) and part.operator in ("//", "%"))
        or (isinstance(part, Call) and part.function in ("ceil_div", "round_up"))
        for part in distinct(expr)
    )


def rebuild(expr: Expr, parts: tuple[Expr, ...]) -> Expr:
    """`expr` with its children (in the order of `children`) replaced."""
    match expr:
        case Constant() | Name():
            return expr
        case Query():
            return Query(expr.function, expr.subject, parts, expr.type)
        case Unary():
            return Unary(expr.operator, parts[0], expr.type)
        case Binary():
            return Binary(expr.operator, parts[0], parts[1], expr.type)
        case Compare():
            return Compare(parts, expr.operators)
        case Logic():
            return Logic(expr.operator, parts)
        case Member():
            return Member(parts[0], parts[1:], expr.negated)
        case Conditional():
            then, condition, otherwise = parts
            return Conditional(condition, then, otherwise, expr.type)
        case Call():
            return Call(expr.function, parts, expr.type)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """`expr` with each name in `values` replaced by its expression."""
    if isinstance(expr, Name):
        return values.get(expr.name, expr)
    before = children(expr)
    parts = tuple([substitute(part, values) for part in before])
    return expr if all(map(is_, parts, before)) else rebuild(expr, parts)


def product(factors: tuple[Expr, ...]) -> Expr:
    """The product of integer expressions; 1 for none."""
    if not factors:
        return integer(1)
    result = factors[0]
    for factor in factors[1:]:
        result = Binary("*", result, factor, Type.INT)
    return result
