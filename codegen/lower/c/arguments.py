"""Arguments that are no tensors, in C: the constants and tables of choices, where arguments stand before they are
checked, how they come off the stack and are released, and the statements of their rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.contract import Argument, ScalarType
from codegen.lower.statements import indented
from codegen.model import Operator
from codegen.names import choice_constant

_TAKE = {"float": "take_float", "int": "take_int", "size": "take_int", "bool": "take_bool"}
_LISTS = {"float": "take_floats", "int": "take_ints", "size": "take_ints", "bool": "take_bools"}
_ELEMENTS = {"float": "double", "int": "int64_t", "size": "int64_t", "bool": "bool"}


def scalars(op: Operator) -> Iterator[tuple[str, ScalarType]]:
    """The arguments that are no tensors, with their types."""
    for argument in op.scalars:
        assert isinstance(argument.type, ScalarType)
        yield argument.name, argument.type


def choice_lines(op: Operator) -> tuple[str, ...]:
    """The constants of the words of each choice, as bodies and host functions know them."""
    lines: list[str] = []
    for name, kind in scalars(op):
        if kind.kind == "choice":
            words = [f"    {choice_constant(op.name, name, word)}," for word in kind.choices]
            lines += [f"/* What {name} is, by its words. */", "enum {", *words, "};", ""]
    return tuple(lines)


def words_table(op: Operator, argument: str) -> str:
    """The table of the words of a choice. Names of operators and arguments have no `__`."""
    return f"{op.name}__{argument}_words"


def words_lines(op: Operator) -> tuple[str, ...]:
    """The tables of words."""
    lines: list[str] = []
    for name, kind in scalars(op):
        if kind.kind == "choice":
            words = [f'    "{word}",' for word in kind.choices]
            lines += [f"static const char *const {words_table(op, name)}[] = {{", *words, "};", ""]
    return tuple(lines)


def frame_lines(op: Operator) -> tuple[str, ...]:
    """Where arguments stand that are checked or converted before kernels see them."""
    types = {"choice": "string", "str": "string", "device": "device"}
    found = []
    for name, kind in scalars(op):
        if kind.is_list:
            found.append(f"number_list {name};")
        elif kind.kind in types:
            found.append(f"{types[kind.kind]} {name};")
        elif kind.variable:
            found.append(f"dtype {name};")
    return (*found, *(["number_list grad_mask;"] if op.grad_mask and op.list_outputs else []))


def can_fail(op: Operator) -> bool:
    """Whether taking the arguments can fail."""
    return any(kind.is_list or kind.kind in ("choice", "str") for _, kind in scalars(op))


def take_lines(argument: Argument, slot: str) -> list[str]:
    """Takes one argument off the stack; what is in an optional's box takes the place of the box."""
    assert isinstance(argument.type, ScalarType)
    name, kind = argument.name, argument.type
    if kind.is_list:
        taken = [
            f"{_LISTS[kind.kind]}(e, {slot}, &f.a.{name});",
            f"f.call.{name} = f.a.{name}.data;",
            f"f.call.{name}_count = f.a.{name}.count;",
        ]
    elif kind.kind in ("choice", "str"):
        taken = [f"take_text(e, {slot}, &f.a.{name});"]
    elif kind.kind == "device":
        taken = [f"f.a.{name} = take_device({slot});"]
    elif kind.kind == "dtype":
        target, number = (f"f.a.{name}", "") if kind.variable else (f"f.call.{name}", "(int32_t)")
        taken = [f"{target} = {number}take_dtype({slot});"]
    else:
        taken = [f"f.call.{name} = {_TAKE[kind.kind]}({slot});"]
    if not kind.optional:
        return taken
    given = f"f.call.{name}_given"
    lines = [f"{given} = take_optional(&{slot});", f"if ({given}) {{", *indented(taken), "}"]
    if kind.kind == "device":
        lines[-1:] = ["} else {", f"    f.a.{name} = device_cpu();", "}"]
    return lines


def release_lines(op: Operator) -> list[str]:
    """Gives back the memory of lists."""
    return [f"list_release(&f.a.{name});" for name, kind in scalars(op) if kind.is_list]


def device_values_lines(op: Operator) -> list[str]:
    """Puts the values of lists into the record, which goes to the GPU as it is."""
    return [
        f"list_copy(&f->a.{name}, f->call.{name}_values, sizeof({_ELEMENTS[kind.kind]}));"
        for name, kind in scalars(op)
        if kind.is_list
    ]
