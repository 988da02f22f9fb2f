"""The grammar of what stands behind an argument, output or scratch tensor: `T[*rows, n]? words = default`.

    type      = dtype "[" dims "]" ["?"] ["[]"] ["?"] ["!"] words ["if" condition] ["=" default]
              | kind ["[" [length] "]"] ["?"] words ["=" default]
    dtype     = NAME | "acc(" NAME ")"
    kind      = "float" | "int" | "size" | "bool" | "str" | "dtype" ["(" NAME ")"] | "device"
              | "choice(" WORD {"," WORD} ")"

Only the form is read here, with the offset of every part; what the names mean is seen by check/. Expressions stay text.
"""

from __future__ import annotations

import re

from codegen.contract import MAX_DIMS
from codegen.errors import nearest, shown
from codegen.frozen import dataclass
from codegen.types import DTYPES

LIST_KINDS = ("int", "size", "float", "bool")
SCALAR_KINDS = ("float", "int", "size", "bool", "str", "dtype", "device", "choice")
# Word -> whether its argument must be there.
_WITH_ARGUMENT = {"inner": False, "fill": True, "like": True, "grad": True}
STAR_FUNCTIONS = {"broadcast": None, "drop": 2, "replace": 3}
_ANY_SIZE = ("...", ":", "-1", "None")  # how others write a size that a call chooses
MAX_TYPE = 400
MAX_WORD = 40
_TODO = re.compile(r"\bTODO\b")  # where `import` could not tell
_FILL = "a dtype and a shape, as in T[*rows, n], and behind `if` when the output is there"
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASCII_NAME = re.compile(_NAME.pattern, re.ASCII)
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*(\(.*\))", re.ASCII)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the text and where it starts."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """One entry of a shape: an expression, `*name` (star), or `*function(parts)`."""

    text: str
    offset: int
    star: bool = False
    function: str = ""
    parts: tuple[Piece, ...] = ()

    @property
    def name(self) -> str:
        """The name, when the entry is nothing else (with or without a star), else ""."""
        bare = self.text.removeprefix("*").strip() if self.star else self.text
        return bare if _NAME.fullmatch(bare) and not self.function else ""


@dataclass(frozen=True, slots=True)
class ParsedTensor:
    """`dtype[dims]` and its marks; `acc` for acc(T)."""

    dtype: str
    dtype_at: int
    acc: bool
    entries: tuple[ParsedEntry, ...]
    optional_at: int | None = None
    element_optional: bool = False
    list_at: int | None = None
    written_at: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedScalar:
    """A scalar kind and its marks."""

    kind: str
    choices: tuple[Piece, ...] = ()
    variable: Piece | None = None
    optional_at: int | None = None
    list_at: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """A word after the type; `argument` is what stands in its parentheses."""

    name: str
    offset: int
    argument: str = ""


@dataclass(frozen=True, slots=True)
class ParsedType:
    """Everything behind one name. `text` is the type without its default, spaces normalised."""

    type: ParsedTensor | ParsedScalar
    words: tuple[ParsedWord, ...]
    condition: Piece | None
    default: Piece | None
    text: str


class TypeProblem(Exception):
    """What is wrong with a type, and at which offset."""

    def __init__(self, offset: int, text: str, hint: str = "") -> None:
        self.offset = offset
        self.text = text
        self.hint = hint


def parse_type(text: str, words: tuple[str, ...]) -> ParsedType:
    """Reads a type; `words` are those allowed here. Raises TypeProblem."""
    return _Parser(text, words).parse()


class _Parser:
    """A cursor over the text."""

    def __init__(self, text: str, words: tuple[str, ...]) -> None:
        self.text = text
        self.at = 0
        self.allowed = words

    def parse(self) -> ParsedType:
        if len(self.text) > MAX_TYPE:
            raise TypeProblem(0, f"a type has at most {MAX_TYPE} characters", "name parts of its shape under dims:")
        todo = _TODO.search(self.text.partition("=")[0])
        if todo is not None:
            raise TypeProblem(todo.start(), f"{todo[0]} is still to be filled in", _FILL)
        self.space()
        head = self.word()
        if head is None:
            raise TypeProblem(self.at, "a type is missing", "for instance T[*rows, n] or float = 1e-6")
        parsed = self.scalar(head) if head.text in SCALAR_KINDS else self.tensor(head)
        words = self.words(parsed)
        written = " ".join(self.text[: self.at].split())
        condition, default = self.tail()
        return ParsedType(parsed, words, condition, default, written)

    # -------------------------------------------------------- pieces

    def space(self) -> None:
        while self.peek() in (" ", "\n"):
            self.at += 1

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        if self.peek() == character:
            self.at += 1
            return True
        return False

    def word(self) -> Piece | None:
        match = _ASCII_NAME.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return Piece(match.group(), match.start())

    def enclosed(self, opening: str, closing: str) -> list[Piece] | None:
        """The comma-separated parts inside brackets at the cursor; None when there are none, [] when they are empty."""
        start = self.at
        if not self.take(opening):
            return None
        pieces: list[Piece] = []
        depth, begin, quote = 0, self.at, ""
        while self.at < len(self.text):
            character = self.text[self.at]
            if quote:
                quote = "" if character == quote else quote
            elif character in "\"'":
                quote = character
            elif character in "([{":
                depth += 1
            elif depth == 0 and character in (",", closing):
                pieces.append(self.piece(begin, self.at))
                begin = self.at + 1
                if character == closing:
                    self.at += 1
                    return [] if len(pieces) == 1 and not pieces[0].text else self.complete(pieces)
            elif character in ")]}":
                depth -= 1
                if depth < 0:
                    raise TypeProblem(self.at, f"`{character}` closes nothing")
            self.at += 1
        raise TypeProblem(start, f"this `{opening}` is not closed")

    def piece(self, begin: int, end: int) -> Piece:
        text = self.text[begin:end]
        return Piece(text.strip(), begin + len(text) - len(text.lstrip()))

    def complete(self, pieces: list[Piece]) -> list[Piece]:
        for piece in pieces:
            if not piece.text:
                raise TypeProblem(min(piece.offset, len(self.text) - 1), "something is missing between the commas")
        return pieces

    # -------------------------------------------------------- scalars

    def scalar(self, head: Piece) -> ParsedScalar:
        choices: tuple[Piece, ...] = ()
        variable: Piece | None = None
        if head.text == "choice":
            choices = self.choices(head)
        elif head.text == "dtype" and self.peek() == "(":
            inside = self.enclosed("(", ")") or []
            if len(inside) != 1:
                raise TypeProblem(head.offset, "dtype(...) holds one dtype variable")
            variable = inside[0]
        optional_at, list_at, length = self.mark("?"), self.at if self.peek() == "[" else None, None
        inside_list = self.enclosed("[", "]")
        if inside_list:
            if len(inside_list) != 1 or not re.fullmatch(r"[1-9][0-9]{0,3}", inside_list[0].text):
                hint = (
                    "a mask is a variable: types: {M: bool}, and M[...] here"
                    if head.text == "bool"
                    else "a tensor names its dtype, as in float32[n] or T[n]"
                )
                raise TypeProblem(
                    inside_list[0].offset,
                    f"`{head.text}[...]` is a list, whose brackets are empty or hold its length",
                    hint,
                )
            length = int(inside_list[0].text)
        if list_at is not None:
            if head.text not in LIST_KINDS:
                raise TypeProblem(
                    list_at, f"there are no lists of {head.text}", f"lists are of {', '.join(LIST_KINDS)}"
                )
            if optional_at is not None:
                raise TypeProblem(optional_at, "the values of a list cannot be absent", "an optional list is int[]?")
            optional_at = self.mark("?")
        return ParsedScalar(head.text, choices, variable, optional_at, list_at, length)

    def choices(self, head: Piece) -> tuple[Piece, ...]:
        inside = self.enclosed("(", ")")
        if not inside:
            raise TypeProblem(head.offset, "choice(...) holds its words, as in choice(none, tanh)")
        seen: set[str] = set()
        for piece in inside:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", piece.text, re.ASCII):
                raise TypeProblem(piece.offset, f'"{piece.text}" is not a word of letters, digits and _')
            if "__" in piece.text or len(piece.text) > MAX_WORD:
                raise TypeProblem(piece.offset, f"a word has at most {MAX_WORD} characters, and no __")
            if piece.text in seen:
                raise TypeProblem(piece.offset, f'the choice "{piece.text}" is there twice')
            seen.add(piece.text)
        return tuple(inside)

    # -------------------------------------------------------- tensors

    def tensor(self, head: Piece) -> ParsedTensor:
        dtype, acc = head, False
        if head.text == "acc":
            inside = self.enclosed("(", ")")
            if inside is None or len(inside) != 1:
                raise TypeProblem(head.offset, "acc(...) holds one dtype variable, as in acc(T)")
            dtype, acc = inside[0], True
        elif self.peek() == "(":
            raise TypeProblem(
                head.offset,
                f'unknown type "{head.text}(...)"',
                f"known are acc(T), dtype(Q) and choice(a, b){_close(head.text)}",
            )
        pieces = self.enclosed("[", "]")
        if pieces is None:
            raise TypeProblem(head.offset, f'"{head.text}" is not a type', _no_type(head.text))
        entries = tuple(_entry(piece) for piece in pieces)
        stars = [entry for entry in entries if entry.star]
        if len(stars) > 1:
            raise TypeProblem(stars[1].offset, "a shape has one star at most")
        if len(entries) - len(stars) > MAX_DIMS:
            text = f"a tensor has at most {MAX_DIMS} dims, this one {len(entries)}"
            raise TypeProblem(entries[MAX_DIMS].offset, text)
        inner = self.mark("?")
        list_at: int | None = None
        outer: int | None = None
        if self.text.startswith("[]", self.at):
            list_at = self.at
            self.at += 2
            outer = self.mark("?")
        elif self.peek() == "[":
            raise TypeProblem(self.at, "a list of tensors is written with empty brackets")
        element_optional = inner is not None and list_at is not None
        written = self.mark("!")
        optional_at = inner if list_at is None else outer
        return ParsedTensor(dtype.text, dtype.offset, acc, entries, optional_at, element_optional, list_at, written)

    def mark(self, character: str) -> int | None:
        """The offset of a mark at the cursor, which is taken."""
        start = self.at
        return start if self.take(character) else None

    # -------------------------------------------------------- behind the type

    def words(self, parsed: ParsedTensor | ParsedScalar) -> tuple[ParsedWord, ...]:
        found: list[ParsedWord] = []
        while True:
            end = self.at
            self.space()
            start = self.at
            word = self.word()
            if word is None or word.text == "if":
                self.at = end if word is None else start
                return tuple(found)
            found.append(self.one_word(word, parsed))
            if any(earlier.name == word.text for earlier in found[:-1]):
                raise TypeProblem(word.offset, f'the word "{word.text}" is there twice')

    def one_word(self, word: Piece, parsed: ParsedTensor | ParsedScalar) -> ParsedWord:
        if isinstance(parsed, ParsedScalar):
            raise TypeProblem(word.offset, f'unexpected "{word.text}" behind a scalar')
        if word.text not in self.allowed:
            close = nearest(word.text, self.allowed)
            hint = f'did you mean "{close}"?' if close else f"words here are {', '.join(self.allowed)}"
            raise TypeProblem(word.offset, f'unknown word "{word.text}"', hint if self.allowed else "")
        argument = ""
        if word.text in _WITH_ARGUMENT:
            inside = self.enclosed("(", ")")
            if (inside is None and _WITH_ARGUMENT[word.text]) or (inside is not None and len(inside) != 1):
                raise TypeProblem(word.offset, f"{word.text}(...) holds one value")
            argument = inside[0].text if inside else ""
        return ParsedWord(word.text, word.offset, argument)

    def tail(self) -> tuple[Piece | None, Piece | None]:
        """What follows `if` or `=`; nothing else may stand there."""
        self.space()
        rest = self.text[self.at :]
        if re.match(r"if\b", rest):
            return self.piece(self.at + 2, len(self.text)), None
        if rest.startswith("="):
            piece = self.piece(self.at + 1, len(self.text))
            if not piece.text:
                raise TypeProblem(self.at, "a default is missing behind `=`")
            return None, piece
        if rest:
            word = shown(re.split("[ \n]", rest)[0])[:20]
            raise TypeProblem(self.at, f'unexpected "{word}" behind the type', _order(rest))
        return None, None


def _no_type(word: str) -> str:
    close = nearest(word, SCALAR_KINDS)
    if close:
        return f'did you mean "{close}"?'
    dtype = nearest(word, DTYPES) or (word if len(word) == 1 else "T")
    return f"a tensor states its dtype and shape, as in {dtype}[*shape]; scalars are {', '.join(SCALAR_KINDS)}"


def _order(rest: str) -> str:
    marks = rest[0] in "?!["
    return "the order is dtype[dims], ?, [], ?, !, words, = default" if marks else ""


def _close(name: str) -> str:
    close = nearest(name, ("acc", "dtype", "choice"))
    return f'; did you mean "{close}"?' if close else ""


def _entry(piece: Piece) -> ParsedEntry:
    """An entry of a shape."""
    if piece.text in _ANY_SIZE:
        hint = "a size has a name, as in T[m, n]; any number of dims is *shape"
        raise TypeProblem(piece.offset, f"`{piece.text}` is not a size", hint)
    if not piece.text.startswith("*"):
        return ParsedEntry(piece.text, piece.offset)
    bare = piece.text[1:].strip()
    if _ASCII_NAME.fullmatch(bare):
        return ParsedEntry("*" + bare, piece.offset, star=True)
    call = _FUNCTION.fullmatch(bare)
    if call is None:
        raise TypeProblem(
            piece.offset,
            f'"{piece.text}" is not a star',
            "a star is *name, *broadcast(a, b), *drop(s, dim) or *replace(s, dim, k)",
        )
    function = call.group(1)
    if function not in STAR_FUNCTIONS:
        close = nearest(function, STAR_FUNCTIONS)
        raise TypeProblem(
            piece.offset,
            f'unknown function of stars "{function}"',
            f'did you mean "{close}"?' if close else f"known are {', '.join(STAR_FUNCTIONS)}",
        )
    start = piece.offset + piece.text.index("(")
    parser = _Parser(call.group(2), ())
    inside = parser.enclosed("(", ")") or []
    count = STAR_FUNCTIONS[function]
    if len(inside) < 2 or (count is not None and len(inside) != count):
        raise TypeProblem(piece.offset, f"*{function}(...) holds {count or 'two or more'} values")
    parts = tuple(Piece(part.text, part.offset + start) for part in inside)
    return ParsedEntry(piece.text, piece.offset, True, function, parts)
