"""The direct module: the bits and the errors of the dispatcher, for tensors of PyTorch and for arrays of NumPy."""

from __future__ import annotations

import importlib
import inspect
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
import torch

from tests.harness import shims
from tests.harness.contract import Arguments, Contract, Sample, as_tuple
from tests.harness.layouts import LAYOUTS, make


def module(namespace: str) -> ModuleType:
    """The direct module of a package. Only without Python's headers can it be missing: else that is a failure."""
    try:
        return importlib.import_module(f"{namespace}._C")
    except ImportError as error:
        if Path(sysconfig.get_path("include"), "Python.h").exists():
            raise
        pytest.skip(str(error), allow_module_level=True)


def function(op: Contract) -> Callable[..., Any]:
    """The operator in the direct module."""
    found: Callable[..., Any] = getattr(module(op.namespace), op.name)
    return found


def agrees(op: Contract, device: str, samples: Sequence[Sample]) -> None:
    """Every sample, choice of dtypes, layout and set of absent arguments; outputs made and given; arrays of NumPy; and
    C shims.
    """
    call, usual = function(op), samples[0]
    calls = [make(op, sample, op.choices()[0], device) for sample in samples]
    calls += [make(op, usual, choice, device) for choice in op.choices()]
    calls += [make(op, usual, op.choices()[0], device, absent=absent) for absent in op.absences]
    calls += [make(op, usual, op.choices()[0], device, layout) for layout in LAYOUTS]
    for arguments in calls:
        expected = op.results(op.overload, arguments, every_output=True)
        _same(expected, op.results(call, arguments, every_output=True))
        for shim in shims.of(op):
            _same(expected, op.results(shim, arguments, every_output=True))
        _same_given(op, call, arguments, expected)
        if device == "cpu" and _numpy_knows(arguments, expected):
            _same(expected, op.results(_by_numpy(call), arguments, every_output=True))


def _by_numpy(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function called with arrays that lie in the memory of tensors."""
    return lambda *positional, **keyword: _tensors(call(*_arrays(positional), **_arrays(keyword)))


def _same(expected: tuple[Any, ...], found: tuple[Any, ...]) -> None:
    for one, other in zip(expected, found, strict=True):
        if one is None:
            assert other is None
            continue
        assert (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
        assert one.numel() == 0 or torch.equal(_bits(one), _bits(other))


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)


def _same_given(op: Contract, call: Callable[..., Any], arguments: Arguments, expected: tuple[Any, ...]) -> None:
    """Outputs that the caller gives, contiguous and not, are those that are returned."""
    names = [name for name in inspect.signature(call).parameters if name not in (*op.arguments, "grad_mask")]
    if not names or None in expected or None in [arguments.get(name, 0) for name in op.spread(op.lists, arguments)]:
        return
    outputs = op.output_names(arguments)
    for aside in (False, True):
        flat = [_room(one, aside) for one in expected]
        given = dict(zip(names, _grouped(op, outputs, flat), strict=True))
        op.seed()
        found = as_tuple(call(**op.gathered(arguments), **given))
        assert all(one is other for one, other in zip(found, flat, strict=True))
        _same(expected, found)


def _room(like: torch.Tensor, aside: bool) -> torch.Tensor:
    """An output of the same sizes, contiguous or transposed."""
    return like.new_empty(like.mT.shape).mT if aside and like.dim() > 1 else like.new_empty(like.shape)


def _grouped(op: Contract, names: list[str], flat: list[torch.Tensor]) -> list[Any]:
    """Tensors by output, those of a list as a list."""
    every = dict(zip(names, flat, strict=True))
    return [
        [tensor for name, tensor in every.items() if name.startswith(f"{output}[")]
        if output in op.list_outputs
        else every[output]
        for output in op.outputs
    ]


def _numpy_knows(arguments: Arguments, expected: tuple[Any, ...]) -> bool:
    """Whether NumPy has the dtype of each tensor, and the call has one: else its results are tensors."""
    tensors = [value for value in (*arguments.values(), *expected) if isinstance(value, torch.Tensor)]
    given = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    return bool(given) and all(hasattr(numpy, str(one.dtype).removeprefix("torch.")) for one in tensors)


def _arrays(values: Any) -> Any:
    """The same memory as arrays."""
    if isinstance(values, dict):
        return {name: _arrays(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return type(values)(_arrays(value) for value in values)
    return values.numpy() if isinstance(values, torch.Tensor) else values


def _tensors(values: Any) -> Any:
    if isinstance(values, (list, tuple)):
        return type(values)(_tensors(value) for value in values)
    assert values is None or isinstance(values, numpy.ndarray)
    assert values is None or values.flags.writeable
    return values if values is None else torch.from_numpy(values)


def beside(op: Contract, arguments: Arguments) -> tuple[Callable[..., Any], ...]:
    """The function, where the direct module is there and can be lent all of the arguments; and the C shim."""
    tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    if any(one.device.type == "meta" for one in tensors):
        return ()
    try:
        return (*shims.of(op), getattr(importlib.import_module(f"{op.namespace}._C"), op.name))
    except ImportError:
        return shims.of(op)
