"""Operators of lists of tensors, in float32: `rows` tensors of n elements. Odd ones lie one behind the other in memory,
so that most of them are not aligned.
"""

import torch

from ...cuda_cases import Shape
from .operator import Operator, Tensors

STEP = 10
OPTIONS = {"lr": 1e-3, "weight_decay": 0.1}


def adamw_step(shape: Shape, device: str) -> Operator:
    """Beside the kernel of torch.optim.AdamW(fused=True)."""
    import my_ops

    steps = [torch.full((), float(STEP), device=device) for _ in range(shape.rows)]

    def inputs() -> Tensors:
        params, grads, firsts, seconds = (_tensors(shape, device) for _ in range(4))
        return params, grads, firsts, [second.abs_() for second in seconds]

    def ours(*lists: list[torch.Tensor]) -> Tensors:
        return my_ops.adamw_step(*lists, STEP, **OPTIONS)

    def fused(*lists: list[torch.Tensor]) -> Tensors:
        torch._fused_adamw_(
            *lists, [], steps, beta1=0.9, beta2=0.999, eps=1e-8, amsgrad=False, maximize=False, **OPTIONS
        )
        return lists[0], lists[2], lists[3]

    return Operator(inputs, ours, fused)


def global_norm(shape: Shape, device: str) -> Operator:
    """Beside what torch.nn.utils.clip_grad_norm_ uses."""
    import my_ops

    return Operator(
        lambda: (_tensors(shape, device),),
        my_ops.global_norm,
        lambda xs: torch.nn.utils.get_total_norm(xs, foreach=True),
    )


def _tensors(shape: Shape, device: str) -> list[torch.Tensor]:
    if shape.n % 2:
        return list(torch.randn(shape.rows, shape.n, device=device))
    return [torch.randn(shape.n, device=device) for _ in range(shape.rows)]


CASES = {"adamw_step": adamw_step, "global_norm": global_norm}
