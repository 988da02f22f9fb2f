"""Time per direct call on a tiny input, beside the classic extension: a .cpp bound by pybind11 (examples/pybind11),
which calls the same kernel after its CHECK_INPUT macros.

Input: float32 [4, 16], a weight of 16 and eps, as in the group call, and timed as there. The direct call looks at more:
dtypes, devices, shapes, the negative bit, and with `out` whether that lies on an input. With --device cuda, the same on
the GPU: host time, since calls are issued without waiting.
"""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from .call import SHAPE, _settled
from .figures import Figure, Result, compared, microseconds, plain
from .options import CACHE, EPS, Options
from .progress import Progress
from .timing import Clocked, interleave, per_call

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "pybind11" / "setup.py"
PEER = "pybind11"
CALL = "call(x, weight, eps)"
INTO = "call(x, weight, eps, out=y)"


def measure(options: Options) -> Result:
    import my_ops

    direct, module = my_ops._C.rms_norm, classic()
    result = Result()
    devices = ["cpu", "cuda"] if options.device == "cuda" else ["cpu"]
    repeats = options.repeats(31, 7)
    progress = Progress("direct", repeats * len(devices))
    for device in devices:
        x, weight = (torch.randn(shape, device=device) for shape in (SHAPE, SHAPE[-1:]))
        y = torch.empty_like(x)
        torch.testing.assert_close(direct(x, weight, EPS), module.rms_norm(x, weight, EPS))
        calls: dict[str, tuple[str, Any]] = {
            PEER: (CALL, module.rms_norm),
            "my_ops._C.rms_norm": (CALL, direct),
            "my_ops._C.rms_norm, out=": (INTO, direct),
            "my_ops.rms_norm": (CALL, my_ops.rms_norm),
            "torch.ops.my_ops.rms_norm.default": (CALL, torch.ops.my_ops.rms_norm.default),
        }
        candidates: dict[str, Clocked] = {}
        for name, (statement, call) in calls.items():
            names = {"call": call, "x": x, "weight": weight, "eps": EPS, "y": y}
            candidates[name] = _settled(per_call(statement, names), x)
        if device == "cpu":
            names = {"call": direct, "x": x.numpy(), "weight": weight.numpy(), "eps": EPS}
            candidates["my_ops._C.rms_norm, arrays of NumPy"] = per_call(CALL, names)
        times = interleave(candidates, repeats, progress)
        result.figures += [_figure(device, name, times) for name in times]
    progress.close()
    return result


def _figure(device: str, name: str, times: dict[str, list[float]]) -> Figure:
    title, values = f"{'CUDA, ' if device == 'cuda' else ''}{name}", microseconds(times[name])
    if name == PEER:
        return plain(title, "us", values)
    limits = {"my_ops._C.rms_norm": 1.1, "my_ops._C.rms_norm, out=": 0.4}
    return compared(title, "us", values, PEER, microseconds(times[PEER]), at_most=limits.get(name))


def classic() -> ModuleType:
    """The extension of examples/pybind11, compiled the first time."""
    spec = importlib.util.spec_from_file_location("classic_extension", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    module: ModuleType = example.load(CACHE / f"pybind11-{torch.__version__}")
    return module
