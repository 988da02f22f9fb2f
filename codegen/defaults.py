"""Default values of arguments: Python literals that fit the argument's type."""

from __future__ import annotations

import re
import sys

from codegen.contract import Argument, Default, ScalarType, ScalarValue
from codegen.errors import nearest, one_of
from codegen.expr.tree import INT_MAX, INT_MIN
from codegen.messages.sentences import MAX_TEXT
from codegen.parse_type import ParsedScalar, ParsedTensor, Piece, TypeProblem
from codegen.types import DTYPES

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"([ !#-\[\]-~]*)"|\'([ -&(-\[\]-~]*)\'')


def parse_default(parsed: ParsedTensor | ParsedScalar, piece: Piece) -> Default:
    """The value of the text behind `=`. Raises TypeProblem."""
    if piece.text == "None":
        if parsed.optional_at is None:
            raise TypeProblem(piece.offset, "None is the default of optionals only", "write ? behind the type")
        return Default(None)
    if isinstance(parsed, ParsedTensor):
        raise TypeProblem(piece.offset, "the only default of a tensor is None")
    if parsed.list_at is None:
        return Default(_value(parsed, piece))
    if parsed.optional_at is not None:
        raise TypeProblem(
            piece.offset, "PyTorch schemas state no list as the default of an optional list", "None is the only one"
        )
    if not (piece.text.startswith("[") and piece.text.endswith("]")):
        raise TypeProblem(piece.offset, f"{piece.text} is not a list", "for instance [1, 2]")
    inside = piece.text[1:-1]
    texts = inside.split(",") if inside.strip() else []
    values = tuple(_value(parsed, Piece(text.strip(), piece.offset)) for text in texts)
    if parsed.length is not None and len(values) != parsed.length:
        raise TypeProblem(piece.offset, f"expected {parsed.length} values, got {len(values)}")
    return Default(values)


def default_text(argument: Argument) -> str:
    """The default of an argument that has one, as the spec writes it."""
    assert argument.default is not None
    value = argument.default.value
    if isinstance(value, tuple):
        return str(list(value))
    quoted = isinstance(argument.type, ScalarType) and argument.type.kind == "str"
    return repr(value) if quoted else str(value)


def _value(parsed: ParsedScalar, piece: Piece) -> ScalarValue:
    match parsed.kind:
        case "int" | "size":
            return _integer(piece)
        case "float":
            return _float(piece)
        case "bool":
            if piece.text not in ("True", "False"):
                raise TypeProblem(piece.offset, f"{piece.text} is not a bool", "True or False")
            return piece.text == "True"
        case "choice":
            return _choice(parsed, piece)
        case "dtype":
            if piece.text not in DTYPES:
                close = nearest(piece.text, DTYPES)
                raise TypeProblem(
                    piece.offset, f"{piece.text} is not a dtype", f'did you mean "{close}"?' if close else ""
                )
            return piece.text
        case "device":
            if not re.fullmatch(r"[\"']?(cpu|cuda(:[0-9]{1,2})?)[\"']?", piece.text):
                raise TypeProblem(piece.offset, f"{piece.text} is not a device", "cpu, cuda or cuda:0")
            return piece.text.strip("\"'")
    match = _STRING.fullmatch(piece.text)
    if match is None:
        raise TypeProblem(piece.offset, f"{piece.text} is not a string", 'for instance "sum"')
    if len(match[0]) - 2 > MAX_TEXT:
        raise TypeProblem(piece.offset, f"a string has at most {MAX_TEXT} bytes, this one {len(match[0]) - 2}")
    return match.group(1) if match.group(1) is not None else match.group(2)


def _integer(piece: Piece) -> int:
    if not _INTEGER.fullmatch(piece.text) or len(piece.text) > 20:
        raise TypeProblem(piece.offset, f"{piece.text} is not an int of 64 bits")
    value = int(piece.text)
    if not INT_MIN <= value <= INT_MAX:
        raise TypeProblem(piece.offset, f"{piece.text} is not an int of 64 bits")
    return value


def _float(piece: Piece) -> float:
    if not _FLOAT.fullmatch(piece.text):
        raise TypeProblem(piece.offset, f"{piece.text} is not a float")
    value = float(piece.text)
    if value in (float("inf"), float("-inf")):
        raise TypeProblem(piece.offset, f"{piece.text} is too large for a float")
    if abs(value) < sys.float_info.min and re.search(r"[1-9]", re.split("[eE]", piece.text)[0]):
        raise TypeProblem(
            piece.offset, f"{piece.text} is too small for a float", "PyTorch schemas take normal floats only"
        )
    return value


def _choice(parsed: ParsedScalar, piece: Piece) -> str:
    word = piece.text.strip("\"'")
    words = [choice.text for choice in parsed.choices]
    if word not in words:
        raise TypeProblem(piece.offset, f"{piece.text} is none of the choices", f"expected {one_of(words)}")
    return word
