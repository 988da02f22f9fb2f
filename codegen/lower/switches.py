"""Launch parameters that switch over run-time values, in a host function: which of the compiled values a call has. Any
other value is an error.
"""

from __future__ import annotations

from codegen.contract import ScalarType
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Member, Name, Type
from codegen.launches import LaunchEntry, Param
from codegen.lower.c.layout import fitted
from codegen.lower.checks import Checks
from codegen.lower.host import HostNames
from codegen.messages.sentences import message
from codegen.model import Operator
from codegen.rules import CheckRule


def switch_lines(op: Operator, entry: LaunchEntry) -> list[str]:
    """Statements that give each switch its place among its values."""
    lines: list[str] = []
    for param in entry.params:
        if param.choices:
            lines += _place(op, param, entry.values[param.name])
    return lines


def place(entry: LaunchEntry) -> str:
    """The place of a call's values among all combinations; "" where there is only one."""
    text = ""
    for param in entry.params:
        if param.choices:
            outer = f"({text})" if " " in text else text
            text = f"{outer} * {len(param.choices)} + {_name(param)}" if text else _name(param)
    return text


def _name(param: Param) -> str:
    return f"{param.name}_index"


def _place(op: Operator, param: Param, expr: Expr) -> list[str]:
    names = HostNames(op)
    if expr.type is Type.BOOL:
        return fitted(f"const int {_name(param)} = ", names.expr(expr), ";")
    choices = tuple(Constant(value, expr.type) for value in param.choices)
    every = len(choices) == _word_count(op, expr)  # then there is no other value
    lines = [f"int {_name(param)} = {len(choices) - 1 if every else -1};"]
    for number, choice in enumerate(choices[:-1] if every else choices):
        is_it = names.expr(Member(expr, (choice,), negated=False))
        lines[-1:] = [lines[-1], *fitted("if (", is_it, ") {")] if number == 0 else fitted("} else if (", is_it, ") {")
        lines += [f"    {_name(param)} = {number};", "}"]
    if every:
        return lines
    listed = Member(expr, choices, negated=False)
    rule = CheckRule(listed, print_text(listed), "")
    return [*lines, *Checks(op).check(f"{_name(param)} >= 0", message(rule))]


def _word_count(op: Operator, expr: Expr) -> int:
    """How many words a choice has; -1 for numbers, which can be anything."""
    kind = op.argument(expr.name).type if isinstance(expr, Name) and expr.type is Type.STR else None
    return len(kind.choices) if isinstance(kind, ScalarType) else -1
