"""Kernels read what the one before them on the stream wrote, and write what it has read, however short they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import my_ops

pytestmark = pytest.mark.cuda
STEPS = 200


def chain(x: Tensor, weight: Tensor, between: Callable[[], object]) -> Tensor:
    """Short kernels, each of which reads all that the last one wrote; memory that is let go is taken again at once."""
    for step in range(STEPS):
        y = my_ops.rms_norm(x, weight)
        between()
        x = my_ops.silu_mul(x, y) if step % 2 else my_ops.square(y)
        between()
        x, y = my_ops.add_rms_norm_(x, y, weight)
        between()
        x = my_ops.gather_rows(x, torch.randperm(len(x), device=x.device))
        between()
    return x


@pytest.mark.parametrize("shape", [(1, 64), (7, 65), (300, 4096), (2048, 2048)], ids=str)
def test_chain(shape: tuple[int, int], device: str) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(shape, device=device, dtype=torch.bfloat16), torch.rand(shape[1:], device=device).bfloat16()
    torch.manual_seed(1)
    expected = chain(x, weight, torch.cuda.synchronize)
    for _ in range(3):
        torch.manual_seed(1)
        assert torch.equal(chain(x, weight, lambda: None), expected)
    assert expected.isfinite().all()
    assert expected.any()


def test_beside_kernels_of_pytorch(device: str) -> None:
    """What PyTorch's kernels write is there, and what they read is not written too early."""
    x = torch.randn(1 << 22, device=device)
    for step in range(STEPS):
        x.fill_(step)
        y = my_ops.square(x)
        x.neg_()
        z = my_ops.square(x)
        x.zero_()
        assert torch.equal(y, z)
        assert y[-1] == step * step


def test_in_a_graph(device: str) -> None:
    x, weight = torch.randn(256, 1024, device=device), torch.rand(1024, device=device)

    def steps(between: Callable[[], object]) -> Tensor:
        y = x
        for _ in range(STEPS):
            y = my_ops.square(my_ops.rms_norm(my_ops.silu_mul(y, x), weight))
            between()
        return y

    expected = steps(torch.cuda.synchronize)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = steps(lambda: None)
    for _ in range(20):
        found.zero_()
        graph.replay()
        assert torch.equal(found, expected)
