"""What a results file says of one device, by operator, kind, shape and peer; and ratios between peers.

A ratio is how many times as long the other takes, so more is better; both are of one run: a peer's entry holds what our
own operator took beside it, and ours the ceiling.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .store import Entry, Stored

OURS = "my_ops"
ORDER = (OURS, "ATen", "compile", "Liger", "QuACK")
METRICS = ("kernel", "felt", "host")


@dataclass(frozen=True)
class Row:
    """One shape of an operator and a kind, with the entries of all peers."""

    operator: str
    kind: str
    shape: str
    entries: dict[str, Entry]

    @property
    def group(self) -> str:
        return self.shape.split()[0]

    @property
    def ours(self) -> Entry:
        return self.entries.get(OURS, {})

    @cached_property
    def n(self) -> int:
        return int(next(iter(self.entries.values()))["n"])

    @cached_property
    def rows(self) -> int:
        return int(next(iter(self.entries.values()))["rows"])

    def time(self, peer: str, metric: str = "kernel") -> float | None:
        """The median, in microseconds."""
        found = self.entries.get(peer, {}).get(metric)
        return None if found is None else float(found[1])

    def rate(self, peer: str, metric: str = "kernel") -> float | None:
        """GB/s of the bytes that must move."""
        time = self.time(peer, metric)
        return None if time is None else self.entries[peer]["bytes"] / time / 1e3

    def share(self) -> float | None:
        """Of the ceiling: its time over ours. On the CPU, where there are no graphs, of calls."""
        ceiling, ours = self.time(OURS, "ceiling"), self.time(OURS) or self.time(OURS, "felt")
        return None if ceiling is None or ours is None else ceiling / ours

    def against(self, peer: str, metric: str = "kernel") -> float | None:
        """A peer's time over ours beside it."""
        entry = self.entries.get(peer, {})
        theirs, ours = self.time(peer, metric), entry.get("beside", {}).get(metric)
        return None if theirs is None or ours is None else float(theirs / ours)

    def best(self, metric: str = "kernel") -> tuple[float, str] | None:
        """The fastest peer's time over ours, and its name."""
        found = [(ratio, peer) for peer in self.entries if (ratio := self.against(peer, metric)) is not None]
        return min(found, default=None)


class Table:
    """Every row of a device."""

    def __init__(self, found: Stored, device: str) -> None:
        grouped: dict[tuple[str, str, str], dict[str, Entry]] = {}
        for entry in found["entries"]:
            if entry["device"] == device:
                grouped.setdefault((entry["operator"], entry["kind"], entry["shape"]), {})[entry["peer"]] = entry
        self.rows = [Row(*name, entries) for name, entries in sorted(grouped.items())]
        self.rows.sort(key=lambda row: (row.operator, row.kind == "backward"))

    def of(self, operators: Iterable[str], kind: str, groups: Iterable[str] = ()) -> list[Row]:
        """The rows of some operators, by n and rows."""
        operators, groups = tuple(operators), tuple(groups)
        found = [
            row
            for row in self.rows
            if row.operator in operators and row.kind == kind and (not groups or row.group in groups)
        ]
        return sorted(found, key=lambda row: (row.operator, row.n, row.rows))

    @property
    def operators(self) -> list[str]:
        return list(dict.fromkeys(row.operator for row in self.rows))

    def kinds(self, operator: str) -> list[str]:
        return list(dict.fromkeys(row.kind for row in self.rows if row.operator == operator))

    def peers(self, rows: Iterable[Row]) -> list[str]:
        """Those with an entry somewhere."""
        found = {peer for row in rows for peer in row.entries}
        return [peer for peer in ORDER if peer in found] + sorted(found - set(ORDER))
