"""What was measured of operators: a JSON file per machine, which runs are merged into.

`runs` holds machine, versions, command and date of each run; `entries` what was measured, one a line, each under
operator, kind, shape, device and peer, with the number of its run. A run replaces the entries that it measured and
leaves all others. Runs of which nothing is left are dropped.

An entry has low, median and high (quartiles) of `kernel`, `felt` and `host` in microseconds, of the `ceiling` where
that was timed beside it, `bytes`, `distance` from float64 in parts of the limit, and a `note` where something could
not be measured. A peer's entry has, as `beside`, the medians of our own operator in the same run.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..report import RESULTS, rounded

FOLDER = RESULTS / "operators"
KEY = ("operator", "kind", "shape", "device", "peer")
Entry = dict[str, Any]
Stored = dict[str, Any]


def key(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry[name]) for name in KEY)


def read(path: Path) -> Stored:
    """The contents of a results file; an empty one where there is none."""
    return json.loads(path.read_text()) if path.exists() else {"runs": {}, "entries": []}


def stored(stamp: Mapping[str, Any], entries: Iterable[Entry]) -> Stored:
    """One run on its own."""
    number = hashlib.sha256(json.dumps(dict(stamp), sort_keys=True).encode()).hexdigest()[:8]
    return {"runs": {number: dict(stamp)}, "entries": [{**entry, "run": number} for entry in entries]}


def merged(old: Stored, new: Stored) -> Stored:
    """Both, the new one's entries in place of the old one's."""
    entries = {key(entry): entry for found in (old, new) for entry in found["entries"]}
    used = {entry["run"] for entry in entries.values()}
    runs = {number: run for number, run in {**old["runs"], **new["runs"]}.items() if number in used}
    return {"runs": runs, "entries": [entries[name] for name in sorted(entries)]}


def write(path: Path, found: Stored) -> None:
    runs = json.dumps(found["runs"], indent=1, sort_keys=True)
    lines = [json.dumps(rounded(entry), sort_keys=True) for entry in found["entries"]]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"runs": ' + runs + ',\n"entries": [\n' + ",\n".join(lines) + "\n]}\n")


def merge_into(path: Path, new: Stored) -> None:
    write(path, merged(read(path), new))
