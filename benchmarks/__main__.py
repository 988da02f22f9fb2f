"""The command line: runs groups one after the other, prints their tables, and keeps the results."""

import argparse
import datetime
import importlib
import os
import sys

import torch

from . import machine, report
from .options import PACKAGE, Options, child_environment

GROUPS = ("build", "generate", "call", "cpu", "size", "elementwise", "cuda", "operators")
ON_GPUS = ("cuda", "operators")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure my_ops beside the alternatives.")
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; all without one")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="cuda where there is a GPU, unless told")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and shapes")
    parser.add_argument(
        "--dry-run", action="store_true", help="the groups cuda and operators on tiny CPU tensors; saves nothing"
    )
    arguments = parser.parse_args()
    unknown = [group for group in arguments.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {unknown[0]}: there are {', '.join(GROUPS)}")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch sees no GPU here")

    device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options = Options(device, arguments.quick, arguments.dry_run)
    groups = arguments.groups or [group for group in GROUPS if group not in ON_GPUS or device == "cuda"]
    if device != "cuda" and not options.dry_run and any(group in ON_GPUS for group in groups):
        parser.error("the groups cuda and operators need a GPU; --dry-run tries their code without one")
    sys.path.insert(0, str(PACKAGE))
    os.environ["PATH"] = child_environment()["PATH"]  # ninja and cmake of this virtual environment, for torch too

    here = machine.describe()
    stamp = {**here, "command": command(), "date": datetime.date.today().isoformat()}
    path = report.RESULTS / f"{machine.slug(here)}.json"
    missed = 0
    for group in groups:
        result = importlib.import_module(f"{__package__}.{group}").measure(options)
        print(f"\n{group}\n\n{report.text(result)}", flush=True)
        missed += sum(figure.met is False for figure in result.figures)
        if not options.dry_run:
            report.merge(path, group, result, stamp)
    if not options.dry_run:
        report.write_table()
        print(f"{missed} targets missed; results in {os.path.relpath(path)} and {os.path.relpath(report.TABLE)}")
    return 0


def command() -> str:
    """The command as typed, without the path of the interpreter."""
    return " ".join(["python -m benchmarks", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
