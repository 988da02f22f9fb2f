"""Modules under autocast: what PyTorch's give, in eager mode and in a graph; operators take inputs as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import my_ops
from my_ops import nn

TARGET = torch.tensor([1, 2])
PAIRS: dict[str, tuple[torch.nn.Module, Callable[..., Any], tuple[Any, ...]]] = {
    "RMSNorm": (nn.RMSNorm(8, eps=1e-5), torch.nn.RMSNorm(8, eps=1e-5), ()),
    "LayerNorm": (nn.LayerNorm(8), torch.nn.LayerNorm(8), ()),
    "Softmax": (nn.Softmax(-1), torch.nn.Softmax(-1), ()),
    "CrossEntropyLoss": (nn.CrossEntropyLoss(), torch.nn.CrossEntropyLoss(), (TARGET,)),
    "SiLUMul": (
        nn.SiLUMul(),
        lambda x, up: torch.nn.functional.silu(x) * up,
        (torch.ones(2, 8, dtype=torch.bfloat16),),
    ),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", PAIRS)
def test_as_pytorch(name: str, compiled: bool) -> None:
    """Behind a layer that autocast computes in bfloat16: the same dtypes, values and gradients."""
    torch._dynamo.reset()
    mine, theirs, more = PAIRS[name]
    linear, results = torch.nn.Linear(8, 8), []
    start = torch.randn(2, 8)
    for function in (mine, theirs):

        def step(x: torch.Tensor, function: Callable[..., Any] = function) -> Any:
            return function(linear(x), *more)

        x = start.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16):
            y = (torch.compile(step, fullgraph=True, backend="aot_eager") if compiled else step)(x)
        (gradient,) = torch.autograd.grad(y.float().square().sum(), x)
        results.append((y, gradient))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, atol=2e-2, rtol=2e-2)  # of bfloat16, rounded once or twice


def test_operators_take_inputs_as_they_come() -> None:
    """Those of ops.yaml have no `autocast:`; in mixed dtypes a call is refused as without autocast."""
    x = torch.ones(2, 8, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert my_ops.rms_norm(x.float()).dtype == torch.float32
        with pytest.raises(RuntimeError, match=r"weight: expected dtype bfloat16 \(as x\), got float32"):
            my_ops.rms_norm(x, torch.ones(8))
