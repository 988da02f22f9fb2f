"""Large inputs on the CPU: bytes that must move over the time taken, in GB/s, at two threads.

Inputs of 128 MiB, several times the last-level cache: rms_norm forward and backward (both gradients) and square, in
float32 and bfloat16. Each input is counted read once, each output written once.

- memcpy: the ceiling for one read and one write. One memcpy split over the same number of threads
  (peers/memcpy_split.c) into memory that is there already; backward, with two reads for a write, is
  shown beside it too.
- eager F.rms_norm, and torch.compile of it (Inductor's C++), with torch's own threads set to the same number.

The allocator is told to keep freed memory (mallopt), for everyone alike: by default glibc gives large blocks back to
the kernel after each call and takes fresh pages at the next, which costs more than the copy and hides all differences.
"""

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from . import peers
from .figures import Figure, Grid, Result, compared
from .options import EPS, Options
from .progress import Progress
from .timing import Clocked, Sample, clocked, interleave, ratio, seconds, summarise

THREADS = 2
BYTES = 128 << 20
WIDTH = 4096
MEMCPY_SHARE = 0.8
EAGER_FACTOR = 3.0
COMPILED = "torch.compile(F.rms_norm)"
EAGER = "F.rms_norm"
OURS = "my_ops"
MEMCPY = "memcpy"
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # of malloc.h


@dataclass(frozen=True)
class Case:
    """One comparison: `reads_and_writes` tensors of BYTES bytes move through memory."""

    name: str
    reads_and_writes: int
    candidates: dict[str, Clocked]


def measure(options: Options) -> Result:
    import my_ops

    keep_memory()
    threads = min(THREADS, len(os.sched_getaffinity(0)))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    repeats = options.repeats(21, 5)
    result = Result(notes=[f"{threads} threads, {BYTES >> 20} MiB a tensor, rows of {WIDTH}."])
    progress = Progress("cpu", repeats * 8)
    rows: dict[str, dict[str, dict[str, Sample | None]]] = {"rms_norm": {}, "square": {}}
    compiled = torch.compile(F.rms_norm, dynamic=False)
    for dtype in (torch.float32, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        x = torch.randn(BYTES // dtype.itemsize // WIDTH, WIDTH).to(dtype)
        weight = torch.randn(WIDTH).to(dtype)
        memcpy = _memcpy(x, threads)
        candidates: dict[str, Callable[..., torch.Tensor]] = {
            OURS: lambda x, weight: my_ops.rms_norm(x, weight, EPS),
            EAGER: lambda x, weight: F.rms_norm(x, (WIDTH,), weight, EPS),
            COMPILED: lambda x, weight: compiled(x, (WIDTH,), weight, EPS),
        }
        candidates = _available(candidates, x, weight, result)
        squares: dict[str, Callable[..., torch.Tensor]] = {OURS: my_ops.square, "torch.square": torch.square}
        for case in (
            Case(f"rms_norm forward, {name}", 2, {MEMCPY: memcpy, **_forward(candidates, x, weight)}),
            Case(f"rms_norm backward, {name}", 3, {MEMCPY: memcpy, **_backward(candidates, x, weight)}),
            Case(f"square forward, {name}", 2, {MEMCPY: memcpy, **_forward(squares, x)}),
            Case(f"square backward, {name}", 3, {MEMCPY: memcpy, **_backward(squares, x)}),
        ):
            rates = _rates(case, interleave(case.candidates, repeats, progress))
            if case.name.startswith("rms_norm forward"):
                result.figures += _targets(case, rates)
            rows[case.name.split()[0]][case.name] = _row(rates)
    torch.set_num_threads(before)
    progress.close()
    result.grids += [Grid(f"{name}, large inputs", "GB/s", table) for name, table in rows.items()]
    return result


def keep_memory() -> None:
    """Makes glibc keep what was freed, and serve large blocks from it."""
    libc = ctypes.CDLL(None)
    libc.mallopt(M_MMAP_MAX, 0)
    libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


def _rates(case: Case, times: dict[str, list[float]]) -> dict[str, list[float]]:
    """GB/s of each repeat."""
    rates: dict[str, list[float]] = {}
    for name, values in times.items():
        moved = BYTES * (2 if name == MEMCPY else case.reads_and_writes) / 1e9
        rates[name] = [moved / value for value in values]
    return rates


def _targets(case: Case, rates: dict[str, list[float]]) -> list[Figure]:
    ours = f"{case.name}: {OURS}"
    return [
        compared(ours, "GB/s", rates[OURS], MEMCPY, rates[MEMCPY], at_least=MEMCPY_SHARE),
        compared(ours, "GB/s", rates[OURS], EAGER, rates[EAGER], at_least=EAGER_FACTOR),
    ]


def _row(rates: dict[str, list[float]]) -> dict[str, Sample | None]:
    """Rates, then ours as a multiple of each."""
    row: dict[str, Sample | None] = {name: summarise(values) for name, values in rates.items()}
    for name, values in rates.items():
        if name != OURS:
            row[f"{OURS} / {name}"] = summarise([ratio(rates[OURS], values)])
    return row


def _memcpy(x: torch.Tensor, threads: int) -> Clocked:
    copy = peers.load_memcpy()
    to = torch.zeros_like(x)
    return clocked(lambda: copy(to, x, threads))


def _forward(candidates: dict[str, Callable[..., torch.Tensor]], *inputs: torch.Tensor) -> dict[str, Clocked]:
    def clock(candidate: Callable[..., torch.Tensor]) -> Clocked:
        return clocked(lambda: candidate(*inputs))

    return {name: clock(candidate) for name, candidate in candidates.items()}


def _backward(candidates: dict[str, Callable[..., torch.Tensor]], *given: torch.Tensor) -> dict[str, Clocked]:
    """Only `torch.autograd.grad` is timed; each repeat records its own forward before."""
    inputs = [tensor.detach().requires_grad_() for tensor in given]
    grad = torch.randn_like(given[0])

    def clock(candidate: Callable[..., torch.Tensor]) -> Clocked:
        def run() -> float:
            y = candidate(*inputs)
            return seconds(lambda: torch.autograd.grad(y, inputs, grad))

        return run

    return {name: clock(candidate) for name, candidate in candidates.items()}


def _available(
    candidates: dict[str, Callable[..., torch.Tensor]], x: torch.Tensor, weight: torch.Tensor, result: Result
) -> dict[str, Any]:
    """Those that run here, each compared with float64 on the first rows. Inductor needs a C++ compiler."""
    rows = slice(0, 64)
    expected = F.rms_norm(x[rows].double(), (WIDTH,), weight.double(), EPS)
    found = {}
    for name, candidate in candidates.items():
        try:
            y = candidate(x, weight)
        except Exception as error:
            if name == OURS:
                raise
            result.notes.append(f"{name}: not measured ({type(error).__name__})")
            continue
        limit = 1e-5 if x.dtype == torch.float32 else 5e-3
        distance = (y[rows].double() - expected).norm() / expected.norm()
        if not distance <= limit:
            raise RuntimeError(f"{name} is {distance:.1e} away from float64")
        found[name] = candidate
    return found
