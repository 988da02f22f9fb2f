"""torch.nn.CrossEntropyLoss on my_ops.cross_entropy."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from my_ops import cross_entropy

from .coverage import takes


class CrossEntropyLoss(nn.CrossEntropyLoss):
    """torch.nn.CrossEntropyLoss, on my_ops.cross_entropy where the target is indices of classes.

    Args:
        weight: a factor for each class; losses with it are PyTorch's affair.
        size_average, reduce: deprecated by PyTorch in favour of reduction.
        ignore_index: a target that counts for nothing.
        reduction: "mean" over the targets that count, "sum", or "none".
        label_smoothing: how much of the target is spread evenly over all classes, from 0 to 1.

    Shapes: input is [rows, classes] or [classes], target int64[rows] or int64[]; the result is 0-d, or of the shape of
    the target where reduction is "none". It has the dtype of input; half precision is summed in float32 and rounded
    once.

    The operator runs where input is float64, float32, float16 or bfloat16 on CPU or CUDA; other shapes, among them
    [rows, classes, *], targets that are probabilities, and wrong arguments are PyTorch's affair. A target that is out
    of range raises the RuntimeError of my_ops.cross_entropy on the CPU, where PyTorch's is an IndexError. On a GPU it
    gives NaN, where PyTorch stops with a device-side assertion; under my_ops.check_values() it is an error there, too.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        if not self._covers(input, target):
            return super().forward(input, target)
        loss = cross_entropy(input, target, self.ignore_index, self.label_smoothing)
        if self.reduction == "mean":
            loss = loss.sum() / (target != self.ignore_index).sum()
        elif self.reduction == "sum":
            loss = loss.sum()
        return loss.to(input.dtype)

    def _covers(self, logits: Tensor, target: Tensor) -> bool:
        return (
            self.weight is None
            and self.reduction in ("mean", "sum", "none")
            and 0 <= self.label_smoothing <= 1
            and 1 <= logits.dim() <= 2
            and logits.shape[:-1] == target.shape
            and logits.shape[-1] > 0
            and takes(logits)
            and target.dtype == torch.int64
            and target.device == logits.device
        )
