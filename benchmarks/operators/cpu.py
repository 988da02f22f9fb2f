"""Every operator on the CPU, forward and backward: large inputs in float32 and bfloat16, on two threads.

Inputs of 128 MiB, several times the last-level cache, in rows of 4,096. Lists, whose cases are in float32, are of as
many bytes: large ones in tensors of a million elements, a weight of a small model; many ones in tensors of 4,096, where
what the host does for each tensor takes longer than its elements. memcpy, split over as many threads, into memory that
is there already, is the ceiling, for as many bytes as traffic.py counts. ATen eager everywhere, and Inductor's C++ for
some operators. All in one process and in turns, since other work on the machine slows everybody then. The allocator is
told to keep what was freed, as in the group cpu.
"""

import os
from collections.abc import Callable
from typing import Any

import torch

from .. import peers
from ..cpu import THREADS, keep_memory
from ..cuda_cases import ATEN, COMPILED, OURS, Shape
from ..options import Options
from ..performance import store
from ..progress import Progress
from ..timing import Clocked, clocked, interleave, summarise
from . import traffic_of
from .cases import CASES
from .cases.operator import Operator
from .cases.peers import implementation_of
from .checked import distance
from .shapes import LISTS, OF_OPERATOR, Named
from .timed import CEILING, body_of, grad_mode

BYTES = 128 << 20
WIDTH = 4096
DTYPES = (torch.float32, torch.bfloat16)
COMPILED_TOO = ("rms_norm", "layer_norm", "softmax", "silu_mul", "quantize_per_token")
WEIGHT = 1 << 20  # elements of a tensor in a list
FEW = 64  # rows that are compared with float64


def shapes_of(name: str, size: int = BYTES) -> list[Named]:
    """Where an operator is measured; `size` is the bytes of a tensor, or of the tensors of a list together."""

    def named(label: str, width: int, dtype: torch.dtype) -> Named:
        return Named(f"{label} {_word(dtype)}", Shape(max(1, size // dtype.itemsize // width), width, dtype))

    if OF_OPERATOR.get(name) is LISTS:
        return [named("large", WEIGHT, torch.float32), named("many", WIDTH, torch.float32)]
    return [named("large", WIDTH, dtype) for dtype in DTYPES]


class Run:
    """Operators in turns with their peers; `size` is the bytes of a tensor."""

    def __init__(self, options: Options, operators: list[str], size: int = BYTES) -> None:
        self.operators = operators
        self.size = size
        self.repeats = options.repeats(11, 3)
        self.peers = [
            p for p in (OURS, ATEN, COMPILED) if p == OURS or p in (options.selection.peers or (ATEN, COMPILED))
        ]
        self.entries: list[store.Entry] = []
        self.notes: list[str] = []

    def measure(self) -> None:
        keep_memory()
        before = torch.get_num_threads()
        torch.set_num_threads(min(THREADS, len(os.sched_getaffinity(0))))
        plan = [(name, named) for name in self.operators for named in shapes_of(name, self.size)]
        progress = Progress("operators", len(plan))
        for name, named in plan:
            self.operator(name, named)
            progress.step(f"{name} {named.name}")
        progress.close()
        torch.set_num_threads(before)

    def operator(self, name: str, named: Named) -> None:
        shape = named.shape
        op = CASES[name](shape, "cpu")
        distances = self.distances(name, shape.dtype)
        implementation = {peer: implementation_of(peer, name, shape, op) for peer in distances}
        inputs = op.inputs()
        copy = _memcpy(self.size)
        for kind, moved in traffic_of(name, named).items():
            bodies = {
                peer: body_of(kind, op, function, [inputs])
                for peer, function in implementation.items()
                if function is not None
            }
            clocks: dict[str, Clocked] = {CEILING: copy} | {peer: _clock(body) for peer, body in bodies.items()}
            with grad_mode(kind):
                times = interleave(clocks, self.repeats, None)
            # as many bytes as the operator moves
            ceiling = [one * moved.total / (2 * self.size) for one in times[CEILING]]
            for peer in bodies:
                entry = {
                    "operator": name, "kind": kind, "shape": named.name, "device": "cpu", "peer": peer,
                    "rows": shape.rows, "n": shape.n, "bytes": moved.total, "distance": distances[peer],
                    "felt": _quartiles(times[peer]),
                }  # fmt: skip
                if peer == OURS:
                    entry |= {CEILING: _quartiles(ceiling), "against": "memcpy"}
                else:
                    entry["beside"] = {"felt": _quartiles(times[OURS])[1]}
                self.entries.append(entry)

    def distances(self, name: str, dtype: torch.dtype) -> dict[str, float]:
        """The peers that run here, and how far from float64 they are on a few rows."""
        shape = Shape(FEW, WIDTH, dtype)
        op: Operator = CASES[name](shape, "cpu")
        found = {}
        for peer in self.peers:
            if peer == COMPILED and name not in COMPILED_TOO:
                continue
            try:
                implementation = implementation_of(peer, name, shape, op)
                assert implementation is not None
                found[peer] = distance(op, implementation, shape)
            except Exception as error:
                if peer == OURS:
                    raise
                self.notes.append(f"{peer}, {name}: not measured ({type(error).__name__})")
        return found


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _clock(body: Callable[[int], Any]) -> Clocked:
    return clocked(lambda: body(0))


def _memcpy(size: int) -> Clocked:
    copy = peers.load_memcpy()
    x = torch.ones(size // 4)
    to = torch.zeros_like(x)
    return clocked(lambda: copy(to, x, torch.get_num_threads()))


def _quartiles(seconds: list[float]) -> list[float]:
    sample = summarise([one * 1e6 for one in seconds])
    return [sample.low, sample.median, sample.high]
