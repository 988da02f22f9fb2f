"""Modules as models of transformers have them, and a small model of one of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class RMSNorm(torch.nn.Module):
    """As in Llama."""

    def __init__(self, size: int = 8, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(size) + 0.5)
        self.variance_epsilon = eps

    def normed(self, x: Tensor) -> Tensor:
        return x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + self.variance_epsilon)

    def forward(self, hidden_states: Tensor) -> Tensor:
        return self.weight * self.normed(hidden_states).to(hidden_states.dtype)


class OffsetNorm(RMSNorm):
    """As in Gemma."""

    def forward(self, x: Tensor) -> Tensor:
        return (self.normed(x) * (1 + self.weight.float())).type_as(x)


class MLP(torch.nn.Module):
    """As in Llama."""

    def __init__(self, act_fn: Callable[[Tensor], Tensor] | None = None) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = torch.nn.Linear(8, 12), torch.nn.Linear(8, 12)
        self.down_proj = torch.nn.Linear(12, 8)
        self.act_fn = act_fn or torch.nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class Angles(torch.nn.Module):
    """As in Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", torch.tensor([1.0, 0.1]), persistent=False)

    def angles(self, position_ids: Tensor) -> Tensor:
        angles = position_ids[..., None] * self.inv_freq
        return torch.cat([angles, angles], -1)

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        angles = self.angles(position_ids)
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def apply_rotary(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, unsqueeze_dim: int = 1) -> tuple[Tensor, Tensor]:
    """As in Llama."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    half = q.shape[-1] // 2
    rotated = [torch.cat([-x[..., half:], x[..., :half]], -1) for x in (q, k)]
    return q * cos + rotated[0] * sin, k * cos + rotated[1] * sin


def wrapped(forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """As decorators of transformers wrap, with a closure that refers to itself."""

    def wrapper(*args: Any, depth: int = 1, **kwargs: Any) -> Tensor:
        return forward(*args, **kwargs) if depth == 0 else wrapper(*args, depth=depth - 1, **kwargs)

    return wrapper


class Attention(torch.nn.Module):
    """Two heads of four, and q and k alone."""

    @wrapped
    def forward(self, x: Tensor, positions: tuple[Tensor, Tensor]) -> Tensor:
        heads = x.unflatten(-1, (2, 4)).transpose(1, 2)
        q, k = apply_rotary(heads, heads[:, :1], *positions)
        return (q * k).transpose(1, 2).flatten(2)


class Model(torch.nn.Module):
    """One of each; two norms share a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.offset, self.last = RMSNorm(), OffsetNorm(), torch.nn.LayerNorm(8)
        self.tied = RMSNorm()
        self.tied.weight = self.norm.weight
        self.angles, self.attention, self.mlp = Angles(), Attention(), MLP()
        self.loss = torch.nn.CrossEntropyLoss()

    def forward(self, x: Tensor) -> Tensor:
        positions = self.angles(x, torch.arange(x.shape[1], device=x.device).unsqueeze(0))
        x = x + self.attention(self.norm(x), positions)
        return self.last(self.tied(x + self.mlp(self.offset(x))))
