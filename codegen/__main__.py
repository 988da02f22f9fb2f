"""The command line: python -m codegen COMMAND [--spec ops.yaml]."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence

from codegen.commands import check, generate
from codegen.commands.report import Report

NOT_YET = ("new", "explain", "diff", "init", "import", "doctor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code is 0, or 1 after a problem, which has been printed."""
    options = _options(arguments)
    if options.command in NOT_YET:
        print(f"python -m codegen {options.command} is not supported yet", file=sys.stderr)
        return 1
    report = Report(options.json)
    code = _run(options, report)
    report.finish()
    return code


def _run(options: argparse.Namespace, report: Report) -> int:
    command = generate.run if options.command == "generate" else check.run
    return command(options.spec, options.output, report)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Makes generated/ from ops.yaml.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    texts = {
        "generate": "write the generated files; unchanged ones keep their time stamps",
        "check": "fail, and print the difference, when the generated files are not those of the spec",
    }
    for name in (*texts, *NOT_YET):
        command = commands.add_parser(name, help=texts.get(name, "not supported yet"))
        if name in NOT_YET:
            command.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
            continue
        command.add_argument("--spec", default="ops.yaml", help="the spec (default: %(default)s)")
        command.add_argument(
            "--output", default="", help="the folder to write to (default: generated, beside the spec)"
        )
        command.add_argument("--json", action="store_true", help="print problems as a list that a program may read")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # One short run that keeps nearly all it makes: looking for garbage would only take time.
    gc.disable()
    sys.exit(main())
