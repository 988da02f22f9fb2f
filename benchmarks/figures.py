"""What a group hands back: figures, with a target or without, and grids of many shapes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .timing import Sample, ratio, summarise


@dataclass(frozen=True)
class Figure:
    """One line of the table. `target` says in words what `ratio` was held against; both are empty without one."""

    name: str
    unit: str
    sample: Sample
    target: str = ""
    ratio: float | None = None
    met: bool | None = None


@dataclass(frozen=True)
class Grid:
    """A table of shapes by candidates: `rows` maps a shape to the samples of its columns, None where not measured."""

    title: str
    unit: str
    rows: dict[str, dict[str, Sample | None]]


@dataclass
class Result:
    """Everything one group measured; `notes` says what could not be."""

    figures: list[Figure] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plain(name: str, unit: str, values: list[float]) -> Figure:
    return Figure(name, unit, summarise(values))


def limited(name: str, unit: str, values: list[float], at_most: float) -> Figure:
    """Against a number: the ratio is measured / limit."""
    sample = summarise(values)
    return Figure(name, unit, sample, f"<= {at_most:g} {unit}", sample.median / at_most, sample.median <= at_most)


def compared(
    name: str,
    unit: str,
    values: list[float],
    peer: str,
    peer_values: list[float],
    at_most: float | None = None,
    at_least: float | None = None,
) -> Figure:
    """Against a peer of the same run: the ratio is measured / peer."""
    found = ratio(values, peer_values)
    if at_most is not None:
        return Figure(name, unit, summarise(values), f"<= {at_most:g} x {peer}", found, found <= at_most)
    if at_least is not None:
        return Figure(name, unit, summarise(values), f">= {at_least:g} x {peer}", found, found >= at_least)
    return Figure(name, unit, summarise(values), f"beside {peer}", found, None)


def scaled(values: list[float], change: Callable[[float], float]) -> list[float]:
    """The same repeats in another unit."""
    return [change(value) for value in values]


def microseconds(values: list[float]) -> list[float]:
    return [value * 1e6 for value in values]
