"""What torch.vmap is told of an operator."""

from __future__ import annotations

from codegen.batch import Batch, Place, batch_of
from codegen.frozen import replace
from codegen.lower.host import mask_is_list
from codegen.lower.python.names import COLUMNS, call
from codegen.lower.schema import dispatched
from codegen.model import Library, Operator, Variant


def batch_lines(library: Library, op: Operator) -> list[list[str]]:
    """What calls of _batch.register take behind the library: a batch, and operators of the dispatcher that it is about.
    The out variant has none, because torch.vmap does not look into arguments that are keyword-only.
    """
    batch = batch_of(library, op)
    if batch is None or mask_is_list(op):
        return []
    found = [_lines(library, op, batch, [argument.name for argument in op.written], None)]
    for variant in op.variants:
        if variant.kind == "inplace":
            writes = [given for _, given in variant.writes]
            found.append(_lines(library, op, replace(batch, outputs=()), writes, variant))
    return found


def part_lines(library: Library, op: Operator) -> list[str]:
    """What a call of _batch.register_parts takes behind the library: operators of the dispatcher with lists of tensors
    and without a `batch:`. PyTorch calls those without lists for each part itself, does not look into tensors that are
    keyword-only, and may not see writes.
    """
    keywords = any(argument.keyword_only for argument in op.tensors)
    if not op.listed or op.written or keywords or batch_lines(library, op):
        return []
    entries = [one.name for one in dispatched(op) if one.variant is None]
    return [f"torch.ops.{library.namespace}.{entry}.default," for entry in entries]


def _lines(library: Library, op: Operator, batch: Batch, written: list[str], variant: Variant | None) -> list[str]:
    entries = [one.name for one in dispatched(op) if one.variant == variant]
    return [
        *call("_batch.Batch", _fields(batch, written), ","),
        *(f"torch.ops.{library.namespace}.{entry}.default," for entry in entries),
    ]


def _fields(batch: Batch, written: list[str]) -> list[list[str]]:
    places = [f'"{name}": {_place(place)}' for name, place in batch.arguments.items()]
    arguments = [f"arguments={{{', '.join(places)}}}"]
    if len(arguments[0]) + 9 > COLUMNS:
        arguments = ["arguments={", *(f"    {place}," for place in places), "}"]
    return [
        [f"star={batch.star}"],
        arguments,
        _tuple("broadcast", [f'"{name}"' for name in batch.broadcast]),
        _tuple("results", [_place(place) for place in batch.outputs]),
        *([_tuple("written", [f'"{name}"' for name in written])] if written else []),
    ]


def _tuple(field: str, items: list[str]) -> list[str]:
    return [f"{field}=({items[0]},)"] if len(items) == 1 else call(f"{field}=", items, indent=8)


def _place(place: Place | None) -> str:
    return "None" if place is None else f"_batch.Place({place.index}, {place.others})"
