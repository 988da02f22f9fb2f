"""Statements of generated Python that the arguments of an operator made too long, laid out as a formatter does.

Templates and views write a call on one line. How long it gets is only known once both have come together.
"""

from __future__ import annotations

import re

COLUMNS = 120
_TEXT = re.compile(r'( *)lambda: (f?".*"),')  # a message, as an argument
# `return f(arguments)[0]`, `a, b = f(arguments)`
_CALL = re.compile(r"( *)((?:return |[\w, ]+ = )?[\w.]+)\((.+)\)((?:\[[0-9:]*\])?)")


def wrapped(text: str) -> str:
    """The text with calls and messages of more than COLUMNS characters on several lines."""
    lines = text.split("\n")
    if max(map(len, lines)) <= COLUMNS:
        return text
    return "\n".join(
        part
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
        for part in (_wrapped(line, _is_inner(before, after)) if len(line) > COLUMNS else [line])
    )


def _is_inner(before: str, after: str) -> bool:
    """Whether what stands between these lines is all arguments of a call, and not the first half of a text."""
    return re.search(r"\w\($", before) is not None and after.lstrip().startswith(")")


def _wrapped(line: str, inner: bool) -> list[str]:
    """One line, with the arguments on a line of their own, else with a line for each; a message in parentheses. `inner`
    lines hold the arguments of a call alone.
    """
    found = _TEXT.fullmatch(line)
    if found is not None:
        return [f"{found[1]}lambda: (", f"{found[1]}    {found[2]}", f"{found[1]}),"]
    if line.endswith(","):  # a single argument, which has its line already
        return [line]
    if inner:
        indent = line[: len(line) - len(line.lstrip())]
        return [f"{indent}{argument}," for argument in _split(line) or [line]]
    found = _CALL.fullmatch(line)
    arguments = _split(found[3]) if found else None
    if found is None or arguments is None:
        return [line]
    indent, start, joined, ending = found.groups()
    deeper = f"{indent}    "
    if len(deeper) + len(joined) <= COLUMNS:
        return [f"{indent}{start}(", f"{deeper}{joined}", f"{indent}){ending}"]
    return [f"{indent}{start}(", *(f"{deeper}{argument}," for argument in arguments), f"{indent}){ending}"]


def _split(joined: str) -> list[str] | None:
    """The arguments of a call; None where what is in its parentheses is not one list of arguments."""
    found, depth, quote = [""], 0, ""
    for character in joined:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth < 0:
            return None
        if character == "," and depth == 0 and not quote:
            found.append("")
        else:
            found[-1] += character
    return [argument.strip() for argument in found] if depth == 0 and not quote else None
