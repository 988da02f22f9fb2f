"""The command line: python -m codegen generate|check [--spec ops.yaml] [--output generated]."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.bodies import check_bodies
from codegen.check import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.lower import lower
from codegen.model import Library
from codegen.render import Renderer
from codegen.write import Tree, difference, write

TEMPLATES = Path(__file__).parent.parent / "templates"
NOT_YET = ("new", "explain", "diff", "init", "import", "doctor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code is 0, or 1 after a problem, which has been printed."""
    options = _options(arguments)
    if options.command in NOT_YET:
        print(f"python -m codegen {options.command} is not supported yet", file=sys.stderr)
        return 1
    spec = Path(options.spec)
    output = Path(options.output) if options.output else spec.parent / "generated"
    try:
        data = spec.read_bytes()
    except OSError as error:
        print(f"{options.spec}: error: {error.strerror}", file=sys.stderr)
        return 1
    library = _library(options.spec, spec, data)
    if library is None:
        return 1
    renderer = Renderer(TEMPLATES)
    files = {file.path: renderer.render(file.template, file.view) for file in lower(library)}
    tree = Tree(spec.parent, output, spec)
    return _check(tree, files, data, options) if options.command == "check" else _generate(tree, files, data)


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
    return parser.parse_args(arguments)


def _library(shown: str, spec: Path, data: bytes) -> Library | None:
    """The checked library; problems are printed."""
    diagnostics = Diagnostics()
    checked = check(load(data, diagnostics), diagnostics)
    if checked is not None:
        check_bodies(checked, spec.parent / "csrc", diagnostics)
    if diagnostics.count:
        print(diagnostics.report(shown, data.decode("utf-8-sig", "replace")), end="", file=sys.stderr)
    return None if checked is None or diagnostics.failed else checked.library


def _generate(tree: Tree, files: dict[str, bytes], spec: bytes) -> int:
    try:
        done = write(tree, files, spec)
    except OSError as error:
        print(f"{tree.output}: error: {error}; nothing was written", file=sys.stderr)
        return 1
    print(f"{tree.output}: {done.written} files written, {done.removed} removed, {done.unchanged} unchanged")
    return 0


def _check(tree: Tree, files: dict[str, bytes], spec: bytes, options: argparse.Namespace) -> int:
    found = difference(tree, files, spec)
    if not found:
        print(f"{tree.output} is what {tree.spec} says")
        return 0
    extra = "".join(
        f" --{name} {value}" for name, value in (("spec", options.spec), ("output", options.output)) if value
    )
    usual = options.spec == "ops.yaml" and not options.output
    command = "make generate" if usual else f"python -m codegen generate{extra}"
    print(found, end="")
    print(f"{tree.output} is not what {tree.spec} says; run: {command}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    # One short run that keeps nearly all it makes: looking for garbage would only take time.
    gc.disable()
    sys.exit(main())
