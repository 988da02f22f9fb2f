"""The loss of causal language models in transformers, on my_ops.cross_entropy."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional

from my_ops import cross_entropy


def causal_lm_loss(
    logits: Tensor,
    labels: Tensor | None,
    vocab_size: int,
    num_items_in_batch: Tensor | int | None = None,
    ignore_index: int = -100,
    shift_labels: Tensor | None = None,
    **_: Any,
) -> Tensor:
    """The mean cross entropy of logits and the labels one position later, in float32. Half-precision logits are read as
    they are, where transformers makes a float32 copy of them.

    Args:
        logits: [*batch, length, vocab_size], float64, float32, float16 or bfloat16.
        labels: int64[*batch, length]; used only without shift_labels.
        vocab_size: the size of the last dim.
        num_items_in_batch: what to divide the sum by; the number of labels that count, when left out.
        ignore_index: a label that counts for nothing.
        shift_labels: int64[*batch, length], labels that are shifted already.

    A label that is out of range raises the RuntimeError of my_ops.cross_entropy on the CPU, and gives NaN on a GPU.
    """
    if shift_labels is None:
        if labels is None:
            raise ValueError("my_ops.nn.causal_lm_loss: expected labels or shift_labels, got neither")
        shift_labels = functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
    target = shift_labels.reshape(-1).to(logits.device)
    loss = cross_entropy(logits.reshape(-1, vocab_size), target, ignore_index).sum()
    if num_items_in_batch is None:
        count: Tensor | int = (target != ignore_index).sum()
    elif isinstance(num_items_in_batch, Tensor):
        count = num_items_in_batch.to(loss.device)
    else:
        count = num_items_in_batch
    return (loss / count).float()
