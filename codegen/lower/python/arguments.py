"""Arguments that are no tensors, in generated Python: how they are annotated, their defaults, and the conditions of
their rules.
"""

from __future__ import annotations

from codegen.contract import Argument, TensorType
from codegen.lower.python.names import HELPER, Names
from codegen.messages.python import python_escape
from codegen.messages.sentences import MAX_TEXT
from codegen.rules import (
    ChoiceRule,
    DeviceArgumentRule,
    DeviceRule,
    LengthRule,
    SizesRule,
    TextRule,
)

_ANNOTATIONS = {
    "float": "float",
    "int": "int",
    "size": "int",
    "bool": "bool",
    "str": "str",
    "choice": "str",
    "dtype": "torch.dtype",
    "device": "torch.device | str",
}


def annotation(argument: Argument) -> str:
    """The type of a parameter."""
    if isinstance(argument.type, TensorType):
        text = "Tensor | None" if argument.type.element_optional else "Tensor"
        text = f"Sequence[{text}]" if argument.type.is_list else text
        return f"{text} | None" if argument.type.optional else text
    kind = argument.type
    text = _ANNOTATIONS[kind.kind]
    text = f"Sequence[{text}]" if kind.is_list else text
    return f"{text} | None" if kind.optional else text


def default(argument: Argument) -> str:
    """The default of an argument that has one, as Python."""
    assert argument.default is not None
    value = argument.default.value
    kind = "" if isinstance(argument.type, TensorType) else argument.type.kind
    if isinstance(value, tuple):
        return f"({', '.join(repr(item) for item in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, str):
        return f"torch.{value}" if kind == "dtype" else f'"{python_escape(value)}"'
    return repr(value)


def condition(
    names: Names, rule: ChoiceRule | TextRule | LengthRule | SizesRule | DeviceRule | DeviceArgumentRule
) -> str:
    """What holds in a right call."""
    name = rule.argument
    match rule:
        case ChoiceRule():
            words = ", ".join(f'"{word}"' for word in rule.choices)
            return f"{name} in ({words}{',' if len(rule.choices) == 1 else ''})"
        case TextRule():
            return f"{HELPER}fits({name}, {MAX_TEXT})"
        case LengthRule(room=True):
            return f'{names.device_type()} != "cuda" or {HELPER}count({name}) <= {rule.length}'
        case LengthRule():
            return f"{HELPER}count({name}) == {rule.length}"
        case SizesRule():
            return f"all(size >= 0 for size in {name})"
        case DeviceRule():
            return f"{HELPER}means({name}, {rule.source}.device)"
        case DeviceArgumentRule():
            devices = ", ".join(f'"{device}"' for device in rule.devices)
            return f"{HELPER}device({name}).type in ({devices}{',' if len(rule.devices) == 1 else ''})"
