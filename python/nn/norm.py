"""torch.nn.RMSNorm and torch.nn.LayerNorm on my_ops.rms_norm and my_ops.layer_norm."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from my_ops import layer_norm, rms_norm

from .coverage import alike, takes


def _ends_with(x: Tensor, shape: tuple[int, ...]) -> bool:
    """Whether the last dims of x are `shape`, and hold elements to normalise."""
    return x.dim() >= len(shape) > 0 and x.shape[-len(shape) :] == shape and 0 not in shape


def _flat(parameter: Tensor | None) -> Tensor | None:
    return None if parameter is None else parameter.flatten()


class RMSNorm(nn.RMSNorm):
    """torch.nn.RMSNorm, on my_ops.rms_norm: x * rsqrt(mean(x ** 2) + eps) * weight over the last dims.

    Args:
        normalized_shape: sizes of the dims that are normalised together, or one size.
        eps: None takes that of float32, for float64 that of float64.
        elementwise_affine: whether there is a weight, ones at first.
        device, dtype: of the weight.

    Shapes: x and the result are [*, *normalized_shape], x of any strides.

    The operator runs where x is float64, float32, float16 or bfloat16 on CPU or CUDA and has the dtype of the weight;
    anything else is PyTorch's affair: a wrong shape is its RuntimeError.
    """

    normalized_shape: tuple[int, ...]

    def forward(self, x: Tensor) -> Tensor:
        if not (takes(x) and alike(x, self.weight) and _ends_with(x, self.normalized_shape)):
            return super().forward(x)
        eps = self.eps
        if eps is None:
            eps = torch.finfo(torch.float64 if x.dtype == torch.float64 else torch.float32).eps
        if len(self.normalized_shape) == 1:
            return rms_norm(x, self.weight, eps)
        rows = x.flatten(-len(self.normalized_shape))
        return rms_norm(rows, _flat(self.weight), eps).view(x.shape)


class LayerNorm(nn.LayerNorm):
    """torch.nn.LayerNorm, on my_ops.layer_norm: (x - mean(x)) * rsqrt(var(x) + eps) * weight + bias over the last dims.

    Args:
        normalized_shape: sizes of the dims that are normalised together, or one size.
        eps: added to the variance.
        elementwise_affine: whether there is a weight, ones at first.
        bias: whether there is a bias beside the weight, zeros at first.
        device, dtype: of weight and bias.

    Shapes: x and the result are [*, *normalized_shape], x of any strides.

    The operator runs where x is float64, float32, float16 or bfloat16 on CPU or CUDA and has the dtype of weight and
    bias; anything else is PyTorch's affair: a wrong shape is its RuntimeError.
    """

    normalized_shape: tuple[int, ...]

    def forward(self, input: Tensor) -> Tensor:
        x = input
        if not (takes(x) and alike(x, self.weight) and alike(x, self.bias) and _ends_with(x, self.normalized_shape)):
            return super().forward(x)
        if len(self.normalized_shape) == 1:
            return layer_norm(x, self.weight, self.bias, self.eps)
        rows = x.flatten(-len(self.normalized_shape))
        return layer_norm(rows, _flat(self.weight), _flat(self.bias), self.eps).view(x.shape)
