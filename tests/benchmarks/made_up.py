"""A small results file, made up: our operator at the ceiling's 0.9, ATen at half the speed, QuACK at 1.05 times our
time, and Liger without a graph.
"""

from __future__ import annotations

from typing import Any

from benchmarks.performance.store import Stored, merged, stored

GPU = {"gpu": "Made-up GPU", "cpu": "Made-up CPU, 2 cores, x86_64", "torch": "2.0", "date": "2026-01-01"}
SHAPES = {
    "wide 64": (1 << 20, 64),
    "wide 1024": (1 << 16, 1024),
    "odd 65": (1 << 20, 65),
    "decode 1 x 4096": (1, 4096),
}


def spread(median: float) -> list[float]:
    return [0.9 * median, median, 1.2 * median]


def entry(operator: str, kind: str, shape: str, peer: str, device: str = "cuda", **more: Any) -> dict[str, Any]:
    rows, n = SHAPES.get(shape, (8192, 4096))
    found = {"operator": operator, "kind": kind, "shape": shape, "device": device, "peer": peer, "rows": rows, "n": n}
    return {**found, "bytes": 4 * rows * n, "distance": 0.3, **more}


def on_gpu(operator: str, kind: str, shape: str) -> list[dict[str, Any]]:
    rows, n = SHAPES[shape]
    ours = 1.5 + 4 * rows * n / 4e6
    beside = {"kernel": ours, "felt": ours + 5, "host": 5.0}

    def peer(name: str, factor: float) -> dict[str, Any]:
        times = {"kernel": spread(factor * ours), "felt": spread(factor * ours + 9), "host": spread(9.0)}
        return entry(operator, kind, shape, name, **times, beside=beside)

    liger = entry(operator, kind, shape, "Liger", felt=spread(3 * ours), beside=beside, note="no graph: it waits")
    mine = {name: spread(value) for name, value in beside.items()}
    return [
        entry(operator, kind, shape, "my_ops", **mine, ceiling=spread(0.9 * ours), against="copy"),
        peer("ATen", 2.0),
        peer("QuACK", 1.05),
        liger,
    ]


def on_cpu(operator: str) -> list[dict[str, Any]]:
    shape = "large float32"
    return [
        entry(operator, "forward", shape, "my_ops", "cpu", felt=spread(100.0), ceiling=spread(80.0), against="memcpy"),
        entry(operator, "forward", shape, "ATen", "cpu", felt=spread(400.0), beside={"felt": 100.0}),
    ]


def results() -> Stored:
    gpu = [one for kind in ("forward", "backward") for shape in SHAPES for one in on_gpu("rms_norm", kind, shape)]
    gpu += [one for shape in SHAPES for one in on_gpu("gather_rows", "forward", shape)]
    first = stored({**GPU, "command": "python -m benchmarks operators", "versions": {"QuACK": "0.6.5"}}, gpu)
    return merged(first, stored({**GPU, "command": "on the CPU", "gpu": "none"}, on_cpu("rms_norm")))
