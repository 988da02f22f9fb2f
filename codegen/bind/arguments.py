"""The rules of arguments that are no tensors: devices, choices, strings, lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from codegen.contract import Argument, ScalarType, Shape, StarEntry
from codegen.messages.sentences import MAX_LIST
from codegen.rules import (
    ChoiceRule,
    DeviceArgumentRule,
    DeviceRule,
    LengthRule,
    SizesRule,
    TextRule,
)

ArgumentRule: TypeAlias = DeviceRule | DeviceArgumentRule | ChoiceRule | TextRule | LengthRule


def scalars(arguments: Sequence[Argument]) -> Iterator[tuple[str, ScalarType]]:
    """The arguments that are no tensors, with their types."""
    for argument in arguments:
        if isinstance(argument.type, ScalarType):
            yield argument.name, argument.type


def argument_rules(arguments: Sequence[Argument], first: str, devices: Sequence[str]) -> Iterator[ArgumentRule]:
    """What the schema cannot say of these arguments; PyTorch does not hold callers to the lengths that it states.

    A `device` argument may only repeat the device of the tensors, of which `first` is the first one that is always
    given; where there is none it decides.
    """
    for name, kind in scalars(arguments):
        if kind.kind == "device":
            yield DeviceRule(name, first) if first else DeviceArgumentRule(name, tuple(devices))
    for name, kind in scalars(arguments):
        if kind.kind == "choice":
            yield ChoiceRule(name, kind.choices)
        elif kind.kind == "str":
            yield TextRule(name)
        elif kind.length is not None:
            yield LengthRule(name, kind.kind, kind.length)
        elif kind.is_list and "cuda" in devices:
            yield LengthRule(name, kind.kind, MAX_LIST, room=True)


def sizes_rules(arguments: Sequence[Argument], tensor: str, shape: Shape) -> list[SizesRule]:
    """Lists whose values become sizes of an output or scratch tensor."""
    lists = {name for name, kind in scalars(arguments) if kind.is_list}
    starred = [entry.name for entry in shape.entries if isinstance(entry, StarEntry)]
    return [SizesRule(name, tensor) for name in starred if name in lists]
