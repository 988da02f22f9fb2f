"""Whether results are as near to exact ones as those of PyTorch are."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def distance(found: Tensor, exact: Tensor) -> float:
    """How far two tensors are apart as vectors, relative to the length of the second."""
    length = torch.linalg.vector_norm(exact.double())
    return float(torch.linalg.vector_norm(found.double() - exact.double()) / length) if length else 0.0


def assert_as_near(found: Sequence[Tensor], expected: Sequence[Tensor], exact: Sequence[Tensor]) -> None:
    """Each tensor is at most twice as far from what is exact as PyTorch's, or as one rounding, whichever is more. What
    is exact for float64 is PyTorch's own result, which may be as far from the truth itself.
    """
    for place, (ours, theirs, truth) in enumerate(zip(found, expected, exact, strict=True)):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), place
        limit = 2 * max(distance(theirs, truth), torch.finfo(ours.dtype).eps)
        limit += 2 * torch.finfo(truth.dtype).eps
        assert distance(ours, truth) <= limit, f"{place}: {distance(ours, truth)} > {limit}"
