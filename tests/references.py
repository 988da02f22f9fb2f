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


def rms_norm(x: Tensor, weight: Tensor | None, eps: float, offset: float) -> Tensor:
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return normed if weight is None else normed * (offset + weight)


def rms_norm_backward(
    grad_y: Tensor, x: Tensor, weight: Tensor | None, rstd: Tensor, offset: float
) -> tuple[Tensor, Tensor]:
    """rstd is an argument of its own here: what the forward pass found, or anything else."""
    rstd = rstd.unsqueeze(-1)
    normed = x * rstd
    grad_normed = grad_y if weight is None else grad_y * (offset + weight)
    mean = (grad_normed * normed).sum(-1, keepdim=True) / max(x.shape[-1], 1)
    return (grad_normed - normed * mean) * rstd, _over_rows(grad_y * normed)


def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float
) -> tuple[Tensor, Tensor]:
    return rms_norm(x + residual, weight, eps, offset), x + residual


def add_rms_norm_backward(
    grad_y: Tensor,
    grad_residual_out: Tensor | None,
    residual_out: Tensor,
    weight: Tensor | None,
    rstd: Tensor,
    offset: float,
) -> tuple[Tensor, Tensor]:
    grad_x, grad_weight = rms_norm_backward(grad_y, residual_out, weight, rstd, offset)
    return grad_x if grad_residual_out is None else grad_x + grad_residual_out, grad_weight


def layer_norm(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Tensor:
    centered = x - x.mean(-1, keepdim=True)
    normed = rms_norm(centered - centered.mean(-1, keepdim=True), weight, eps, 0.0)
    return normed if bias is None else normed + bias


def layer_norm_backward(
    grad_y: Tensor, x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """mean and rstd are arguments of their own here, as rstd is in rms_norm_backward."""
    centered = x - mean.unsqueeze(-1)
    grad_x, grad_weight = rms_norm_backward(grad_y, centered, weight, rstd, 0.0)
    grad_normed = grad_y if weight is None else grad_y * weight
    grad_x = grad_x - rstd.unsqueeze(-1) * grad_normed.sum(-1, keepdim=True) / max(x.shape[-1], 1)
    return grad_x, grad_weight, _over_rows(grad_y)


def _over_rows(x: Tensor) -> Tensor:
    """The sum over all dims but the last."""
    return x.flatten(0, -2).sum(0) if x.dim() > 1 else x


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
    return torch.ones(m, n, dtype=torch.bool, device=scores.device).tril(n - m)


def softmax_backward(grad_y: Tensor, y: Tensor, scale: float, causal: bool) -> tuple[Tensor, Tensor]:
    """y is an argument of its own here, and its rows need not sum to 1."""
    taking = _causal(y) if causal else torch.ones_like(y, dtype=torch.bool)
    y = y.where(taking, 0)
    mean = (grad_y * y).where(taking, 0).sum(-1, keepdim=True) * (2 - y.sum(-1, keepdim=True))
    grad_bias = (y * (grad_y - mean)).where(taking, 0)
    return scale * grad_bias, grad_bias


def softmax_triton(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


def softmax_triton_backward(grad_y: Tensor, y: Tensor) -> Tensor:
    """y is an argument of its own here, and its rows need not sum to 1."""
    return y * (grad_y - (grad_y * y).sum(-1, keepdim=True))


def cross_entropy(logits: Tensor, target: Tensor, ignore_index: int, label_smoothing: float, z_loss: float) -> Tensor:
    ignored = target == ignore_index
    logits = logits.masked_fill(ignored.unsqueeze(-1), 0)
    at_target = logits.gather(-1, target.masked_fill(ignored, 0).long().unsqueeze(-1)).squeeze(-1)
    lse = logits.logsumexp(-1)
    loss = lse - (1 - label_smoothing) * at_target + z_loss * lse.square()
    if label_smoothing:
        loss = loss - label_smoothing * logits.mean(-1)
    return loss.masked_fill(ignored, 0)


def cross_entropy_backward(
    grad_loss: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
) -> Tensor:
    """lse is an argument of its own here, as rstd is in rms_norm_backward."""
    ignored = (target == ignore_index).unsqueeze(-1)
    column = target.masked_fill(ignored.squeeze(-1), 0).long()
    hit = torch.zeros_like(logits).scatter(-1, column.unsqueeze(-1), 1) if logits.numel() else logits
    lse = lse.unsqueeze(-1)
    softmax = (logits - lse).exp() * (1 + 2 * z_loss * lse)
    gradient = softmax - (1 - label_smoothing) * hit - label_smoothing / max(logits.shape[-1], 1)
    return (gradient * grad_loss.unsqueeze(-1)).masked_fill(ignored, 0)


def cross_entropy_gradient_(
    logits: Tensor,
    target: Tensor,
    grad_loss: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
) -> tuple[Tensor, Tensor]:
    loss = cross_entropy(logits, target, ignore_index, label_smoothing, z_loss)
    factor = torch.ones_like(loss) if grad_loss is None else grad_loss.expand_as(loss)
    lse = logits.logsumexp(-1)
    gradient = cross_entropy_backward(factor, logits, target, lse, ignore_index, label_smoothing, z_loss)
    return loss, gradient


def rope(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> tuple[Tensor, Tensor]:
    return _turned(q, cos, sin, interleaved), _turned(k, cos, sin, interleaved)


def rope_backward(
    grad_q_out: Tensor, grad_k_out: Tensor, cos: Tensor, sin: Tensor, interleaved: bool
) -> tuple[Tensor, Tensor]:
    return _turned(grad_q_out, cos, -sin, interleaved), _turned(grad_k_out, cos, -sin, interleaved)


def _turned(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Tensor:
    r = cos.shape[-1]
    cos, sin = ((angle.flatten(0, -3) if angle.dim() > 2 else angle).unsqueeze(-2) for angle in (cos, sin))
    turning, staying = x[..., : 2 * r], x[..., 2 * r :]
    x1, x2 = turning.unflatten(-1, (r, 2)).unbind(-1) if interleaved else (turning[..., :r], turning[..., r:])
    turned = torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1 if interleaved else -2).flatten(-2)
    return torch.cat([turned, staying], -1)


def gather_rows(table: Tensor, index: Tensor) -> Tensor:
    return table[index.long()]


def adamw_step(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    step: int,
    grad_scale: Tensor | None,
    lr: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[Tensor]:
    beta1, beta2 = betas
    scale = (1.0 if grad_scale is None else grad_scale) * (-1 if maximize else 1)
    grads = [grad * scale for grad in grads]
    firsts = [beta1 * m + (1 - beta1) * g for m, g in zip(exp_avgs, grads, strict=True)]
    seconds = [beta2 * v + (1 - beta2) * g * g for v, g in zip(exp_avg_sqs, grads, strict=True)]
    moved = [
        p * (1 - lr * weight_decay) - lr / (1 - beta1**step) * m / ((v / (1 - beta2**step)).sqrt() + eps)
        for p, m, v in zip(params, firsts, seconds, strict=True)
    ]
    return [*moved, *firsts, *seconds]


def global_norm(xs: list[Tensor]) -> Tensor:
    return torch.stack([x.square().sum() for x in xs]).sum().sqrt()


def silu_mul(gate: Tensor, up: Tensor) -> Tensor:
    return gate * torch.sigmoid(gate) * up


def gelu_mul(gate: Tensor, up: Tensor, approximate: str) -> Tensor:
    return torch.nn.functional.gelu(gate, approximate=approximate) * up


def rms_norm_quantize(
    x: Tensor, weight: Tensor | None, eps: float, offset: float, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """q before it is rounded, which leaves no choice to arithmetic."""
    limit = 127.0 if dtype == torch.int8 else 448.0
    y = rms_norm(x, weight, eps, offset)
    largest = y.abs().amax(-1)
    factor = (limit / largest).nan_to_num(nan=torch.nan, posinf=0).unsqueeze(-1)
    return y * factor, largest / limit


def quantize_per_token(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """In float32, which the operator promises: whole numbers depend on it."""
    limit = 127.0 if dtype == torch.int8 else 448.0
    x = x.float()
    largest = x.abs().amax(-1) if x.shape[-1] else x.new_zeros(x.shape[:-1])
    raised = torch.where(largest < 2.0**-64, 2.0**64, 1.0).unsqueeze(-1)  # of smaller ones the quotient is no float32
    factor = torch.full_like(raised, limit).div(largest.unsqueeze(-1) * raised).nan_to_num(nan=torch.nan, posinf=0)
    if dtype == torch.int8:
        q = (x * raised * factor).round().nan_to_num(0).to(dtype)
    else:
        q = (x * raised * factor).clamp(-limit, limit).to(dtype).double()
    return q, (largest / limit).double()
