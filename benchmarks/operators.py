"""Kernel times of the operators of models on a GPU, in microseconds per launch, by CUDA-graph replay.

rms_norm, add_rms_norm, layer_norm, softmax, cross_entropy, rope, gelu_mul (tanh), quantize_per_token and
rms_norm_quantize (int8), forward and backward, in bfloat16; beside ATen's way to write each, and torch.compile of that
at a few shapes. Ceilings of the same run, of as many bytes: `copy_` forward, `torch.add` backward.

- wide: N from 64 to 131,072 with 64 million elements, one odd.
- decode: M of 1, 16 and 64 at N = 4,096.
- Results and gradients are compared with the eager way in float64 on each shape before they are timed.

MY_OPS_BENCHMARK names the operators to measure, with commas; all without it.
"""

import os

import torch

from .cuda_cases import ATEN, COMPILED, OURS, Distances, Shape, own_stream
from .cuda_clock import Device, kernel_times, open_device
from .figures import Figure, Grid, Result
from .operator_cases import OPERATORS, operator_cases
from .options import Options
from .progress import Progress
from .timing import Sample, ratio, summarise

ELEMENTS = 64 << 20
WIDE = [64, 256, 512, 1000, 1024, 4096, 4097, 8192, 16384, 32768, 65536, 131072]
QUICK = [64, 512, 4096, 4097, 16384, 65536]
COMPILED_N = [1024, 4096, 16384]
DECODE = [1, 16, 64]
DECODE_N = 4096
# Of the ceiling, for N from 1,024 to 16,384.
FORWARD_SHARE = {"gelu_mul": 0.95, "rope": 0.92, "cross_entropy": 0.92, "softmax": 0.93, "quantize_per_token": 0.88}
FORWARD_SHARE |= {"rms_norm": 0.97, "layer_norm": 0.97, "add_rms_norm": 0.95, "rms_norm_quantize": 0.88}
BACKWARD_SHARE = {"gelu_mul": 0.92, "rope": 0.92, "cross_entropy": 0.92, "softmax": 0.88}
BACKWARD_SHARE |= {"rms_norm": 0.90, "layer_norm": 0.90, "add_rms_norm": 0.90}


def measure(options: Options) -> Result:
    device = open_device("cpu" if options.dry_run else options.device)
    wanted = [name for name in os.environ.get("MY_OPS_BENCHMARK", ",".join(OPERATORS)).split(",") if name]
    elements = 1 << 14 if options.dry_run else ELEMENTS
    repeats = 2 if options.dry_run else options.repeats(11, 5)
    widths = QUICK if options.quick else WIDE
    shapes = [Shape(max(1, elements // n), n) for n in widths] + [Shape(m, DECODE_N) for m in DECODE]
    result, worst = Result(), list[tuple[float, str]]()
    progress = Progress("operators", len(wanted) * len(shapes))
    torch.manual_seed(0)
    for name in wanted:
        rows: dict[str, dict[Shape, dict[str, list[float]]]] = {}
        for shape in shapes:
            compiled = shape.n in COMPILED_N and not options.quick and not options.dry_run
            _time(device, name, shape, compiled, repeats, rows, worst, result)
            progress.step(f"{name} {shape}")
        for kind, table in rows.items():
            result.figures += _figures(kind, table)
            result.grids.append(_grid(kind, table))
    progress.close()
    distance, what = max(worst, default=(0.0, "nothing"))
    label = f"distance from float64, worst: {what}"
    result.figures.append(Figure(label, "of the limit", summarise([distance]), "<= 1", distance, distance <= 1))
    return result


def _time(
    device: Device,
    name: str,
    shape: Shape,
    compiled: bool,
    repeats: int,
    rows: dict[str, dict[Shape, dict[str, list[float]]]],
    worst: Distances,
    result: Result,
) -> None:
    try:
        with own_stream(device):
            for case in operator_cases(device, name, shape, compiled, worst):
                times = kernel_times(device, case.bodies, case.sets, case.moved, repeats)
                rows.setdefault(case.kind, {})[shape] = {
                    "ceiling" if k == case.ceiling else k: v for k, v in times.items()
                }
    except RuntimeError as error:
        text = (str(error).splitlines() or [""])[0][:150]
        result.notes.append(f"FAILED: {name} at {shape}: {type(error).__name__}: {text}")


def _figures(kind: str, table: dict[Shape, dict[str, list[float]]]) -> list[Figure]:
    """The worst share of the ceiling among N from 1,024 to 16,384, and the worst ratio to ATen anywhere."""
    shares = {f"{name} backward": share for name, share in BACKWARD_SHARE.items()} | FORWARD_SHARE
    figures = []
    wide = [shape for shape in table if 1024 <= shape.n <= 16384 and shape.n % 8 == 0 and shape.rows > max(DECODE)]
    if wide:
        share, shape = min(((ratio(table[s]["ceiling"], table[s][OURS]), s) for s in wide), key=lambda item: item[0])
        sample, least = summarise(table[shape][OURS]), shares[kind]
        text = f">= {least:g} of the ceiling"
        figures.append(Figure(f"{kind}, N 1,024 to 16,384: worst, {shape}", "us", sample, text, share, share >= least))
    for peer in (ATEN, COMPILED):
        ratios = [(ratio(row[OURS], row[peer]), shape) for shape, row in table.items() if peer in row]
        if ratios:
            found, shape = max(ratios, key=lambda item: item[0])
            sample = summarise(table[shape][OURS])
            name = f"{kind}: worst against {peer}, {shape}"
            figures.append(Figure(name, "us", sample, f"<= 1 x {peer}", found, found <= 1.0))
    return figures


def _grid(kind: str, table: dict[Shape, dict[str, list[float]]]) -> Grid:
    shown: dict[str, dict[str, Sample | None]] = {}
    for shape, times in table.items():
        row: dict[str, Sample | None] = {name: summarise(values) for name, values in times.items()}
        for peer in ("ceiling", ATEN, COMPILED):
            if peer in times:
                row[f"{peer} / {OURS}"] = summarise([ratio(times[peer], times[OURS])])
        shown[str(shape)] = row
    return Grid(kind, "us per launch", shown)
