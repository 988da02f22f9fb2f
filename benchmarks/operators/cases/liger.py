"""Operators of liger-kernel 0.8. Its functions are autograd Functions; they are imported where they are called, in the
one process that is about Liger.

Gradients are never written over the upstream one (`in_place`), which the next replay reads again. Liger writes the
gradients of gated activations over their inputs, those of logits over the logits, and turns q and k in place: there it
allocates nothing, and moves as much.
"""

from collections.abc import Callable

import torch

from ...cuda_cases import Shape
from ...options import EPS
from .operator import Function, Tensors
from .peers import Implementation

WAITS = "no graph can hold it: it counts targets on the GPU and waits for that"


def _both(function: Function) -> Implementation:
    return Implementation(function, function)


def rms_norm(shape: Shape) -> Implementation:
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return _both(lambda x, weight: LigerRMSNormFunction.apply(x, weight, EPS, 0.0, "llama", False))


def add_rms_norm(shape: Shape) -> Implementation:
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction

    return _both(lambda x, r, weight: LigerFusedAddRMSNormFunction.apply(x, r, weight, EPS, 0.0, "llama", False))


def layer_norm(shape: Shape) -> Implementation:
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    return _both(lambda x, weight, bias: LigerLayerNormFunction.apply(x, weight, bias, EPS))


def softmax(shape: Shape) -> Implementation:
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return _both(LigerSoftmaxFunction.apply)


def cross_entropy(shape: Shape) -> Implementation:
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction

    def function(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = LigerCrossEntropyFunction.apply(logits, target, None, -100, 0.0, 0.0, "none")[0]
        return loss

    return Implementation(function, function, no_graph=WAITS)


def cross_entropy_gradient_(shape: Shape) -> Implementation:
    """Its forward, which leaves the gradient in place of logits that require it."""
    from liger_kernel.ops.cross_entropy import cross_entropy_forward

    def function(logits: torch.Tensor, target: torch.Tensor) -> Tensors:
        loss = cross_entropy_forward(logits, target, None, -100, 0.0, 0.0, "none", None, False)[0]
        return loss, logits.detach()

    return Implementation(function, function, lambda inputs: (inputs[0].detach().requires_grad_(), inputs[1]), WAITS)


def rope(shape: Shape) -> Implementation:
    """It takes heads before positions, and cosines of both halves."""
    from liger_kernel.ops.rope import LigerRopeFunction

    def function(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> Tensors:
        q, k = LigerRopeFunction.apply(q.transpose(1, 2), k.transpose(1, 2), cos, sin)
        return q.transpose(1, 2), k.transpose(1, 2)

    def prepare(inputs: Tensors) -> Tensors:
        q, k, cos, sin = inputs
        return q, k, torch.cat([cos, cos], -1), torch.cat([sin, sin], -1)

    return Implementation(function, function, prepare)


def silu_mul(shape: Shape) -> Implementation:
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    return _both(LigerSiLUMulFunction.apply)


def gelu_mul(shape: Shape) -> Implementation:
    from liger_kernel.ops.geglu import LigerGELUMulFunction

    return _both(LigerGELUMulFunction.apply)


IMPLEMENTATIONS: dict[str, Callable[[Shape], Implementation]] = {
    "rms_norm": rms_norm,
    "add_rms_norm": add_rms_norm,
    "layer_norm": layer_norm,
    "softmax": softmax,
    "cross_entropy": cross_entropy,
    "cross_entropy_gradient_": cross_entropy_gradient_,
    "rope": rope,
    "silu_mul": silu_mul,
    "gelu_mul": gelu_mul,
}
