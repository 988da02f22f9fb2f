"""What my_ops.nn.replace leaves, since it only looks like what an operator computes, and the reason that it gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from my_ops import nn
from tests.nn.made_up import MLP, Angles, Attention, RMSNorm, apply_rotary


class Mean(RMSNorm):
    def normed(self, x: Tensor) -> Tensor:
        return super().normed(x - x.mean(-1, keepdim=True))


class EpsOutside(RMSNorm):
    def normed(self, x: Tensor) -> Tensor:
        return x.float() / (x.float().square().mean(-1, keepdim=True).sqrt() + self.variance_epsilon)


class OtherEps(RMSNorm):
    def normed(self, x: Tensor) -> Tensor:
        return x.float() * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-5)


class DropoutNorm(RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return functional.dropout(super().forward(x), 0.5, self.training)


class Float(RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.float())


class Double(RMSNorm):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).double()


class BufferNorm(RMSNorm):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * self.factor


class BiasNorm(RMSNorm):
    def __init__(self) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(8))


class NamelessNorm(RMSNorm):
    def __init__(self) -> None:
        super().__init__()
        del self.variance_epsilon


class TwoInputs(RMSNorm):
    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        return super().forward(x) * scale


class Swapped(MLP):
    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(self.gate_proj(x) * self.act_fn(self.up_proj(x)))


def apply_inverse_rotary(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """The other way round."""
    return apply_rotary(q, k, cos, -sin)


class BackwardAttention(Attention):
    def forward(self, x: Tensor, positions: tuple[Tensor, Tensor]) -> Tensor:
        heads = x.unflatten(-1, (2, 4)).transpose(1, 2)
        return apply_inverse_rotary(heads, heads, *positions)[0].transpose(1, 2).flatten(2)


class Unequal(Angles):
    def angles(self, position_ids: Tensor) -> Tensor:
        return torch.cat([super().angles(position_ids)[..., :2], 2 * super().angles(position_ids)[..., :2]], -1)


class Half(Angles):
    def forward(self, x: Tensor, position_ids: Tensor) -> Any:
        return self.angles(position_ids), None


class Frequencies(Angles):
    def forward(self, x: Tensor, position_ids: Tensor) -> Any:
        return self.angles(position_ids)


def patched(module: torch.nn.Module) -> torch.nn.Module:
    """As libraries do that wrap single modules."""
    forward = module.forward
    module.forward = lambda *args: 2 * forward(*args)
    return module


def heard(module: MLP) -> MLP:
    module.act_fn.register_forward_hook(lambda *_: None)
    return module


def with_child(module: MLP) -> MLP:
    module.dropout = torch.nn.Dropout()
    return module


NO_RMS_NORM = "it does not compute x * rsqrt(mean(x ** 2) + eps) * weight, nor that with 1 + weight"
PATCHED = "its forward is set on the module itself, over that of its class"
LEFT: list[tuple[Callable[[], torch.nn.Module], str]] = [
    (Mean, NO_RMS_NORM),
    (EpsOutside, NO_RMS_NORM),
    (OtherEps, NO_RMS_NORM),
    (DropoutNorm, NO_RMS_NORM),
    (Float, "its results are not of the dtype that it is given"),
    (Double, NO_RMS_NORM),
    (
        BufferNorm,
        "a call that would show what it computes failed with AttributeError: 'BufferNorm' object has no attribute "
        "'factor'",
    ),
    (BiasNorm, "it has not just a weight of one dimension"),
    (NamelessNorm, "it has no number under one of the names variance_epsilon, eps, epsilon"),
    (
        TwoInputs,
        "a call that would show what it computes failed with TypeError: TwoInputs.forward() missing 1 required "
        "positional argument: 'scale'",
    ),
    (lambda: patched(RMSNorm()), PATCHED),
    (lambda: patched(torch.nn.LayerNorm(8)), PATCHED),
    (lambda: torch.nn.BatchNorm1d(8), "it has not just a weight of one dimension"),
    (lambda: RMSNorm().to(torch.float8_e4m3fn), "its weight is float8_e4m3fn, and no operator takes that"),
    (lambda: RMSNorm(0), "its weight is empty"),
    (torch.nn.LazyBatchNorm1d, "its weight is a UninitializedParameter"),
    (lambda: MLP(torch.nn.ReLU()), "act_fn is neither silu nor gelu"),
    (lambda: MLP(lambda x: functional.gelu(x).clamp(max=10)), "act_fn is neither silu nor gelu"),
    (Swapped, "it does not compute down_proj(act_fn(gate_proj(x)) * up_proj(x))"),
    (lambda: patched(MLP()), PATCHED),
    (lambda: heard(MLP()), "act_fn has hooks, or a forward of its own, and would not be called any more"),
    (lambda: with_child(MLP()), "it has more modules than two projections, an activation and a projection back"),
    (Attention, "there is no module with inv_freq that makes cos and sin"),
    (BackwardAttention, "apply_inverse_rotary does not compute x * cos + rotate_half(x) * sin"),
    (lambda: torch.nn.Sequential(Attention(), Unequal()), "1 makes cos and sin of two unequal halves"),
    (lambda: torch.nn.Sequential(Attention(), Half()), "1 does not make cos and sin"),
    (lambda: torch.nn.Sequential(Attention(), Frequencies()), "1 does not make cos and sin"),
    (lambda: torch.nn.Sequential(Attention(), patched(Angles())), "1 has a forward of its own, over that of its class"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "reason"), LEFT)
def test_left(make: Callable[[], torch.nn.Module], reason: str) -> None:
    """What only looks like it stays, with the reason."""
    model = make()
    classes, state = [type(module) for module in model.modules()], torch.get_rng_state()
    report = nn.replace(model)
    assert torch.equal(torch.get_rng_state(), state)
    assert [one.reason for one in report.left] == [reason]
    assert report.replaced == []
    assert [type(module) for module in model.modules()] == classes
    assert str(report) == f"1 {report.left[0].before} left: {reason}"
