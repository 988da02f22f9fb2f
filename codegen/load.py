"""From the bytes of a spec to a tree with positions.

Every scalar is kept as text, `no`, `1e-6` and `010` alike: the field that reads it decides what it is. What a spec
never needs is refused, so that nothing surprising gets through: anchors, aliases, tags, directives, several
documents, tabs, control characters, duplicate keys. Size and depth are bounded. libyaml reads the file where PyYAML
has it; what libyaml refuses, PyYAML's own parser judges again, so both installations say the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import yaml

from codegen.errors import Diagnostics, Position, shown
from codegen.frozen import dataclass

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 10
MAX_SCALAR = 20_000

# Control characters, line separators that only some tools know, marks that reorder what a reader sees, and halves of
# characters, which escapes make.
_FORBIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
_BAD_IN_FILE = re.compile(f"[\t{_FORBIDDEN}]|\r(?!\n)")
_LONG_ESCAPE = re.compile(r"\\U[0-9A-Fa-f]{8}")
_BAD_IN_SCALAR = re.compile(f"[\t\r{_FORBIDDEN}]")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A text. `exact`: its characters stand one by one in the file, from `column`, so that offsets are columns."""

    position: Position
    text: str
    quoted: bool
    exact: bool

    def at(self, offset: int) -> Position:
        """Where character `offset` of the text stands; the start of the scalar where that cannot be told."""
        if not self.exact:
            return self.position
        return Position(self.position.line, self.position.column + offset + self.quoted)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    position: Position
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping; keys are scalars and distinct. `flow`: written in braces."""

    position: Position
    entries: tuple[tuple[Scalar, Node], ...]
    flow: bool

    def get(self, key: str) -> Node | None:
        """The value under `key`, if it is there."""
        for name, value in self.entries:
            if name.text == key:
                return value
        return None

    def key(self, key: str) -> Scalar | None:
        """The key itself, for its position."""
        return next((name for name, _ in self.entries if name.text == key), None)


# PyYAML's events; its stubs call marks optional, which parsers always set.
Event: TypeAlias = Any
Node: TypeAlias = Scalar | Sequence | Mapping


def load(data: bytes, diagnostics: Diagnostics, *, libyaml: bool = True) -> Node | None:
    """The tree of a spec, or None when it cannot be read at all. `libyaml=False` is for tests."""
    text = decode(data, diagnostics)
    if text is None:
        return None
    loaders: list[type] = [yaml.SafeLoader]
    if libyaml and yaml.__with_libyaml__:
        loaders.insert(0, yaml.CSafeLoader)
    for loader in loaders:
        found = Diagnostics()
        try:
            node = _Builder(found).document(yaml.parse(text, Loader=loader))
        except yaml.YAMLError as error:
            if loader is not loaders[-1]:
                continue
            _syntax_error(error, found)
            node = None
        except (ValueError, OverflowError):  # what PyYAML's own parser makes of an escape beyond the last character
            before = text[: text.index(next(filter(_is_beyond_unicode, _LONG_ESCAPE.findall(text))))]
            found.error(_position(before), "not valid YAML: there is no such character")
            node = None
        except _Stop:
            node = None
        diagnostics.merge(found)
        return node
    return None


def decode(data: bytes, diagnostics: Diagnostics) -> str | None:
    """The text of a spec, or None: too large, not UTF-8, or with characters that a spec never holds."""
    start = Position(1, 1)
    if len(data) > MAX_BYTES:
        diagnostics.error(start, f"the file has {len(data)} bytes; at most {MAX_BYTES} are read")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        diagnostics.error(_position(before), f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8")
        return None
    failed = False
    for found in _BAD_IN_FILE.finditer(text):
        failed = True
        if found.group() == "\t":
            diagnostics.error(_position(text[: found.start()]), "a tab", "use spaces")
        else:
            code = f"U+{ord(found.group()):04X}"
            diagnostics.error(_position(text[: found.start()]), f"the character {code} is not allowed in a spec")
        if diagnostics.count >= 20:
            break
    return None if failed else text


def _is_beyond_unicode(escape: str) -> bool:
    return int(escape[2:], 16) > sys.maxunicode


def _position(before: str) -> Position:
    """The position behind the text `before`."""
    line = before.count("\n")
    return Position(line + 1, len(before) - (before.rfind("\n") + 1) + 1)


def _syntax_error(error: yaml.YAMLError, diagnostics: Diagnostics) -> None:
    problem = getattr(error, "problem", None) or "cannot be read"
    key_open = "could not find expected ':'" in problem  # it is missed where the next line begins
    mark = getattr(error, "context_mark" if key_open else "problem_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
    hint = ""
    if "mapping values are not allowed" in problem:
        hint = "a value that holds `: ` is quoted"
    elif key_open:
        hint = "a key ends with `:`"
    elif "block end" in problem:
        hint = "is the indentation right?"
    elif "," in problem or "flow" in problem:
        hint = "inside braces and brackets, values with commas or brackets are quoted"
    diagnostics.error(position, f"not valid YAML: {problem}", hint)


class _Stop(Exception):
    """The rest of the file cannot be trusted or is not worth reading."""


class _Builder:
    """Builds the tree from parser events; problems go to diagnostics, and reading goes on where it can."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics

    def document(self, events: Iterator[Event]) -> Node | None:
        """The only document of the stream; None for an empty one."""
        node: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.diagnostics.error(_start(event), "a second document", "one file is one spec: remove the `---`")
                    raise _Stop
                if event.version or event.tags:
                    self.diagnostics.error(
                        Position(1, 1), "directives are not used in a spec", "remove the line with `%`"
                    )
            elif isinstance(event, yaml.NodeEvent):
                node = self.node(event, events, 0)
        return node

    def node(self, event: Event, events: Iterator[Event], depth: int) -> Node:
        position = _start(event)
        if isinstance(event, yaml.AliasEvent):
            self.diagnostics.error(
                position, "aliases are not used in a spec", "a shape like *rows stands behind its dtype"
            )
            return Scalar(position, "", False, False)
        if event.anchor is not None:
            self.diagnostics.error(position, "anchors are not used in a spec", "quote a text that starts with `&`")
        if event.tag is not None:
            self.diagnostics.error(position, "tags are not used in a spec", "quote a text that starts with `!`")
        if isinstance(event, yaml.ScalarEvent):
            return self.scalar(event, position)
        if depth >= MAX_DEPTH:
            self.diagnostics.error(position, f"nested more than {MAX_DEPTH} deep")
            raise _Stop
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            for inner in events:
                if isinstance(inner, yaml.SequenceEndEvent):
                    break
                items.append(self.node(inner, events, depth + 1))
            return Sequence(position, tuple(items))
        return self.mapping(event, events, depth)

    def mapping(self, event: Event, events: Iterator[Event], depth: int) -> Mapping:
        position = _start(event)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for inner in events:
            if isinstance(inner, yaml.MappingEndEvent):
                break
            key = self.node(inner, events, depth + 1)
            value = self.node(next(events), events, depth + 1)
            if not isinstance(key, Scalar):
                self.diagnostics.error(key.position, "a key is a single word")
            elif key.text in entries:
                line = entries[key.text][0].position.line
                self.diagnostics.error(
                    key.position, f'the key "{shown(key.text)}" is there twice', f"first in line {line}"
                )
            else:
                entries[key.text] = (key, value)
        return Mapping(position, tuple(entries.values()), bool(event.flow_style))

    def scalar(self, event: Event, position: Position) -> Scalar:
        text: str = event.value
        if event.style in ("|", ">"):
            text = text.rstrip("\n")  # that the last line ends is how such a text is written
        quoted = event.style in ("'", '"')
        start, end = event.start_mark, event.end_mark
        width = end.column - start.column
        exact = start.line == end.line and event.style not in ("|", ">") and width == len(text) + 2 * quoted
        if len(text) > MAX_SCALAR:
            self.diagnostics.error(position, f"a text of {len(text)} characters; at most {MAX_SCALAR} are read")
            return Scalar(position, "", quoted, False)
        bad = None if exact else _BAD_IN_SCALAR.search(text)
        if bad:
            self.diagnostics.error(position, f"the character U+{ord(bad.group()):04X} is not allowed in a spec")
            text = _BAD_IN_SCALAR.sub("?", text)
        return Scalar(position, text, quoted, exact)


def _start(event: Event) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)
