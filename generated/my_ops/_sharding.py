"""DTensor: operators run on the shards of tensors that are sharded along the dims of `batch:` in ops.yaml.

Tensors without such a dim are replicated, and the gradient of one is a sum over the shards; what is sharded otherwise
is redistributed. The rules are registered as soon as torch.distributed.tensor is imported, which this package does not
do itself: it takes longer than all else here.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from ._batch import Batch, Place, rules
from ._runtime import when_imported

# Whether DTensor can tell calls for different gradients apart. Before, it has an error for those that want some only.
_MASKS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)


def watch() -> None:
    """Registers the rules now, or when DTensor is imported."""
    when_imported("torch.distributed.tensor", _register)


def _register() -> None:
    try:
        from torch.distributed.tensor import DTensor
        from torch.distributed.tensor.experimental import register_sharding

        for entry, batch in rules.items():
            arguments = entry._schema.arguments
            if batch.written or any("List[" in str(one.type) for one in arguments if "Tensor" in str(one.type)):
                continue
            register_sharding(entry)(functools.partial(_shardings, entry, batch))
            # What results are is looked up by these, too: a dtype can be among them, and which gradients are wanted.
            known = DTensor._op_dispatcher.sharding_propagator.op_to_schema_info[entry]
            scalars = [index for index, one in enumerate(arguments) if "Tensor" not in str(one.type)]
            known.static_argnum = min(scalars, default=100)
            keywords = [one.name for one in arguments if one.kwarg_only]
            known.static_kwargkey = [name for name in keywords if _MASKS or name != "grad_mask"] or None
    except Exception as error:  # an experimental interface: DTensor works without these rules
        warnings.warn(f"my_ops has no rules for DTensor in PyTorch {torch.__version__}: {error}", stacklevel=2)


def _shardings(entry: Any, batch: Batch, *values: Any, **_: Any) -> list[tuple[list[Any], list[Any]]]:
    """For one dim of a mesh, placements of results and of arguments: all are replicated, or those that have a dim of
    `batch:` are sharded along it.
    """
    from torch.distributed.tensor import Partial, Replicate, Shard

    names = [argument.name for argument in entry._schema.arguments]
    given = {name: value for name, value in zip(names, values, strict=False) if hasattr(value, "placements")}
    places = batch.results[: len(entry._schema.returns)]
    every: list[Any] = [Replicate() for _ in places]
    found: list[tuple[list[Any], list[Any]]] = [
        (every, [Replicate() if name in given else None for name in names[: len(values)]])
    ]
    for number in range(_dims(batch, given)):
        placed = {name: _placement(batch, given, name, number) for name in given}
        outputs = [Partial("sum") if place is None else Shard(_index(batch, given, place, number)) for place in places]
        found.append((outputs, [placed.get(name) for name in names[: len(values)]]))
    return found


def _alike(batch: Batch, given: Mapping[str, Any], place: Place) -> Any:
    """An argument that has the dim where `place` says."""
    return next(
        (given[n] for n, p in batch.arguments.items() if p == place and n in given and n not in batch.broadcast), None
    )


def _dims(batch: Batch, given: Mapping[str, Any]) -> int:
    """How many dims of a mesh could divide: those of the star, or the one."""
    whole = [(given[n], p) for n, p in batch.arguments.items() if n in given and n not in batch.broadcast]
    known = all(p is None or p.at >= 0 or _alike(batch, given, p) is not None for p in batch.results)
    if not whole or not known:
        return 0
    return whole[0][0].ndim - whole[0][1].others if batch.star else 1


def _index(batch: Batch, given: Mapping[str, Any], place: Place, number: int) -> int:
    return place.at + number if place.at >= 0 else _alike(batch, given, place).ndim + place.at


def _placement(batch: Batch, given: Mapping[str, Any], name: str, number: int) -> Any:
    from torch.distributed.tensor import Replicate, Shard

    place, value = batch.arguments.get(name), given[name]
    if place is None:
        return Replicate()
    index = place.at + number if place.at >= 0 else value.ndim + place.at
    if name in batch.broadcast:  # it may lack dims in front, or have one where others have many
        rank = place.others + _dims(batch, given) if batch.star else value.ndim
        index -= rank - value.ndim
        if index < 0 or value.shape[index] == 1:
            return Replicate()
    return Shard(index)
