"""Every text that the generator can say about a spec, read from its source as patterns.

A text is what is handed to `error`, `warning` or an exception that becomes a diagnostic, or what a function
returns that says why a name, a number or a type will not do. What is filled in matches anything; a conditional part
counts as one text for each branch.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CODEGEN = Path(__file__).parents[1] / "codegen"
# Function or exception -> the position of the text among its arguments. Whose texts are not about a spec is not here.
SAYS = {
    "error": (1, 0),  # reader.error(place, text); _Matcher.error(text)
    "warning": (1,),
    "TypeProblem": (1,),
    "ExprProblem": (1,),
    "_Stop": (1,),
    "FoldError": (0,),
    "TwoMeanings": (0,),
    "differ": (2,),
}
# Functions that return why something will not do; "" says that it will.
REASONS = re.compile(r"(.*_)?problem|_impossible")


@dataclass(frozen=True)
class Text:
    """One text: where it stands, and as a pattern."""

    place: str
    pattern: str

    @property
    def readable(self) -> str:
        return re.sub(r"\\(.)", r"\1", self.pattern.replace(".*?", "{}"))


def texts() -> list[Text]:
    """All of them, without repetition."""
    found: dict[str, Text] = {}
    for path in sorted(CODEGEN.rglob("*.py")):
        if "commands" in path.parts or "lower" in path.parts or "compare" in path.parts:
            continue
        for line, pattern in _module(path):
            found.setdefault(pattern, Text(f"{path.relative_to(CODEGEN.parent)}:{line}", pattern))
    return list(found.values())


def _module(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        assigned = _assigned(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                yield from ((node.lineno, pattern) for pattern in _said(node, assigned))
        if REASONS.fullmatch(function.name):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None:
                    yield from (
                        (node.lineno, pattern) for pattern in _patterns(node.value, assigned) if _tells(pattern)
                    )


def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What is assigned to the names of a function."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for one, value in zip(target.elts, node.value.elts, strict=True):
                        if isinstance(one, ast.Name):
                            found.setdefault(one.id, []).append(value)
    return found


def _said(call: ast.Call, assigned: dict[str, list[ast.expr]]) -> list[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    for position in SAYS.get(name, ()):
        if position < len(call.args):
            found = [pattern for pattern in _patterns(call.args[position], assigned) if _tells(pattern)]
            if found:
                return found
    return []


def _tells(pattern: str) -> bool:
    """Whether a pattern holds words of its own."""
    return re.search(r"[a-z]{3}", pattern.replace(".*?", "")) is not None


def _patterns(node: ast.expr, assigned: dict[str, list[ast.expr]], depth: int = 0) -> list[str]:
    """The texts that an expression can be."""
    match node:
        case ast.Constant(value=str() as text):
            return [re.escape(text)]
        case ast.JoinedStr():
            parts = [_patterns(part, assigned, depth) for part in node.values]
            return ["".join(chosen) for chosen in itertools.product(*parts)]
        case ast.FormattedValue():
            inner = _patterns(node.value, assigned, depth) if isinstance(node.value, ast.IfExp) else []
            return inner if inner and all(_tells(one) or one in ("", "s") for one in inner) else [".*?"]
        case ast.IfExp():
            return _patterns(node.body, assigned, depth) + _patterns(node.orelse, assigned, depth)
        case ast.BoolOp():
            return [pattern for value in node.values for pattern in _patterns(value, assigned, depth)]
        case ast.Name() if depth < 3 and node.id in assigned:
            return [p for value in assigned[node.id] for p in _patterns(value, assigned, depth + 1)]
    return [".*?"]


def unsaid(goldens: str) -> list[Text]:
    """The texts that no line of `goldens` holds."""
    return [text for text in texts() if re.search(f"(?:: |^){text.pattern}(?:$| in )", goldens, re.MULTILINE) is None]
