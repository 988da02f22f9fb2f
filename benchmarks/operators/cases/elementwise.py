"""Operators that work element by element."""

import torch
import torch.nn.functional as F

from ...cuda_cases import Shape
from .operator import Operator, rows_of


def square(shape: Shape, device: str) -> Operator:
    import my_ops

    return Operator(rows_of(shape, device), my_ops.square, torch.square, leaves=(0,))


def silu_mul(shape: Shape, device: str) -> Operator:
    import my_ops

    return Operator(rows_of(shape, device, 2), my_ops.silu_mul, lambda gate, up: F.silu(gate) * up, leaves=(0, 1))


def gelu_mul(shape: Shape, device: str) -> Operator:
    """With the approximation by tanh."""
    import my_ops

    return Operator(
        rows_of(shape, device, 2),
        lambda gate, up: my_ops.gelu_mul(gate, up, "tanh"),
        lambda gate, up: F.gelu(gate, approximate="tanh") * up,
        leaves=(0, 1),
    )


CASES = {"square": square, "silu_mul": silu_mul, "gelu_mul": gelu_mul}
