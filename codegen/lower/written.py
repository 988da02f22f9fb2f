"""Arguments that are written in place, as C: what they may not lie on, the copies that a body may need, and what is
copied back.

In these statements `f` is the frame and `e` the error record.
"""

from __future__ import annotations

from itertools import groupby

from codegen.contract import Argument
from codegen.layouts import layout
from codegen.lower.checks import Checks, applies, nested
from codegen.lower.host import tensor
from codegen.lower.statements import all_or_return, mentions
from codegen.messages.sentences import message
from codegen.model import Operator
from codegen.positions import list_of
from codegen.rules import OverlapRule, plain


def overlap_lines(op: Operator) -> list[str]:
    """The body of <op>_overlap; none where nothing is written."""
    checks = Checks(op)
    lines: list[str] = []
    rules = [rule for rule in op.rules if isinstance(plain(rule), OverlapRule)]
    for condition, group in groupby(rules, lambda rule: applies(rule, checks.names)):
        block = [line for rule in group for line in _overlap(checks, plain(rule))]
        pairs = ["int64_t i, j;"] if mentions(block, "&i, &j") else []
        lines += nested(condition or (("",) if pairs else ()), [*pairs, *block])
    return ["bool found;", *lines] if mentions(lines, "&found") else lines


def _overlap(checks: Checks, rule: object) -> list[str]:
    assert isinstance(rule, OverlapRule)
    if rule.other == rule.argument:
        return checks.check(f"!tensor_overlaps_itself(&{tensor(rule.argument)})", message(rule))
    if any(name != list_of(name) for name in (rule.argument, rule.other)):
        one, other = (_listed(name) for name in (rule.argument, rule.other))
        call = f"find_list_overlap(e, {one}, {other}, &i, &j)"
        return [*all_or_return([call]), *checks.check("i < 0", message(rule))]
    call = f"tensors_overlap(e, &f->t.{rule.argument}, &f->t.{rule.other}, &found)"
    return [*all_or_return([call]), *checks.check("!found", message(rule))]


def _listed(name: str) -> str:
    """The tensors of a list and how many they are; a single tensor is one."""
    listed = f"f->t.{list_of(name)}"
    return f"&{listed}, 1" if name == list_of(name) else f"{listed}.at, {listed}.count"


def set_aside(op: Operator) -> list[str]:
    """The written arguments that may lie otherwise than their bodies see them: the frame keeps the caller's tensor."""
    alone = [argument for argument in op.written if argument not in op.lists]
    return [argument.name for argument in alone if layout(argument.words).policy in ("", "rows", "inner")]


def arranged(argument: Argument) -> str:
    """The call that puts a contiguous copy in the place of a written argument that lies otherwise."""
    asked, tensor = layout(argument.words), f"&f->t.{argument.name}"
    lies = {
        "": f"tensor_is_contiguous({tensor})",
        "rows": f"tensor_has_any_rows({tensor})",
        "inner": f"tensor_is_inner_contiguous({tensor}, {asked.inner})",
    }.get(asked.policy, "")
    copied = "false" if argument.has_word("out") else "true"
    return f"written_set_aside(e, {tensor}, &f->w.{argument.name}, {lies}, {copied})" if lies else ""


def returned(op: Operator) -> list[str]:
    """Calls that copy back what was set aside."""
    copied = ("", "rows", "inner")
    lists = [a.name for a in op.written if a in op.lists and layout(a.words).policy in copied]
    calls = [f"written_return(e, &f->t.{name}, &f->w.{name})" for name in set_aside(op)]
    return calls + [f"list_return(e, &f->t.{name})" for name in lists]
