"""docs/migrating.md: its files, and the operators before and after, compared.

python -m tests.migrating builds each of the C++ befores by itself, as the page has it: three compilations of a minute.
The tests compile both bindings at once and hand that module to the page's call of load_inline.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "migrating.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
# Calls before and after, in a process that has the files of the page in its folder.
COMPARE = """
import torch
from pathlib import Path
from my_ops import quick

BODIES = {name: Path(f"csrc/{name}.c").read_text() for name in ("unit_rows", "unit_rows_backward")}


def after(spec):
    return quick.load(Path(spec).read_text(), cpu=BODIES, namespace="after_" + spec.partition(".")[0])


def compare(before, new, trains=True, refuses=True):
    for shape in ((3, 5), (2, 4, 33), (7,), (0, 4), (4, 0)):
        x = torch.randn(shape)
        given = [x.clone().requires_grad_(trains), x.clone().requires_grad_()]
        old_y, new_y = before(given[0], 1e-6), new(given[1], 1e-6)
        torch.testing.assert_close(new_y.detach(), old_y.detach())
        if trains:
            upstream = torch.randn(shape)
            old_y.backward(upstream)
            new_y.backward(upstream)
            torch.testing.assert_close(given[1].grad, given[0].grad)
            assert shape.count(0) or given[1].grad.any()
    for wrong in (torch.ones(3, dtype=torch.int32), torch.tensor(1.0)):
        for function in (before, new) if refuses else (new,):
            try:
                function(wrong, 1e-6)
            except RuntimeError:
                continue
            raise AssertionError(f"{function} takes {wrong}")
    print("compared")
"""
CPP = """
import sys
from torch.utils import cpp_extension

header = Path("unit_rows.h").read_text()
load_inline = cpp_extension.load_inline
if built is None:
    built = load_inline(
        "rows_pybind",
        [Path("rows_pybind.cpp").read_text(), Path("rows_library.cpp").read_text()],
        extra_include_paths=["."], extra_cflags=["-O0"], build_directory=".",
    )
    sys.modules["rows_pybind"] = built
    cpp_extension.load_inline = lambda name, cpp_sources, functions: {
        (header, "unit_rows", "unit_rows_backward"): built
    }[(cpp_sources, *functions)]
old, new = {"x": torch.ones(2, 4)}, {"x": torch.ones(2, 4)}
exec(Path("before_inline.py").read_text(), old)
exec(Path("after_inline.py").read_text(), new)
torch.testing.assert_close(old["y"], torch.full((2, 4), 0.5))
torch.testing.assert_close(new["y"], old["y"])
compare(old["module"].unit_rows, new["module"].unit_rows, trains=False)

import before_pybind

operators = after("ops.yaml")
compare(before_pybind.unit_rows, operators.unit_rows)
compare(torch.ops.rows.unit_rows, operators.unit_rows)
"""
CUSTOM_OP = """
import before_custom_op

wrong = torch.ones(2, 3, dtype=torch.int32)
before_custom_op.unit_rows(wrong)  # as the page says
compare(before_custom_op.unit_rows, after("imported.yaml").unit_rows, refuses=False)
"""


def files() -> dict[str, str]:
    """The blocks that begin with the name of a file."""
    found = {}
    for _, text in BLOCKS:
        name = re.match(r"(?://|#|/\*) ([\w/]+\.\w+)(?: \*/)?\n", text)
        if name is not None:
            found[name[1]] = text
    return found


def write(folder: Path) -> None:
    """The files of the page."""
    for name, text in files().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def run(folder: Path, *command: str) -> str:
    """What a Python says in this folder; the page's modules, the package and the tools are found."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([".", str(ROOT / "generated"), str(ROOT)]),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    return done.stdout


_EACH = """
built = True
cpp_extension_load = __import__("torch.utils.cpp_extension", fromlist=["load"]).load
cpp_extension_load("rows_library", ["rows_library.cpp"], is_python_module=False)
"""


def main() -> None:
    """Each of them by itself."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder)
        run(folder, "setup.py", "build_ext", "--inplace")
        print(run(folder, "-c", COMPARE + _EACH + CPP).count("compared"), "compared")


if __name__ == "__main__":
    main()
