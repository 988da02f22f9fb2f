"""Operators in other processes and threads: what is pickled, workers of a DataLoader, and threads with gradients."""

from __future__ import annotations

import copy
import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

import my_ops
from my_ops import nn

MODULES = {
    "RMSNorm": (lambda: nn.RMSNorm(8), (torch.ones(2, 8),)),
    "LayerNorm": (lambda: nn.LayerNorm(8), (torch.ones(2, 8),)),
    "Softmax": (lambda: nn.Softmax(-1), (torch.ones(2, 8),)),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(), (torch.ones(2, 8), torch.tensor([1, 2]))),
    "SiLUMul": (lambda: nn.SiLUMul(), (torch.ones(2, 8), torch.ones(2, 8))),
    "GELUMul": (lambda: nn.GELUMul(), (torch.ones(2, 8), torch.ones(2, 8))),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_copied(name: str, device: str) -> None:
    """By pickle, deepcopy and torch.save, after a call too, and then they compute the same."""
    make, inputs = MODULES[name]
    module, given = make().to(device), [one.to(device) for one in inputs]
    wanted = module(*given)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    for other in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module), torch.load(file, weights_only=False)):
        assert type(other) is type(module)
        assert torch.equal(other(*given), wanted)
        assert str(other) == str(module)


@pytest.mark.parametrize("name", sorted(one for one in my_ops.__all__ if hasattr(torch.ops.my_ops, one)))
def test_functions_are_copied(name: str) -> None:
    """A wrapper by its name, so that the other process has its own."""
    function = getattr(my_ops, name)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


class Rows(Dataset):
    """What a worker computes, with a gradient."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.arange(1.0, 9.0).add(index).requires_grad_()
        y = my_ops.rms_norm(x)
        (gradient,) = torch.autograd.grad(my_ops.square(y).sum(), x)
        return y.detach(), gradient


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers(start: str) -> None:
    """After this process has computed in parallel, as a program that trains has."""
    my_ops.rms_norm(torch.ones(4096, 64))
    loader = DataLoader(Rows(), batch_size=2, num_workers=2, multiprocessing_context=start, timeout=120)
    rows = [Rows()[index] for index in range(4)]
    for batch, pair in zip(loader, (rows[:2], rows[2:]), strict=True):
        for found, wanted in zip(batch, zip(*pair, strict=True), strict=True):
            assert torch.equal(found, torch.stack(wanted))


def test_threads_with_gradients(device: str) -> None:
    """Each thread records its own graph, and several may run backward at once through weights that they share."""
    weight = torch.ones(33, device=device, requires_grad=True)
    inputs = [torch.full((8, 33), float(i + 1), device=device).requires_grad_() for i in range(8)]

    def work(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for _ in range(20):
            y = my_ops.silu_mul(my_ops.rms_norm(x, weight), x)
            found = torch.autograd.grad(y.sum(), [x, weight])
        return found

    alone = [work(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, inputs))
    for one, other in zip(alone, together, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
