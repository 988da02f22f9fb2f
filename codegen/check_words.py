"""The words after a type: which of them go together, and what stands in their parentheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen import layouts
from codegen.contract import ScalarType, TensorType, Word
from codegen.fields import Field
from codegen.load import Scalar
from codegen.messages import MAX_LIST, MAX_TEXT
from codegen.model import Operator
from codegen.parse_type import ParsedWord
from codegen.reader import Reader

# What CUDA takes as the arguments of a launch, and the entries of a table of sizes or strides in the call record.
MAX_ARGUMENT_BYTES = 4096
MAX_DIMS = 64


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
    elif all(isinstance(argument.type, TensorType) and argument.type.optional for argument in op.placed):
        read.error(place, "every tensor without `cpu` is optional, so a call without any would have no device")


def check_launch_size(read: Reader, place: Scalar, op: Operator) -> None:
    """Sizes and strides of shapes with a star, which have room for every dim, are arguments of a launch."""
    tables = layouts.tables(op.tensors)
    scratch = sum(layouts.rank(tensor.type.shape) is None for tensor in op.scratch)
    others = len(op.arguments) + len(op.outputs) + len(op.dims) + len(op.derived) + 4 * len(op.scratch)
    size = 8 * (MAX_DIMS * (len(tables) + len(set(tables.values())) + scratch) + len(tables) + others)
    kinds = [argument.type for argument in op.arguments if isinstance(argument.type, ScalarType)]
    lists = 8 * MAX_LIST * sum(kind.is_list for kind in kinds) + MAX_TEXT * sum(kind.kind == "str" for kind in kinds)
    if "cuda" in op.devices and lists > MAX_ARGUMENT_BYTES - 8 * others:
        read.error(place, f"lists and strings of {lists} bytes do not fit the arguments of a launch")
    elif "cuda" in op.devices and size + lists > MAX_ARGUMENT_BYTES:
        text = f"sizes and strides of {len(tables) + scratch} tensors with a star do not fit the arguments of a launch"
        read.error(place, text, "leave out `strided` or `inner` where a copy does no harm, or name the dims")


def check_input_words(read: Reader, field: Field, kind: TensorType) -> tuple[Word, ...]:
    """The words of an input."""
    policies = [word for word in field.parsed.words if word.name in layouts.POLICIES]
    for word in policies[1:]:
        text = f"`{word.name}` and `{policies[0].name}` say two things about the same memory"
        read.error(field.node.at(word.offset), text, "one of them is enough")
    if policies and policies[0].name == "contiguous" and field.has_word("expand"):
        text = "`contiguous` cannot stand beside `expand`: what is broadcast has strides of its own"
        read.error(field.node.at(policies[0].offset), text, "leave it out, or say `rows` or `inner`")
    found = []
    for word in field.parsed.words:
        argument = _inner(read, field, kind, word) if word.name == "inner" else None
        found.append(Word(word.name, argument))
    return tuple(found)


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
