"""Prints a message of sentences.py as a printf format and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable

from codegen.expr.c import CNames, print_c
from codegen.expr.tree import Type
from codegen.frozen import dataclass
from codegen.messages.parts import DimCount, ListIndex, Message, Part, RankOf, Text, Value, may_be_absent


@dataclass(frozen=True)
class CFormat:
    """`format` is a C string literal (with PRId64 pieces), `arguments` what follows it."""

    format: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        """Both, as they stand in a call."""
        return ", ".join((self.format, *self.arguments))


def _c_byte(byte: int) -> str:
    character = chr(byte)
    if character in '"\\?':
        return "\\" + character
    # Three octal digits always, so that a following digit is not taken in.
    return character if " " <= character <= "~" else f"\\{byte:03o}"


_PLAIN = re.compile(r"[ !#->@-\[\]-~]*")  # printable ASCII without " \\ ?
_C_BYTES = tuple(_c_byte(byte) for byte in range(256))


def c_escape(text: str) -> str:
    """The inside of a C string literal that holds `text` in UTF-8; no trigraphs, nothing that could end the literal."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(map(_C_BYTES.__getitem__, text.encode()))


def print_message_c(message: Message, names: CNames, part: Callable[[Part], str], error: str = "e") -> CFormat:
    """The message in C.

    `part` prints everything but texts and numbers: a `const char *` for shapes, dims, dtypes, devices and the
    index and value of an element, an int64_t for a rank, and a `const char *` for a Value that is a dtype or a
    word. `error` is the error record, in which floats are spelled.
    """
    pieces: list[str] = []
    arguments: list[str] = []
    for item in message.parts:
        if isinstance(item, Text):
            pieces.append(c_escape(item.text.replace("%", "%%")))
            continue
        is_integer = isinstance(item, RankOf | DimCount | ListIndex) or (isinstance(item, Value) and _is_number(item))
        pieces.append('%" PRId64 "' if is_integer else "%s")
        arguments.append(_argument(item, names, part, error))
    # An empty literal after the last PRId64 is legal and ugly.
    return CFormat(f'"{"".join(pieces)}"'.removesuffix(' ""'), tuple(arguments))


def _argument(item: Part, names: CNames, part: Callable[[Part], str], error: str) -> str:
    if isinstance(item, Value) and may_be_absent(item.expr):
        target = print_c(item.expr, names)
        return f'{target}_given ? {_spelled(item, target, part, error)} : "None"'
    if isinstance(item, Value):
        target = print_c(item.expr, names) if item.expr.type in (Type.INT, Type.FLOAT, Type.BOOL) else ""
        return target if _is_number(item) else _spelled(item, target, part, error)
    return part(item)


def _is_number(item: Value) -> bool:
    """Whether the format takes the value as it is; anything else is spelled first."""
    return item.expr.type is Type.INT and not may_be_absent(item.expr)


def _spelled(item: Value, target: str, part: Callable[[Part], str], error: str) -> str:
    match item.expr.type:
        case Type.INT:
            return f"int_text({error}, {target})"
        case Type.FLOAT:
            return f"float_text({error}, {target})"
        case Type.BOOL:
            return f"bool_text({target})"
    return part(item)
