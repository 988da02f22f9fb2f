"""Reads fields of the tree: the right kind of node, known keys, texts, words and expressions; anything else is
reported where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codegen import load
from codegen.errors import Diagnostics, Position, nearest, shown
from codegen.expr.fold import FoldError, fold, zero_divisor
from codegen.expr.parse import parse
from codegen.expr.syntax import ExprProblem
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Name, Type
from codegen.frozen import dataclass, replace
from codegen.load import Mapping, Node, Scalar
from codegen.scope import Scope

MAX_ITEMS = 64
MAX_DOC = 4000


@dataclass(frozen=True)
class Reader:
    """Where problems go, and what they begin with: the operator, then the part of it."""

    diagnostics: Diagnostics
    prefix: str

    def within(self, part: str) -> Reader:
        """A reader for a part: `row_scale: output y`."""
        return Reader(self.diagnostics, f"{self.prefix}: {part}" if self.prefix else part)

    def error(self, where: Node | Position, text: str, hint: str = "") -> None:
        """Reports a problem."""
        position = where if isinstance(where, Position) else where.position
        self.diagnostics.error(position, f"{self.prefix}: {text}" if self.prefix else text, hint)

    def warning(self, where: Node | Position, text: str, hint: str = "") -> None:
        """Reports something that is allowed and probably not meant."""
        position = where if isinstance(where, Position) else where.position
        self.diagnostics.warning(position, f"{self.prefix}: {text}" if self.prefix else text, hint)

    # ---------------------------------------------------------------- kinds of nodes

    def mapping(self, node: Node, example: str) -> Mapping | None:
        """`node` as a mapping."""
        if isinstance(node, Mapping):
            return node
        hint = f"for instance {example}"
        if isinstance(node, load.Sequence) and node.items and all(isinstance(item, Mapping) for item in node.items):
            hint += ", without the dashes of a list"
        self.error(node, f"expected a mapping, got {_kind(node)}", hint)
        return None

    def items(self, node: Node, example: str) -> Sequence[Node]:
        """The items of a list; () after an error."""
        if not isinstance(node, load.Sequence):
            self.error(node, f"expected a list, got {_kind(node)}", f"for instance {example}")
            return ()
        if len(node.items) > MAX_ITEMS:
            self.error(node, f"a list of {len(node.items)}; at most {MAX_ITEMS} are taken")
            return ()
        return node.items

    def text(self, node: Node, what: str) -> Scalar | None:
        """`node` as a text that is not empty."""
        if not isinstance(node, Scalar):
            hint = "values with commas or brackets are quoted" if isinstance(node, load.Sequence) else ""
            self.error(node, f"expected {what}, got {_kind(node)}", hint)
            return None
        if not node.text.strip():
            self.error(node, f"expected {what}, got nothing")
            return None
        return node

    def line(self, node: Node | None, what: str, most: int) -> str:
        """`node` as one line of at most so many characters; empty after an error, or where there is none."""
        scalar = self.text(node, what) if node is not None else None
        if scalar is None:
            return ""
        text = " ".join(scalar.text.split())
        if len(text) > most:
            self.error(scalar, f"a text of {len(text)} characters; at most {most} are taken")
            return ""
        return text

    def keys(self, node: Mapping, known: Iterable[str], of_mapping: str = "") -> Mapping:
        """Reports keys that are not among `known`. In the mapping to go on with, one that must be meant stands in their
        place, so that nothing is reported as missing or unknown for want of it. `of_mapping` is the hint for one that
        holds a mapping, and is like none of them.
        """
        listed = list(known)
        taken = {key.text for key, _ in node.entries}
        entries: list[tuple[Scalar, Node]] = []
        for key, value in node.entries:
            if key.text in listed:
                entries.append((key, value))
                continue
            if node.flow and not key.text.replace("_", "").isalnum():
                self.error(
                    key, f'unknown key "{shown(key.text)}"', "inside braces, values with commas or brackets are quoted"
                )
                continue
            close = nearest(key.text, listed)
            hint = f'did you mean "{close}"?' if close else f"keys here are {', '.join(listed)}"
            if of_mapping and not close and isinstance(value, Mapping):
                hint = of_mapping
            self.error(key, f'unknown key "{shown(key.text)}"', hint)
            if close and close not in taken:
                taken.add(close)
                entries.append((replace(key, text=close), value))
        return replace(node, entries=tuple(entries))

    def boolean(self, node: Node) -> bool | None:
        """`true` or `false`, as YAML 1.2 has them."""
        if (
            isinstance(node, Scalar)
            and not node.quoted
            and node.text in ("true", "True", "TRUE", "false", "False", "FALSE")
        ):
            return node.text.lower() == "true"
        got = f'"{shown(node.text)}"' if isinstance(node, Scalar) else _kind(node)
        self.error(node, f"expected true or false, got {got}")
        return None

    def doc(self, node: Mapping) -> str:
        """The text under `doc:`, the only free text of a spec; back ends escape it."""
        value = node.get("doc")
        scalar = self.within("doc").text(value, "a text") if value is not None else None
        if scalar is None:
            return ""
        if len(scalar.text) > MAX_DOC:
            self.within("doc").error(scalar, f"a text of {len(scalar.text)} characters; at most {MAX_DOC} are taken")
            return ""
        return scalar.text.strip()

    # ---------------------------------------------------------------- expressions

    def expression(self, node: Node, scope: Scope, wanted: Type | tuple[Type, ...], what: str) -> Expr | None:
        """`node` as an expression of type `wanted`, or of one of several types, over `scope`."""
        scalar = self.text(node, what)
        if scalar is None:
            return None
        return self.expression_at(scalar, scalar.text, 0, scope, wanted, what)

    def expression_at(
        self,
        scalar: Scalar,
        text: str,
        offset: int,
        scope: Scope,
        wanted: Type | tuple[Type, ...],
        what: str,
        unknown: str = "",
    ) -> Expr | None:
        """The expression `text`, which stands at `offset` in `scalar`.

        `unknown` is what to call a name that is not known, as in `unknown dim "m" in shape`, before a list of the
        known ones.
        """
        lead = len(text) - len(text.lstrip())
        expr, problems = parse(text.strip(), scope)
        for problem in problems:
            text_, hint = _told(problem, scope, unknown)
            self.error(scalar.at(offset + lead + problem.offset), text_, hint)
        if expr is None:
            return None
        start = scalar.at(offset + lead)
        types = wanted if isinstance(wanted, tuple) else (wanted,)
        if expr.type not in types:
            hint = "// and ceil_div give integers" if Type.INT in types and expr.type is Type.FLOAT else ""
            self.error(
                start, f"expected {what}, got {'an int' if expr.type is Type.INT else f'a {expr.type.value}'}", hint
            )
            return None
        if isinstance(expr, Name | Constant):  # most are, and have nothing to fold
            return expr
        try:
            fold(expr, {})
            divides = zero_divisor(expr)
        except FoldError as error:
            self.error(start, f"{error} in {shown(text)}")
            return None
        if divides is not None:
            self.error(start, f"division by zero in {print_text(divides)}")
            return None
        return expr


def _told(problem: ExprProblem, scope: Scope, unknown: str) -> tuple[str, str]:
    if not problem.unknown or not unknown:
        return problem.text, problem.hint
    known = ", ".join(scope.names)
    return unknown.format(problem.unknown), f"dims known here are {known}" if known else "no dims are known here"


def _kind(node: Node) -> str:
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, load.Sequence):
        return "a list"
    return f'"{shown(node.text)}"' if node.text.strip() else "nothing"
