"""Wrong calls: the exact text, from the kernel, from the fake kernel, and inside the error of torch.compile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.harness import direct
from tests.harness.contract import Alias, Arguments, Contract, Sample, Tensor, Wrong, list_of, plain
from tests.harness.layouts import data, make


def _arguments(op: Contract, device: str, other: str, usual: Sample, wrong: Wrong) -> Arguments:
    arguments = make(op, usual, op.choices()[0], device)
    for name, change in wrong.changes.items():
        if isinstance(change, Tensor):
            dtype = getattr(torch, change.dtype)
            tensor = data(change.shape, dtype, "cpu", torch.Generator().manual_seed(1))
            if change.elements:
                tensor = torch.tensor(change.elements).to(dtype).reshape(change.shape)
            tensor = tensor.to(other if change.other else op.place(name, device))
            arguments[name] = _strided(tensor, change.strides) if change.strides else tensor
        elif name in op.lists:
            arguments = {key: value for key, value in arguments.items() if list_of(key) != name}
            arguments |= {} if change else {name: change}
            for i, one in enumerate(change or ()):
                dtype = getattr(torch, one.dtype)
                arguments[f"{name}[{i}]"] = data(one.shape, dtype, device, torch.Generator().manual_seed(1))
        elif not isinstance(change, Alias):
            arguments[name] = plain(change)
    for name, change in wrong.changes.items():
        if isinstance(change, Alias):
            arguments[name], arguments[change.of] = _aliased(arguments[name], arguments[change.of])
    return arguments


def _aliased(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Contiguous tensors like these that begin at the same address, with the elements of the second."""
    size = max(one.numel() * one.itemsize, other.numel() * other.itemsize)
    memory = torch.zeros(size, dtype=torch.uint8, device=one.device)
    first, second = (memory[: t.numel() * t.itemsize].view(t.dtype).view(t.shape) for t in (one, other))
    second.copy_(other)
    return first, second


def _strided(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """The same elements with these strides; some lie on others where a stride is 0."""
    found = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    return found.copy_(tensor) if 0 not in strides else found.zero_()


def _here(device: str) -> str:
    """The device as errors spell it: cuda:0."""
    return str(torch.empty(0, device=device).device)


def _host_moved(op: Contract, device: str, wrong: Wrong) -> bool:
    """Whether the tensor that is on the wrong device belongs on the host, and the others on a GPU."""
    moved = [name for name, change in wrong.changes.items() if isinstance(change, Tensor) and change.other]
    return any(op.place(name, device) != device for name in moved)


def _raises(call: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


def eager(op: Contract, device: str, usual: Sample, wrong: Wrong) -> None:
    """Every way to call it raises the same text; a right call afterwards works."""
    with _checking(op, wrong):
        _eager(op, device, usual, wrong)


def _checking(op: Contract, wrong: Wrong) -> AbstractContextManager[None]:
    """Elements on a GPU are looked at in checking mode only."""
    checking: AbstractContextManager[None] = op.function("check_values")(wrong.elements)
    return checking


def _eager(op: Contract, device: str, usual: Sample, wrong: Wrong) -> None:
    # On the CPU the meta device stands in for a second one; the kernel that PyTorch then calls is the fake one.
    other = "meta" if device == "cpu" else _here(device) if _host_moved(op, device, wrong) else "cpu"
    arguments = _arguments(op, device, other, usual, wrong)
    expected = op.text(wrong.text.replace("{device}", _here(device)).replace("{other}", other))
    for function in (op.wrapper, *op.dispatched(), *direct.beside(op, arguments)):
        assert _raises(lambda function=function: op.call(function, arguments)) == expected
    if op.recordable and "dtype" not in wrong.text:
        for name in op.spread(op.recordable, arguments):
            if isinstance(arguments[name], torch.Tensor) and arguments[name].is_floating_point():
                arguments[name].requires_grad_()
        for function in op.entry_points():
            assert _raises(lambda function=function: op.call(function, arguments)) == expected
    op.call(op.wrapper, make(op, usual, op.choices()[0], device))


def fake(op: Contract, device: str, usual: Sample, wrong: Wrong) -> None:
    """The fake kernel raises the same text; rules on elements are not its own."""
    if wrong.elements:
        return
    real = _arguments(op, device, device, usual, wrong)
    other = "cuda:0" if device == "cpu" or _host_moved(op, device, wrong) else "cpu"
    expected = op.text(wrong.text.replace("{device}", _here(device)).replace("{other}", other))
    with FakeTensorMode() as mode:
        arguments = {}
        for name, value in real.items():
            arguments[name] = mode.from_tensor(value) if isinstance(value, torch.Tensor) else value
        for name, change in wrong.changes.items():
            if isinstance(change, Tensor) and change.other:
                arguments[name] = torch.empty(change.shape, dtype=getattr(torch, change.dtype), device=other)
        for function in (op.wrapper, *op.dispatched()):
            assert _raises(lambda function=function: op.call(function, arguments)) == expected


def compiled(op: Contract, device: str, usual: Sample, wrong: Wrong) -> None:
    """The error of torch.compile holds the text."""
    arguments = _arguments(op, device, device, usual, wrong)
    for function in op.entry_points():
        torch._dynamo.reset()
        function = torch.compile(
            lambda *a, function=function, **k: function(*a, **k), fullgraph=True, backend="eager", dynamic=False
        )
        with pytest.raises(Exception, match=op.name) as caught:
            op.call(function, arguments)
        assert op.text(wrong.text) in str(caught.value)
