"""A batch through torch.vmap is what calls of its parts return: one call, or one for each part, and nobody can tell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from tests.harness.contract import Arguments, Contract, Sample, as_tuple, list_of
from tests.harness.layouts import make

PARTS = 3


def agrees(op: Contract, device: str, sample: Sample) -> None:
    """Every tensor has a batch, or one of them, along the first of its dims and the last."""
    for dtypes in dict.fromkeys((op.choices()[0], op.choices()[-1])):
        parts = [make(op, sample, dtypes, device, seed=seed) for seed in range(PARTS)]
        for names in _batches(op, parts[0], sample):
            for dim in (0, -1):
                for function in op.entry_points():
                    _agrees(op, function, parts, names, dim, op.written)


def in_place_agrees(op: Contract, device: str, sample: Sample) -> None:
    """The same of the in-place form."""
    written = tuple(given for _, given in op.variants["inplace"])
    parts = [make(op, sample, op.choices()[-1], device, seed=seed) for seed in range(PARTS)]
    for names in _batches(op, parts[0], sample):
        for dim in (0, -1):
            for function in (op.function(f"{op.name}_"), op.namespaced(f"{op.name}_").default):
                _agrees(op, function, parts, names, dim, written, returns=False)


def gradients_agree(op: Contract, device: str, sample: Sample) -> None:
    """torch.vmap of torch.func.grad gives the gradients of each part; of what all parts share, each has its own."""
    parts = [make(op, sample, op.choices()[0], device, seed=seed) for seed in range(PARTS)]
    leaves = op.spread(op.recordable, parts[0])
    leaves = tuple(name for name in leaves if parts[0][name] is not None)

    def gradients(given: Arguments) -> tuple[torch.Tensor, ...]:
        def loss(*values: torch.Tensor) -> torch.Tensor:
            results = as_tuple(op.call(op.wrapper, {**given, **dict(zip(leaves, values, strict=True))}))
            return sum((one.abs().square().sum() for one in results if _has_gradient(one)), torch.zeros(()))

        return torch.func.grad(loss, tuple(range(len(leaves))))(*(given[name] for name in leaves))

    for names in _batches(op, parts[0], sample):
        found = _over(parts, names, 0, gradients)
        expected = [gradients(_part(parts, names, number)) for number in range(PARTS)]
        _assert_close(found, expected)


# ---------------------------------------------------------------- helpers


def _has_gradient(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _batches(op: Contract, given: Arguments, sample: Sample) -> Iterator[tuple[str, ...]]:
    """Names of tensors that have a batch in a call. PyTorch does not look for one in a list that may be None."""
    tensors = tuple(name for name, value in given.items() if isinstance(value, torch.Tensor))
    yield tensors
    depends = any(getattr(value, "depends", False) for value in sample.values())
    kinds = {argument.name: str(argument.type) for argument in op.overload._schema.arguments}
    if len(tensors) > 1 and not depends:
        for name in tensors:
            if not kinds[list_of(name)].startswith("Optional[List"):
                yield (name,)


def _part(parts: list[Arguments], names: tuple[str, ...], number: int) -> Arguments:
    return parts[0] | {name: parts[number][name] for name in names}


def _over(parts: list[Arguments], names: tuple[str, ...], dim: int, function: Callable[[Arguments], Any]) -> Any:
    """`function` of the arguments of a call, under torch.vmap."""
    stacks = [torch.stack([part[name] for part in parts], _dim(parts[0][name], dim)) for name in names]
    dims = tuple(_dim(parts[0][name], dim) for name in names)
    with _no_fallback():
        return torch.vmap(lambda *values: function(parts[0] | dict(zip(names, values, strict=True))), dims)(*stacks)


def _dim(tensor: torch.Tensor, dim: int) -> int:
    """Of a stack, counted from the front."""
    return dim if dim >= 0 else tensor.dim() + 1 + dim


@contextmanager
def _no_fallback() -> Iterator[None]:
    """PyTorch's own loop over the parts, which it warns of, is for operators without a rule."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*batching rule.*")
        yield


def _agrees(
    op: Contract,
    function: Callable[..., Any],
    parts: list[Arguments],
    names: tuple[str, ...],
    dim: int,
    written: tuple[str, ...],
    *,
    returns: bool = True,
) -> None:
    changed = [name for name in op.spread(written, parts[0]) if parts[0][name] is not None]
    if not set(changed) <= set(names):
        with pytest.raises(RuntimeError, match="written in place"):
            _over(_copies(parts, changed), names, dim, lambda given: _outputs(op, function, given, returns=returns))
        return
    expected = []
    for number in range(PARTS):
        given = _part(_copies(parts, changed), names, number)
        results = _outputs(op, function, given, returns=returns)
        expected.append((*results, *(given[name] for name in changed)))

    def call(given: Arguments) -> tuple[torch.Tensor, ...]:
        results = _outputs(op, function, given, returns=returns)
        return (*results, *(given[name] for name in changed))

    _assert_close(_over(_copies(parts, changed), names, dim, call), expected)


def _outputs(
    op: Contract, function: Callable[..., Any], given: Arguments, *, returns: bool
) -> tuple[torch.Tensor, ...]:
    returned = op.call(function, given)
    return as_tuple(returned) if returns and op.outputs else ()


def _copies(parts: list[Arguments], names: list[str]) -> list[Arguments]:
    return [part | {name: part[name].clone() for name in names} for part in parts]


def _assert_close(found: tuple[torch.Tensor, ...], expected: list[tuple[torch.Tensor, ...]]) -> None:
    for one, of_parts in zip(found, zip(*expected, strict=True), strict=True):
        other = torch.stack(of_parts)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        if one.dtype.itemsize == 1 and one.is_floating_point():
            one, other = one.float(), other.float()
        torch.testing.assert_close(one, other, equal_nan=True)
