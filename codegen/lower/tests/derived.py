"""What a derived operator is the gradient of, as generated Python says it."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.lower.python.names import COLUMNS, call
from codegen.lower.tests.axes import strings, tuple_of
from codegen.lower.tests.samples import base
from codegen.lower.tests.scalars import kind_of, literal
from codegen.messages.python import python_string
from codegen.model import Library, Operator


def dict_of(entries: Iterable[tuple[str, str]]) -> str:
    """A dict whose keys are names, on one line."""
    return "{" + ", ".join(f"{python_string(name)}: {value}" for name, value in entries) + "}"


def broken(start: str, items: list[str], indent: int = 8) -> list[str]:
    """A tuple behind `start`: on one line where that fits `indent` columns in, else with a line for each item."""
    line = f"{start}{tuple_of(items)}"
    return [line] if indent + len(line) + 1 <= COLUMNS else [f"{start}(", *(f"    {item}," for item in items), ")"]


def derived_lines(library: Library, op: Operator, indent: int) -> list[str]:
    """What a derived operator is the gradient of."""
    before = library.operator(op.derived_from)
    usual = base(before)
    tensors = [(argument.name, python_string(usual.dtype_of(argument.name))) for argument in before.tensors]
    scalars = [(name, literal(value, kind_of(before.argument(name)))) for name, value in usual.scalars.items()]
    taken = {argument.name for argument in op.arguments}
    outputs = [output.name for output in before.public_outputs if f"grad_{output.name}" in taken]
    parts: list[str | list[str]] = [
        dict_of(tensors),
        dict_of(scalars),
        strings(outputs),
        strings(output.name.removeprefix("grad_") for output in op.outputs),
    ]
    if before.derived_from:
        parts.append(derived_lines(library, before, indent + 4))
    if before.lists:
        listed = strings(argument.name for argument in before.lists)
        parts.append(f"lists={listed}")
    return call("Derived", parts, indent=indent)
