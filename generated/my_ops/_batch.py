"""torch.vmap: a whole batch goes through one call where `batch:` in ops.yaml names the dims of independent results.

Where it cannot, because a tensor without that dim such as a weight has a batch of its own, or because a result is a sum
over the dim such as its gradient, the operator is called for each part of the batch.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch


class Place(NamedTuple):
    """Where a tensor has the dim, from the end where a star stands before it; and how many dims it has besides those of
    a star.
    """

    at: int
    others: int


class Batch(NamedTuple):
    """What `batch:` says of an operator. A star takes one dim more; another dim is as long as the batch times what it
    was. `results` that have no such dim are sums over it. `written`: arguments that are, in place.
    """

    star: bool
    arguments: Mapping[str, Place]
    broadcast: tuple[str, ...]
    results: tuple[Place | None, ...]
    written: tuple[str, ...] = ()


rules: dict[Any, Batch] = {}
"""By operator of the dispatcher; _sharding.py reads them, too."""


def register(library: torch.library.Library, batch: Batch, *entries: Any) -> None:
    """Has torch.vmap of operators go by `batch`."""
    for entry in entries:
        rules[entry] = batch
        torch.library.register_vmap(entry._name, functools.partial(_call, entry, batch), lib=library)


def register_parts(library: torch.library.Library, *entries: Any) -> None:
    """Has torch.vmap call operators for each part: with a list of tensors PyTorch itself does not."""
    for entry in entries:
        torch.library.register_vmap(entry._name, functools.partial(_call_parts, entry), lib=library)


def _call_parts(entry: Any, info: Any, in_dims: Sequence[Any], *values: Any, **keywords: Any) -> tuple[Any, Any]:
    return _each_part(entry, info.batch_size, in_dims, values, keywords)


def _call(
    entry: Any, batch: Batch, info: Any, in_dims: Sequence[Any], *values: Any, **keywords: Any
) -> tuple[Any, Any]:
    """`values` with the index of the batch in each, or None, to results with the same."""
    count = info.batch_size
    names = [argument.name for argument in entry._schema.arguments]
    given = dict(zip(names, values, strict=False))
    dims = dict(zip(names, in_dims, strict=False))
    for name in batch.written:
        if any(dim is None for _, dim in _tensors(given[name], dims[name])):
            problem = "is written in place, and has no batch under torch.vmap where another tensor has"
            raise RuntimeError(f"{entry._schema.name}: {name}: {problem}; write to an expanded clone of it")
    if not _can_be_joined(batch, given, dims):
        return _each_part(entry, count, in_dims, values, keywords)
    joined, dim = _join(batch, given, dims, count)
    if all(place is not None for place in batch.results):
        results = entry(*joined.values(), **keywords)
        for name in batch.written if not batch.star else ():
            _each(functools.partial(_copy_back, batch.arguments[name].at), given[name], dims[name], joined[name])
        return _split(batch, results, count, dim)
    wanted = keywords.get("grad_mask", [True] * len(batch.results))
    own = [want and place is not None for want, place in zip(wanted, batch.results, strict=True)]
    sums = [want and place is None for want, place in zip(wanted, batch.results, strict=True)]
    if not any(own):
        return _each_part(entry, count, in_dims, values, keywords)
    found, found_dims = _split(batch, entry(*joined.values(), **keywords | {"grad_mask": own}), count, dim)
    if any(sums):
        others, other_dims = _each_part(entry, count, in_dims, values, keywords | {"grad_mask": sums})
        found = tuple(other if of_sum else one for one, other, of_sum in zip(found, others, sums, strict=True))
        found_dims = tuple(b if of_sum else a for a, b, of_sum in zip(found_dims, other_dims, sums, strict=True))
    return found, found_dims


# ---------------------------------------------------------------- one call


def _can_be_joined(batch: Batch, given: Mapping[str, Any], dims: Mapping[str, Any]) -> bool:
    for name, value in given.items():
        has_batch = any(dim is not None for _, dim in _tensors(value, dims[name]))
        if has_batch and name not in batch.arguments:
            return False
        for tensor, _ in _tensors(value, None) if name in batch.broadcast else ():
            if not _broadcasts(batch, name, tensor, has_batch):
                return False
    return True


def _broadcasts(batch: Batch, name: str, value: torch.Tensor, has_batch: bool) -> bool:
    """Whether an argument that is broadcast can go along: over a star in front, or where it has one for the dim."""
    at, others = batch.arguments[name]
    if batch.star:
        return at == 0
    from_end = at if at < 0 else at - others
    return not has_batch and (value.dim() < -from_end or value.shape[from_end] == 1)


def _join(batch: Batch, given: Mapping[str, Any], dims: Mapping[str, Any], count: int) -> tuple[dict[str, Any], int]:
    """Arguments with the batch in the dim, and how long the dim is without it."""
    stars = length = 0
    for name, place in batch.arguments.items():
        for value, dim in _tensors(given.get(name), dims.get(name)) if name not in batch.broadcast else ():
            sizes = _sizes(value, dim)
            stars = len(sizes) - place.others
            length = 0 if batch.star else sizes[place.at]
    joined = dict(given)
    for name, place in batch.arguments.items():
        if name in batch.broadcast:
            move = functools.partial(_in_front, stars + place.others)
        else:
            move = functools.partial(_with_batch, batch.star, place.at, count)
        joined[name] = _each(move, given.get(name), dims.get(name))
    return {name: joined[name] for name in given}, length


def _in_front(rank: int, value: torch.Tensor, dim: int | None) -> torch.Tensor:
    """A tensor that is broadcast to `rank` dims, with the batch before all of them; it has them where there is one."""
    if dim is None:
        return value
    missing = rank - (value.dim() - 1)
    return value.movedim(dim, 0).unflatten(0, [-1] + [1] * missing)


def _with_batch(star: bool, index: int, count: int, value: torch.Tensor, dim: int | None) -> torch.Tensor:
    at = index if index >= 0 else len(_sizes(value, dim)) + index
    if dim is None:
        sizes = list(value.shape)
        value = value.unsqueeze(at).expand([*sizes[:at], count, *sizes[at:]])
    else:
        value = value.movedim(dim, at)
    return value if star else value.flatten(at, at + 1)


def _copy_back(at: int, value: torch.Tensor, dim: int, joined: torch.Tensor) -> None:
    """Dims that were not next to each other in memory became one in a copy."""
    at = at if at >= 0 else value.dim() - 1 + at
    whole = value.movedim(dim, at)
    if joined.data_ptr() != value.data_ptr():
        whole.copy_(joined.unflatten(at, whole.shape[at : at + 2]))


def _split(batch: Batch, results: Any, count: int, length: int) -> tuple[Any, Any]:
    """Results of one call, and where the batch is in each."""

    def split(place: Place, value: torch.Tensor, _: None) -> torch.Tensor:
        return value if batch.star else value.unflatten(place.at, (count, length))

    def index(place: Place, value: torch.Tensor, _: None) -> int:
        return place.at if place.at >= 0 else value.dim() + place.at

    if results is None:
        return None, None
    several = results if isinstance(results, tuple) else (results,)
    places = [place if place is not None else Place(0, 0) for place in batch.results[: len(several)]]
    parts = tuple(_each(functools.partial(split, p), one, None) for p, one in zip(places, several, strict=True))
    found = tuple(_each(functools.partial(index, p), one, None) for p, one in zip(places, several, strict=True))
    return (parts, found) if isinstance(results, tuple) else (parts[0], found[0])


# ---------------------------------------------------------------- a call for each part


def _each_part(
    entry: Any, count: int, in_dims: Sequence[Any], values: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Any, Any]:
    def part(number: int, value: torch.Tensor, dim: int | None) -> torch.Tensor:
        if dim is None:
            return value
        return value.select(dim, number) if count > 0 else value.new_zeros(_sizes(value, dim))

    made = []
    for number in range(max(count, 1)):  # of no part, one tells the shapes
        take = functools.partial(part, number)
        made.append(entry(*(_each(take, value, dim) for value, dim in zip(values, in_dims, strict=True)), **keywords))
    if not isinstance(made[0], tuple):
        return _stacked(made, count), _each(_first, made[0], None)
    return (
        tuple(_stacked(results, count) for results in zip(*made, strict=True)),
        tuple(_each(_first, one, None) for one in made[0]),
    )


def _first(*_: object) -> int:
    return 0


def _stacked(results: Sequence[Any], count: int) -> Any:
    if isinstance(results[0], list):
        return [_stacked(of_each, count) for of_each in zip(*results, strict=True)]
    return torch.stack(list(results))[:count] if isinstance(results[0], torch.Tensor) else None


# ---------------------------------------------------------------- tensors and lists of them


def _sizes(value: torch.Tensor, dim: int | None) -> list[int]:
    """Of one part of a batch."""
    return [size for index, size in enumerate(value.shape) if index != dim]


def _tensors(value: Any, dim: Any) -> list[tuple[torch.Tensor, int | None]]:
    """The tensor, or those of a list, that are there."""
    if not isinstance(value, (list, tuple)):
        return [(value, dim)] if isinstance(value, torch.Tensor) else []
    dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
    return [(one, at) for one, at in zip(value, dims, strict=True) if isinstance(one, torch.Tensor)]


def _each(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """What `function` makes of a tensor, or of each of a list, and of others. What is no tensor is as it was."""
    if isinstance(value, (list, tuple)):
        lists = [one if isinstance(one, (list, tuple)) else [one] * len(value) for one in others]
        return [_each(function, *each) for each in zip(value, *lists, strict=True)]
    return function(value, *others) if isinstance(value, torch.Tensor) else value
