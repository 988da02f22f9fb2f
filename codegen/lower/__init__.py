"""From the model to what is written: for each generated file its path, its template, and a view of final strings."""

from __future__ import annotations

from codegen.frozen import dataclass
from codegen.lower.c.direct import direct_view
from codegen.lower.c.files import build_view, cpu_unit_view, header_view, library_view
from codegen.lower.c.host import host_view
from codegen.lower.cuda import arguments_view, entries_view
from codegen.lower.custom import launcher_view
from codegen.lower.docs import index_view, page_view
from codegen.lower.elementwise.cuda import elementwise_cuda_view
from codegen.lower.launch import entry_points
from codegen.lower.python.calls import calls_view
from codegen.lower.python.module import module_view, package_view
from codegen.lower.shims import shims_view
from codegen.lower.tests.module import test_view
from codegen.lower.triton import manifest_view
from codegen.model import Library, Operator

# Documentation has a folder of its own; elsewhere paths that start like this stand for it.
DOCS = "docs/"


@dataclass(frozen=True)
class Output:
    """One file: its path under generated/ (or DOCS), the template that lays it out, and the view that it prints."""

    path: str
    template: str
    view: object


def operator_files(library: Library, op: Operator) -> list[Output]:
    """The generated files of one operator."""
    points = entry_points(op)
    files = [
        Output(f"c/{op.name}_call.h", "op_call.h.j2", header_view(library, op)),
        Output(f"c/{op.name}.c", "op.c.j2", host_view(library, op, points)),
    ]
    if "cpu" in op.devices:
        files.append(Output(f"c/{op.name}.cpu.c", "op.cpu.c.j2", cpu_unit_view(library, op)))
    if "cuda" in op.devices and op.elementwise:
        files.append(Output(f"cuda/{op.name}.cu", "elementwise.cu.j2", elementwise_cuda_view(library, op)))
    elif op.triton is not None:
        files.append(Output(f"cuda/{op.name}.json", "triton.json.j2", manifest_view(library, op)))
    elif "cuda" in op.devices:
        files.append(Output(f"cuda/{op.name}.cuh", "op.cuh.j2", arguments_view(library, op)))
        template = "op_full.cu.j2" if op.full_cuda else "op.cu.j2"
        files.append(Output(f"cuda/{op.name}.cu", template, entries_view(library, op, points)))
    if "cuda" in op.devices and op.custom:
        launcher = launcher_view(library, op)
        files.append(Output(f"c/{op.name}_launch.h", "op_launch.h.j2", launcher))
        files.append(Output(f"c/{op.name}.launch.c", "op.launch.c.j2", launcher))
    files.append(Output(f"{library.namespace}/ops/{op.name}.py", "op.py.j2", module_view(library, op)))
    files.append(Output(f"tests/test_{op.name}.py", "test_op.py.j2", test_view(library, op)))
    files.append(Output(f"{DOCS}{op.name}.md", "op.md.j2", page_view(library, op)))
    return files


def _package_files(library: Library) -> list[Output]:
    """What the Python modules of the operators share."""
    view, calls = package_view(library), calls_view(library)
    return [
        Output(f"{library.namespace}/__init__.py", "package.py.j2", view),
        Output(f"{library.namespace}/_C.py", "direct.py.j2", view),
        Output(f"{library.namespace}/_C.pyi", "direct.pyi.j2", direct_view(library)),
        Output(f"{library.namespace}/_runtime.py", "runtime.py.j2", view),
        Output(f"{library.namespace}/_rules.py", "rules.py.j2", view),
        Output(f"{library.namespace}/_batch.py", "batch.py.j2", view),
        Output(f"{library.namespace}/_sharding.py", "sharding.py.j2", view),
        Output(f"{library.namespace}/_tally.py", "bytes.py.j2", view),
        Output(f"{library.namespace}/_verify.py", "calls.py.j2", view),
        Output(f"{library.namespace}/_verify_call.py", "calls_made.py.j2", view),
        Output(f"{library.namespace}/_compare.py", "calls_compare.py.j2", calls),
        Output(f"{library.namespace}/_contracts.py", "calls_contracts.py.j2", calls),
        Output(f"{library.namespace}/_derived.py", "calls_derived.py.j2", view),
        Output(f"{library.namespace}/_references_of.py", "calls_references.py.j2", view),
        Output(f"{library.namespace}/_repeat.py", "calls_repeat.py.j2", view),
        Output(f"{library.namespace}/ops/__init__.py", "package_ops.py.j2", view),
        Output(f"{library.namespace}/py.typed", "py.typed.j2", view),
        Output("tests/conftest.py", "tests_conftest.py.j2", view),
    ]


def _shim_files(library: Library) -> list[Output]:
    """For packages of AOTInductor."""
    view = shims_view(library)
    return [
        Output("c/shims.c", "shims.c.j2", view),
        Output(f"{library.namespace}/aoti.py", "aoti.py.j2", view),
    ]


def library_files(library: Library, *, replaceable: bool = False) -> list[Output]:
    """The generated files that are not about one operator alone. `replaceable`: for a library whose place another one
    may take while the process runs.
    """
    shared = library_view(library, replaceable=replaceable)
    shims = [] if replaceable else _shim_files(library)  # a package outlives what is replaced
    return [
        Output("c/library.c", "library.c.j2", shared),
        Output("c/operators.h", "operators.h.j2", shared),
        Output("c/direct.c", "direct.c.j2", direct_view(library)),
        Output("ops.cmake", "ops.cmake.j2", build_view(library)),
        Output(f"{DOCS}README.md", "ops_index.md.j2", index_view(library)),
        *shims,
        *_package_files(library),
    ]
