"""What every group is told, and the places they share."""

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "generated"  # the folder to have on PYTHONPATH
CACHE = ROOT / "build" / "benchmarks"  # compiled peers; git ignores it

EPS = 1e-6


@dataclass(frozen=True)
class Selection:
    """What the group operators is to measure: everything, without words. `budget`: seconds for all of it. `missing`:
    only what the results file lacks. `output`: the folder of that file.
    """

    operators: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    budget: float = math.inf
    missing: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Options:
    """`quick`: fewer repeats and shapes. `dry_run`: run the code for GPUs on tiny CPU tensors."""

    device: str
    quick: bool
    dry_run: bool
    selection: Selection = Selection()

    def repeats(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def child_environment(**extra: str) -> dict[str, str]:
    """The environment for other processes: tools of this virtual environment first, the package importable."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": programs, "PYTHONPATH": str(PACKAGE), **extra}
