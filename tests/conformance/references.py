"""What each operator of the conformance project computes; see tests/references.py."""

from __future__ import annotations

from torch import Tensor


def error(f: Tensor, overflow: Tensor, bytes: Tensor, tensor: int) -> Tensor:
    return (f * (bytes != 0) + overflow.unsqueeze(-1)).repeat(*[1] * (f.dim() - 1), tensor)


def math(x: Tensor) -> Tensor:
    return 2 * x


def kept(x: Tensor) -> Tensor:
    return 3 * x


def kept_backward(grad_y: Tensor, sums: Tensor) -> Tensor:
    return sums * grad_y


def kept_saved(x: Tensor) -> Tensor:
    return 5 * x


def kept_no_grad(x: Tensor, k: int) -> Tensor:
    return (7 if x.numel() * k > 4 else 8) * x
