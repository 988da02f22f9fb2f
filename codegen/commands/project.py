"""What a spec belongs to: its library, the bodies beside it, and the files that are generated from it."""

from __future__ import annotations

from pathlib import Path

from codegen import schema
from codegen.bodies import check_bodies, check_modules
from codegen.check.library import Checked, check
from codegen.check.samples import check_samples
from codegen.commands.report import Report
from codegen.errors import Diagnostics
from codegen.frozen import dataclass
from codegen.load import load
from codegen.lower import DOCS, library_files, operator_files
from codegen.model import Library, Operator
from codegen.render import Renderer
from codegen.spread import spread
from codegen.write import Tree

PACKAGE = Path(__file__).parents[1]
RENDERER = Renderer(PACKAGE.parent / "templates")


@dataclass(frozen=True)
class Spec:
    """A spec that has been read: as the user calls it, its bytes, and what they declare."""

    shown: str
    path: Path
    data: bytes
    checked: Checked


def read_spec(shown: str, report: Report, *, bodies: bool = True) -> Spec | None:
    """The spec in the file `shown`; None after an error, which has been reported. `bodies`: those in csrc/ must be
    there.
    """
    path = Path(shown)
    try:
        data = path.read_bytes()
    except OSError as error:
        report.failure(shown, error.strerror or str(error))
        return None
    found = Diagnostics()
    checked = check(load(data, found), found)
    if checked is not None and bodies:
        check_bodies(checked, path.parent / "csrc", found)
        check_modules(checked, path.parent / "python", found)
    if checked is not None and not found.failed:
        check_samples(checked, found)
    report.spec(shown, data.decode("utf-8-sig", "replace"), found)
    return None if checked is None or found.failed else Spec(shown, path, data, checked)


def rendered(spec: Spec, tree: Tree) -> dict[str, bytes]:
    """Every generated file."""
    return files_of(spec.checked.library) | ({schema.NAME: schema.schema()} if tree.single else {})


def files_of(library: Library) -> dict[str, bytes]:
    """The generated files of a library."""
    files = {file.path: RENDERER.render(file.template, file.view) for file in library_files(library)}

    def of_operator(op: Operator) -> dict[str, bytes]:
        return {file.path: RENDERER.render(file.template, file.view) for file in operator_files(library, op)}

    for found in spread(of_operator, library.operators):
        files |= found
    return files


def tree_of(spec: Spec, output: str) -> Tree:
    """Where files go: to generated/ and docs/ops/ beside the spec, or all to `output`. The schema for editors is part
    of the generator, and is written where that stands beside the spec.
    """
    root = spec.path.parent
    beside = root / PACKAGE.name
    single = {schema.NAME: beside / schema.NAME} if beside.is_dir() and beside.samefile(PACKAGE) else {}
    if output:
        return Tree(root, Path(output), spec.path, single=single)
    return Tree(root, root / "generated", spec.path, {DOCS: root / "docs" / "ops"}, single)
