"""docs/performance.md, its drawings, the tables of every shape, and the one in README, from the results."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..options import ROOT
from . import limits, plots, tables
from .measured import Table
from .store import FOLDER, Stored, read
from .targets import OF_DEVICE, verdicts

PAGE = "docs/performance.md"
DRAWINGS = "docs/performance"
DETAILS = "benchmarks/results/operators/README.md"
COMMAND = "python -m benchmarks.performance"
HEAD = """<!-- Written by `{command}` from benchmarks/results/operators/. -->
# Performance

Every operator, beside ATen, torch.compile of the same formula, Liger and QuACK, each in processes of its own at the
fastest entry that its interface has. `python -m benchmarks operators` measures; how, its modules say. On a GPU the
figures are times of kernels in replayed CUDA graphs, in bfloat16, with inputs that rotate through more than the L2
cache. The ceiling is the machine's own `copy_`, or `torch.add` where more is read than written, of as many bytes as
`ops.yaml` says must move: each input read once, each output written once. A ratio such as "ATen over ours" is how many
times as long the other takes, both in one run. Each target is held against the worst of its shapes. Every shape, calls
as they are felt, and the host's part in them stand in [the tables](../{details}).
"""
README = "README.md"
SHOWN = ("nvidia-h200", "cuda", "wide 4096")
BEGIN, END = f"<!-- Written by `{COMMAND}`. -->\n", "<!-- End. -->\n"
NOTHING = "Nothing has been measured yet.\n"


@dataclass(frozen=True)
class Machine:
    """A results file."""

    name: str
    found: Stored

    def table(self, device: str) -> Table:
        return Table(self.found, device)


def machines(folder: Path = FOLDER) -> list[Machine]:
    return [Machine(path.stem, read(path)) for path in sorted(folder.glob("*.json"))]


def page(found: list[Machine]) -> str:
    """The page itself."""
    lines = [HEAD.format(command=COMMAND, details=DETAILS)]
    for machine in found:
        lines += [f"## {machine.name}", ""]
        for device in OF_DEVICE:
            table = machine.table(device)
            if table.rows:
                lines += _device(machine.name, device, table)
        lines += ["### Correctness", "", tables.of_distances(machine.found["entries"]), ""]
        counts = Counter(entry["run"] for entry in machine.found["entries"])
        lines += ["### Runs", "", *tables.of_runs(machine.found["runs"], counts), ""]
    return "\n".join(lines if found else [*lines, NOTHING]).rstrip() + "\n"


def _device(machine: str, device: str, table: Table) -> list[str]:
    held = verdicts(table, OF_DEVICE[device])
    met = sum(one.met for one in held)
    title = "Targets" if device == "cuda" else "Targets on the CPU"
    lines = [f"### {title}", "", f"{met} of {len(held)} are met.", "", *tables.of_targets(held), ""]
    lines += limits.of_missed(held, limits.reasons(device))
    if device == "cpu":
        return [*lines, "### Large inputs on the CPU", "", *tables.of_cpu(table), ""]
    lines += ["### Shares of the ceiling", "", *tables.of_shares(table), ""]
    lines += ["### Kernels of others", "", *tables.of_peers(table), ""]
    lines += ["### Calls as they are felt", "", *tables.of_calls(table), "", "### Over N", ""]
    lines += ["Inputs of 64 million elements; crosses are rows that are no whole vectors, or odd numbers of heads.", ""]
    for operator in table.operators:
        if plots.panels(table, operator):
            lines += [f"![{operator}: time and bandwidth over N]({drawing(machine, operator, 'performance')})", ""]
    return lines


def drawing(machine: str, operator: str, folder: str) -> str:
    return f"{folder}/{machine}-{operator}.svg"


def drawings(found: list[Machine]) -> dict[str, dict[str, plots.Series]]:
    """What each drawing shows, by its path."""
    shown = {}
    for machine in found:
        table = machine.table("cuda")
        for operator in table.operators:
            shown[drawing(machine.name, operator, DRAWINGS)] = plots.panels(table, operator)
    return {path: one for path, one in shown.items() if one}


def details(found: list[Machine]) -> str:
    """Tables of every shape."""
    lines = [f"<!-- Written by `{COMMAND}` from the JSON files here. -->", "# Operators, every shape", ""]
    lines += [
        "Medians in microseconds: kernels in replayed graphs; calls as they are felt, in a row of 20 from an idle"
    ]
    lines += [
        "GPU until it is idle again; and the host's time to issue one. How, benchmarks/operators/timed.py says.",
        "",
    ]
    for machine in found:
        lines += [f"## {machine.name}", ""]
        table = machine.table("cuda")
        for operator in table.operators:
            lines += [f"### {operator}", ""]
            for kind in table.kinds(operator):
                for metric, words in (("kernel", "kernels"), ("felt", "calls as felt"), ("host", "the host's part")):
                    lines += [f"{kind}, {words}", "", *tables.of_operator(table, operator, kind, metric), ""]
    return "\n".join(lines).rstrip() + "\n"


def summary(text: str, found: list[Machine]) -> str:
    """README with the table of one shape between its two comments."""
    name, device, shape = SHOWN
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{README}: the comments {BEGIN.strip()} and {END.strip()} are missing")
    lines = [row for one in found if one.name == name for row in tables.of_shape(one.table(device), shape)]
    return before + BEGIN + "\n".join([*lines, ""]) + END + after


def _texts(root: Path, found: list[Machine]) -> dict[str, str]:
    texts = {PAGE: page(found), DETAILS: details(found)}
    if (root / README).exists():
        texts[README] = summary((root / README).read_text(), found)
    return texts


def stale(root: Path = ROOT, folder: Path = FOLDER) -> list[str]:
    """The files that are not what the results say."""
    found = machines(folder)
    wrong = [
        name
        for name, text in _texts(root, found).items()
        if not (root / name).exists() or (root / name).read_text() != text
    ]
    shown = drawings(found)
    wrong += [name for name, drawn in shown.items() if not plots.is_fresh(root / name, drawn)]
    return wrong + [name for name in _drawn(root) if name not in shown]


def write(root: Path = ROOT, folder: Path = FOLDER) -> None:
    """Writes what is stale, and removes drawings of what is no more."""
    found = machines(folder)
    for name, text in _texts(root, found).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    shown = drawings(found)
    for name in set(_drawn(root)) - set(shown):
        (root / name).unlink()
    for name, drawn in shown.items():
        if not plots.is_fresh(root / name, drawn):
            plots.draw(root / name, drawn)


def _drawn(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in (root / DRAWINGS).glob("*.svg"))
