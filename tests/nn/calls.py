"""What a call of a module runs and gives."""

from __future__ import annotations

from collections.abc import Callable

import torch

from tests.harness.gradients import Recorder

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]


def operators(call: Callable[[], object]) -> set[str]:
    """The operators of my_ops that a call without gradients runs."""
    with torch.no_grad(), Recorder() as recorder:
        call()
    return {name for name, _ in recorder.calls if name.startswith("my_ops::")}


def outcome(call: Callable[[], torch.Tensor]) -> object:
    """A result, or the type and text of an error."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)
