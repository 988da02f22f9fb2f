"""generate: writes what the spec says; nothing when it is wrong."""

from __future__ import annotations

from codegen.commands.project import read_spec, rendered, tree_of
from codegen.commands.report import Report
from codegen.write import write


def run(spec_path: str, output: str, report: Report) -> int:
    """The exit code: 1 when nothing was written."""
    spec = read_spec(spec_path, report)
    if spec is None:
        return 1
    tree = tree_of(spec, output)
    try:
        done = write(tree, rendered(spec, tree), spec.data)
    except OSError as error:
        report.failure(str(tree.output), f"{error}; nothing was written")
        return 1
    if not report.as_json:
        print(f"{tree.output}: {done.written} files written, {done.removed} removed, {done.unchanged} unchanged")
    return 0
