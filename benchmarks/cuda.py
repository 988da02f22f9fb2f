"""Kernel times on a GPU, in microseconds per launch, by CUDA-graph replay; and eager times with host cost.

RMSNorm forward and backward (both gradients), square and its backward, gather_rows; bfloat16, and float32 and float16
at a few shapes. Ceilings of the same run: `empty_like(x).copy_(x)` for one read and one write, `torch.add(x, dy)` for
two reads and one write; they allocate their outputs like all that is compared. Peers: ATen everywhere; torch.compile,
QuACK and Liger (where installed) at a few shapes.

- wide: N from 64 to 65,536 with 64 million elements, powers of two, other multiples of 8, and odd ones.
- few rows: M from 1 to 32,768, each at several N.
- Inputs rotate over several times the L2 cache, except for problems so small that 64 of them fit into it.
- Every output and gradient is compared with float64 on its shape before it is timed.

About two minutes on an H200, half of one with --quick.
"""

from collections.abc import Callable, Iterator, Mapping

import torch

from .cuda_cases import (
    ATEN,
    COPY,
    OURS,
    TRIAD,
    Case,
    Distances,
    Function,
    Shape,
    compiled_roads,
    gather_rows_cases,
    other_roads,
    own_stream,
    rms_norm_cases,
    rms_norm_roads,
    square_cases,
)
from .cuda_clock import Body, Device, eager_times, kernel_times, open_device
from .figures import Figure, Grid, Result
from .options import Options
from .progress import Progress
from .timing import Sample, ratio, summarise

ELEMENTS = 64 << 20
POWERS = [1 << power for power in range(6, 17)]
OTHERS = [1000, 1536, 3072, 5120, 12288]  # multiples of 8
ODD = [65, 1023, 4097, 12345, 50257]
FEW_ROWS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 32768]
FEW_ROWS_N = [64, 256, 1024, 4096, 16384, 65536]
PEER_N = [256, 1024, 4096, 8192, 16384, 65536]
COMPILED_N = [1024, 4096, 16384]
EAGER = [(32768, 1024), (16384, 4096), (4096, 16384), (256, 4096), (1, 4096)]
FORWARD_SHARE, FORWARD_N = 0.94, (1024, 16384)
BACKWARD_SHARE, BACKWARD_N = 0.82, (1024, 8192)
PEER_BUDGET = 150.0  # seconds after which optional peers are left out

Times = dict[str, list[float]]
Table = dict[str, dict[Shape, Times]]  # kind, shape, candidate
Clock = Callable[[Device, Mapping[str, Body], int, int, int], Times]


class Plan:
    """The shapes of a run, smaller with --quick, and tiny with --dry-run."""

    def __init__(self, options: Options) -> None:
        quick = options.quick
        self.elements = 1 << 14 if options.dry_run else ELEMENTS
        self.repeats = 2 if options.dry_run else options.repeats(15, 7)
        self.eager_repeats = 2 if options.dry_run else 9
        wide = [*POWERS, *OTHERS, *ODD] if not quick else [64, 256, 512, 1024, 4096, 8192, 16384, 65536, 5120, 4097]
        self.wide = [self._shape(n) for n in wide]
        rows, columns = (FEW_ROWS, FEW_ROWS_N) if not quick else ([1, 256, 32768], [256, 4096])
        shapes = [Shape(m, n) for m in rows for n in columns]
        self.few = [shape for shape in shapes if shape.rows * shape.n < self.elements]
        exact = [torch.float32] if quick else [torch.float32, torch.float16]
        self.dtypes = [self._shape(n, dtype) for dtype in exact for n in (1024, 4096, 16384)]
        self.peers = [] if quick else [self._shape(n) for n in PEER_N]
        self.simple = [self._shape(n, dtype) for dtype in (torch.bfloat16, torch.float32) for n in (256, 4096)]
        pairs = [(4, 64), (1, 64)] if options.dry_run else EAGER[2:] if quick else EAGER
        self.eager = [Shape(*pair) for pair in pairs]

    def _shape(self, n: int, dtype: torch.dtype = torch.bfloat16) -> Shape:
        return Shape(max(1, self.elements // n), n, dtype)

    def steps(self) -> int:
        lists = (self.wide, self.few, self.dtypes, self.peers, self.eager)
        return sum(len(shapes) for shapes in lists) + 2 * len(self.simple)


def measure(options: Options) -> Result:
    run = Run(open_device("cpu" if options.dry_run else options.device), Plan(options))
    plan, result = run.plan, run.result
    torch.manual_seed(0)
    _warm_up(run.device)

    wide = run.rms_norm(plan.wide)
    few = run.rms_norm(plan.few)
    dtypes = run.rms_norm(plan.dtypes)
    simple: Table = {}
    for shape in plan.simple:
        for cases in (square_cases, gather_rows_cases):
            run.time(shape, cases(run.device, shape, run.worst), simple, plan.repeats)
    eager: Table = {}
    for shape in plan.eager:
        cases_here = rms_norm_cases(run.device, shape, rms_norm_roads(shape.n), None)
        run.time(shape, cases_here, eager, plan.eager_repeats, eager_times)
    peers = run.peers()
    run.progress.close()

    result.figures += _shares(wide["forward"], "forward", COPY, FORWARD_SHARE, FORWARD_N)
    result.figures += _shares(wide["backward"], "backward", TRIAD, BACKWARD_SHARE, BACKWARD_N)
    result.figures += _never_slower({"64 million elements": wide, "few rows": few, "float32, float16": dtypes})
    result.figures += run.correctness()
    for title, table in (
        ("RMSNorm, 64 million elements", wide),
        ("RMSNorm, few rows", few),
        ("RMSNorm, other dtypes", dtypes),
        ("RMSNorm, more peers", peers),
        ("Others", simple),
    ):
        result.grids += [_grid(f"{title}: {kind}", "us per launch", rows) for kind, rows in table.items()]
    result.grids += [_grid(f"RMSNorm, eager: {kind}", "us per call", rows) for kind, rows in eager.items()]
    return result


class Run:
    """One run: the device, the shapes, and what is collected on the way. A shape that fails is noted and counted."""

    def __init__(self, device: Device, plan: Plan) -> None:
        self.device = device
        self.plan = plan
        self.result = Result()
        self.worst: Distances = []
        self.failed = 0
        self.progress = Progress("cuda", plan.steps())

    def rms_norm(self, shapes: list[Shape]) -> Table:
        table: Table = {"forward": {}, "backward": {}}
        for shape in shapes:
            self.time(shape, rms_norm_cases(self.device, shape, rms_norm_roads(shape.n), self.worst), table)
        return table

    def time(
        self, shape: Shape, cases: Iterator[Case], table: Table, repeats: int | None = None, clock: Clock = kernel_times
    ) -> None:
        """Times every case of a shape into the table."""
        try:
            with own_stream(self.device):
                for case in cases:
                    times = clock(self.device, case.bodies, case.sets, case.moved, repeats or self.plan.repeats)
                    table.setdefault(case.kind, {}).setdefault(shape, {}).update(times)
        except RuntimeError as error:
            self.failed += 1
            self.result.notes.append(f"FAILED at {shape}: {_one_line(error)}")
        self.progress.step(str(shape))

    def peers(self) -> Table:
        """my_ops and ATen once more beside torch.compile, QuACK and Liger. A peer is tried alone before, so that one
        that fails takes nothing along."""
        table: Table = {}
        others, missing = other_roads() if self.device.cuda else ({}, ["QuACK", "Liger"])
        if missing:
            self.result.notes.append(f"Not installed here: {', '.join(missing)}.")
        for shape in self.plan.peers:
            candidates = rms_norm_roads(shape.n)
            compiled = compiled_roads(shape.n) if shape.n in COMPILED_N else {}
            for name, candidate in {**others, **compiled}.items():
                if self.progress.elapsed() > PEER_BUDGET:
                    self.result.notes.append(f"{name} at {shape}: left out, time is up.")
                elif self._works(name, candidate, shape):
                    candidates[name] = candidate
            self.time(shape, rms_norm_cases(self.device, shape, candidates, None), table)
        return table

    def correctness(self) -> list[Figure]:
        """How far my_ops and the peers are from float64, and how many shapes could not be measured."""
        figures = []
        for name in (OURS, ATEN):
            distance, what = max((item for item in self.worst if item[1].startswith(name)), default=(0.0, name))
            target, met = ("<= 1", distance <= 1) if name == OURS else ("beside 1", None)
            label = f"distance from float64, worst: {what}"
            figures.append(Figure(label, "of the limit", summarise([distance]), target, distance, met))
        failed = summarise([float(self.failed)])
        figures.append(Figure("shapes that failed", "", failed, "<= 0", float(self.failed), self.failed == 0))
        return figures

    def _works(self, name: str, candidate: Function, shape: Shape) -> bool:
        try:
            with own_stream(self.device):
                distances: Distances = []
                for _ in rms_norm_cases(self.device, shape, {name: candidate}, distances):
                    pass
        except Exception as error:
            self.result.notes.append(f"{name} at {shape}: {_one_line(error)}")
            return False
        distance, what = max(distances)
        if distance > 8:
            self.result.notes.append(f"{what}: {distance:.0f} times the limit away from float64")
        return distance <= 8


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"


def _warm_up(device: Device) -> None:
    """Half a second of work, for the clocks."""
    if device.cuda:
        x = torch.ones(ELEMENTS, device="cuda")
        for _ in range(4000):
            x.mul_(1.0)
        torch.cuda.synchronize()


def _shares(rows: dict[Shape, Times], kind: str, ceiling: str, least: float, within: tuple[int, int]) -> list[Figure]:
    """The worst share of the ceiling among the widths with a target, and among the others."""
    low, high = within
    even = [shape for shape in rows if shape.n % 8 == 0]
    groups = [
        (f"N {low:,} to {high:,}", [shape for shape in even if low <= shape.n <= high], least),
        (f"N < {low:,}", [shape for shape in even if shape.n < low], None),
        (f"N > {high:,}", [shape for shape in even if shape.n > high], None),
        ("N no multiple of 8", [shape for shape in rows if shape.n % 8], None),
    ]
    figures = []
    for label, shapes, target in groups:
        if shapes:
            share, shape = min(((ratio(rows[s][ceiling], rows[s][OURS]), s) for s in shapes), key=lambda item: item[0])
            name = f"RMSNorm {kind}, {label}: worst, {shape}"
            words = f">= {target:g} of {ceiling}" if target else f"beside {ceiling}"
            met = share >= target if target else None
            figures.append(Figure(name, "us", summarise(rows[shape][OURS]), words, share, met))
    return figures


def _never_slower(tables: dict[str, Table]) -> list[Figure]:
    figures = []
    for title, table in tables.items():
        for kind, rows in table.items():
            if rows:
                ratios = ((ratio(row[OURS], row[ATEN]), shape) for shape, row in rows.items())
                found, shape = max(ratios, key=lambda item: item[0])
                name = f"RMSNorm {kind}, {title}: worst against ATen, {shape}"
                sample = summarise(rows[shape][OURS])
                figures.append(Figure(name, "us", sample, f"<= 1 x {ATEN}", found, found <= 1.0))
    return figures


def _grid(title: str, unit: str, rows: dict[Shape, Times]) -> Grid:
    shown: dict[str, dict[str, Sample | None]] = {}
    for shape, times in rows.items():
        shown[str(shape)] = {name: summarise(values) for name, values in times.items()}
        ours = times[OURS]
        for peer in (name for name in (COPY, TRIAD, ATEN) if name in times):
            shown[str(shape)][f"{peer} / {OURS}"] = summarise([ratio(times[peer], ours)])
    return Grid(title, unit, shown)
