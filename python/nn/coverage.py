"""Which calls go to an operator; all others stay with the code that a module had before."""

from __future__ import annotations

import torch
from torch import Tensor

FLOATING = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
_DEVICES = ("cpu", "cuda")


def takes(x: Tensor) -> bool:
    """Whether operators on floating dtypes take x as it is. Autocast may cast half precision, so that is left to it."""
    if x.dtype not in FLOATING or x.device.type not in _DEVICES:
        return False
    return x.dtype == torch.float32 or not torch.is_autocast_enabled(x.device.type)


def alike(x: Tensor, other: Tensor | None) -> bool:
    """Whether both have one dtype and one device; None goes with anything."""
    return other is None or (other.dtype == x.dtype and other.device == x.device)
