"""Softmax, and the cross entropy of rows of logits."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from ...cuda_cases import Shape
from .operator import Operator, Tensors, rows_of


def softmax(shape: Shape, device: str) -> Operator:
    import my_ops

    return Operator(rows_of(shape, device), my_ops.softmax, lambda x: torch.softmax(x, -1), leaves=(0,))


def cross_entropy(shape: Shape, device: str) -> Operator:
    """The loss of each row; backward reads the logits again and writes their gradient."""
    import my_ops

    return Operator(
        _logits(shape, device),
        lambda logits, target: my_ops.cross_entropy(logits, target),
        lambda logits, target: F.cross_entropy(logits, target, reduction="none"),
        leaves=(0,),
    )


def cross_entropy_gradient_(shape: Shape, device: str) -> Operator:
    """Loss and gradient in one go, the gradient in place of the logits."""
    import my_ops

    def ours(logits: torch.Tensor, target: torch.Tensor) -> Tensors:
        return my_ops.cross_entropy_gradient_(logits, target), logits

    def eager(logits: torch.Tensor, target: torch.Tensor) -> Tensors:
        with torch.enable_grad():
            leaf = logits.detach().requires_grad_()
            loss = F.cross_entropy(leaf, target, reduction="none")
            (gradient,) = torch.autograd.grad(loss, leaf, torch.ones_like(loss))
        return loss.detach(), gradient

    def formula(logits: torch.Tensor, target: torch.Tensor) -> Tensors:
        wide = logits.float()
        lse = wide.logsumexp(-1, keepdim=True)
        hit = torch.arange(shape.n, device=logits.device) == target[:, None]
        return (lse - wide.gather(-1, target[:, None]))[:, 0], ((wide - lse).exp() - hit.float()).to(logits.dtype)

    return Operator(_logits(shape, device), ours, eager, formula=formula)


def _logits(shape: Shape, device: str) -> Callable[[], Tensors]:
    def inputs() -> Tensors:
        logits = torch.randn(shape.rows, shape.n, device=device, dtype=shape.dtype)
        return logits, torch.randint(shape.n, (shape.rows,), device=device)

    return inputs


CASES = {"softmax": softmax, "cross_entropy": cross_entropy, "cross_entropy_gradient_": cross_entropy_gradient_}
