"""Operators that look at positions: rotary embedding, and rows picked by index."""

import torch

from ...cuda_cases import Shape
from .operator import Operator, Tensors, maker

HEAD = 128  # columns


def heads(shape: Shape) -> tuple[int, int]:
    """Heads of q and of k, a fourth as many, that have the columns of the shape together."""
    both = max(2, shape.n // HEAD)
    few = max(1, both // 5)
    return both - few, few


def rope(shape: Shape, device: str) -> Operator:
    """`rows` positions; the first half of each head is turned with the second."""
    import my_ops

    many, few = heads(shape)
    half = HEAD // 2
    sizes = (1, shape.rows, many, HEAD), (1, shape.rows, few, HEAD), (1, shape.rows, half), (1, shape.rows, half)

    def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x[..., :half], x[..., half:]
        cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    return Operator(
        maker(shape, device, *sizes),
        my_ops.rope,
        lambda q, k, cos, sin: (turned(q, cos, sin), turned(k, cos, sin)),
        leaves=(0, 1),
    )


def gather_rows(shape: Shape, device: str) -> Operator:
    """Every row of a table once, in random order."""
    import my_ops

    def inputs() -> Tensors:
        table = torch.randn(shape.rows, shape.n, device=device, dtype=shape.dtype)
        return table, torch.randperm(shape.rows, device=device)

    return Operator(inputs, my_ops.gather_rows, lambda table, index: torch.index_select(table, 0, index))


CASES = {"rope": rope, "gather_rows": gather_rows}
