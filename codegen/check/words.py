"""The words after a type: which of them go together, and what stands in their parentheses."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import isfinite, isinf, isnan

from codegen import layouts
from codegen.contract import MAX_DIMS, Argument, DimEntry, ScalarType, TensorType, TypeVariable, Word, dtypes_of
from codegen.errors import Position, nearest, shown
from codegen.fields import Field
from codegen.load import Scalar
from codegen.messages.sentences import MAX_LIST, MAX_TEXT
from codegen.model import Operator
from codegen.parse_type import ParsedWord
from codegen.reader import Reader
from codegen.types import DTYPES, whole_range

# What CUDA takes as the arguments of a launch: CUDA_ARGUMENT_BYTES of csrc/runtime/cuda.h.
MAX_ARGUMENT_BYTES = 4096


def check_names(read: Reader, fields: Sequence[Field], taken: Mapping[str, str]) -> None:
    """Bodies find strides and sizes beside what the spec names: nothing else may be called like these."""
    for field in fields:
        has_star = any(entry.star for entry in field.entries)
        names = layouts.facts(field.name, layouts.layout(field.words), has_star, len(field.entries))
        if field.section == "scratch":
            names += (f"{field.name}_size", *((f"{field.name}_dim",) if has_star else ()))
        for name in names:
            if name in taken:
                text = f'bodies find "{name}" beside {field.name}, and the name is taken: it is {taken[name]}'
                read.within(field.part).error(field.key, text)


def check_device(read: Reader, place: Scalar, op: Operator) -> None:
    """An input that is in every call says on which device it runs."""
    if not op.tensors:
        return
    if "cuda" in op.devices and all(argument.has_word("cpu") for argument in op.tensors):
        text = "every input says `cpu`, so none says on which device a call runs"
        read.error(place, text, "leave `cpu` out where data may be on a GPU, or write devices: [cpu]")
    elif all(isinstance(one.type, TensorType) and one.type.may_lack_tensors for one in op.device_tensors):
        read.error(place, "every tensor without `cpu` is optional, so a call without any would have no device")


def check_launch_size(read: Reader, place: Scalar, op: Operator) -> None:
    """Sizes and strides of shapes with a star, which have room for every dim, are arguments of a launch."""
    tables = layouts.tables((*op.tensors, *op.outputs))
    scratch = sum(layouts.rank(tensor.type.shape) is None for tensor in op.scratch)
    others, lists = value_bytes(op)
    size = 8 * (MAX_DIMS * (len(tables) + len(set(tables.values())) + scratch) + len(tables)) + others
    if "cuda" in op.devices and lists > MAX_ARGUMENT_BYTES - others:
        read.error(place, f"lists and strings of {lists} bytes do not fit the arguments of a launch")
    elif "cuda" in op.devices and size + lists > MAX_ARGUMENT_BYTES:
        text = f"sizes and strides of {len(tables) + scratch} tensors with a star do not fit the arguments of a launch"
        read.error(place, text, "leave out `strided` or `inner` where a copy does no harm, or name the dims")


def value_bytes(op: Operator) -> tuple[int, int]:
    """The bytes of a call record that hold pointers, dims and scalars, and those with room for lists and strings."""
    scalars = [argument.type for argument in op.arguments if isinstance(argument.type, ScalarType)]
    values = len(op.arguments) + sum(kind.optional for kind in scalars) + sum(kind.is_list for kind in scalars)
    values += len(op.outputs) + len(op.dims) + len(op.derived) + 4 * len(op.scratch)
    lists = 8 * MAX_LIST * sum(kind.is_list for kind in scalars)
    return 8 * values, lists + (MAX_TEXT + 1) * sum(kind.kind == "str" for kind in scalars)


def check_input_words(read: Reader, field: Field, kind: TensorType) -> tuple[Word, ...]:
    """The words of an input."""
    policies = [word for word in field.parsed.words if word.name in layouts.POLICIES]
    for word in policies[1:]:
        text = f"`{word.name}` and `{policies[0].name}` say two things about the same memory"
        read.error(field.node.at(word.offset), text, "one of them is enough")
    if policies and policies[0].name == "contiguous" and field.has_word("expand"):
        text = "`contiguous` cannot stand beside `expand`: what is broadcast has strides of its own"
        read.error(field.node.at(policies[0].offset), text, "leave it out, or say `rows` or `inner`")
    _written(read, field, kind)
    found = []
    for word in field.parsed.words:
        argument: int | str | None = word.argument if word.name == "grad" else None
        if word.name == "inner":
            argument = _inner(read, field, kind, word)
        found.append(Word(word.name, argument))
    return tuple(found)


def _written(read: Reader, field: Field, kind: TensorType) -> None:
    """Words that only written arguments have, or that they cannot have."""
    for word in field.parsed.words:
        place = field.node.at(word.offset)
        if word.name == "out" and not kind.written:
            read.error(place, "`out` is for arguments that are written", f"{field.parsed.text.split()[0]}! out")
        elif word.name == "expand" and kind.written:
            read.error(place, "what is written cannot be broadcast", "two elements would lie on each other")


def _inner(read: Reader, field: Field, kind: TensorType, word: ParsedWord) -> int:
    """The number of dims in `inner(2)`; a plain `inner` is about one."""
    count = int(word.argument) if word.argument in ("1", "2") else 0
    if word.argument and not count:
        read.error(field.node.at(word.offset), "inner(...) holds 1 or 2, the number of dims that are contiguous")
    rank = layouts.rank(kind.shape)
    if rank is not None and rank < max(count, 1):
        text = f"inner({count})" if count else "inner"
        dims = f"{rank} dim{'' if rank == 1 else 's'}"
        read.error(field.node.at(word.offset), f"`{text}` is about more dims than the {dims} of this shape")
    return max(count, 1)


def check_output_words(
    read: Reader,
    field: Field,
    kind: TensorType,
    inputs: Mapping[str, Argument],
    types: Mapping[str, TypeVariable],
    as_long: Collection[str] = (),
) -> tuple[Word, ...]:
    """The words of an output or a scratch tensor; `inputs` are what an output may be like, and of a list the ones that
    are `as_long`.
    """
    found = []
    for word in field.parsed.words:
        place = field.node.at(word.offset)
        argument: int | float | str | None = None
        if word.name == "fill":
            argument = _fill(read, place, word.argument, dtypes_of(kind.dtype, types.values()))
        elif word.name == "like":
            argument = word.argument
            _like(read, place, kind, word.argument, inputs, as_long)
        elif word.name == "transposed":
            _transposed(read, place, field, kind)
        found.append(Word(word.name, argument))
    return tuple(found)


def _like(
    read: Reader,
    place: Position,
    kind: TensorType,
    name: str,
    inputs: Mapping[str, Argument],
    as_long: Collection[str],
) -> None:
    other = inputs.get(name)
    if other is None or not isinstance(other.type, TensorType):
        known = [known for known, argument in inputs.items() if argument.is_tensor]
        close = nearest(name, known)
        hint = f'did you mean "{close}"?' if close else f"inputs here are {', '.join(known)}"
        read.error(place, f'like(...) names an input that is a tensor, and "{shown(name)}" is none', hint)
    elif kind.is_list and (name not in as_long or other.type.may_lack_tensors):
        text = f"like({name}) takes the strides of a list that is always there, whole, and as long in every call"
        read.error(place, text, "lists that share a name that binds for each tensor are equally long")
    elif not kind.is_list and (other.type.optional or other.type.is_list):
        what = "a list" if other.type.is_list else "optional"
        read.error(place, f"like({name}) takes the strides of one tensor that is always there, and {name} is {what}")
    elif other.type.shape != kind.shape:
        text = f"like({name}) takes the strides of {name}, whose shape is {other.type.shape.text}"
        read.error(place, f"{text}, not {kind.shape.text}")


def _transposed(read: Reader, place: Position, field: Field, kind: TensorType) -> None:
    if field.has_word("like"):
        read.error(place, "`like` and `transposed` say two things about the same memory")
    last = kind.shape.entries[-2:]
    if len(last) < 2 or not all(isinstance(entry, DimEntry) for entry in last):
        read.error(place, "`transposed` swaps the last two dims, and this shape does not name them")


def _fill(read: Reader, place: Position, text: str, dtypes: tuple[str, ...]) -> int | float:
    """The number in `fill(...)`, which every dtype can hold."""
    number = _number(text)
    if number is None:
        read.error(place, f'fill(...) holds a number, True or False, not "{shown(text)}"')
        return 0
    for name in dtypes:
        if not _fits(number, name):
            read.error(place, f"{text} does not fit {name}, which this tensor can have")
            break
    return int(number) if isinstance(number, bool) else number


def _number(text: str) -> int | float | bool | None:
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"-?(0|[1-9][0-9]{0,19})", text):
        return int(text)
    if re.fullmatch(r"-?inf|nan|-?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", text):
        number = float(text)
        return None if isinf(number) and "inf" not in text else number
    return None


def _fits(number: int | float | bool, dtype: str) -> bool:
    info = DTYPES[dtype]
    if info.category == "bool":
        return isinstance(number, bool) or (isinstance(number, int) and number in (0, 1))
    if isinstance(number, bool):
        return False
    if info.category == "integral":
        low, high = whole_range(dtype)
        return isinstance(number, int) and low <= number <= high
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        return False
    if dtype == "float8_e8m0fnu" and not number > 0:  # powers of two, and NaN
        return isnan(number)
    return not isfinite(number) or abs(number) <= info.largest
