"""On the CPU, outputs that are larger than the caches are stored past them. Their bits are those of smaller calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

import my_ops

HEADER = (Path(__file__).parents[1] / "csrc" / "cpu" / "vector_pair.h").read_text()
STREAM_BYTES = re.search(r"#define VECTOR_STREAM_BYTES \(INT64_C\((\d+)\) << (\d+)\)", HEADER)
assert STREAM_BYTES is not None
LARGE = (int(STREAM_BYTES[1]) << int(STREAM_BYTES[2])) * 17 // 16  # bytes of an output that is streamed
N, HEAD = 512, 128
Function = Callable[[Tensor], Tensor]


def _rope(interleaved: bool) -> Function:
    def rotated(x: Tensor) -> Tensor:
        q = x.view(1, -1, N // HEAD, HEAD)
        angles = torch.linspace(-3, 3, HEAD // 2).expand(1, q.shape[1], -1)
        return my_ops.rope(q, q, angles.cos().contiguous(), angles.sin().contiguous(), interleaved)[1].view(x.shape)

    return rotated


def _backward(forward: Function) -> Function:
    def gradient(x: Tensor) -> Tensor:
        leaf = x.detach().requires_grad_()
        y = forward(leaf)
        upstream = x.flip(1) if y.shape == x.shape else x[:, 1].to(y.dtype)
        return torch.autograd.grad(y, leaf, upstream)[0]

    return gradient


def _cross_entropy(x: Tensor) -> Tensor:
    return my_ops.cross_entropy(x, torch.full(x.shape[:1], 7))


OPERATORS: dict[str, Function] = {
    "square": my_ops.square,
    "silu_mul": lambda x: my_ops.silu_mul(x, x),
    "softmax": my_ops.softmax,
    "softmax_backward": _backward(my_ops.softmax),
    "cross_entropy_backward": _backward(_cross_entropy),
    "rms_norm": lambda x: my_ops.rms_norm(x, None),
    "rms_norm_backward": _backward(lambda x: my_ops.rms_norm(x, None)),
    "rope": _rope(False),
    "rope, interleaved": _rope(True),
    "rope_backward": _backward(_rope(False)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_large_outputs_have_the_bits_of_small_ones(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    rows = LARGE // dtype.itemsize // N
    few = torch.randn(64, N).to(dtype)
    x = few.repeat(rows // 64 + 1, 1)
    expected = OPERATORS[name](few)
    found = OPERATORS[name](x).view(-1, *expected.shape)
    bits = torch.int32 if dtype.itemsize == 4 else torch.int16
    assert (found.view(bits) == expected.view(bits)).all()
