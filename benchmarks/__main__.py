"""The command line: runs groups one after the other, prints their tables, and keeps the results."""

import argparse
import datetime
import importlib
import math
import os
import sys
from pathlib import Path

import torch

from . import machine, report
from .options import PACKAGE, Options, Selection, child_environment

GROUPS = (
    "build",
    "quick",
    "generate",
    "call",
    "direct",
    "aoti",
    "cpu",
    "size",
    "elementwise",
    "models",
    "cuda",
    "triton",
    "operators",
)
ON_GPUS = ("cuda", "triton")
KEEPS_ITS_OWN = ("operators",)  # results, in files of its own


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure my_ops beside the alternatives.")
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; all without one")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="cuda where there is a GPU, unless told")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and shapes")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="the groups cuda, triton, models and operators on small CPU tensors; saves nothing",
    )
    add_selection(parser)
    arguments = parser.parse_args()
    unknown = [group for group in arguments.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {unknown[0]}: there are {', '.join(GROUPS)}")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch sees no GPU here")

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options = Options(device, arguments.quick, arguments.dry_run, selection(arguments, parser))
    groups = arguments.groups or [group for group in GROUPS if group not in ON_GPUS or device == "cuda"]
    if device != "cuda" and not options.dry_run and any(group in ON_GPUS for group in groups):
        parser.error(f"the groups {' and '.join(ON_GPUS)} need a GPU; --dry-run tries their code without one")
    sys.path.insert(0, str(PACKAGE))
    os.environ["PATH"] = child_environment()["PATH"]  # ninja and cmake of this virtual environment, for torch too

    here = machine.describe()
    stamp = {**here, "command": machine.command(), "date": datetime.date.today().isoformat()}
    path = report.RESULTS / f"{machine.slug(here)}.json"
    missed = 0
    for group in groups:
        result = importlib.import_module(f"{__package__}.{group}").measure(options)
        print(f"\n{group}\n\n{report.text(result)}", flush=True)
        missed += sum(figure.met is False for figure in result.figures)
        if not options.dry_run and group not in KEEPS_ITS_OWN:
            report.merge(path, group, result, stamp)
    if not options.dry_run and set(groups) - set(KEEPS_ITS_OWN):
        report.write_table()
        print(f"{missed} targets missed; results in {os.path.relpath(path)} and {os.path.relpath(report.TABLE)}")
    return 0


def add_selection(parser: argparse.ArgumentParser) -> None:
    only = parser.add_argument_group("the group operators, which merges what it measures into a file of its own")
    only.add_argument("--operators", default="", metavar="A,B", help="only these operators of ops.yaml")
    only.add_argument("--peers", default="", metavar="A,B", help="only these of ATen, compile, Liger, QuACK; or none")
    only.add_argument("--shapes", default="", metavar="A,B", help="only these: wide, odd, few, decode, 'wide 4096'")
    only.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS", help="stop in time, keep the rest")
    only.add_argument("--missing", action="store_true", help="only what the results file lacks")
    only.add_argument("--output", type=Path, metavar="FOLDER", help="where the results file is")


def selection(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> Selection:
    from .operators.cases import CASES
    from .operators.cases.peers import PEERS
    from .operators.shapes import HEADS, ROWS

    def words(option: str, known: set[str]) -> tuple[str, ...]:
        found = tuple(word.strip() for word in getattr(arguments, option).split(",") if word.strip())
        unknown = [word for word in found if word not in known]
        if unknown:
            parser.error(f"--{option}: no {unknown[0]!r}; there are {', '.join(sorted(known))}")
        return found

    named = {word for shape in [*ROWS, *HEADS] for word in (shape.name, shape.group)}
    return Selection(
        words("operators", set(CASES)), words("peers", {*PEERS, "none"}), words("shapes", named),
        arguments.budget, arguments.missing, arguments.output,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
