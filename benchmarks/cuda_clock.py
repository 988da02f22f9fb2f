"""Kernel time by CUDA-graph replay, and eager time with the host's part in it.

A body is a function of the number of an input set; it launches one operator and allocates its output. Bodies are
captured in a row, so that no host time lies between kernels, and replays of everything that is compared are queued in
turns without a pause. All graphs share one memory pool, whose blocks they use one after the other: where in memory an
output lies makes up to 5 % for some kernels. On the CPU the same code calls the bodies and reads the clock: that tries
the code, its times mean nothing.
"""

import gc
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

Body = Callable[[int], object]

GRAPH_SECONDS = 1e-3  # of one captured graph, so that the gap between two replays does not count
MOST_LAUNCHES = 400
ASSUMED_RATE = 4e12  # bytes per second, to guess a kernel's time before it is known
LEAST_KERNEL = 1.5e-6


@dataclass(frozen=True)
class Device:
    """Where everything runs: on the GPU inside `active`, a stream other than the default one, because graphs are
    captured there and a backward runs on the stream that recorded it."""

    name: str
    cache_bytes: int
    stream: Any

    @property
    def cuda(self) -> bool:
        return self.name == "cuda"

    def active(self) -> AbstractContextManager[Any]:
        return torch.cuda.stream(self.stream) if self.cuda else nullcontext()

    def wait(self) -> None:
        if self.cuda:
            torch.cuda.synchronize()


def open_device(name: str) -> Device:
    if name == "cuda":
        return Device(name, torch.cuda.get_device_properties(0).L2_cache_size, torch.cuda.Stream())  # type: ignore[no-untyped-call]
    return Device(name, 1 << 14, None)


def input_sets(device: Device, moved: int) -> int:
    """How many input sets to rotate, so that a set has left the L2 cache when its turn comes: together eight times its
    size, at least 4 sets and at most 64. Small problems stay in it, for everybody."""
    return min(64, max(4, math.ceil(8 * device.cache_bytes / max(moved, 1))))


def launches(sets: int, moved: int) -> int:
    """How many launches a graph holds: a millisecond's worth, in whole rotations."""
    wanted = GRAPH_SECONDS / max(LEAST_KERNEL, moved / ASSUMED_RATE)
    return sets * math.ceil(min(wanted, MOST_LAUNCHES) / sets)


def kernel_times(
    device: Device, bodies: Mapping[str, Body], sets: int, moved: int, repeats: int
) -> dict[str, list[float]]:
    """Microseconds per launch of each repeat."""
    count = launches(sets, moved) if device.cuda else sets
    pool = torch.cuda.graph_pool_handle() if device.cuda else None
    replays = {name: _capture(device, body, sets, count, pool) for name, body in bodies.items()}
    for replay in replays.values():
        replay()
    if not device.cuda:
        return {name: [_host_seconds(replay) / count * 1e6 for _ in range(repeats)] for name, replay in replays.items()}
    times: dict[str, list[float]] = {name: [] for name in bodies}
    order = list(bodies)
    for _ in range(repeats):
        events = {}
        order.reverse()
        for name in order:
            events[name] = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]
            replays[name]()  # the GPU is busy with this one while the host queues what is timed
            events[name][0].record()
            replays[name]()
            replays[name]()
            events[name][1].record()
        device.wait()
        for name, (start, end) in events.items():
            times[name].append(start.elapsed_time(end) * 1e3 / (2 * count))
    return times


def eager_times(
    device: Device, bodies: Mapping[str, Body], sets: int, moved: int, repeats: int
) -> dict[str, list[float]]:
    """Microseconds per call of 50 calls in a row, from an idle GPU until it is idle again: the longer of host time and
    kernel time, as a model's forward feels it."""
    calls = 50
    times: dict[str, list[float]] = {name: [] for name in bodies}
    order = list(bodies)
    for repeat in range(repeats + 2):
        order.reverse()
        for name in order:
            body = bodies[name]
            device.wait()
            start = time.perf_counter()
            for call in range(calls):
                body(call % sets)
            device.wait()
            if repeat >= 2:  # the first two warm up
                times[name].append((time.perf_counter() - start) / calls * 1e6)
    return times


def _capture(device: Device, body: Body, sets: int, count: int, pool: Any) -> Callable[[], None]:
    """A function that launches the body `count` times in a row."""

    def rotate() -> None:
        kept: deque[object] = deque(maxlen=sets)  # a rotation of outputs, as there is one of inputs
        for launch in range(count):
            kept.append(body(launch % sets))

    if not device.cuda:
        return rotate
    for launch in range(min(sets, 3)):  # compiles, loads and allocates what first calls need
        body(launch)
    device.wait()
    graph = torch.cuda.CUDAGraph()
    gc.disable()  # what a collection would free may not be freed during a capture
    graph.capture_begin(pool=pool)
    try:
        rotate()
    finally:
        graph.capture_end()
        gc.enable()
    return graph.replay


def _host_seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
