"""`python -m tests.wheel`, as `make wheel`, `make wheel-check`, `make wheel-report` and `make test-matrix` call it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.wheel import library
from tests.wheel.build import ROOT, build
from tests.wheel.check import check
from tests.wheel.report import report
from tests.wheel.use import pinned, use

# Tests of operators with, together, tensors that are optional, written or in lists, and every kind of body.
KINDS = ("rms_norm", "cross_entropy", "gather_rows", "adamw_step", "global_norm", "silu_mul", "quantize_per_token")
OF_EACH_KIND = [f"generated/tests/test_{op}.py" for op in KINDS]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.wheel", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="an sdist, and a wheel made of it, in build/wheel")
    commands.add_parser("symbols", help="write the list of the C ABI of the oldest PyTorch, where it is installed")
    commands.add_parser("report", help="how large the wheel of build/wheel is, and its parts")
    checked = commands.add_parser("check", help="is it what is promised, and does it work in another environment?")
    matrix = commands.add_parser("matrix", help="the same wheel under several versions of PyTorch, with tests")
    matrix.add_argument("versions", help='of torch, in one word with spaces, such as "2.13.0 2.10.0@python3.12"')
    for one in (checked, matrix, commands.choices["report"]):
        one.add_argument("--wheel", type=Path, help="and not the one of build/wheel, which is built if it is missing")
    arguments, tests = parser.parse_known_args()
    if arguments.command == "symbols":
        print(library.write_list())
        return 0
    if arguments.command == "build":
        print(build())
        return 0
    wheel = (arguments.wheel or (build() if arguments.command == "check" else _made() or build())).resolve()
    if arguments.command == "report":
        print(report(wheel))
        return 0
    if arguments.command == "matrix":
        return max([use(wheel, version, tests or OF_EACH_KIND) for version in arguments.versions.split()])
    problems = check(wheel)
    print("\n".join(problems) or f"wheel-check: {wheel.name} is what is promised")
    return 1 if problems else use(wheel, pinned("torch"))


def _made() -> Path | None:
    return next((ROOT / "build" / "wheel").glob("*.whl"), None)


raise SystemExit(main())
