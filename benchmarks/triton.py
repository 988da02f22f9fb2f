"""A kernel in Triton, compiled with the library and launched from C (softmax_triton), beside the same kernel under
Triton's own launcher, and beside the operator softmax, whose kernels are written in CUDA.

- host: time per call on a tiny input, bfloat16 [4, 64], in microseconds. Calls are issued without waiting, in batches
  that fit the queue of a stream and start on an empty one. The launcher gets a new output, as the operator makes one;
  `kernel[grid](...)` alone, into an output that is there, stands beside direct calls with `out=`. PyTorch's way to make
  an operator of such a kernel, `torch.library.triton_op`, is shown, too.
- kernel: microseconds per launch by CUDA-graph replay (cuda_clock.py), forward and backward, bfloat16 and float32 with
  16 million elements: rows of whole vectors, and odd ones.
- correctness: every kernel that is timed is compared with float64 before.

Without Triton its launcher is left out. Some 40 seconds on a GPU.
"""

import importlib.util
from collections.abc import Callable
from typing import Any

import torch

from .cuda_cases import own_stream
from .cuda_clock import Device, input_sets, kernel_times, open_device
from .figures import Figure, Grid, Result, compared, microseconds, plain
from .options import ROOT, Options
from .progress import Progress
from .timing import Clocked, Sample, interleave, per_call, ratio, summarise

SHAPE = (4, 64)
ELEMENTS = 16 << 20
WIDTHS = [256, 1000, 1024, 4096, 4097, 8192, 16384]
OURS, CUDA, ATEN, JIT = "softmax_triton", "softmax, CUDA", "ATen", "Triton's launcher"
CALL, INTO = "call(x)", "call(x, out=y)"
BATCH = 1e-3  # seconds: some hundred calls, which a stream takes without making the caller wait
Function = Callable[[torch.Tensor], torch.Tensor]


def measure(options: Options) -> Result:
    result = Result()
    device = open_device("cpu" if options.dry_run else options.device)
    kernels = jit_kernels() if device.cuda else None
    if kernels is None:
        result.notes.append("Triton's launcher is left out: it needs Triton and a GPU.")
    widths = WIDTHS[1:3] if options.dry_run else WIDTHS
    shapes = [(dtype, n) for dtype in (torch.bfloat16, torch.float32) for n in widths]
    repeats = 2 if options.dry_run else options.repeats(31, 7)
    progress = Progress("triton", repeats + len(shapes))
    result.figures += _host(device, kernels, repeats, progress)
    _kernels(device, kernels, shapes, options, result, progress)
    progress.close()
    return result


# ---------------------------------------------------------------- the same kernels under Triton's launcher


def jit_kernels() -> dict[str, Any] | None:
    """The functions under @triton.jit in csrc/; None without Triton."""
    if importlib.util.find_spec("triton") is None:
        return None
    found = {}
    for op, name in (("softmax_triton", "softmax_kernel"), ("softmax_triton_backward", "softmax_backward_kernel")):
        spec = importlib.util.spec_from_file_location(f"benchmarked_{op}", ROOT / "csrc" / f"{op}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[op] = getattr(module, name)
    return found


def block_of(n: int) -> tuple[int, int]:
    """BLOCK and num_warps, as ops.yaml has them."""
    block = max(128, 1 << max(0, n - 1).bit_length())
    return block, max(1, min(16, block // 256))


def launched(kernel: Any, n: int) -> Function:
    block, warps = block_of(n)

    def softmax(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](y, x, x.shape[1], BLOCK=block, num_warps=warps)
        return y

    return softmax


def as_operator(kernel: Any, n: int) -> Function:
    """What PyTorch makes of it."""
    block, warps = block_of(n)

    @torch.library.triton_op("benchmarks_triton::softmax", mutates_args={})
    def softmax(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        torch.library.wrap_triton(kernel)[(x.shape[0],)](y, x, x.shape[1], BLOCK=block, num_warps=warps)
        return y

    return softmax


# ---------------------------------------------------------------- host


def _host(device: Device, kernels: dict[str, Any] | None, repeats: int, progress: Progress) -> list[Figure]:
    import my_ops

    x = torch.randn(SHAPE, dtype=torch.bfloat16, device=device.name)
    y = torch.empty_like(x)
    calls: dict[str, tuple[str, Any]] = {}
    if kernels is not None:
        n = SHAPE[1]
        (block, warps), kernel = block_of(n), kernels[OURS]
        calls[JIT] = (CALL, launched(kernel, n))
        alone = f"kernel[grid](y, x, {n}, BLOCK={block}, num_warps={warps})"
        calls[f"{JIT}, output given"] = (alone, kernel)
        calls["torch.library.triton_op"] = (CALL, as_operator(kernel, n))
    calls |= {
        "my_ops.softmax_triton": (CALL, my_ops.softmax_triton),
        "torch.ops.my_ops.softmax_triton.default": (CALL, torch.ops.my_ops.softmax_triton.default),
        "my_ops._C.softmax_triton": (CALL, my_ops._C.softmax_triton),
        "my_ops._C.softmax_triton, out=": (INTO, my_ops._C.softmax_triton),
        "my_ops.softmax, CUDA": (CALL, my_ops.softmax),
        "torch.softmax": ("call(x, -1)", torch.softmax),
    }
    candidates: dict[str, Clocked] = {}
    for name, (statement, call) in calls.items():
        names = {"call": call, "kernel": call, "grid": (SHAPE[0],), "x": x, "y": y}
        candidates[name] = _from_empty(per_call(statement, names, BATCH), device)
    times = interleave(candidates, repeats, progress)
    return [_host_figure(name, times) for name in times]


def _from_empty(clock: Clocked, device: Device) -> Clocked:
    def run() -> float:
        device.wait()
        return clock()

    return run


def _host_figure(name: str, times: dict[str, list[float]]) -> Figure:
    title, values = f"host: {name}", microseconds(times[name])
    peer = f"{JIT}, output given" if name.endswith("out=") else JIT
    if peer not in times or name == peer or name.startswith(JIT):
        return plain(title, "us", values)
    limits = {"my_ops.softmax_triton": 0.5, "my_ops._C.softmax_triton, out=": 0.5}
    return compared(title, "us", values, peer, microseconds(times[peer]), at_most=limits.get(name))


# ---------------------------------------------------------------- kernels


def _kernels(
    device: Device,
    kernels: dict[str, Any] | None,
    shapes: list[tuple[torch.dtype, int]],
    options: Options,
    result: Result,
    progress: Progress,
) -> None:
    tables: dict[str, dict[str, dict[str, Sample | None]]] = {"forward": {}, "backward": {}}
    shares: list[tuple[float, str]] = []
    failed = 0
    for dtype, n in shapes:
        rows = max(1, (1 << 14 if options.dry_run else ELEMENTS) // n)
        shown = f"[{rows}, {n}] {str(dtype).removeprefix('torch.')}"
        try:
            with own_stream(device):
                for kind, times in _times(device, kernels, rows, n, dtype, options):
                    tables[kind][shown] = {name: summarise(values) for name, values in times.items()}
                    tables[kind][shown][f"{CUDA} / {OURS}"] = summarise([ratio(times[CUDA], times[OURS])])
                    if kind == "forward":
                        shares.append((ratio(times[OURS], times[CUDA]), shown))
        except RuntimeError as error:
            failed += 1
            result.notes.append(f"FAILED at {shown}: {str(error).splitlines()[0][:150]}")
        progress.step(shown)
    for kind, table in tables.items():
        result.grids.append(Grid(f"softmax, {kind}", "us per launch", table))
    for pick, what in ((min, "best"), (max, "worst")):
        if shares:
            found, shown = pick(shares)
            sample = tables["forward"][shown][OURS]
            assert sample is not None
            result.figures.append(
                Figure(f"kernel, forward: {what} against CUDA, {shown}", "us", sample, f"beside {CUDA}", found)
            )
    number = float(failed)
    result.figures.append(Figure("shapes that failed", "", summarise([number]), "<= 0", number, failed == 0))


def _times(
    device: Device, kernels: dict[str, Any] | None, rows: int, n: int, dtype: torch.dtype, options: Options
) -> list[tuple[str, dict[str, list[float]]]]:
    import my_ops

    size = rows * n * dtype.itemsize
    sets = 2 if options.dry_run else input_sets(device, 2 * size)
    xs = [torch.randn(rows, n, device=device.name, dtype=dtype) for _ in range(sets)]
    ys = [torch.softmax(x, -1) for x in xs]
    ups = [torch.randn_like(x) for x in xs]
    forward: dict[str, Function] = {
        OURS: torch.ops.my_ops.softmax_triton.default,
        CUDA: torch.ops.my_ops.softmax.default,
        ATEN: lambda x: torch.softmax(x, -1),
    }
    if kernels is not None:
        forward[JIT] = launched(kernels[OURS], n)
    expected = torch.softmax(xs[0].double(), -1)
    for name, function in forward.items():
        _right(name, function(xs[0]), expected)
    mask = [True, False]
    backward: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
        OURS: torch.ops.my_ops.softmax_triton_backward.default,
        CUDA: lambda up, y: my_ops.softmax_backward(up, y, 1.0, False, grad_mask=mask)[0],
        ATEN: lambda up, y: torch.ops.aten._softmax_backward_data(up, y, -1, dtype),
    }
    up, y = ups[0].double(), ys[0].double()
    expected = y * (up - (up * y).sum(-1, keepdim=True))
    for name, gradient in backward.items():
        _right(name, gradient(ups[0], ys[0]), expected)
    repeats = 2 if options.dry_run else options.repeats(15, 5)
    bodies = {name: lambda i, run=run: run(xs[i]) for name, run in forward.items()}
    gradients = {name: lambda i, run=run: run(ups[i], ys[i]) for name, run in backward.items()}
    return [
        ("forward", kernel_times(device, bodies, sets, 2 * size, repeats)),
        ("backward", kernel_times(device, gradients, sets, 3 * size, repeats)),
    ]


def _right(name: str, found: torch.Tensor, expected: torch.Tensor) -> None:
    """Within a few roundings of the largest number of the result."""
    limit = 4 * torch.finfo(found.dtype).eps * expected.abs().max().item() + 1e-6
    distance = (found.double() - expected).abs().max().item()
    if not distance <= limit:
        raise RuntimeError(f"{name} is {distance:.3g} away from float64, and {limit:.3g} is allowed")
