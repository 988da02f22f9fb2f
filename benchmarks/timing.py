"""Interleaved repeats, and what is kept of them."""

import statistics
import time
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .progress import Progress

Clocked = Callable[[], float]  # does the work once and returns seconds


@dataclass(frozen=True)
class Sample:
    """Median and quartiles of repeats."""

    median: float
    low: float
    high: float
    repeats: int


def summarise(values: list[float]) -> Sample:
    ordered = sorted(values)
    if len(ordered) == 1:
        return Sample(ordered[0], ordered[0], ordered[0], 1)
    low, median, high = statistics.quantiles(ordered, n=4, method="inclusive")
    return Sample(median, low, high, len(ordered))


def ratio(ours: list[float], theirs: list[float]) -> float:
    """ours / theirs: the median over neighbouring repeats, or of the medians when the counts differ."""
    if len(ours) == len(theirs):
        return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return statistics.median(ours) / statistics.median(theirs)


def interleave(candidates: Mapping[str, Clocked], repeats: int, progress: Progress | None) -> dict[str, list[float]]:
    """Seconds of each repeat. Every second round runs backwards, so that nobody always follows the same neighbour."""
    for warm_up in candidates.values():
        warm_up()
    times: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates)
    for repeat in range(repeats):
        order.reverse()
        for name in order:
            times[name].append(candidates[name]())
        if progress is not None:
            progress.step(f"repeat {repeat + 1} of {repeats}")
    return times


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def clocked(work: Callable[[], object]) -> Clocked:
    return lambda: seconds(work)


def per_call(statement: str, names: Mapping[str, Any], batch_seconds: float = 0.02) -> Clocked:
    """Seconds of one execution of a Python statement, averaged over a batch. The statement is compiled into the timing
    loop, without a function around it, so that no call but the measured one is paid for. The collector is off."""
    timer = timeit.Timer(statement, globals=dict(names))
    timer.timeit(200)
    number = max(1, round(batch_seconds / (timer.timeit(200) / 200)))
    return lambda: timer.timeit(number) / number
