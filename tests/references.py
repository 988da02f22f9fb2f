"""What each operator computes, written with plain PyTorch and no thought for speed.

Tests call these with keyword arguments in float64 (whole numbers and bools as they are) and compare the public outputs.
Gradients of operators are compared with gradients of these functions.
"""

from __future__ import annotations

import torch
from torch import Tensor


def square(x: Tensor) -> Tensor:
    return x * x


def square_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    return 2 * x * grad_y


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rms_norm_backward(grad_y: Tensor, x: Tensor, weight: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    """rstd is an argument of its own here: what the forward pass found, or anything else."""
    rstd = rstd.unsqueeze(-1)
    normed = x * rstd
    grad_normed = grad_y * weight
    mean = (grad_normed * normed).sum(-1, keepdim=True) / max(x.shape[-1], 1)
    return (grad_normed - normed * mean) * rstd, (grad_y * normed).flatten(0, -2).sum(
        0
    ) if x.dim() > 1 else grad_y * normed


def gather_rows(table: Tensor, index: Tensor) -> Tensor:
    return table[index.long()]


def silu_mul(gate: Tensor, up: Tensor) -> Tensor:
    return gate * torch.sigmoid(gate) * up
