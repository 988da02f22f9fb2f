"""The one table of run-time error texts, as sequences of parts (parts.py).

No message holds the leading `namespace::operator: `, which the callers of both printers put before.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from codegen.assignments import BindDim, BindDynamic, BindStar, Decide, Derive, FirstDtype
from codegen.contract import MAX_DIMS, BroadcastEntry
from codegen.errors import one_of
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Name, NameKind, Query, Type, divides, names, walk
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
    joined,
)
from codegen.model import DynamicDim
from codegen.rules import (
    AccDtypeRule,
    CheckRule,
    ChoiceRule,
    ComputeStar,
    ContiguousRule,
    CountRule,
    DeviceArgumentRule,
    DeviceRule,
    DimsRule,
    DtypeRule,
    ElementsRule,
    ExpandRule,
    HostRule,
    Known,
    LengthRule,
    OffsetsRule,
    OverlapRule,
    PlainRule,
    RankRule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    SizesRule,
    SumRule,
    SupportedDeviceRule,
    TextRule,
    ValueRule,
    expressions,
)
from codegen.types import DTYPES

# Bytes of a string argument and, on a GPU, values of a list argument that bodies can be handed: TEXT_ROOM, without the
# final zero, and LIST_ROOM of csrc/runtime/argument.h.
MAX_TEXT = 255
MAX_LIST = 64


def message(rule: PlainRule) -> Message:
    """What a call says when `rule` fails. A binding cannot fail by itself: see `overflow`."""
    return _indexed(_message(rule))


def _indexed(text: Message) -> Message:
    """With the number of the tensor in every `xs[_i]`."""
    if not any(isinstance(part, Text) and "[_" in part.text for part in text.parts):
        return text
    parts: list[Part] = []
    for part in text.parts:
        if not isinstance(part, Text) or "[_" not in part.text:
            parts.append(part)
            continue
        pieces = re.split(r"(\w+\[)(_[ijf])(?=\])", part.text)
        for i, piece in enumerate(pieces):
            parts.append(ListIndex(piece, pieces[i - 1][:-1]) if piece in ("_i", "_j", "_f") else Text(piece))
    return Message(joined(tuple(parts)))


def _message(rule: PlainRule) -> Message:
    match rule:
        case CountRule():
            return _count(rule)
        case DtypeRule():
            return _dtype(rule)
        case SameDtypeRule():
            return _same("dtype", rule.argument, rule.source, DtypeOf(rule.source), DtypeOf(rule.argument))
        case AccDtypeRule():
            start = Text(f"{rule.argument}: expected dtype ")
            middle = Text(f" (accumulation dtype of {rule.source}), got ")
            return Message((start, AccDtypeOf(rule.source), middle, DtypeOf(rule.argument)))
        case DeviceRule():
            return _same("device", rule.argument, rule.source, DeviceOf(rule.source), DeviceOf(rule.argument))
        case SupportedDeviceRule():
            start = Text(f"{rule.argument}: expected device {one_of(rule.devices)}, got ")
            return Message((start, DeviceOf(rule.argument)))
        case HostRule():
            return Message((Text(f"{rule.argument}: expected device cpu, got "), DeviceOf(rule.argument)))
        case DeviceArgumentRule():
            start = Text(f"{rule.argument}: expected device {one_of(rule.devices)}, got ")
            return Message((start, DeviceOf(rule.argument)))
        case ChoiceRule():
            return Message((Text(f"{rule.argument}: expected {one_of(rule.choices)}, got "), TextOf(rule.argument)))
        case TextRule():
            start = Text(f"{rule.argument}: expected at most {MAX_TEXT} bytes, none of them zero, got ")
            return Message((start, TextOf(rule.argument)))
        case LengthRule():
            return _length(rule)
        case RankRule():
            return _rank(rule)
        case ShapeRule():
            start = Text(f"{rule.argument}: expected shape {rule.shape}")
            return Message(joined((start, *_known(rule.known), Text(", got "), ShapeOf(rule.argument))))
        case ExpandRule():
            start = Text(f"{rule.argument}: expected shape {rule.shape}")
            end = Text(", which does not broadcast to it")
            return Message(joined((start, *_known(rule.known), Text(", got "), ShapeOf(rule.argument), end)))
        case ContiguousRule():
            return Message((Text(f"{rule.argument}: expected contiguous, got strides "), StridesOf(rule.argument)))
        case CheckRule():
            return _check(rule)
        case ComputeStar():
            return _star(rule)
        case DimsRule():
            text = f"{rule.tensor}: expected at most {MAX_DIMS} dimensions, got "
            return Message((Text(text), DimCount(rule.star, rule.named)))
        case SizeRule():
            return Message(joined((Text(f"{rule.tensor}: expected {print_text(rule.condition)}"), *_got(rule.expr))))
        case SizesRule():
            text = f"{rule.tensor}: expected sizes >= 0, got {rule.argument} = "
            return Message((Text(text), StarOf(rule.argument)))
        case ElementsRule():
            return _elements(rule)
        case SumRule():
            return _sum(rule)
        case OffsetsRule():
            return offsets_messages(rule)["none"]
        case OverlapRule():
            return _overlap(rule)
        case FirstDtype() | BindDim() | BindStar() | Derive() | BindDynamic() | Decide():
            raise ValueError("a binding has no message of its own")


def _overlap(rule: OverlapRule) -> Message:
    if rule.other != rule.argument:
        return Message((Text(f"{rule.argument}: expected no overlap with {rule.other}"),))
    start = Text(f"{rule.argument}: expected no overlap among its own elements, got strides ")
    return Message((start, StridesOf(rule.argument)))


def _overflow(rule: Computing, text: str) -> Message:
    """What a call says when `text` of a rule leaves 64 bits or, where it divides, divides by zero."""
    by_zero = any(map(divides, expressions(rule)))
    return _indexed(Message((Text(f"{text} does not fit 64-bit integers{' or divides by zero' if by_zero else ''}"),)))


def overflow_in(part: str) -> Message:
    """What a call says when an expression of a launch or of scratch leaves 64 bits or divides by zero."""
    return Message((Text(f"{part}: a number leaves 64 bits or is divided by zero"),))


Computing: TypeAlias = (
    Derive | BindDynamic | Decide | BindStar | ComputeStar | CheckRule | SizeRule | ShapeRule | ExpandRule | ValueRule
)
"""Rules that compute, and so can leave 64 bits."""


def overflow_of(rule: Computing) -> Message:
    """The overflow message of a rule that computes."""
    match rule:
        case Derive():
            return _overflow(rule, f"{rule.name} = {print_text(rule.expr)}")
        case BindStar():
            return _overflow(rule, f"{rule.span.argument}: the product of {rule.name}")
        case CheckRule():
            return _overflow(rule, rule.text)
        case BindDynamic():
            return _overflow(rule, f"{rule.name}: {rule.text}")
        case Decide():
            return _overflow(rule, f"{rule.output}: {rule.text}")
        case ComputeStar():
            return _overflow(rule, rule.entry.text)
        case SizeRule():
            return _overflow(rule, f"{rule.tensor}: {rule.text}")
        case ShapeRule() | ExpandRule():
            return _overflow(rule, f"{rule.argument}: shape {rule.shape}")
        case ElementsRule() | OffsetsRule() | SumRule():
            return _overflow(rule, f"{rule.argument}: {rule.text}")


def _sum(rule: SumRule) -> Message:
    start = (Text(f"{rule.argument}: expected {rule.text}"), *_with(_values(rule.condition)))
    kind = next(name.type for name in names(rule.condition) if name.kind is NameKind.ELEMENT)
    return Message(joined((*start, Text(f", got sum({rule.of}) = "), ElementSum(rule.argument, kind))))


def offsets_messages(rule: OffsetsRule) -> dict[str, Message]:
    """What a call says when offsets have no elements ("none"), start elsewhere, fall, or do not end at their total."""
    start = (Text(f"{rule.argument}: expected {rule.text}"), *_with(_values(rule.total)))
    where = (ElementIndex(rule.argument), Text(" = "), ElementValue(rule.argument))
    got = f"got {rule.argument}"
    endings: dict[str, tuple[Part, ...]] = {
        "none": (Text(", got no elements"),),
        "start": (Text(f", which start at 0, {got}"), *where),
        "fall": (Text(f", which never fall, {got}"), *where, Text(" after "), ElementBefore(rule.argument)),
        "end": (Text(f", which end at {print_text(rule.total)}, {got}"), *where),
    }
    return {fault: Message(joined((*start, *ending))) for fault, ending in endings.items()}


def too_many(dim: DynamicDim) -> Message:
    """What a call says when a kernel leaves a size that is negative or above its bound."""
    start = (Text(f"{dim.name}: expected 0 <= {dim.name} <= {print_text(dim.bound)}"), *_with(_values(dim.bound)))
    count = Value(Name(dim.name, NameKind.DYNAMIC, Type.INT))
    return Message(joined((*start, Text(", got "), count, Text(" from the kernel"))))


def mask_length(count: int | str) -> str:
    """How the error about a grad_mask that is not of `count` bools begins; csrc/runtime/boxed.c says the same."""
    return f"grad_mask: expected {count} bools, got "


def _same(what: str, argument: str, source: str, expected: Part, got: Part) -> Message:
    return Message((Text(f"{argument}: expected {what} "), expected, Text(f" (as {source}), got "), got))


def _dtype(rule: DtypeRule) -> Message:
    if all(name in DTYPES for name in rule.allowed):
        text = f"{rule.argument}: expected {'' if rule.scalar else 'dtype '}{one_of(rule.allowed)}, got "
        return Message((Text(text), DtypeOf(rule.argument)))
    parts: list[Part] = [Text(f"{rule.argument}: expected {'' if rule.scalar else 'dtype '}")]
    for i, name in enumerate(rule.allowed):
        if i > 0:
            parts.append(Text(" or " if i == len(rule.allowed) - 1 else ", "))
        if name in DTYPES:
            parts.append(Text(name))
        else:  # the dtype of an earlier variable, and its name
            parts += [Value(Name(name, NameKind.VARIABLE, Type.DTYPE)), Text(f" ({name})")]
    return Message(joined((*parts, Text(", got "), DtypeOf(rule.argument))))


def _rank(rule: RankRule) -> Message:
    least = "" if rule.exact else "at least "
    dimensions = "dimension" if rule.rank == 1 else "dimensions"
    text = f"{rule.argument}: expected {least}{rule.rank} {dimensions}, got "
    return Message((Text(text), RankOf(rule.argument)))


def _count(rule: CountRule) -> Message:
    got = Value(Query("len", rule.argument, (), Type.INT))
    if not rule.source:
        return Message((Text(f"{rule.argument}: expected at least one tensor"),))
    wanted = Value(Query("len", rule.source, (), Type.INT))
    start = Text(f"{rule.argument}: expected ")
    return Message((start, wanted, Text(f" tensors (as {rule.source}), got "), got))


def _star(rule: ComputeStar) -> Message:
    """`*drop(s, dim): expected a dim of s with s = [2, 3] (from x), got dim = 2`"""
    if isinstance(rule.entry, BroadcastEntry):
        start = Text(f"{rule.entry.text}: expected sizes that broadcast")
        return Message(joined((start, *_known(rule.known, ", got "))))
    start = Text(f"{rule.entry.text}: expected a dim of {rule.entry.name}")
    return Message(joined((start, *_known(rule.known), *_got(rule.entry.dim))))


def _length(rule: LengthRule) -> Message:
    most = "at most " if rule.room else ""
    kind = rule.kind if rule.length == 1 else f"{rule.kind}s"
    where = " on a GPU" if rule.room else ""
    start = Text(f"{rule.argument}: expected {most}{rule.length} {kind}{where}, got ")
    return Message((start, Value(Query("len", rule.argument, (), Type.INT))))


def _known(known: tuple[Known, ...], opening: str = " with ") -> tuple[Part, ...]:
    """` with n = 4096 (from x), k = 3`"""
    parts: list[Part] = []
    for i, value in enumerate(known):
        parts.append(Text(f"{', ' if i else opening}{value.name} = "))
        name = Name(value.name, NameKind.DIM, Type.INT)
        computed = ComputedDims(value.computed) if value.computed is not None else Value(name)
        parts.append(StarOf(value.name) if value.star else computed)
        parts.append(Text(f" (from {value.source})" if value.source else ""))
    return tuple(parts)


def _values(expr: Expr) -> tuple[Expr, ...]:
    """What an expression depends on, in order: names and what it asks about arguments. Dtype sizes follow from
    dtypes.
    """
    found: list[Expr] = []
    for part in walk(expr):
        if isinstance(part, Name) and part.kind is not NameKind.ELEMENT:
            found.append(part)
        elif isinstance(part, Query) and part.function == "sizeof":
            if part.subject not in DTYPES:
                found.append(Name(part.subject, NameKind.VARIABLE, Type.DTYPE))
        elif isinstance(part, Query):
            found.append(part)
    return tuple(dict.fromkeys(found))


def _listed(values: tuple[Expr, ...], opening: str) -> tuple[Part, ...]:
    parts: list[Part] = []
    for i, value in enumerate(values):
        parts.append(Text(f"{', ' if i else opening}{print_text(value)} = "))
        parts.append(Value(value))
    return tuple(parts)


def _got(expr: Expr) -> tuple[Part, ...]:
    return _listed(_values(expr), ", got ")


def _with(values: tuple[Expr, ...]) -> tuple[Part, ...]:
    return _listed(values, " with ")


def _check(rule: CheckRule) -> Message:
    rest = _got(rule.condition)
    if rule.message:
        return Message(joined((Text(f"{rule.message} (expected {rule.text}"), *rest, Text(")"))))
    return Message(joined((Text(f"expected {rule.text}"), *rest)))


def _elements(rule: ElementsRule) -> Message:
    named = [value for expr in (rule.condition, *rule.besides) for value in _values(expr)]
    known = tuple(value for value in dict.fromkeys(named) if not isinstance(value, Constant))
    start = Text(f"{rule.argument}: expected {rule.text}")
    got = (Text(f", got {rule.argument}"), ElementIndex(rule.argument), Text(" = "), ElementValue(rule.argument))
    return Message(joined((start, *_with(known), *got)))
