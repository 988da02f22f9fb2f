"""The command line: python -m codegen COMMAND [--spec ops.yaml]."""

from __future__ import annotations

import argparse
import gc
import signal
import sys
from collections.abc import Sequence

from codegen.commands.report import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; the exit code is 0, or 1 after a problem, which has been printed."""
    options = _options(arguments)
    report = Report(options.json)
    code = _run(options, report)
    report.finish()
    return code


def _run(options: argparse.Namespace, report: Report) -> int:
    # A command imports only what it needs: reading modules takes most of a short run.
    match options.command:
        case "generate":
            from codegen.commands import generate

            return generate.run(options.spec, options.output, report)
        case "check":
            from codegen.commands import check

            return check.run(options.spec, options.output, report)
        case "explain":
            from codegen.commands import explain

            return explain.run(options.spec, options.operator, report)
        case "diff":
            from codegen.commands import diff

            return diff.run(options.old, options.new, report)
        case "doctor":
            from codegen.commands import doctor

            return doctor.run(options.spec, report)
        case "init":
            from codegen.commands import init

            return init.run(options.folder, options.namespace, report)
        case "import":
            from codegen.commands import import_library
            from codegen.registered.ask import Question

            question = Question(options.library, options.module, options.namespace, tuple(options.op))
            return import_library.run(question, options.out, options.force, report)
    from codegen.commands import new

    view = new.View(options.operator, options.cuda_only, options.elementwise, options.custom, options.full_cuda)
    return new.run(options.spec, view, report)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Makes generated/ from ops.yaml.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str, *, spec: bool = True) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if spec:
            command.add_argument("--spec", default="ops.yaml", help="the spec (default: %(default)s)")
        command.add_argument("--json", action="store_true", help="print what a program may read")
        return command

    for command in (
        add("generate", "write the generated files; unchanged ones keep their time stamps"),
        add("check", "fail, and print the difference, when the generated files are not those of the spec"),
    ):
        command.add_argument(
            "--output", default="", help="the folder to write to (default: generated, beside the spec)"
        )
    command = add("new", "add an operator that copies its input: an entry in the spec, bodies and a reference")
    command.add_argument("operator", metavar="OP")
    command.add_argument("--cuda-only", action="store_true", help="with a body for the GPU only")
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--elementwise", action="store_true", help="as an expression, without bodies")
    kind.add_argument("--custom", action="store_true", help="with a launcher of its own, in C")
    kind.add_argument("--full-cuda", action="store_true", help="with host code of its own, in CUDA C++")
    command = add("explain", "print what an operator is: schema, contract, checks, launch, gradient, files")
    command.add_argument("operator", metavar="OP")
    command = add("diff", "list what changed between two specs; fail when it breaks callers", spec=False)
    command.add_argument("old", metavar="OLD")
    command.add_argument("new", metavar="NEW")
    command = add("init", "make a project of its own, with one operator that builds and passes its tests", spec=False)
    command.add_argument("folder", metavar="DIR", help="where to; not there yet, or empty")
    command.add_argument("--namespace", required=True, metavar="NS", help="of torch.ops, and the Python package")
    add(
        "doctor",
        "say what is missing or does not fit on this machine, and the command that mends it; fail when that "
        "stops a build",
    )
    command = add("import", "begin a spec with the operators that a library has registered", spec=False)
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--library", default="", metavar="PATH", help="a shared library, as torch.ops.load_library takes"
    )
    source.add_argument(
        "--module", default="", metavar="NAME", help="a Python module that registers them as it is imported"
    )
    command.add_argument("--namespace", default="", metavar="NS", help="theirs, where there are several")
    command.add_argument("--op", action="append", default=[], metavar="NAME", help="this one only; may be repeated")
    command.add_argument("--out", default="", metavar="FILE", help="the spec to write, with skeletons beside it")
    command.add_argument("--force", action="store_true", help="overwrite the spec that is there")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # One short run that keeps nearly all it makes: looking for garbage would only take time.
    gc.disable()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends a command as it ends others
    sys.exit(main())
