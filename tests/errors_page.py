"""docs/errors.md: every error of a call and of a spec, from the generator's texts and the wrong specs in tests/errors.

REWRITE=1 pytest tests/codegen/test_wrong_specs.py writes it.
"""

from __future__ import annotations

import re
from pathlib import Path

from codegen import markdown
from codegen.assignments import Assignment
from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.messages.sentences import message
from codegen.messages.text import print_message_text
from codegen.rules import PlainRule, plain

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "errors.md"
RULES = ROOT / "tests" / "specs" / "every_rule.yaml"
WRONG = ROOT / "tests" / "errors"
HEAD = """\
<!-- Written by REWRITE=1 pytest tests/codegen/test_wrong_specs.py. -->
# Errors

## Of a call

A wrong call raises `RuntimeError`. The text begins with the operator, `shapes::row_scale: `, and goes on with one of
these; what the call fills in stands in angle brackets. Rules are looked at in the order of this list, and the first
that does not hold is reported. The fake kernel, and with it `torch.compile`, says the same.
"""
SPEC = """\
## Of a spec

`generate`, `check` and the other commands report every problem of `ops.yaml` in one run, each with its file, line and
column, the line itself and, where there is one, a hint. Nothing is written then. These are all of them, by the test
that shows them: what stands in front of each here, the operator and the part of it, is an example.
"""


def rules() -> list[PlainRule]:
    """One of each kind, in the order in which a call looks at them."""
    diagnostics = Diagnostics()
    checked = check(load(RULES.read_bytes(), diagnostics), diagnostics)
    assert checked is not None, diagnostics.report(RULES.name, RULES.read_text())
    found: dict[type, PlainRule] = {}
    for operator in checked.library.operators:
        for rule in operator.rules:
            found.setdefault(type(plain(rule)), plain(rule))
    return list(found.values())


def calls() -> list[str]:
    """What a call can say, a text for each kind of rule."""
    return [print_message_text(message(rule)) for rule in rules() if not isinstance(rule, Assignment)]


def specs() -> list[tuple[str, list[str]]]:
    """For each wrong spec what it shows first: errors and their hints, without those that differ in what is quoted."""
    seen: set[str] = set()
    found: list[tuple[str, list[str]]] = []
    for golden in sorted(WRONG.glob("*.txt")):
        lines: list[str] = []
        for text, hint in re.findall(
            r"^ops\.yaml:\d+:\d+: (?:error|warning): (.*)\n(?:    .*\n)*(?:hint: (.*)\n)?",
            golden.read_text(),
            re.MULTILINE,
        ):
            form = re.sub(r'"[^"]*"|`[^`]*`|\d+', "#", text.split(": ")[-1])
            if form in seen:
                continue
            seen.add(form)
            lines.append(text)
            if hint:
                lines.append(f"    {hint}")
        if lines:
            found.append((golden.stem.replace("_", " "), lines))
    return found


def block(lines: list[str]) -> str:
    """Lines as they are."""
    fence = markdown.fence(lines)
    return "\n".join([fence, *lines, fence]) + "\n"


def page() -> str:
    """The whole page."""
    parts = [HEAD, block(calls()), SPEC]
    for title, lines in specs():
        parts.append(f"### {title.capitalize()}\n\n{block(lines)}")
    return "\n".join(parts)
