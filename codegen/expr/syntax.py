"""The text of an expression as Python's own parser reads it, and the constants in it.

Nothing of the text is ever evaluated or copied into output.
"""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from functools import cache

from codegen.expr.tree import INT_MAX, Constant, Type
from codegen.frozen import dataclass
from codegen.scope import Subject

MAX_LENGTH = 400
_ODD = re.compile(r"[^ -~]|[\\;#`$?{}]")
# What other languages write, and what stands for it here; the first that a text holds is the hint.
_HABITS = (
    (re.compile(r"&&"), "write `and`"),
    (re.compile(r"\|\|"), "write `or`"),
    (re.compile(r"!(?!=)"), "write `not`"),
    (re.compile(r"\?"), "a choice is written `a if condition else b`"),
    (re.compile(r"=>"), "write `>=`"),
    (re.compile(r"=<"), "write `<=`"),
    (re.compile(r"(?<![=<>!])=(?!=)"), "`=` gives a default; equality is `==`"),
)


@dataclass(frozen=True)
class ExprProblem:
    """What is wrong, at which offset of the text."""

    offset: int
    text: str
    hint: str = ""
    unknown: str = ""  # the name, when nothing of that name is known


class Stop(Exception):
    """Ends the reading of one expression; carries its problem."""

    def __init__(self, node: ast.expr | int, text: str, hint: str = "") -> None:
        self.problem = ExprProblem(node if isinstance(node, int) else node.col_offset, text, hint)


@cache  # operators of one file say much the same
def python_tree(text: str) -> ast.expr:
    """What Python makes of a text; Stop where it is no expression."""
    if not text.strip():
        raise Stop(0, "an expression is missing here")
    if len(text) > MAX_LENGTH:
        raise Stop(0, f"an expression has at most {MAX_LENGTH} characters", "name parts of it under dims:")
    odd = _ODD.search(text)
    if odd:
        raise Stop(odd.start(), f"unexpected character {odd.group()!r} in an expression", _habit(text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.rstrip(), mode="eval").body
    except SyntaxError as error:
        offset = min(max((error.offset or 1) - 1, 0), len(text) - 1)
        raise Stop(offset, f'"{text}" is not an expression', _habit(text)) from None
    except (ValueError, MemoryError, RecursionError):
        raise Stop(0, "this expression is nested too deeply") from None


def _habit(text: str) -> str:
    return next((hint for habit, hint in _HABITS if habit.search(text)), "")


def read_constant(node: ast.Constant) -> Constant:
    """A number, True, False or a word."""
    value = node.value
    if isinstance(value, bool):
        return Constant(value, Type.BOOL)
    if isinstance(value, int):
        if value > INT_MAX:
            raise Stop(node, "this number does not fit 64 bits")
        return Constant(value, Type.INT)
    if isinstance(value, float):
        if value == float("inf"):
            raise Stop(node, "this number is too large for a float")
        return Constant(value, Type.FLOAT)
    if isinstance(value, str):
        if not re.fullmatch(r"[A-Za-z0-9_.+-]*", value):
            raise Stop(node, "a word is made of letters, digits and _ . + -")
        return Constant(value, Type.STR)
    hint = "given(x) asks whether an optional was given" if value is None else ""
    raise Stop(node, f"{python_name(node)} is not part of the expression language", hint)


def read_index(node: ast.expr, function: str, asked: Subject) -> Constant:
    """A dim that the contract names, so that no call can miss it. Negative ones count from the back, as in Python."""
    value: object = None
    with contextlib.suppress(ValueError, TypeError):
        value = ast.literal_eval(node)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Stop(node, f"{function} takes a constant index")
    rank = asked.front + asked.back
    if not asked.star:
        if not -rank <= value < rank:
            raise Stop(node, f"there is no dim {value}: the contract has {rank} dim{'' if rank == 1 else 's'}")
        return Constant(value % rank, Type.INT)
    if value >= asked.front or value < -asked.back:
        raise Stop(
            node,
            f"dim {value} may be missing or lie inside the star",
            "only dims that the contract names can be asked for",
        )
    return Constant(value, Type.INT)


def read_bytes(node: ast.expr) -> Constant:
    """What aligned() takes."""
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is not int or value not in (2, 4, 8, 16, 32, 64, 128):
        raise Stop(node, "aligned takes a number of bytes: 2, 4, 8, 16, 32, 64 or 128")
    return Constant(value, Type.INT)


def python_hint(node: ast.AST) -> str:
    """What to write instead of something that the expression language does not have."""
    known = {
        "Attribute": "functions stand alone, as in tanh(x); sizes are size(x, 0), dim(x) and numel(x)",
        "Subscript": "a size is size(x, 0), a stride is stride(x, 0)",
        "Tuple": "a check with a text of its own is written {that: ..., message: ...}",
        "BitAnd": "write `and`",
        "BitOr": "write `or`",
        "BitXor": "a power is written `**`",
        "UnaryOp": "write `not`",
    }
    return known.get(type(node).__name__, "")


def python_name(node: ast.AST) -> str:
    """How messages call something that the expression language does not have."""
    known = {
        "Attribute": "`.`",
        "Subscript": "`[...]` after a name",
        "Lambda": "lambda",
        "List": "a list outside `in`",
        "Tuple": "a tuple",
        "BitAnd": "`&`",
        "BitOr": "`|`",
        "BitXor": "`^`",
        "LShift": "`<<`",
        "RShift": "`>>`",
        "MatMult": "`@`",
        "Invert": "`~`",
        "JoinedStr": "an f-string",
        "NamedExpr": "`:=`",
    }
    if isinstance(node, ast.UnaryOp):
        return "`~`"
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else "`...`" if node.value is ... else f"{type(node.value).__name__}"
    return known.get(type(node).__name__, "this")


def arguments_text(count: int | None) -> str:
    """How many arguments a function takes; None for two or more."""
    if count is None:
        return "two or more arguments"
    return "1 argument" if count == 1 else f"{count} arguments"
