"""Prints a message of sentences.py for people who read it before it happens: `weight: expected shape [n] with n = <n>
(from x), got <shape of weight>`.
"""

from __future__ import annotations

from codegen.expr.text import print_text
from codegen.messages.parts import (
    AccDtypeOf,
    ComputedDims,
    DeviceOf,
    DimCount,
    DtypeOf,
    ElementBefore,
    ElementIndex,
    ElementSum,
    ElementValue,
    ListIndex,
    Message,
    Part,
    RankOf,
    ShapeOf,
    StarOf,
    StridesOf,
    Text,
    TextOf,
    Value,
)


def print_message_text(message: Message) -> str:
    """The message, with what a call fills in between angle brackets."""
    return "".join(_part(part) for part in message.parts).replace("[_", "[")  # xs[i], each tensor of a list


def _part(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case ListIndex():
            return part.index
        case Value():
            return f"<{print_text(part.expr)}>"
        case ShapeOf():
            return f"<shape of {part.argument}>"
        case StridesOf():
            return f"<strides of {part.argument}>"
        case StarOf():
            return f"<sizes of {part.name}>"
        case ComputedDims():
            return "<sizes>"
        case DimCount():
            return "<number of dims>"
        case DtypeOf():
            return f"<dtype of {part.argument}>"
        case AccDtypeOf():
            return f"<accumulation dtype of {part.argument}>"
        case DeviceOf():
            return f"<device of {part.argument}>"
        case TextOf():
            return f"<{part.argument}>"
        case RankOf():
            return f"<dim({part.argument})>"
        case ElementIndex():
            return "[<place>]"
        case ElementValue():
            return f"<element of {part.argument}>"
        case ElementBefore():
            return f"<element of {part.argument} before it>"
        case ElementSum():
            return f"<sum of {part.argument}>"
