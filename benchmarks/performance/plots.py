"""A drawing of each operator: time and bandwidth over N, a line for each peer, as SVG. Odd shapes are points beside it.

matplotlib draws, and other versions of it draw other bytes. So each drawing carries a digest of what it shows, and
whether it is fresh can be seen without matplotlib.
"""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from .measured import OURS, Row, Table

COLOURS = {OURS: "#0b5fd0", "ATen": "#6b6b6b", "compile": "#c2571a", "Liger": "#2a8a57", "QuACK": "#9446b8"}
CEILING = "ceiling"
ODD = ", odd"
MISSING = (
    "matplotlib is not installed here, and draws the plots: pip install matplotlib, or make test, which installs it"
)
Series = dict[str, list[tuple[int, float]]]  # of a peer, N and value
DIGEST = re.compile(r"digest:([0-9a-f]{16})")


def series(rows: list[Row], peers: list[str], rates: bool) -> Series:
    """Kernel times in microseconds, or GB/s, of each peer and of the ceiling."""
    found: Series = {}
    for peer in peers:
        points = [(row.n, row.rate(peer) if rates else row.time(peer)) for row in rows]
        found[peer] = [(n, value) for n, value in points if value is not None]
    ceilings = [(row.n, row.time(OURS, CEILING), row.ours) for row in rows]
    found[CEILING] = [(n, ours["bytes"] / t / 1e3 if rates else t) for n, t, ours in ceilings if t is not None]
    return {name: points for name, points in found.items() if points}


def panels(table: Table, operator: str) -> dict[str, Series]:
    """What a drawing shows, by title: shapes with 64 million elements."""
    found = {}
    for rates, unit in ((False, "us"), (True, "GB/s")):
        for kind in table.kinds(operator):
            rows = {group: table.of([operator], kind, [group]) for group in ("wide", "odd")}
            peers = table.peers([*rows["wide"], *rows["odd"]])
            drawn = series(rows["wide"], peers, rates)
            odd = {name + ODD: points for name, points in series(rows["odd"], peers, rates).items() if name != CEILING}
            if drawn or odd:
                found[f"{operator} {kind}, {unit}"] = drawn | odd
    return found


def digest(shown: dict[str, Series]) -> str:
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def is_fresh(path: Path, shown: dict[str, Series]) -> bool:
    found = DIGEST.search(path.read_text()) if path.exists() else None
    return found is not None and found[1] == digest(shown)


def draw(path: Path, shown: dict[str, Series]) -> None:
    """Two rows of panels: times, rates. Raises ModuleNotFoundError with MISSING where there is no matplotlib."""
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING) from error
    matplotlib.use("Agg")
    # text stays text, and the same data make the same file
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "my_ops"})
    matplotlib.rcParams.update({"font.size": 8, "font.sans-serif": ["DejaVu Sans"]})
    from matplotlib import pyplot

    columns = len(shown) // 2
    figure, axes = pyplot.subplots(2, columns, figsize=(4.6 * columns, 5.2), squeeze=False, layout="constrained")
    for axis, (title, drawn) in zip(axes.flat, shown.items(), strict=True):
        _panel(axis, title, drawn)
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper left", ncols=6, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None, "Creator": None, "Description": f"digest:{digest(shown)}"}
    figure.savefig(path, format="svg", metadata=metadata)
    pyplot.close(figure)
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


def _panel(axis: Any, title: str, drawn: Series) -> None:
    for name, points in drawn.items():
        peer = name.removesuffix(ODD)
        style: dict[str, Any] = {"color": COLOURS.get(peer, "black"), "linewidth": 1.8 if peer == OURS else 1.0}
        if name == CEILING:
            style |= {"color": "black", "linestyle": ":"}
        if name != peer:
            style |= {"linestyle": "", "marker": "x", "markersize": 4 if peer == OURS else 3}
        axis.plot(*zip(*points, strict=True), label=peer if name == peer else None, **style)
    axis.set_title(title, loc="left", fontsize=8)
    axis.set_xscale("log", base=2)
    widths = sorted({n for points in drawn.values() for n, _ in points})
    powers = [n for n in widths if n & (n - 1) == 0]
    axis.set_xticks(powers, [f"{n // 1024}k" if n >= 1024 else str(n) for n in powers])
    axis.minorticks_off()
    axis.tick_params(length=0)
    if title.endswith("us"):
        axis.set_yscale("log", base=2)
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axis.set_ylim(bottom=0)
    axis.grid(color="#dddddd", linewidth=0.5)
    axis.spines[["top", "right"]].set_visible(False)
