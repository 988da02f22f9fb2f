"""Operators of quack-kernels 0.6, imported where they are called, in the one process that is about QuACK.

Its forward functions stand below its autograd Functions and cost less host time, so those are measured forward. Its
autotuned entries are left alone: they take minutes a shape.
"""

from collections.abc import Callable
from typing import Any

import torch

from ...cuda_cases import Shape
from ...options import EPS
from .operator import Tensors
from .peers import Implementation


def rms_norm(shape: Shape) -> Implementation:
    from quack.rmsnorm import rmsnorm, rmsnorm_fwd

    return Implementation(
        lambda x, weight: rmsnorm_fwd(x, weight, eps=EPS)[0],
        lambda x, weight: rmsnorm(x, weight, eps=EPS),
    )


def add_rms_norm(shape: Shape) -> Implementation:
    from quack.rmsnorm import rmsnorm, rmsnorm_fwd

    return Implementation(
        lambda x, residual, weight: rmsnorm_fwd(x, weight, residual=residual, eps=EPS)[:2],
        lambda x, residual, weight: rmsnorm(x, weight, residual=residual, eps=EPS, prenorm=True),
    )


def layer_norm(shape: Shape) -> Implementation:
    """It takes weight and bias in float32, and has a backward function but no autograd Function."""
    from quack.rmsnorm import layernorm_bwd, layernorm_fwd

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            y, rstd, mean = layernorm_fwd(x, weight, bias, EPS, return_rstd=True, return_mean=True)
            ctx.save_for_backward(x, weight, rstd, mean)
            return y  # type: ignore[no-any-return]

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> Any:
            x, weight, rstd, mean = ctx.saved_tensors
            return layernorm_bwd(x, weight, grads[0], rstd, mean)

    def prepare(inputs: Tensors) -> Tensors:
        x, weight, bias = inputs
        return x, weight.float(), bias.float()

    return Implementation(
        lambda x, weight, bias: layernorm_fwd(x, weight, bias, EPS),
        Function.apply,
        prepare,
    )


def softmax(shape: Shape) -> Implementation:
    from quack.softmax import softmax, softmax_fwd

    return Implementation(softmax_fwd, softmax)


def cross_entropy(shape: Shape) -> Implementation:
    from quack.cross_entropy import cross_entropy, cross_entropy_fwd

    return Implementation(cross_entropy_fwd, lambda logits, target: cross_entropy(logits, target, reduction="none"))


def cross_entropy_gradient_(shape: Shape) -> Implementation:
    from quack.cross_entropy import cross_entropy_fwd

    def function(logits: torch.Tensor, target: torch.Tensor) -> Any:
        return cross_entropy_fwd(logits, target, return_dx=True, inplace_backward=True)

    return Implementation(function, function)


def rope(shape: Shape) -> Implementation:
    """q and k one after the other; cosines without a batch."""
    from quack.rotary import apply_rotary, apply_rotary_emb

    return Implementation(
        lambda q, k, cos, sin: (apply_rotary(q, cos, sin), apply_rotary(k, cos, sin)),
        lambda q, k, cos, sin: (apply_rotary_emb(q, cos, sin), apply_rotary_emb(k, cos, sin)),
        lambda inputs: (*inputs[:2], inputs[2][0], inputs[3][0]),
    )


IMPLEMENTATIONS: dict[str, Callable[[Shape], Implementation]] = {
    "rms_norm": rms_norm,
    "add_rms_norm": add_rms_norm,
    "layer_norm": layer_norm,
    "softmax": softmax,
    "cross_entropy": cross_entropy,
    "cross_entropy_gradient_": cross_entropy_gradient_,
    "rope": rope,
}
