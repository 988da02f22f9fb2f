"""Host functions on a fake libtorch and a fake CUDA driver, under sanitizers: tests/abi/README.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.lower.schema import dispatched
from codegen.lower.tests.samples import base
from tests.abi import machines
from tests.abi.call import Call
from tests.abi.calls import script
from tests.abi.coverage import allowed, measure
from tests.abi.project import RUNTIME, Project, execute

# Of the conformance project those that have, together, every kind of argument and of output.
CHOSEN = ("scaled", "alike", "add_bias", "add_bias_backward", "filled", "outer_sum", "row_sums", "row_sums_backward",
          "chosen", "listed", "grid", "exchange", "switched", "crossed", "tripled", "needs_arch", "list_dot",
          "scale_list", "double_some", "some_firsts", "shuffled", "positive_rows", "scaled_from_host", "scale_segments",
          "shift_list", "shifted_list", "running_sum", "by_triton")  # fmt: skip

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc and its sanitizers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs are built."""
    return tmp_path_factory.mktemp("abi")


@pytest.fixture(scope="module")
def library(folder: Path) -> Project:
    """The library, built."""
    project = Project("library", folder / "library")
    project.build()
    return project


def _clean(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-8000:]
    assert re.search(r"^[1-9]\d* calls, .* 0 problems$", done.stdout, re.M)


def test_every_function_of_the_abi_is_there(library: Project) -> None:
    names = set(re.findall(r"^TORCH_ABI.*?(\w+)\(", (RUNTIME / "torch_abi.h").read_text(), re.M))
    listed = subprocess.run(["nm", str(library.program)], capture_output=True, text=True, check=True).stdout
    assert len(names) > 50
    assert names <= set(re.findall(r" [TVW] (\w+)$", listed, re.M))


def test_library(library: Project) -> None:
    """Right calls, wrong calls, and right calls in which each function fails once."""
    _clean(execute(library.program, script(library.library)))


@pytest.fixture(scope="module")
def conformance(folder: Path) -> Project:
    """The conformance project, built."""
    every = os.environ.get("OPS_TEST_ABI") == "all"
    project = Project("conformance", folder / "conformance", operators=() if every else CHOSEN)
    project.build()
    return project


def test_conformance(conformance: Project) -> None:
    _clean(execute(conformance.program, script(conformance.library, conformance.operators)))


# What csrc/scale_segments.launch.c is asked to do wrong, and what the call then says.
ASKED = {
    "a kernel that is not there": "scale_segment: expected VEC in [1, 4], got VEC = 3",
    "a block without threads": "scale_nothing__float32_int32__0: expected 1 <= block.y <= 1024, got 0",
    "a negative grid": "scale_nothing__float32_int32__0: expected 1 <= grid.x <= 2147483647, got -1",
    "a negative cluster": "scale_nothing__float32_int32__0: expected 0 <= cluster.y <= 65535, got -2",
    "much memory": "cuda_scratch: expected at most 16 pieces of memory in a call",
    "too much memory": "cuda_scratch: has more elements than can be addressed",
    "nothing": "the launcher reports a failure, and no error",
    "to go on": "segment 7 is wrong",
}


@pytest.mark.parametrize("ask", [*ASKED, "a grid without blocks", "memory"])
def test_launchers(conformance: Project, ask: str) -> None:
    """What a launcher does wrong is the error of the call; right ones go on when each step has failed once."""
    op = conformance.library.operator("scale_segments")
    text = f"conformance::scale_segments: {ASKED[ask]}" if ask in ASKED else ""
    call = Call(dispatched(op)[0], base(op), "cuda", text=text, faults=not text, scalars={"ask": ask})
    _clean(execute(conformance.program, "\n".join(call.lines()) + "\n"))


def test_memory_of_the_host_is_pinned(conformance: Project) -> None:
    """Kernels run after the call, and can read nothing else; a launcher reads whatever there is."""
    text = "order: expected pinned memory that needs no copy, since kernels read it, got other memory"
    kernels, launcher = map(conformance.library.operator, ("scaled_from_host", "scale_segments"))
    _clean(execute(conformance.program, machines.script(conformance.library, kernels, ("pageable 1",), text)))
    call = Call(dispatched(launcher)[0], base(launcher), "cuda")
    _clean(execute(conformance.program, "\n".join(["pageable 1", *call.lines()]) + "\n"))


@pytest.mark.parametrize(("driver", "code"), [(13010, 98), (13010, 209), (13010, 222), (12080, 35), (12080, 98)])
def test_host_code_without_an_image(conformance: Project, driver: int, code: int) -> None:
    """The CUDA runtime has other words for it."""
    _, text = machines.MACHINES["no kernel image" if driver > 13000 else "a driver of an older CUDA"]
    instructions = ("arch 70", f"driver {driver}", "fails cudaLaunchKernel", f"code {code}")
    op = conformance.library.operator("running_sum")
    _clean(execute(conformance.program, machines.script(conformance.library, op, instructions, text)))


@pytest.mark.parametrize("machine", machines.MACHINES)
def test_machines(library: Project, machine: str) -> None:
    """What is wrong with a machine is said, and nothing is left behind."""
    instructions, text = machines.MACHINES[machine]
    op = library.library.operator("square")
    _clean(execute(library.program, machines.script(library.library, op, instructions, text.format(kernel=KERNEL))))


KERNEL = "square__float64__0"


@pytest.mark.parametrize("machine", machines.TRITON)
def test_machines_and_triton(library: Project, machine: str) -> None:
    """The code for a GPU is taken, else PTX that it compiles, else the call says what is missing."""
    instructions, text = machines.TRITON[machine]
    op = library.library.operator("softmax_triton")
    _clean(execute(library.program, machines.script(library.library, op, instructions, text)))


def test_built_without_cuda(folder: Path) -> None:
    project = Project("library", folder / "no_cuda", cuda=False)
    program = project.build()
    for op, instructions in (("square", ()), ("softmax_triton", ("triton 0",))):
        script = machines.script(project.library, project.library.operator(op), instructions, machines.WITHOUT_CUDA)
        _clean(execute(program, script))


def test_registration(library: Project) -> None:
    """Where PyTorch refuses anything, nothing stays registered and the import says why."""
    texts = []
    for step in range(1000):
        done = execute(library.program, "", FAKE_FAIL_AT=str(step))
        if done.returncode == 0:
            break
        assert done.returncode == 3, done.stderr
        text, left = done.stdout.splitlines()
        assert left == "libraries left: 0"
        texts.append(text)
    assert "is already registered by another library" in texts[0]
    for part in ("refused the schema my_ops::square(Tensor x) -> Tensor", "refused kernels for the namespace my_ops",
                 "refused the CPU kernel of square", "refused the CUDA kernel of gather_rows"):  # fmt: skip
        assert any(part in text for text in texts), part


def test_branches(folder: Path) -> None:
    """Every branch of the host functions of the library is taken, but for those with a reason in untaken.txt."""
    project = Project("library", folder / "coverage", coverage=True)
    program = project.build()
    _clean(execute(program, script(project.library)))
    _clean(execute(program, "arch 80\n" + script(project.library, launches=True)))
    total, taken, untaken = measure(project)
    assert taken > 0.8 * total
    reasons = allowed()
    assert [one for one in untaken if not any(reason.covers(one) for reason in reasons)] == []
