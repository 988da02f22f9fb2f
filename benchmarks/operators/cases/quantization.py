"""Quantisation to int8, with a scale for each row."""

import torch
import torch.nn.functional as F

from ...cuda_cases import Shape
from ...options import EPS
from .operator import Operator, Tensors, maker, rows_of


def quantize_per_token(shape: Shape, device: str) -> Operator:
    import my_ops

    return Operator(rows_of(shape, device), my_ops.quantize_per_token, in_bytes)


def rms_norm_quantize(shape: Shape, device: str) -> Operator:
    import my_ops

    n = shape.n
    return Operator(
        maker(shape, device, (shape.rows, n), (n,)),
        lambda x, weight: my_ops.rms_norm_quantize(x, weight, EPS),
        lambda x, weight: in_bytes(F.rms_norm(x, (n,), weight, EPS)),
    )


def in_bytes(x: torch.Tensor) -> Tensors:
    wide = x if x.dtype == torch.float64 else x.float()
    largest = wide.abs().amax(-1, keepdim=True)
    return (wide * (127.0 / largest)).round().to(torch.int8), (largest / 127.0).squeeze(-1)


CASES = {"quantize_per_token": quantize_per_token, "rms_norm_quantize": rms_norm_quantize}
