"""An element-wise operator, `silu_mul`, in microseconds per call, over layouts of its inputs.

Beside it stand `F.silu(x) * y`, which goes through memory twice, torch.compile of that where there is a compiler, and
ATen's `torch.mul(x, y)` of the same tensors: what one pass over them costs without the exponential. Float32 and
bfloat16; a small and a large contiguous case, both inputs transposed, one of the two transposed, and inputs expanded
from one row and from one column. Each output is compared with float64 before it is timed.

On the CPU at one thread (more threads measure the memory of a shared machine); on a GPU kernel times by CUDA-graph
replay, as in the group cuda, without torch.compile.

Then come operators that ATen has as one kernel, each beside that kernel: single.py.
"""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F

from . import single
from .cpu import keep_memory
from .cuda_clock import Device, input_sets, kernel_times, open_device
from .figures import Figure, Grid, Result, compared
from .options import Options
from .progress import Progress
from .timing import Sample, clocked, interleave, ratio, summarise

Pair = tuple[torch.Tensor, torch.Tensor]
Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

OURS = "my_ops.silu_mul"
EAGER = "F.silu(x) * y"
MUL = "torch.mul(x, y)"
COMPILED = f"torch.compile({EAGER})"
DTYPES = (torch.float32, torch.bfloat16)
EAGER_SHARE = 1.0  # of eager's time, at most


def measure(options: Options) -> Result:
    import my_ops

    candidates: dict[str, Function] = {OURS: my_ops.silu_mul, EAGER: _eager, MUL: torch.mul}
    device = open_device(options.device)
    before = torch.get_num_threads()
    result = Result()
    if not device.cuda:
        keep_memory()
        torch.set_num_threads(1)
        candidates[COMPILED] = torch.compile(_eager, dynamic=False, fullgraph=True)
        result.notes.append("1 thread where nothing is said.")
    cases = _cases(device, options)
    repeats = options.repeats(31, 7)
    progress = Progress("elementwise", len(DTYPES) * len(cases) * (1 if device.cuda else repeats))
    with device.active():
        for dtype in DTYPES:
            name = str(dtype).removeprefix("torch.")
            rows: dict[str, dict[str, Sample | None]] = {}
            for case, make in cases.items():
                torch.compiler.reset()  # past its limit of recompilations, torch.compile would run eager code instead
                usable = _right(candidates, make(dtype, device.name), result)
                times = _times(device, usable, make, dtype, repeats, progress)
                rows[case] = _row(times)
                result.figures.append(_target(f"{name}, {case}", times))
            result.grids.append(Grid(f"silu_mul, {name}", "us", rows))
    torch.set_num_threads(before)
    progress.close()
    with device.active():
        single.measure(device, options, result)
    return result


def _eager(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.silu(x) * y


def _cases(device: Device, options: Options) -> dict[str, Callable[[torch.dtype, str], Pair]]:
    """Names of layouts, each with what makes a fresh pair of inputs."""
    side = 4096 if device.cuda else 1024
    large = 4 * side if not options.quick else side

    def pair(rows: int, n: int, of: Callable[[torch.Tensor, torch.Tensor], Pair]) -> Callable[..., Pair]:
        def make(dtype: torch.dtype, where: str) -> Pair:
            x, y = (torch.randn(rows, n, device=where).to(dtype) for _ in range(2))
            return of(x, y)

        return make

    return {
        "contiguous, 16 K elements": pair(16, 1024, lambda x, y: (x, y)),
        f"contiguous, {large} x {side}": pair(large, side, lambda x, y: (x, y)),
        f"both transposed, {side} x {side}": pair(side, side, lambda x, y: (x.t(), y.t())),
        f"y transposed, {side} x {side}": pair(side, side, lambda x, y: (x, y.t())),
        f"y from one row, {side} x {side}": pair(side, side, lambda x, y: (x, y[:1].expand_as(x))),
        f"y from one column, {side} x {side}": pair(side, side, lambda x, y: (x, y[:, :1].expand_as(x))),
        f"rows of 3, {side * side // 8} rows": pair(side * side // 8, 4, lambda x, y: (x[:, :3], y[:, :3])),
    }


def _times(
    device: Device,
    candidates: Mapping[str, Function],
    make: Callable[[torch.dtype, str], Pair],
    dtype: torch.dtype,
    repeats: int,
    progress: Progress,
) -> dict[str, list[float]]:
    """Microseconds of each repeat."""
    x, y = make(dtype, device.name)
    if device.cuda:
        moved = 3 * x.numel() * dtype.itemsize
        sets = input_sets(device, moved)
        pairs = [make(dtype, device.name) for _ in range(sets)]
        bodies = {name: _body(candidate, pairs) for name, candidate in candidates.items()}
        times = kernel_times(device, bodies, sets, moved, repeats)
        progress.step("kernels")
        return times

    calls = max(1, (1 << 20) // x.numel())

    def many(candidate: Function) -> Callable[[], float]:
        def work() -> None:
            for _ in range(calls):
                candidate(x, y)

        return clocked(work)

    times = interleave({name: many(candidate) for name, candidate in candidates.items()}, repeats, progress)
    return {name: [value / calls * 1e6 for value in values] for name, values in times.items()}


def _body(candidate: Function, pairs: list[Pair]) -> Callable[[int], object]:
    return lambda number: candidate(*pairs[number])


def _right(candidates: Mapping[str, Function], pair: Pair, result: Result) -> dict[str, Function]:
    """Those that run here; each but the product is compared with float64 first."""
    x, y = pair
    expected = _eager(x.double(), y.double())
    found = {}
    for name, candidate in candidates.items():
        try:
            output = candidate(x, y)
        except Exception as error:
            if name != COMPILED:
                raise
            note = f"{name}: not measured ({type(error).__name__})"
            if note not in result.notes:
                result.notes.append(note)
            continue
        distance = (output.double() - expected).norm() / expected.norm()
        if name != MUL and not distance <= (1e-5 if x.dtype == torch.float32 else 5e-3):
            raise RuntimeError(f"{name} is {distance:.1e} away from float64")
        found[name] = candidate
    return found


def _row(times: dict[str, list[float]]) -> dict[str, Sample | None]:
    """Times, then ours as a multiple of each."""
    row: dict[str, Sample | None] = {name: summarise(values) for name, values in times.items()}
    for name, values in times.items():
        if name != OURS:
            row[f"{OURS} / {name}"] = summarise([ratio(times[OURS], values)])
    return row


def _target(name: str, times: dict[str, list[float]]) -> Figure:
    return compared(name, "us", times[OURS], EAGER, times[EAGER], at_most=EAGER_SHARE)
