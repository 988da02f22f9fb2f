"""Markdown tables of what was measured."""

from collections.abc import Iterable
from statistics import geometric_mean

from ..report import table as ruled
from .measured import ORDER, OURS, Row, Table
from .store import Entry
from .targets import Verdict

CALLS = ("wide 4096", "decode 1 x 4096")
WIDTHS = (64, 256, 512, 1024, 4096, 8192, 16384, 32768, 65536)


def of_targets(found: Iterable[Verdict]) -> list[str]:
    """A line for each operator of each target, the worst shape in it."""
    rows = []
    for one in found:
        unit = one.target.unit
        missed = f"{one.missed:.1%}" if one.missed >= 0.001 else "less than 0.1%"
        result = "met" if one.met else f"**missed by {missed}**"
        value = f"{number(one.worst)}{unit and ' ' + unit}{one.peer and f' ({one.peer})'}"
        rows.append([one.operator, one.target.kind, one.target.what, one.target.wanted, value, one.row.shape, result])
    return ruled(["operator", "", "measured", "target", "worst", "at", ""], rows)


def of_shares(table: Table) -> list[str]:
    """Shares of the ceiling, by N, of inputs of 64 million elements."""
    rows = []
    for operator in table.operators:
        for kind in table.kinds(operator):
            by_width = {row.n: row.share() for row in table.of([operator], kind, ["wide"])}
            if any(by_width.values()):
                rows.append([operator, kind, *(number(by_width.get(width)) for width in WIDTHS)])
    return ruled(["share of the ceiling", "", *(f"{width:,}" for width in WIDTHS)], rows)


def of_peers(table: Table) -> list[str]:
    """How many times as long the kernels of others take: the geometric mean of all shapes, and the worst of them."""
    peers = [peer for peer in table.peers(table.rows) if peer != OURS]
    rows = []
    for operator in table.operators:
        for kind in table.kinds(operator):
            found = table.of([operator], kind)
            cells = [_mean_and_worst([r for row in found if (r := row.against(peer)) is not None]) for peer in peers]
            rows.append([operator, kind, *cells])
    return ruled(["over my_ops: mean, worst", "", *peers], rows)


def of_shape(table: Table, shape: str) -> list[str]:
    """Kernels at one shape: microseconds, the share of the ceiling, and how many times as long others take."""
    found = [row for row in table.rows if row.shape == shape and row.time(OURS)]
    peers = [peer for peer in table.peers(found) if peer != OURS]
    rows = [
        [row.operator, row.kind, number(row.time(OURS)), number(row.share()), *(number(row.against(p)) for p in peers)]
        for row in found
    ]
    return ruled(["", "", "µs", "of the ceiling", *peers], rows)


def of_calls(table: Table) -> list[str]:
    """Microseconds of calls as they are felt, the host's part in brackets, at a large and a small shape."""
    found = [row for row in table.rows if row.shape in CALLS]
    peers = table.peers(found)
    rows = []
    for row in found:
        times = [(row.time(peer, "felt"), row.time(peer, "host")) for peer in peers]
        rows.append(
            [row.operator, row.kind, row.shape, *(number(f) + (f" ({number(h)})" if h else "") for f, h in times)]
        )
    return ruled(["felt (host), us", "", "shape", *peers], rows)


def _mean_and_worst(ratios: list[float]) -> str:
    return f"{number(geometric_mean(ratios))}, {number(min(ratios))}" if ratios else ""


def of_operator(table: Table, operator: str, kind: str, metric: str) -> list[str]:
    """Every shape: microseconds of each peer, and what the fastest of them takes as a multiple of ours."""
    found = [row for row in table.of([operator], kind) if any(row.time(peer, metric) for peer in row.entries)]
    peers = table.peers(found)
    kernels = metric == "kernel"
    rows = []
    for row in found:
        best = row.best(metric)
        cells = [row.shape, size(row), *(number(row.time(peer, metric)) for peer in peers)]
        if kernels:
            cells += [number(row.time(OURS, "ceiling")), number(row.share()), number(row.rate(OURS))]
        rows.append([*cells, f"{number(best[0])} ({best[1]})" if best else ""])
    more = ["ceiling", "share", "GB/s"] if kernels else []
    return ruled(["shape", "rows x N", *peers, *more, "best peer / my_ops"], rows)


def of_cpu(table: Table) -> list[str]:
    """Calls of large inputs: the rate, and ratios to memcpy and each peer."""
    peers = [peer for peer in table.peers(table.rows) if peer != OURS]
    rows = []
    for row in table.rows:
        over = [number(row.against(peer, "felt")) for peer in peers]
        rows.append([row.operator, row.kind, row.shape, number(row.rate(OURS, "felt")), number(row.share()), *over])
    return ruled(["operator", "", "shape", "GB/s", "of memcpy", *(f"{peer} / my_ops" for peer in peers)], rows)


def of_distances(entries: list[Entry]) -> str:
    """A sentence on how far everybody is from float64."""
    worst: dict[str, tuple[float, str]] = {}
    for entry in entries:
        found = float(entry["distance"]), f"{entry['operator']} at {entry['shape']}"
        worst[entry["peer"]] = max(found, worst.get(entry["peer"], found))
    parts = [f"{peer} {number(worst[peer][0])} ({worst[peer][1]})" for peer in ORDER if peer in worst]
    return (
        "Before it is timed, each shape is compared with float64: every output and gradient, the norm of the "
        f"difference over the norm, in parts of the limit of its dtype. Farthest away: {'; '.join(parts)}. "
        "Peers that are 8 times the limit away or more are left out."
    )


def of_runs(runs: dict[str, dict[str, object]], counts: dict[str, int]) -> list[str]:
    """Where the figures are from."""
    rows = []
    for number_, run in sorted(runs.items(), key=lambda item: (str(item[1]["date"]), item[0])):
        versions = run.get("versions", {})
        assert isinstance(versions, dict)
        tools = [f"torch {run['torch']}", *(f"{name} {version}" for name, version in sorted(versions.items()))]
        machine = run["cpu"] if run["gpu"] == "none" else run["gpu"]
        rows.append([f"`{run['command']}`", str(run["date"]), str(machine), ", ".join(tools), str(counts[number_])])
    return ruled(["command", "date", "machine", "versions", "entries"], rows)


def size(row: Row) -> str:
    return f"{row.rows:,} x {row.n:,}"


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
