"""Outputs and gradients of a function against the usual way in float64."""

import contextlib
import fcntl
import math
import os
from collections.abc import Iterator
from typing import Any

import torch

from ..cuda_cases import Shape
from .cases.operator import Function, Operator, Tensors
from .cases.peers import Implementation

# ||out - reference|| / ||reference||. Rounding to the dtype gives about a third of it, sums of exponentials more.
LIMITS = {torch.bfloat16: 6e-3, torch.float16: 1e-3, torch.float32: 2e-5}
LOCK = "MY_OPS_BENCHMARK_LOCK"  # begins the names of files: so many processes compute in float64 at a time, where each
SLOTS = 4  # takes gigabytes

LATE = "MY_OPS_BENCHMARK_LATE"  # a file; where there is one, nothing more is to be prepared


def distance(op: Operator, implementation: Implementation, shape: Shape) -> float:
    """The largest, in parts of the limit, over every output of both functions and every gradient; infinite for NaN."""
    with _alone():
        inputs = op.inputs()
        wanted, wanted_grads = _results(op, op.eager, _double(inputs), bool(op.leaves))
        found = []
        if op.leaves:
            outputs, grads = _results(op, implementation.training, implementation.prepare(_copies(inputs)), True)
            found += [*zip(outputs, wanted, strict=True), *zip(grads, wanted_grads, strict=True)]
        with torch.no_grad():
            outputs = _tuple(implementation.forward(*implementation.prepare(_copies(inputs))))
        found += list(zip(outputs, wanted, strict=True))
        return max(_apart(got, want) / LIMITS[shape.dtype] for got, want in found)


def _results(
    op: Operator, function: Function, inputs: Tensors, training: bool
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Outputs, and the gradients for upstream ones that are the same for everybody."""
    if not training:
        with torch.no_grad():
            return _tuple(function(*inputs)), []
    with torch.enable_grad():
        leaves = leaves_of(op, inputs)
        outputs = _tuple(function(*leaves))
        generator = torch.Generator(device=outputs[0].device).manual_seed(1)
        ups = [
            torch.randn(output.shape, device=output.device, generator=generator).bfloat16().to(output.dtype)
            for output in outputs
        ]
        kept = [output.detach().clone() for output in outputs]
        grads = torch.autograd.grad(outputs, [leaves[place] for place in op.leaves], ups)
    return kept, list(grads)


def leaves_of(op: Operator, inputs: Tensors) -> list[Any]:
    """The inputs, detached, with those that require grad."""
    leaves = [tensor.detach() for tensor in inputs]
    for place in op.leaves:
        leaves[place].requires_grad_()
    return leaves


def _apart(got: torch.Tensor, want: torch.Tensor) -> float:
    want = want.double().reshape(-1)
    apart = ((got.detach().double().reshape(-1) - want).norm() / (want.norm() + 1e-300)).item()
    return math.inf if math.isnan(apart) else apart


def _tuple(result: Any) -> list[torch.Tensor]:
    """Tensors, and those of lists among them."""
    return [t for one in result for t in _tuple(one)] if isinstance(result, tuple | list) else [result]


def _copies(inputs: Tensors) -> Tensors:
    return tuple([t.clone() for t in one] if isinstance(one, list) else one.clone() for one in inputs)


def _double(inputs: Tensors) -> Tensors:
    def one(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.double() if tensor.is_floating_point() else tensor.clone()

    return tuple([one(t) for t in given] if isinstance(given, list) else one(given) for given in inputs)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    path = os.environ.get(LOCK)
    if path is None:
        yield
        return
    with open(f"{path}-{os.getpid() % SLOTS}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
