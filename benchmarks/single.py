"""Element-wise operators that ATen has as one kernel each, beside that kernel: time of ours / time of ATen's.

The operators of single.yaml are generated and built in a copy of the repository, as a library of their own. A case is
an operator, a dtype and a layout; for each layout and dtype the figure is the case with the largest ratio, and its
target is met where the lower quartile of the ratios of neighbouring repeats does not lie above 1. Each output is
compared with ATen's before it is timed.

On the CPU calls are timed as a user makes them, with what the way from Python costs: of 64 and 4,096 elements that is
most of it, and PyTorch has a shorter one for its own functions than for any operator of a library. These stand beside
ATen's overload in `torch.ops` too, which is called as ours is. Longer ones, with one thread and with two. ATen's GELU
of contiguous tensors is oneDNN's. On a GPU the times are those of kernels, by CUDA-graph replay.
"""

import contextlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from .cuda_clock import Device, input_sets, kernel_times
from .figures import Figure, Grid, Result
from .options import Options
from .progress import Progress
from .timing import Clocked, Sample, clocked, interleave, seconds, summarise
from .tree import copy_tree, run

SPEC = Path(__file__).resolve().parent / "single.yaml"
THREADS = (1, 2)
SMALL = 1 << 16  # elements, up to which a call is too short for a second thread
BATCH = 1e-3  # seconds of one repeat, at least

# Why a ratio lies above 1 where one does: what was found when it was looked for.
CPU_NOTES = (
    "64 and 4,096 elements beside torch.mul and the like: the difference is the way from Python. Through torch.ops, as "
    "an operator of any library is called, ATen's own overloads take longer than these.",
    "A product, a sum or a quotient of a megabyte and more is bound by the caches behind the first: up to 1.05 are the "
    "call and what a row costs besides, some two nanoseconds.",
    "gelu_erf of bfloat16 in the caches: the error function is that of float32, and both ends are converted; oneDNN's "
    "code is made for the processor that it runs on.",
    "33 of 64 columns: a row is two vectors and one element, for which a whole vector is computed; one at a time is "
    "slower for all but the cheapest lines.",
)

FLOATS = (torch.float32, torch.bfloat16)
WIDE = (*FLOATS, torch.float64)

Inputs = tuple[torch.Tensor, ...]
Function = Callable[..., torch.Tensor]
Make = Callable[[torch.dtype, str], Inputs]


@dataclass(frozen=True)
class Operator:
    """One of ours and ATen's, as a function and as it is called through torch.ops. `inputs` makes those of a call from
    the two tensors of a layout."""

    name: str
    peer: str
    ours: Function
    aten: Function
    overload: Function
    dtypes: tuple[torch.dtype, ...]
    inputs: Callable[[torch.Tensor, torch.Tensor], Inputs]
    broadcasts: bool = False


def measure(device: Device, options: Options, result: Result) -> None:
    """Adds the figures and one grid for each dtype and number of threads."""
    layouts = _layouts(device, options)
    if not device.cuda:
        result.notes.extend(CPU_NOTES)
    before = torch.get_num_threads()
    with tempfile.TemporaryDirectory(prefix="my_ops-") as temporary, _library(Path(temporary), device) as single:
        operators = _operators(single)
        runs = [
            (threads, dtype)
            for threads in ((0,) if device.cuda else THREADS)
            for dtype in WIDE
            if threads < 2 or dtype in FLOATS
        ]
        progress = Progress("single", len(runs) * len(layouts))
        for threads, dtype in runs:
            if threads:
                torch.set_num_threads(threads)
            name = str(dtype).removeprefix("torch.") + (f", {threads} threads" if threads > 1 else "")
            rows: dict[str, dict[str, Sample | None]] = {}
            for layout, make in layouts.items():
                ratios = _ratios(device, options, [op for op in operators if dtype in op.dtypes], make, dtype)
                progress.step(f"{name}, {layout}")
                if ratios:
                    rows[layout] = {op.name: summarise(values) for op, values in ratios}
                    result.figures.append(_worst(f"{name}, {layout}", ratios))
                if ratios and threads == 1 and make(dtype, device.name)[0].numel() <= SMALL:
                    given = [replace(op, aten=op.overload, peer=f"{op.peer} of torch.ops") for op, _ in ratios]
                    ratios = _ratios(device, options, given, make, dtype)
                    rows[f"{layout}, torch.ops"] = {op.name: summarise(values) for op, values in ratios}
                    result.figures.append(_worst(f"{name}, {layout}, torch.ops", ratios))
            result.grids.append(Grid(f"one kernel each, {name}: ours / ATen", "ratio", rows))
        torch.set_num_threads(before)
        progress.close()


@contextlib.contextmanager
def _library(folder: Path, device: Device) -> Iterator[Any]:
    """The package of single.yaml, built for this machine."""
    tree = copy_tree(folder / "tree")
    shutil.rmtree(tree / "generated")
    for body in [*(tree / "csrc").glob("*.c"), *(tree / "csrc").glob("*.cu")]:
        body.unlink()
    shutil.copy2(SPEC, tree / "ops.yaml")
    run([sys.executable, "-m", "codegen", "generate"], tree)
    run(["sh", "cmake/dev_build.sh"], tree, SINGLE_CUDA="ON" if device.cuda else "OFF")
    sys.path.insert(0, str(tree / "generated"))
    try:
        yield importlib.import_module("single")
    finally:
        sys.path.remove(str(tree / "generated"))


def _operators(single: Any) -> list[Operator]:
    aten = torch.ops.aten

    def one(x: torch.Tensor, _: torch.Tensor) -> Inputs:
        return (x,)

    def two(x: torch.Tensor, y: torch.Tensor) -> Inputs:
        return x, y

    def chosen(x: torch.Tensor, y: torch.Tensor) -> Inputs:
        mask = torch.empty_like(x, dtype=torch.bool)
        return mask.copy_(torch.rand(x.shape, device=x.device) < 0.5), x, y

    def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
        return F.gelu(x, approximate="tanh")

    def gelu_tanh_overload(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = aten.gelu.default(x, approximate="tanh")
        return result

    def ours_clip(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = single.clip(x, 0.6, 1.4)
        return result

    def clamp(x: torch.Tensor) -> torch.Tensor:
        return x.clamp(0.6, 1.4)

    def clamp_overload(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = aten.clamp.default(x, 0.6, 1.4)
        return result

    return [
        Operator("multiply", "torch.mul", single.multiply, torch.mul, aten.mul.Tensor, WIDE, two, True),
        Operator("add", "torch.add", single.add, torch.add, aten.add.Tensor, FLOATS, two, True),
        Operator("divide", "torch.div", single.divide, torch.div, aten.div.Tensor, FLOATS, two, True),
        Operator("choose", "torch.where", single.choose, torch.where, aten.where.self, FLOATS, chosen),
        Operator("clip", "torch.clamp", ours_clip, clamp, clamp_overload, FLOATS, one),
        Operator("exponential", "torch.exp", single.exponential, torch.exp, aten.exp.default, FLOATS, one),
        Operator("logistic", "torch.sigmoid", single.logistic, torch.sigmoid, aten.sigmoid.default, WIDE, one),
        Operator(
            "hyperbolic_tangent", "torch.tanh", single.hyperbolic_tangent, torch.tanh, aten.tanh.default, FLOATS, one
        ),
        Operator("logarithm", "torch.log", single.logarithm, torch.log, aten.log.default, FLOATS, one),
        Operator("gelu_erf", "F.gelu", single.gelu_erf, F.gelu, aten.gelu.default, FLOATS, one),
        Operator("gelu_tanh", "F.gelu of tanh", single.gelu_tanh, gelu_tanh, gelu_tanh_overload, FLOATS, one),
    ]


def _layouts(device: Device, options: Options) -> dict[str, Make]:
    """Names of layouts, each with what makes a fresh pair of tensors with elements from 0.5 to 1.5."""
    side = 4096 if device.cuda else 1024
    many = side * side // 32
    large = 1 << 22 if options.quick else 1 << 24

    def pair(first: tuple[int, ...], second: tuple[int, ...], of: Callable[..., Inputs] = lambda x, y: (x, y)) -> Make:
        def make(dtype: torch.dtype, where: str) -> Inputs:
            x, y = ((torch.rand(shape, device=where) + 0.5).to(dtype) for shape in (first, second))
            return of(x, y)

        return make

    def left(kept: int) -> Callable[..., Inputs]:
        return lambda x, y: (x[:, :kept], y[:, :kept])

    found = {f"contiguous, {n} elements": pair((n,), (n,)) for n in (64, 4096, 1 << 20, large)}
    for rows, n in ((side, side), (many, 32)):
        found[f"[{rows}, {n}] and [{n}]"] = pair((rows, n), (n,))
        found[f"[{rows}, {n}] and [{rows}, 1]"] = pair((rows, n), (rows, 1))
    square = (side, side)
    found[f"one transposed, {side} x {side}"] = pair(square, square, lambda x, y: (x, y.t()))
    found[f"both transposed, {side} x {side}"] = pair(square, square, lambda x, y: (x.t(), y.t()))
    for kept, n in ((side - 1, 2 * side), (33, 64), (3, 4)):
        rows = side * side // n
        found[f"{kept} of {n} columns, {rows} rows"] = pair((rows, n), (rows, n), left(kept))
    return found


def _ratios(
    device: Device, options: Options, operators: list[Operator], make: Make, dtype: torch.dtype
) -> list[tuple[Operator, list[float]]]:
    """Ours / ATen's in each repeat, of the operators that a layout is for."""
    x, y = make(dtype, device.name)
    found = []
    for op in operators:
        if x.shape != y.shape and not op.broadcasts:
            continue
        if len(op.inputs(x, y)) == 1 and x.is_contiguous() and x.dim() > 1:
            continue  # the second tensor is what makes the layout
        if not device.cuda and torch.get_num_threads() > 1 and x.numel() <= SMALL:
            continue
        given = op.inputs(x, y)
        torch.testing.assert_close(op.ours(*given), op.aten(*given), rtol=_tolerance(dtype), atol=_tolerance(dtype))
        if device.cuda:
            times = _kernels(device, options, op, make, dtype)
        else:
            candidates = {"ours": _calls(op.ours, given), "aten": _calls(op.aten, given)}
            times = interleave(candidates, options.repeats(11, 5), None)
        found.append((op, [ours / aten for ours, aten in zip(times["ours"], times["aten"], strict=True)]))
    return found


def _tolerance(dtype: torch.dtype) -> float:
    return 8 * torch.finfo(dtype).eps


def _calls(candidate: Function, given: Inputs) -> Clocked:
    """A call, as many times as fill a repeat."""
    candidate(*given)
    count = max(1, round(BATCH / seconds(lambda: candidate(*given))))

    def work() -> None:
        for _ in range(count):
            candidate(*given)

    clock = clocked(work)
    return lambda: clock() / count


def _kernels(device: Device, options: Options, op: Operator, make: Make, dtype: torch.dtype) -> dict[str, list[float]]:
    """Microseconds of a kernel in each repeat."""
    given = op.inputs(*make(dtype, device.name))
    moved = sum(t.numel() * t.element_size() for t in (*given, op.aten(*given)))
    count = input_sets(device, moved)
    sets = [op.inputs(*make(dtype, device.name)) for _ in range(count)]
    bodies = {
        "ours": lambda number: op.ours(*sets[number]),
        "aten": lambda number: op.aten(*sets[number]),
    }
    return kernel_times(device, bodies, count, moved, options.repeats(9, 5))


def _worst(name: str, ratios: list[tuple[Operator, list[float]]]) -> Figure:
    """The largest median. What lies above 1 by less than the spread of the repeats is level."""
    op, sample = max(((op, summarise(values)) for op, values in ratios), key=lambda pair: pair[1].median)
    target = f"level with {op.peer}"
    return Figure(f"{name}: {op.name}", "x", sample, target, sample.median, sample.low <= 1.0)
