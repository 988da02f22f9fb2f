"""rms_norm, add_rms_norm and layer_norm: every gradient is asked for."""

import torch
import torch.nn.functional as F

from ...cuda_cases import Shape
from ...options import EPS
from .operator import Operator, Tensors, maker


def rms_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n = shape.n
    return Operator(
        maker(shape, device, (shape.rows, n), (n,)),
        lambda x, weight: my_ops.rms_norm(x, weight, EPS),
        lambda x, weight: F.rms_norm(x, (n,), weight, EPS),
        leaves=(0, 1),
    )


def add_rms_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n, size = shape.n, (shape.rows, shape.n)

    def eager(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> Tensors:
        total = x + residual
        return F.rms_norm(total, (n,), weight, EPS), total

    return Operator(
        maker(shape, device, size, size, (n,)),
        lambda x, residual, weight: my_ops.add_rms_norm(x, residual, weight, EPS),
        eager,
        leaves=(0, 1, 2),
    )


def layer_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n = shape.n
    return Operator(
        maker(shape, device, (shape.rows, n), (n,), (n,)),
        lambda x, weight, bias: my_ops.layer_norm(x, weight, bias, EPS),
        lambda x, weight, bias: F.layer_norm(x, (n,), weight, bias, EPS),
        leaves=(0, 1, 2),
    )


CASES = {"rms_norm": rms_norm, "add_rms_norm": add_rms_norm, "layer_norm": layer_norm}
