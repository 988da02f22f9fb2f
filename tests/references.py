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


def softmax(x: Tensor, bias: Tensor | None, scale: float, causal: bool) -> Tensor:
    """Rows in which everything is -infinity are zeros, where torch.softmax has NaN."""
    scores = x * scale if bias is None else x * scale + bias
    if causal:
        scores = scores.masked_fill(~_causal(scores), -torch.inf)
    dead = (scores == -torch.inf).all(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(dead, 0), -1).masked_fill(dead, 0)


def _causal(scores: Tensor) -> Tensor:
    """True where column j of row i takes part: j <= i + n - m."""
    m, n = scores.shape[-2:]
    return torch.ones(m, n, dtype=torch.bool).tril(n - m)


def softmax_backward(grad_y: Tensor, y: Tensor, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """y is an argument of its own here, and its rows need not sum to 1."""
    taking = _causal(y) if causal else torch.ones_like(y, dtype=torch.bool)
    y = y.where(taking, 0)
    mean = (grad_y * y).where(taking, 0).sum(-1, keepdim=True) * (2 - y.sum(-1, keepdim=True))
    grad_bias = (y * (grad_y - mean)).where(taking, 0)
    return scale * grad_bias, grad_bias


def gather_rows(table: Tensor, index: Tensor) -> Tensor:
    return table[index.long()]


def silu_mul(gate: Tensor, up: Tensor) -> Tensor:
    return gate * torch.sigmoid(gate) * up
