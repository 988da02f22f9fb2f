"""Prints a message of sentences.py as a Python string: an f-string, or a plain one where nothing is filled in."""

from __future__ import annotations

from collections.abc import Callable

from codegen.expr.python import PythonNames, print_python
from codegen.expr.tree import Type
from codegen.messages.parts import Message, Part, Text, Value


def python_escape(text: str) -> str:
    """The inside of a double-quoted Python literal that holds `text`."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def python_string(text: str) -> str:
    """A Python literal that holds `text`, in the quotes that a formatter chooses: those that need fewer escapes."""
    escaped = python_escape(text)
    if text.count('"') <= text.count("'"):
        return f'"{escaped}"'
    plain = escaped.replace('\\"', '"').replace("'", "\\'")
    return f"'{plain}'"


def print_message_python(message: Message, names: PythonNames, part: Callable[[Part], str], prefix: str = "") -> str:
    """The message as a Python string literal that begins with `prefix`.

    `part` prints what is neither text nor the value of an int, bool or float expression, as a Python expression
    without double quotes, backslashes or braces (older Pythons refuse them inside f-strings). Floats go through the
    helper `float_text`.
    """
    if all(isinstance(item, Text) for item in message.parts):
        text = prefix + "".join(item.text for item in message.parts if isinstance(item, Text))
        return f'"{python_escape(text)}"'
    pieces = [_braces(prefix)]
    for item in message.parts:
        pieces.append(_braces(item.text) if isinstance(item, Text) else "{" + _hole(item, names, part) + "}")
    return f'f"{"".join(pieces)}"'


def _braces(text: str) -> str:
    return python_escape(text).replace("{", "{{").replace("}", "}}")


def _hole(item: Part, names: PythonNames, part: Callable[[Part], str]) -> str:
    if isinstance(item, Value) and item.expr.type in (Type.INT, Type.BOOL):
        return print_python(item.expr, names)
    if isinstance(item, Value) and item.expr.type is Type.FLOAT:
        return f"{names.helper}float_text({print_python(item.expr, names)})"
    return part(item)
