"""check: whether the generated files are those of the spec; prints how they differ, and the command that mends it."""

from __future__ import annotations

from codegen.commands.project import read_spec, rendered, tree_of
from codegen.commands.report import Report
from codegen.write import changes, difference


def run(spec_path: str, output: str, report: Report) -> int:
    """The exit code: 1 when a file is not what the spec says."""
    spec = read_spec(spec_path, report)
    if spec is None:
        return 1
    tree = tree_of(spec, output)
    files = rendered(spec, tree)
    stale = changes(tree, files, spec.data)
    if not stale:
        if not report.as_json:
            print(f"{tree.output} is what {tree.spec} says")
        return 0
    extra = "".join(f" --{name} {value}" for name, value in (("spec", spec_path), ("output", output)) if value)
    command = "make generate" if spec_path == "ops.yaml" and not output else f"python -m codegen generate{extra}"
    if report.as_json:
        for path in stale:
            report.failure(tree.listed(path), f"not what {tree.spec} says", f"run: {command}")
    else:
        print(difference(tree, files, spec.data), end="")
        report.note(f"{tree.output} is not what {tree.spec} says; run: {command}")
    return 1
