"""The entries of inputs, keywords, outputs and scratch: a name, a type in short or long form, a doc text."""

from __future__ import annotations

import re
from collections.abc import Callable

from codegen import keys, names
from codegen.contract import Word
from codegen.errors import shown
from codegen.expr.tree import Type
from codegen.frozen import dataclass
from codegen.load import Mapping, Node, Scalar
from codegen.parse_type import (
    ParsedEntry,
    ParsedTensor,
    ParsedType,
    TypeProblem,
    parse_type,
)
from codegen.reader import MAX_ITEMS, Reader
from codegen.scope import Subject

# Section -> what an entry is called, with and without its article.
SECTIONS = {
    "inputs": ("input", "an input"),
    "keywords": ("keyword", "a keyword"),
    "outputs": ("output", "an output"),
    "scratch": ("scratch", "a scratch tensor"),
}

_ENTRIES = {"int": Type.INT, "size": Type.INT, "float": Type.FLOAT, "bool": Type.BOOL}

# Gives a name, which stands at a place, a meaning; reports names that are taken.
Take = Callable[[Scalar, str, str], None]


@dataclass(frozen=True)
class Field:
    """One entry of a section."""

    section: str
    key: Scalar
    node: Scalar
    parsed: ParsedType
    doc: str

    @property
    def name(self) -> str:
        """The name that the entry gives."""
        return self.key.text

    @property
    def part(self) -> str:
        """What messages call it: `input x`."""
        return f"{SECTIONS[self.section][0]} {self.name}"

    @property
    def entries(self) -> tuple[ParsedEntry, ...]:
        """The entries of its shape; none for scalars."""
        return self.parsed.type.entries if isinstance(self.parsed.type, ParsedTensor) else ()

    @property
    def optional(self) -> bool:
        """Whether the argument may be None."""
        return self.parsed.type.optional_at is not None

    @property
    def words(self) -> tuple[Word, ...]:
        """The words after its type."""
        return tuple(Word(word.name, word.argument or None) for word in self.parsed.words)

    def has_word(self, name: str) -> bool:
        """Whether `name` stands after the type."""
        return any(word.name == name for word in self.parsed.words)

    @property
    def subject(self) -> Subject:
        """What functions may ask about it."""
        parsed = self.parsed.type
        optional, is_list = parsed.optional_at is not None, parsed.list_at is not None
        if not isinstance(parsed, ParsedTensor):
            entries = (_ENTRIES[parsed.kind],) * parsed.length if parsed.length is not None else ()
            return Subject(is_tensor=False, is_list=is_list, may_be_absent=optional, entries=entries)
        star = next((i for i, entry in enumerate(parsed.entries) if entry.star), None)
        count = len(parsed.entries)
        front, back = (count, 0) if star is None else (star, count - star - 1)
        return Subject(front, back, star is not None, True, is_list, optional)


def read_fields(read: Reader, operator: Mapping, section: str, take: Take) -> tuple[list[Field], frozenset[str]]:
    """The entries of one section that can be read, and the words of those that cannot."""
    node = operator.get(section)
    if node is None:
        return [], frozenset()
    mapping = read.within(section).mapping(node, "x: T[*shape]")
    if mapping is None:
        return [], _words(node)
    if len(mapping.entries) > MAX_ITEMS:
        read.within(section).error(mapping, f"{len(mapping.entries)} entries; at most {MAX_ITEMS} are taken")
        return [], _words(node)
    found: list[Field] = []
    unread: frozenset[str] = frozenset()
    for key, value in mapping.entries:
        field = _field(read, section, key, value, take)
        if field is None:
            unread |= _words(key) | _words(value)
        else:
            found.append(field)
    return found, unread


def _words(node: Node) -> frozenset[str]:
    """Whatever could be a name in a part of the tree."""
    if isinstance(node, Scalar):
        return frozenset(re.findall(r"[A-Za-z_]\w*", node.text, re.ASCII))
    if isinstance(node, Mapping):
        return frozenset().union(*(_words(key) | _words(value) for key, value in node.entries))
    return frozenset().union(*map(_words, node.items))


def _field(read: Reader, section: str, key: Scalar, value: Node, take: Take) -> Field | None:
    what, called = SECTIONS[section]
    read = read.within(f"{what} {shown(key.text)}")
    problem = names.problem(key.text)
    if problem:
        read.error(key, f'"{shown(key.text)}" cannot be a name: {problem}')
        return None
    take(key, key.text, called)
    doc = ""
    if isinstance(value, Mapping):
        read.keys(value, keys.FIELDS[section].names)
        doc = read.doc(value)
        inner = value.get("type")
        if inner is None:
            read.error(value, "`type:` is missing", 'for instance {type: "T[n]", doc: what it is}')
            return None
        value = inner
    scalar = read.text(value, "a type")
    if scalar is None:
        return None
    try:
        parsed = parse_type(scalar.text, keys.words(section))
    except TypeProblem as found:
        read.error(scalar.at(found.offset), found.text, found.hint)
        return None
    return Field(section, key, scalar, parsed, doc)
