"""Time from an edited body to a library that is ready, in seconds, beside `load_inline` of the same operator.

In a copy of the repository, built once before. An edit appends a constant with a new value to a body, so the object
file really changes; then `cmake/dev_build.sh` (all that `make build` does once its tools are there) is timed until it
returns with the new my_ops.so in place, and a new process imports it and calls the operator. `no-op` is the same
command with nothing changed. CUDA is built for one architecture, TORCH_CUDA_ARCH_LIST or else 9.0; nvcc suffices.

`load_inline` gets the C++ operator of peers/rms_norm.h, forward and backward, as source text, in a build folder of its
own, with torch imported before; every later edit changes the text in the same way and is timed until the operator can
be called. With --device cuda also as a .cu of peers/rms_norm.cu.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import torch
import torch.nn.functional as F
from torch.utils import cpp_extension

from .figures import Result, compared, limited, plain
from .options import EPS, Options
from .peers import HERE
from .progress import Progress
from .timing import seconds
from .tree import copy_tree, run

BODIES = ("rms_norm.c", "rms_norm_backward.c", "rms_norm.cu", "rms_norm_backward.cu")
LIMITS = {".c": 1.0, ".cu": 2.0}
NO_OP_LIMIT = 0.5
INLINE_FACTOR = 15.0

CALL = """
import torch, my_ops
x, weight = torch.randn(3, 64), torch.randn(64)
torch.testing.assert_close(my_ops.rms_norm(x, weight, 1e-6), torch.nn.functional.rms_norm(x, (64,), weight, 1e-6))
"""


class Tree:
    """A built copy of the repository."""

    def __init__(self, folder: Path) -> None:
        self.path = copy_tree(folder)
        self.library = self.path / "generated/my_ops/my_ops.so"
        self.edits = 0
        self.build()
        self.cuda = (self.path / "build/dev/cuda/rms_norm_0.fatbin").exists()

    def build(self) -> float:
        archs = os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0")
        return seconds(lambda: run(["sh", "cmake/dev_build.sh"], self.path, TORCH_CUDA_ARCH_LIST=archs))

    def edit(self, body: str) -> float:
        """Seconds to build after an edit of csrc/<body>."""
        self.edits += 1
        kind = "__device__" if body.endswith(".cu") else "__attribute__((used)) static const"
        before = self._digest()
        with open(self.path / "csrc" / body, "a") as source:
            source.write(f"\n{kind} int benchmark_edit_{self.edits} = {self.edits};\n")
        taken = self.build()
        if self._digest() == before:
            raise RuntimeError(f"the library is the same after an edit of {body}")
        return taken

    def call(self) -> float:
        """Seconds of a new process that imports torch and the package, calls the operator and compares."""
        package = str(self.path / "generated")
        return seconds(lambda: run([sys.executable, "-c", CALL], self.path, PYTHONPATH=package))

    def _digest(self) -> str:
        return hashlib.sha256(self.library.read_bytes()).hexdigest()


class Inline:
    """`load_inline` of the operator, with a change to its text each time."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder = folder
        self.device = device
        self.edits = 0
        folder.mkdir(parents=True)

    def edit(self) -> float:
        self.edits += 1
        modules: list[ModuleType] = []
        taken = seconds(lambda: modules.append(self._load(f"\nextern const int benchmark_edit = {self.edits};\n")))
        x, weight = torch.randn(3, 64, device=self.device), torch.randn(64, device=self.device)
        function = modules[0].rms_norm_cuda if self.device == "cuda" else modules[0].rms_norm
        torch.testing.assert_close(function(x, weight, EPS), F.rms_norm(x, (64,), weight, EPS))
        return taken

    def _load(self, edit: str) -> ModuleType:
        if self.device == "cuda":
            module = cpp_extension.load_inline(  # type: ignore[no-untyped-call]
                "my_ops_inline_cuda",
                cpp_sources="torch::Tensor rms_norm_cuda(const torch::Tensor& x, const torch::Tensor& w, double eps);",
                cuda_sources=(HERE / "rms_norm.cu").read_text() + edit,
                functions=["rms_norm_cuda"],
                build_directory=str(self.folder),
            )
        else:
            text = (HERE / "rms_norm.h").read_text().replace("#pragma once\n", "")
            module = cpp_extension.load_inline(  # type: ignore[no-untyped-call]
                "my_ops_inline",
                cpp_sources=text + "using peer::rms_norm; using peer::rms_norm_backward;" + edit,
                functions=["rms_norm", "rms_norm_backward"],
                build_directory=str(self.folder),
            )
        assert isinstance(module, ModuleType)
        return module


def measure(options: Options) -> Result:
    rounds = options.repeats(7, 3)
    inline_rounds = options.repeats(3, 2)  # the first one builds from nothing
    devices = ("cpu", "cuda") if options.device == "cuda" else ("cpu",)
    progress = Progress("build", 1 + rounds * (len(BODIES) + 2) + inline_rounds * len(devices))
    result = Result()
    with tempfile.TemporaryDirectory(prefix="my_ops-") as temporary:
        tree = Tree(Path(temporary) / "tree")
        inline = {device: Inline(Path(temporary) / f"inline-{device}", device) for device in devices}
        progress.step("first build")
        bodies = [body for body in BODIES if tree.cuda or not body.endswith(".cu")]
        if not tree.cuda:
            result.notes.append("No .cu body: the build found no nvcc, or MY_OPS_CUDA=OFF.")
        edits: dict[str, list[float]] = {body: [] for body in bodies}
        no_op: list[float] = []
        calls: list[float] = []
        inline_edits: dict[str, list[float]] = {device: [] for device in devices}
        for round_number in range(rounds):
            for body in bodies:
                edits[body].append(tree.edit(body))
                progress.step(f"csrc/{body}")
            calls.append(tree.call())
            progress.step("call in a new process")
            no_op.append(tree.build())
            progress.step("no-op build")
            if round_number < inline_rounds:
                for device in devices:
                    inline_edits[device].append(inline[device].edit())
                    progress.step(f"load_inline, {device}")
    progress.close()

    for body in bodies:
        limit = LIMITS[Path(body).suffix]
        result.figures.append(limited(f"edit csrc/{body}, build", "s", edits[body], limit))
    result.figures.append(limited("build, nothing changed", "s", no_op, NO_OP_LIMIT))
    result.figures.append(plain("new process: import torch and my_ops, call", "s", calls))
    for device in devices:
        first, *later = inline_edits[device]
        body = "rms_norm.cu" if device == "cuda" and tree.cuda else "rms_norm.c"
        result.figures.append(plain(f"load_inline, {device}: first build", "s", [first]))
        result.figures.append(
            compared(
                f"load_inline, {device}: edit",
                "s",
                later,
                f"edit csrc/{body}",
                edits[body],
                at_least=INLINE_FACTOR if device == "cpu" else None,
            )
        )
    return result
