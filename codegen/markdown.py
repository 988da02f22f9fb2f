"""Texts of a spec as Markdown (GitHub's) that shows exactly those characters.

Whatever a spec says, it stays text: no markup, no HTML, no link, no second table cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# What CommonMark or GitHub's tables, strikethrough and formulas give a meaning to; _ has none inside a word.
_INLINE = re.compile(r"([\\`*{}\[\]<>#|~!&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
# What would begin a list, a heading's underline, a quotation or a code block.
_AT_THE_START = re.compile(r"^(?=[-+=])|^(\d+)(?=[.)])")
# What would become a link by itself.
_LINK = re.compile(r"(?i):(?=//)|(?<=www)\.")
_SAFE_CODE = re.compile(r"[ -_a-{}~]+")  # printable ASCII without ` and |


def text(written: str) -> str:
    """One line of text."""
    line = _LINK.sub(r"\\\g<0>", _INLINE.sub(r"\\\1", _line(written)))
    return _AT_THE_START.sub(lambda match: f"{match[1] or ''}\\", line)


def _line(written: str) -> str:
    if not written.isprintable():
        written = "".join(character if character.isprintable() else " " for character in written)
    return " ".join(written.split())


def paragraphs(written: str) -> tuple[str, ...]:
    """Paragraphs, which blank lines separate."""
    return tuple(text(part) for part in re.split(r"\n\s*\n", written) if part.strip())


def code(written: str) -> str:
    """A short code span, in a table too; text where a span could end early. "" stays empty."""
    line = _line(written)
    if not line:
        return ""
    return f"`{line}`" if _SAFE_CODE.fullmatch(line) and "\\" not in line else text(line)


def fence(lines: Iterable[str]) -> str:
    """The fence of a code block that holds `lines`: longer than any run of backticks in them."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    return "`" * max(3, longest + 1)
