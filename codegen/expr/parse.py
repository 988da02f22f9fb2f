"""From the text of an expression to the checked tree.

Python's own parser reads the text (syntax.py), a strict whitelist of its nodes is taken, every name must be in the
Scope and every operation must fit the types of its operands. Problems carry the offset in the text at which they stand.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codegen.elementwise import kinds as elementwise
from codegen.errors import nearest, one_of
from codegen.expr.queries import ELEMENT_FUNCTIONS, QUERIES, Queries
from codegen.expr.syntax import (
    ExprProblem,
    Stop,
    arguments_text,
    python_hint,
    python_name,
    python_tree,
    read_constant,
)
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
    Type,
    Unary,
)
from codegen.presence import Condition, surely_given
from codegen.scope import Scope
from codegen.types import DTYPES

MAX_DEPTH = 40

_BINARY = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Div: "/",
}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_NUMERIC = (Type.INT, Type.FLOAT)

# Functions of integers and their number of arguments; min, max and abs also take floats.
_CALLS = {"ceil_div": 2, "round_up": 2, "next_pow2": 1, "abs": 1}
HARDWARE = ("sm_count", "max_shared", "arch")
FUNCTIONS = (*_CALLS, "min", "max", *QUERIES)
LINE_FUNCTIONS = (*elementwise.FUNCTIONS, "min", "max", "given", "sizeof")  # in `elementwise:`


def parse(text: str, scope: Scope) -> tuple[Expr | None, list[ExprProblem]]:
    """The tree of `text` and no problems, or None and every problem found. There may be none where `text` names what
    could not be read.
    """
    if text in scope.names and text not in scope.holders:  # the commonest expression by far
        return scope.names[text], []
    reader = _Reader(scope)
    try:
        expr = reader.read(python_tree(text), 0)
    except Stop as stop:
        # What follows from an unknown name is noise.
        return None, _told(reader.problems or [stop.problem])
    return (None, _told(reader.problems)) if reader.problems else (expr, [])


def _told(problems: list[ExprProblem]) -> list[ExprProblem]:
    """Those that have a text: names of what could not be read have none."""
    return [problem for problem in problems if problem.text]


class _Reader:
    """Turns Python's nodes into ours. Unknown names are collected; anything else stops."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.problems: list[ExprProblem] = []
        self.met = scope.met
        self.numeric = (*_NUMERIC, Type.BOOL) if scope.lines else _NUMERIC
        self.queries = Queries(scope, self.present)

    def read(self, node: ast.expr, depth: int) -> Expr:
        if depth > MAX_DEPTH:
            raise Stop(node, "this expression is nested too deeply")
        match node:
            case ast.Constant():
                return read_constant(node)
            case ast.Name():
                return self.name(node)
            case ast.UnaryOp(op=ast.Not()):
                return Unary("not", self.wanted(node.operand, depth, (Type.BOOL,), "not"), Type.BOOL)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))) if value == -INT_MIN:
                return Constant(INT_MIN, Type.INT)
            case ast.UnaryOp(op=ast.USub()):
                return _negative(self.wanted(node.operand, depth, self.numeric, "-"))
            case ast.UnaryOp(op=ast.UAdd()):
                return self.wanted(node.operand, depth, self.numeric, "+")
            case ast.BinOp():
                return self.binary(node, depth)
            case ast.BoolOp():
                return self.logic(node, depth)
            case ast.Compare():
                return self.compare(node, depth)
            case ast.IfExp():
                return self.conditional(node, depth)
            case ast.Call():
                return self.call(node, depth)
            case ast.Subscript() if self.scope.elements:
                return self.queries.column(node)
            case ast.Subscript(value=ast.Name() as listed) if self.queries.is_list_of_scalars(listed):
                return self.queries.entry(node, listed)
        raise Stop(node, f"{python_name(node)} is not part of the expression language", python_hint(node))

    def wanted(self, node: ast.expr, depth: int, types: Sequence[Type], operator: str) -> Expr:
        expr = self.read(node, depth + 1)
        if expr.type not in types:
            hint = "compare it, for instance with != 0" if Type.BOOL in types and expr.type in _NUMERIC else ""
            if Type.BOOL in types and isinstance(node, ast.Name) and node.id in self.scope.subjects:
                hint = f"given({node.id}) asks whether it was given"
            wanted = " or ".join(kind.value for kind in types)
            raise Stop(node, f"`{operator}` takes {wanted}, and this is {_article(expr.type)}", hint)
        return expr

    def under(self, conditions: Sequence[Condition], node: ast.expr, depth: int, operator: str = "") -> Expr:
        """Reads a part that is evaluated only when these conditions were met; behind a logical operator, a bool."""
        outside = self.met
        self.met = (*outside, *conditions)
        try:
            return self.wanted(node, depth, (Type.BOOL,), operator) if operator else self.read(node, depth + 1)
        finally:
            self.met = outside

    def logic(self, node: ast.BoolOp, depth: int) -> Expr:
        """Each operand may rely on those before it: they were true in an `and`, false in an `or`."""
        operator = "and" if isinstance(node.op, ast.And) else "or"
        parts: list[Expr] = []
        for value in node.values:
            before = [Condition(part, operator == "and") for part in parts]
            parts.append(self.under(before, value, depth, operator))
        return Logic(operator, tuple(parts))

    def present(self, node: ast.Name, holders: Sequence[str]) -> None:
        """Reports a use of something optional where it may be absent."""
        if surely_given(holders, self.met):
            return
        asked = " or ".join(f"given({holder})" for holder in holders)
        text = f'"{node.id}" may be absent here'
        self.problems.append(ExprProblem(node.col_offset, text, f"use it under a condition: ... if {asked} else ..."))

    def name(self, node: ast.Name) -> Expr:
        scope = self.scope
        if node.id in scope.names:
            if node.id in scope.holders:
                self.present(node, scope.holders[node.id])
            return scope.names[node.id]
        if node.id in scope.variables and node.id not in scope.absent:
            return Name(node.id, NameKind.VARIABLE, Type.DTYPE)
        if scope.launch and node.id in HARDWARE:
            return Name(node.id, NameKind.HARDWARE, Type.INT)
        if node.id in DTYPES:
            return Constant(node.id, Type.DTYPE)
        self.problems.append(self.unknown(node))
        return Constant(1, Type.INT)

    def unknown(self, node: ast.Name) -> ExprProblem:
        scope = self.scope
        if node.id in scope.absent:
            return ExprProblem(node.col_offset, f'"{node.id}" cannot be used here', scope.absent[node.id])
        if node.id in scope.subjects:
            if scope.subjects[node.id].is_list:
                return ExprProblem(
                    node.col_offset, f'"{node.id}" is a list, not a number', f"len({node.id}) is its length"
                )
            hint = f"numel({node.id}) and size({node.id}, 0) are its sizes; rules on its elements stand under values:"
            return ExprProblem(node.col_offset, f'"{node.id}" is a tensor, not a number', hint)
        if node.id in scope.unread:
            return ExprProblem(node.col_offset, "")
        if node.id in HARDWARE:
            hint = "it is known in launches, in scratch, and in those dims: that only these use"
            return ExprProblem(node.col_offset, f'"{node.id}" cannot be used here', hint)
        known = [*scope.names, *scope.variables, *(HARDWARE if scope.launch else ())]
        close = nearest(node.id, [*known, *DTYPES])
        hint = f'did you mean "{close}"?' if close else f"names known here are {', '.join(known)}" if known else ""
        return ExprProblem(node.col_offset, f'unknown name "{node.id}"', hint, node.id)

    def binary(self, node: ast.BinOp, depth: int) -> Expr:
        operator = _BINARY.get(type(node.op))
        if operator is None:
            raise Stop(node, f"{python_name(node.op)} is not part of the expression language", python_hint(node.op))
        left = self.wanted(node.left, depth, self.numeric, operator)
        right = self.wanted(node.right, depth, self.numeric, operator)
        is_float = operator == "/" or Type.FLOAT in (left.type, right.type)
        if is_float and operator in ("//", "%"):
            raise Stop(node, f"`{operator}` takes int, and this is a float")
        return Binary(operator, left, right, Type.FLOAT if is_float else Type.INT)

    def compare(self, node: ast.Compare, depth: int) -> Expr:
        if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            return self.member(node, depth)
        for op, part in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARE:
                hint = "given(x) asks whether an optional was given; numbers are compared by =="
                raise Stop(part, "`is` is not part of the expression language", hint)
        operands = [self.read(part, depth + 1) for part in (node.left, *node.comparators)]
        operators: list[str] = []
        parts = (node.left, *node.comparators)
        for i, op in enumerate(node.ops):
            operator = _COMPARE[type(op)]
            if not self.comparable(operands[i].type, operands[i + 1].type, operator):
                left, right = _article(operands[i].type), _article(operands[i + 1].type)
                raise Stop(parts[i + 1], f"`{operator}` cannot compare {left} with {right}")
            self.words(parts[i + 1], operands[i], operands[i + 1])
            operators.append(operator)
        return Compare(tuple(operands), tuple(operators))

    def words(self, node: ast.expr, left: Expr, right: Expr) -> None:
        """A choice is compared with one of its words, and a word with nothing else."""
        if left.type is not Type.STR:
            return
        pair = (left, right) if isinstance(left, Name) else (right, left)
        if not (isinstance(pair[0], Name) and isinstance(pair[1], Constant)):
            raise Stop(node, "a choice is compared with a word", 'for instance mode == "tanh"')
        words = self.scope.choices[pair[0].name]
        if pair[1].value not in words:
            hint = f"expected {one_of(words)}"
            raise Stop(node, f'"{pair[1].value}" is none of the choices of {pair[0].name}', hint)

    def member(self, node: ast.Compare, depth: int) -> Expr:
        listed = node.comparators[0]
        if len(node.ops) != 1 or not isinstance(listed, ast.List | ast.Tuple) or not listed.elts:
            raise Stop(listed, "`in` takes a list in brackets, as in x in [1, 2]")
        operand = self.read(node.left, depth + 1)
        choices = tuple(self.read(element, depth + 1) for element in listed.elts)
        for element, choice in zip(listed.elts, choices, strict=True):
            if not self.comparable(operand.type, choice.type, "=="):
                raise Stop(element, f"`in` cannot compare {_article(operand.type)} with {_article(choice.type)}")
            self.words(element, operand, choice)
        return Member(operand, choices, isinstance(node.ops[0], ast.NotIn))

    def comparable(self, left: Type, right: Type, operator: str) -> bool:
        if left in self.numeric and right in self.numeric:
            return True
        return left is right and operator in ("==", "!=")

    def conditional(self, node: ast.IfExp, depth: int) -> Expr:
        condition = self.wanted(node.test, depth, (Type.BOOL,), "if")
        then = self.under([Condition(condition)], node.body, depth)
        otherwise = self.under([Condition(condition, holds=False)], node.orelse, depth)
        return self.chosen(condition, then, otherwise, node.orelse)

    def chosen(self, condition: Expr, then: Expr, otherwise: Expr, place: ast.expr) -> Conditional:
        kind = then.type
        if then.type is not otherwise.type:
            if then.type not in self.numeric or otherwise.type not in self.numeric:
                raise Stop(place, f"one branch is {_article(then.type)}, the other {_article(otherwise.type)}")
            kind = Type.FLOAT if Type.FLOAT in (then.type, otherwise.type) else Type.INT
        return Conditional(condition, then, otherwise, kind)

    def call(self, node: ast.Call, depth: int) -> Expr:
        if not isinstance(node.func, ast.Name):
            hint = "functions stand alone, as in exp(x)" if isinstance(node.func, ast.Attribute) else ""
            raise Stop(node.func, "only the functions of the expression language can be called", hint)
        function = node.func.id
        if self.scope.elements and function in ELEMENT_FUNCTIONS:
            return self.queries.of_elements(
                node, function, lambda part: self.wanted(part, depth, (Type.INT,), function)
            )
        functions = LINE_FUNCTIONS if self.scope.lines else FUNCTIONS
        if function not in functions:
            close = nearest(function, functions)
            hint = f'did you mean "{close}"?' if close else f"functions are {', '.join(functions)}"
            raise Stop(node.func, f'unknown function "{function}"', hint)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise Stop(node, f"{function} takes plain arguments only")
        if function in QUERIES:
            return self.queries.query(node, function)
        if self.scope.lines:
            return self.line_call(node, function, depth)
        return self.value_call(node, function, depth)

    def line_call(self, node: ast.Call, function: str, depth: int) -> Expr:
        """A function of elements; where, pow and clamp are other ways to write what the language has already."""
        count = elementwise.FUNCTIONS.get(function)
        if len(node.args) != count and (count is not None or len(node.args) < 2):
            raise Stop(node, f"{function} takes {arguments_text(count)}, got {len(node.args)}")
        if function == "where":
            condition = self.wanted(node.args[0], depth, (Type.BOOL,), function)
            then = self.under([Condition(condition)], node.args[1], depth)
            otherwise = self.under([Condition(condition, holds=False)], node.args[2], depth)
            return self.chosen(condition, then, otherwise, node.args[2])
        parts = tuple(self.wanted(argument, depth, self.numeric, function) for argument in node.args)
        kind = Type.FLOAT if any(part.type is Type.FLOAT for part in parts) else Type.INT
        if function == "pow":
            return Binary("**", parts[0], parts[1], kind)
        if function == "clamp":
            return Call("min", (Call("max", parts[:2], kind), parts[2]), kind)
        kind = Type.FLOAT if function in elementwise.FLOAT_FUNCTIONS else kind
        return Call(function, parts, Type.BOOL if function in elementwise.TESTS else kind)

    def value_call(self, node: ast.Call, function: str, depth: int) -> Expr:
        types = _NUMERIC if function in ("min", "max", "abs") else (Type.INT,)
        count = _CALLS.get(function)
        if len(node.args) != count and (count is not None or len(node.args) < 2):
            raise Stop(node, f"{function} takes {arguments_text(count)}, got {len(node.args)}")
        arguments = tuple(self.wanted(argument, depth, types, function) for argument in node.args)
        is_float = any(argument.type is Type.FLOAT for argument in arguments)
        return Call(function, arguments, Type.FLOAT if is_float else Type.INT)


def _negative(operand: Expr) -> Expr:
    """`-1` is a number, not an operation on one."""
    if isinstance(operand, Constant) and not isinstance(operand.value, str):
        return Constant(-operand.value, operand.type)
    return Unary("-", operand, operand.type)


def _article(kind: Type) -> str:
    return "an int" if kind is Type.INT else f"a {kind.value}"
