"""Results: merged into one JSON file per machine, printed, and written as a markdown table."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from .figures import Result

RESULTS = Path(__file__).resolve().parent / "results"
TABLE = RESULTS / "README.md"
COLUMNS = ("figure", "median", "quartiles", "target", "ratio", "met")


def merge(path: Path, group: str, result: Result, stamp: dict[str, str]) -> None:
    """Puts one group's results, with the machine, command and date of its run, in place of its last ones."""
    groups: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    groups[group] = {**stamp, **dataclasses.asdict(result)}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(rounded(groups), indent=1, sort_keys=True) + "\n")


def write_table() -> None:
    """Makes README.md of every JSON file beside it."""
    parts = ["# Measured", "", "Written by `python -m benchmarks` from the JSON files here; ratios and spread are"]
    parts += ["explained in `benchmarks/__init__.py`, methods in the module of each group.", ""]
    for path in sorted(RESULTS.glob("*.json")):
        groups = json.loads(path.read_text())
        parts += [f"## {path.stem}", ""]
        for name in sorted(groups):
            parts += [f"### {name}", "", *_stamp(groups[name]), "", *markdown(groups[name])]
    TABLE.write_text("\n".join(parts).rstrip() + "\n")


def markdown(group: dict[str, Any]) -> list[str]:
    lines = []
    if group["figures"]:
        lines += [*table(COLUMNS, [_cells(figure) for figure in group["figures"]]), ""]
    for grid in group["grids"]:
        columns = list(dict.fromkeys(column for row in grid["rows"].values() for column in row))
        columns.sort(key=lambda column: " / " in column)  # ratios last
        rows = [[shape, *(_median(row.get(column)) for column in columns)] for shape, row in grid["rows"].items()]
        lines += [f"{grid['title']}; {grid['unit']}; {_widest(grid)}", ""]
        lines += [*table(["shape", *columns], rows), ""]
    return lines + [f"- {note}" for note in group["notes"]] + ([""] if group["notes"] else [])


def text(result: Result) -> str:
    return "\n".join(markdown(dataclasses.asdict(result)))


def _stamp(group: dict[str, Any]) -> list[str]:
    keys = ("gpu", "cpu", "torch", "python", "compiler", "nvcc")
    return [f"`{group['command']}`, {group['date']}: " + ", ".join(f"{key} {group[key]}" for key in keys) + "."]


def _cells(figure: dict[str, Any]) -> list[str]:
    sample = figure["sample"]
    spread = f"{_number(sample['low'])} .. {_number(sample['high'])}" if sample["repeats"] > 1 else ""
    found = "" if figure["ratio"] is None else f"{figure['ratio']:.3g}"
    met = {True: "yes", False: "NO", None: ""}[figure["met"]]
    return [figure["name"], f"{_number(sample['median'])} {figure['unit']}", spread, figure["target"], found, met]


def _median(sample: dict[str, Any] | None) -> str:
    return "" if sample is None else _number(sample["median"])


def _widest(grid: dict[str, Any]) -> str:
    """The largest distance between quartiles, relative to its median, and the usual one."""
    samples = [sample for row in grid["rows"].values() for sample in row.values() if sample and sample["repeats"] > 1]
    spreads = sorted((sample["high"] - sample["low"]) / sample["median"] for sample in samples)
    if not spreads:
        return "one repeat"
    return f"medians; quartiles lie {spreads[len(spreads) // 2]:.1%} of the median apart, at most {spreads[-1]:.1%}"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(header: tuple[str, ...] | list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in [list(header), *rows]) for i in range(len(header))]
    ruled = [list(header), ["-" * width for width in widths], *rows]
    return [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in ruled
    ]


def rounded(value: Any) -> Any:
    """Six digits are more than any clock here gives, and keep differences between commits readable."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return value
