"""The process of one peer: python -m benchmarks.operators.worker PEER cpu|cuda.

Reads a request a line, JSON, and answers with lines of JSON. `prepare`: for each shape of an operator, compile what
compiles, run it forward and backward, and compare it with float64; any number of processes do so side by side. `time`:
one shape, while every other process waits. What libraries print goes to stderr.
"""

import contextlib
import gc
import importlib.metadata
import json
import os
import re
import sys
from typing import Any

import torch

from ..cuda_cases import COMPILED, Shape
from ..cuda_clock import Device, open_device
from ..timing import summarise
from .cases import CASES
from .cases.operator import Operator
from .cases.peers import INSTALLED, LIGER, QUACK, Implementation, implementation_of
from .checked import LATE, distance
from .timed import Work, time_work

PACKAGES = {LIGER: "liger-kernel", QUACK: "quack-kernels", COMPILED: "triton"}
FAR = 8.0  # times the limit: that far from float64 a peer is not compared with


class Worker:
    """One peer with what it has prepared."""

    def __init__(self, peer: str, device: Device) -> None:
        self.peer = peer
        self.device = device
        self.ready: dict[tuple[str, str], tuple[Operator, Implementation]] = {}
        self.frozen = False

    def prepare(self, operator: str, name: str, rows: int, n: int) -> dict[str, Any]:
        shape = Shape(rows, n)
        if LATE in os.environ and os.path.exists(os.environ[LATE]):
            return {"shape": name, "error": "not ready in time"}
        try:
            op = CASES[operator](shape, self.device.name)
            implementation = implementation_of(self.peer, operator, shape, op)
            if implementation is None:
                return {"shape": name, "error": "has no such operator"}
            with self.stream():
                found = distance(op, implementation, shape)
        except Exception as error:
            return {"shape": name, "error": one_line(error)}
        if self.peer in (*INSTALLED, COMPILED) and not found <= FAR:
            return {"shape": name, "error": f"{found:.0f} times the limit away from float64"}
        self.ready[operator, name] = op, implementation
        return {"shape": name, "distance": found}

    def time(self, operator: str, name: str, works: list[dict[str, Any]], repeats: int) -> dict[str, Any]:
        if not self.frozen:  # what was imported and prepared: collections are to look at the rest only
            gc.collect()
            gc.freeze()
            self.frozen = True
        op, implementation = self.ready[operator, name]
        kinds: dict[str, Any] = {}
        for work in works:
            try:
                with self.stream():
                    times, note = time_work(self.device, op, implementation, Work(**work), repeats)
            except Exception as error:
                kinds[work["kind"]] = {"note": one_line(error)}
                continue
            found = {key: [s.low, s.median, s.high] for key, s in ((k, summarise(v)) for k, v in times.items())}
            kinds[work["kind"]] = found | ({"note": note} if note else {})
        return {"kinds": kinds}

    @contextlib.contextmanager
    def stream(self) -> Any:
        """The device's own stream, and at the end its memory given back: other processes want it."""
        try:
            with self.device.active():
                yield
        finally:
            if self.device.cuda:
                torch.cuda.synchronize()
                torch.cuda.empty_cache()


def one_line(error: Exception) -> str:
    """The first line that says something, without colours."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()]
    return f"{type(error).__name__}: {next(filter(None, lines), '')[:120]}"


def version(peer: str) -> str:
    try:
        return importlib.metadata.version(PACKAGES[peer]) if peer in PACKAGES else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def main() -> None:
    peer, device = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if peer == COMPILED:
        from torch._functorch import config

        config.donated_buffer = False  # a compiled backward may not write over what the next replay reads again
    torch.manual_seed(0)
    torch.set_num_threads(1)

    def answer(found: dict[str, Any]) -> None:
        answers.write(json.dumps(found) + "\n")
        answers.flush()

    try:
        worker = Worker(peer, open_device(device))
    except Exception as error:
        answer({"error": one_line(error)})
        return
    answer({"version": version(peer)})
    for line in sys.stdin:
        request = json.loads(line)
        answer(getattr(worker, request.pop("do"))(**request))


if __name__ == "__main__":
    main()
