"""Which calls go to an operator; all others stay with the code that a module had before."""

from __future__ import annotations

import torch
from torch import Tensor

FLOATING = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_DEVICES = ("cpu", "cuda")


def floats(x: Tensor) -> bool:
    """Whether operators on floating dtypes take x."""
    return x.dtype in FLOATING and x.device.type in _DEVICES


def takes(x: Tensor) -> bool:
    """The same for operators in the place of what autocast may run in float32: there it is asked of PyTorch, but for x
    that is float32 already.
    """
    return floats(x) and (x.dtype == torch.float32 or not torch.is_autocast_enabled(x.device.type))


def alike(x: Tensor, other: Tensor | None) -> bool:
    """Whether both have one dtype and one device; None goes with anything."""
    return other is None or (other.dtype == x.dtype and other.device == x.device)
