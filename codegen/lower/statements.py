"""Lines of C that several views put together in the same way."""

from __future__ import annotations

COLUMNS = 116  # of a statement, which stands four columns in


def broken(line: str, at: str, indent: int) -> list[str]:
    """The line, broken after `at` as often as it takes; what follows is indented."""
    lines = [""]
    for i, piece in enumerate(line.split(at)):
        joined = piece if i == 0 else lines[-1] + at + piece
        if i == 0 or len(joined) <= COLUMNS:
            lines[-1] = joined
        else:
            lines[-1:] = [lines[-1] + at.rstrip(), " " * indent + piece]
    return lines


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


def guarded(lines: list[str], what: str) -> list[str]:
    """`lines` with a look at the overflow flag behind them, if anything in them can set it."""
    if not any("overflow, " in line for line in lines):
        return lines
    return [
        "bool exceeds = false;",
        "bool *const overflow = &exceeds;",
        *lines,
        f'CHECK(e, !exceeds, "{what}: a number leaves 64 bits or is divided by zero");',
    ]


def c_comment(text: str) -> str:
    """Free text made fit for a C comment: it cannot end it, open another, continue a line or form a trigraph."""
    for hostile, harmless in (("*/", "* /"), ("/*", "/ *"), ("\\", "/"), ("??", "? ?")):
        text = text.replace(hostile, harmless)
    return text
