"""The times of one function on one shape, forward and backward: of its kernels, of a call as it is felt, of the host.

- kernel: microseconds per launch in replayed graphs, nothing of the host in it.
- felt: per call of a row of calls, from an idle GPU until it is idle again.
- host: of the same row of calls, until the last has been issued. The GPU's queue holds more than that row.

Ceilings are timed in turns with our own kernels: a copy, or a sum of two tensors, of as many bytes.
"""

import gc
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from ..cuda_clock import Body, Device, input_sets, kernel_times
from .cases.operator import Operator
from .cases.peers import Implementation
from .checked import leaves_of

CALLS = 20
CEILING = "ceiling"
Times = dict[str, list[float]]  # kernel, felt, host, ceiling: of each repeat


@dataclass(frozen=True)
class Work:
    """What to time: the kind, its bytes, and which ceiling to time beside it, if any."""

    kind: str
    moved: int
    ceiling: str = ""


def time_work(
    device: Device, op: Operator, implementation: Implementation, work: Work, repeats: int
) -> tuple[Times, str]:
    """Times, and what is to be said about them."""
    sets = input_sets(device, work.moved)
    inputs = [implementation.prepare(op.inputs()) for _ in range(sets)]
    body = body_of(work.kind, op, implementation, inputs)
    with grad_mode(work.kind):
        times = _calls(device, body, sets, repeats)
        if implementation.no_graph:
            return times, implementation.no_graph
        bodies = {"kernel": body}
        if work.ceiling:
            bodies[CEILING] = _ceiling(device, work, sets)
        try:
            times |= kernel_times(device, bodies, sets, work.moved, repeats)
        except RuntimeError as error:
            return times, f"no graph: {(str(error).splitlines() or [''])[0][:100]}"
    return times, ""


def grad_mode(kind: str) -> AbstractContextManager[Any]:
    """What bodies of a kind are called in. They do not enter it themselves: that costs each call a microsecond."""
    return torch.enable_grad() if kind == "backward" else torch.no_grad()


def body_of(kind: str, op: Operator, implementation: Implementation, inputs: list[Any]) -> Body:
    """What calls the operator with one of the input sets, or its gradients."""
    return (_backward if kind == "backward" else _forward)(op, implementation, inputs)


def _forward(op: Operator, implementation: Implementation, inputs: list[Any]) -> Body:
    return lambda i: implementation.forward(*inputs[i])


def _backward(op: Operator, implementation: Implementation, inputs: list[Any]) -> Body:
    """Backward through autograd, of outputs that are recorded now."""
    given, outputs, grads = [], [], []
    for one in inputs:
        leaves = leaves_of(op, one)
        result = implementation.training(*leaves)
        found = [t for t in (result if isinstance(result, tuple | list) else [result]) if t.requires_grad]
        given.append([leaves[place] for place in op.leaves])
        outputs.append(found)
        grads.append([torch.ones_like(output) for output in found])
    return lambda i: torch.autograd.grad(outputs[i], given[i], grads[i], retain_graph=True)


def _ceiling(device: Device, work: Work, sets: int) -> Body:
    """As many bytes in whole pages: a copy of less than those takes the driver half as long again."""
    each = work.moved // (2 if work.ceiling == "copy" else 3)
    size = max(16, each if each < 1 << 20 else -(-each // 8192) * 8192) // 2
    if work.ceiling == "copy":
        plain = [torch.ones(size, dtype=torch.bfloat16, device=device.name) for _ in range(sets)]
        return lambda i: torch.empty_like(plain[i]).copy_(plain[i])
    pairs = [[torch.ones(size, dtype=torch.bfloat16, device=device.name) for _ in range(2)] for _ in range(sets)]
    return lambda i: torch.add(*pairs[i])


def _calls(device: Device, body: Body, sets: int, repeats: int) -> Times:
    """Felt and host, in microseconds. The first two rows warm up."""
    times: Times = {"felt": [], "host": []}
    gc.collect()
    gc.disable()
    try:
        for repeat in range(repeats + 2):
            device.wait()
            start = time.perf_counter()
            for call in range(CALLS):
                body(call % sets)
            issued = time.perf_counter()
            device.wait()
            if repeat >= 2:
                times["host"].append((issued - start) / CALLS * 1e6)
                times["felt"].append((time.perf_counter() - start) / CALLS * 1e6)
    finally:
        gc.enable()
    return times
