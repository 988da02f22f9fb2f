"""Time per call on a tiny input: the price of the way from Python to the kernel and back, in microseconds.

Input: float32 [4, 16] and a weight, eps given, on the CPU; the arithmetic takes some 0.05 us of it. All candidates
do the same arithmetic after the same checks (peers/rms_norm.h). Calls are timed in batches of 20 ms as plain
statements with the collector off, in interleaved rounds.

- without grad: no input requires grad. my_ops has an Autograd kernel all the same; the wrapper and `_rms_norm_no_grad`
  go around it.
- with grad: both inputs require grad, so that the call records a node; the node is freed within the call.
- backward: `torch.autograd.grad` of a recorded output, both gradients, the graph retained.

With --device cuda, the same three for a tiny bfloat16 input on the GPU against ATen's rms_norm: host time, since
calls are issued without waiting and each kernel ends before the next call has come that far.
"""

from typing import Any

import torch
import torch.nn.functional as F

from . import peers
from .figures import Figure, Result, compared, microseconds, plain
from .options import EPS, Options
from .progress import Progress
from .timing import Clocked, interleave, per_call

SHAPE = (4, 16)
CPP = "C++ TORCH_LIBRARY"
REGISTERED = "C++ TORCH_LIBRARY, register_autograd"
WRAPPER = "my_ops.rms_norm"
BARE = "torch.ops.my_ops._rms_norm_no_grad.default"
PUBLIC = "torch.ops.my_ops.rms_norm.default"
ATEN = "F.rms_norm"


def measure(options: Options) -> Result:
    import my_ops

    repeats = options.repeats(31, 7)
    progress = Progress("call", repeats * (6 if options.device == "cuda" else 3))
    library = torch.ops.my_ops
    without_grad, with_grad = peers.call_peers()
    ours: dict[str, Any] = {WRAPPER: my_ops.rms_norm, PUBLIC: library.rms_norm.default}
    bare: dict[str, Any] = {BARE: library._rms_norm_no_grad.default}
    x, weight, grad = (torch.randn(shape) for shape in (SHAPE, SHAPE[-1:], SHAPE))
    _agree({**ours, **bare, **without_grad, **with_grad}, x, weight)

    result = Result()
    times = _times({**ours, **bare, **without_grad}, x, weight, repeats, progress)
    result.figures += [
        _against("no grad", WRAPPER, times, CPP, at_most=1.15),
        _against("no grad", BARE, times, CPP, at_most=1.0),
        *_others("no grad", times, {WRAPPER, BARE}, CPP),
    ]
    x.requires_grad_()
    weight.requires_grad_()
    times = _times({**ours, **with_grad}, x, weight, repeats, progress)
    result.figures += [
        _against("with grad", WRAPPER, times, REGISTERED, at_most=0.7),
        *_others("with grad", times, {WRAPPER}, REGISTERED),
    ]
    times = _backward_times({**ours, **with_grad}, x, weight, grad, repeats, progress)
    result.figures += _others("backward", times, set(), REGISTERED)
    if options.device == "cuda":
        result.figures += _cuda(ours, bare, repeats, progress)
    progress.close()
    return result


def _cuda(ours: dict[str, Any], bare: dict[str, Any], repeats: int, progress: Progress) -> list[Figure]:
    x, weight, grad = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for shape in (SHAPE, SHAPE[-1:], SHAPE))
    size = SHAPE[-1:]
    aten = {ATEN: lambda x, weight, eps: F.rms_norm(x, size, weight, eps)}
    figures = _others("CUDA, no grad", _times({**ours, **bare, **aten}, x, weight, repeats, progress), set(), ATEN)
    x.requires_grad_()
    weight.requires_grad_()
    figures += _others("CUDA, with grad", _times({**ours, **aten}, x, weight, repeats, progress), set(), ATEN)
    figures += _others(
        "CUDA, backward", _backward_times({**ours, **aten}, x, weight, grad, repeats, progress), set(), ATEN
    )
    return figures


def _times(
    calls: dict[str, Any], x: torch.Tensor, weight: torch.Tensor, repeats: int, progress: Progress
) -> dict[str, list[float]]:
    candidates: dict[str, Clocked] = {}
    for name, call in calls.items():
        candidates[name] = _settled(
            per_call("call(x, weight, eps)", {"call": call, "x": x, "weight": weight, "eps": EPS}), x
        )
    return interleave(candidates, repeats, progress)


def _backward_times(
    calls: dict[str, Any], x: torch.Tensor, weight: torch.Tensor, grad: torch.Tensor, repeats: int, progress: Progress
) -> dict[str, list[float]]:
    candidates: dict[str, Clocked] = {}
    for name, call in calls.items():
        names = {"backward": torch.autograd.grad, "y": call(x, weight, EPS), "inputs": (x, weight), "grad": grad}
        candidates[name] = _settled(per_call("backward(y, inputs, grad, retain_graph=True)", names), x)
    return interleave(candidates, repeats, progress)


def _settled(clock: Clocked, x: torch.Tensor) -> Clocked:
    """On a GPU each batch starts on an empty queue."""
    if not x.is_cuda:
        return clock

    def run() -> float:
        torch.cuda.synchronize()
        return clock()

    return run


def _agree(calls: dict[str, Any], x: torch.Tensor, weight: torch.Tensor) -> None:
    expected = F.rms_norm(x, x.shape[-1:], weight, EPS)
    for call in calls.values():
        torch.testing.assert_close(call(x, weight, EPS), expected)


def _against(kind: str, name: str, times: dict[str, list[float]], peer: str, at_most: float) -> Figure:
    return compared(
        f"{kind}: {name}", "us", microseconds(times[name]), peer, microseconds(times[peer]), at_most=at_most
    )


def _others(kind: str, times: dict[str, list[float]], done: set[str], peer: str) -> list[Figure]:
    """The rest of the table: beside the peer, without a target."""
    figures = []
    for name, values in times.items():
        if name == peer:
            figures.append(plain(f"{kind}: {name}", "us", microseconds(values)))
        elif name not in done:
            figures.append(compared(f"{kind}: {name}", "us", microseconds(values), peer, microseconds(times[peer])))
    return figures
