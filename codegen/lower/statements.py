"""Lines of C that several views put together in the same way."""

from __future__ import annotations

import re
from collections.abc import Iterable

from codegen.expr.c import CNames
from codegen.messages.c import print_message_c
from codegen.messages.sentences import overflow_in


def indented(lines: list[str]) -> list[str]:
    """The lines of a block."""
    return [f"    {line}" if line else line for line in lines]


def all_or_return(calls: list[str]) -> list[str]:
    """`if (!a || !b) { return false; }`, one call to a line."""
    if not calls:
        return []
    lines = [f"if (!{calls[0]}"]
    for call in calls[1:]:
        lines[-1] += " ||"
        lines.append(f"    !{call}")
    lines[-1] += ") {"
    return [*lines, "    return false;", "}"]


def conjunction(calls: list[str]) -> list[str]:
    """`return a && b;`, one call to a line."""
    lines = [f"return {calls[0]}"]
    for call in calls[1:]:
        lines[-1] += " &&"
        lines.append(f"       {call}")
    lines[-1] += ";"
    return lines


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*.*?\*/')


def mentions(lines: Iterable[str], code: str) -> bool:
    """Whether `code` occurs in lines of C or Python. What stands in literals and comments may be text of the spec."""
    return any(code in line and code in _TEXT.sub("", line) for line in lines)


def overflows(lines: list[str]) -> bool:
    """Whether these lines can set the overflow flag."""
    return mentions(lines, "&overflow")


def guarded(lines: list[str], part: str) -> list[str]:
    """`lines` with a look at the overflow flag behind them, if anything in them can set it; errors name `part`."""
    if not overflows(lines):
        return lines
    text = print_message_c(overflow_in(part), CNames(), str)
    return ["bool overflow = false;", *lines, f"CHECK(e, !overflow, {text.format});"]


def c_comment(text: str) -> str:
    """Free text made fit for a C comment: it cannot end it, open another, continue a line or form a trigraph."""
    for hostile, harmless in (("*/", "* /"), ("/*", "/ *"), ("\\", "/"), ("??", "? ?")):
        text = text.replace(hostile, harmless)
    return text
