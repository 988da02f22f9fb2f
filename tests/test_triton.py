"""cmake/triton.cmake and triton_compile.py: kernels in Triton become code for GPUs that C can launch. Needs no GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codegen.commands import init

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "cmake" / "triton_compile.py"

needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")

KERNEL = """
import triton
import triton.language as tl
import parts


@triton.jit
def scaled(y, x, n, eps, flag, place, half, BLOCK: tl.constexpr, KIND: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    if KIND == "sum":
        value += tl.sum(value, axis=0)
    if flag:
        value = parts.twice(value)
    tl.store(y + at, value * eps + place + half, mask=at < n)
"""
PARTS = """
import triton


@triton.jit
def twice(x):
    return 2 * x
"""
TYPES = ["*fp32", "*fp32", "i64", "fp32", "i1", "i32", "fp64"]
NAMES = ["y", "x", "n", "eps", "flag", "place", "half"]


def row(number: int, divisible: list[str], **changes: Any) -> dict[str, Any]:
    params = {"BLOCK": 1024, "KIND": "sum"}
    return {
        "row": number,
        "types": TYPES,
        "divisible": divisible,
        "params": params,
        "num_warps": 2,
        "num_stages": 3,
    } | changes


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "csrc").mkdir()
    (tmp_path / "csrc" / "scaled.py").write_text(KERNEL)
    (tmp_path / "csrc" / "parts.py").write_text(PARTS)
    return tmp_path


def run(project: Path, *archs: str, **changes: Any) -> subprocess.CompletedProcess[str]:
    listed: dict[str, Any] = {
        "schema": "", "source": "csrc/scaled.py", "kernel": "scaled", "arguments": NAMES, "rows": 3,
        "kernels": [row(0, []), row(2, ["y", "x", "n"])],
    } | changes  # fmt: skip
    (project / "scaled.json").write_text(json.dumps(listed))
    command = [sys.executable, SCRIPT, project / "scaled.json", "--root", project, "--into", project / "made"]
    return subprocess.run(
        [*command, "--archs", *(archs or ("90",))], capture_output=True, text=True, check=False, env={**os.environ}
    )


def sections(cubin: bytes) -> dict[str, bytes]:
    """The sections of an ELF file of 64 bits, by name."""
    start, size, count, names = (struct.unpack_from(form, cubin, at)[0] for form, at in
                                 (("<Q", 40), ("<H", 58), ("<H", 60), ("<H", 62)))  # fmt: skip
    heads = [struct.unpack_from("<IIQQQQ", cubin, start + i * size) for i in range(count)]
    table = heads[names]
    found = {}
    for name, kind, _, _, offset, length in heads:
        at = table[4] + name
        found[cubin[at : cubin.index(b"\0", at)].decode()] = b"" if kind == 8 else cubin[offset : offset + length]
    return found


def images(project: Path) -> list[tuple[dict[str, int], bytes]]:
    """What the C file says of each image, and the image."""
    text, data = (project / "made" / "scaled.c").read_text(), (project / "made" / "scaled.images").read_bytes()
    starts = [int(start) for start in re.findall(r"\.image = scaled__triton_images \+ (\d+)", text)]
    found = []
    for line in re.findall(r"^    \{\.kernel = .*", text, re.M):
        told = {name: int(value) for name, value in re.findall(r"\.(arch|threads|shared|scratch) = (\d+)", line)}
        told |= {name: 1 for name in ("exact", "ptx") if f".{name} = true" in line}
        place = starts.index(starts[int(re.search(r"&modules\[(\d+)\]", line)[1])])  # type: ignore[index]
        found.append((told, data[starts[place] : [*starts, len(data)][place + 1]]))
    return found


@needs_triton
def test_code_for_architectures(project: Path) -> None:
    """Kernels of each place in turn, code for each architecture and PTX, with the parameters that C passes."""
    done = run(project, "80", "90a", "100+PTX")
    assert (done.returncode, done.stderr) == (0, "")
    made = images(project)
    assert [told["arch"] for told, _ in made] == [80, 90, 100, 80] * 2
    assert [(told.get("exact", 0), told.get("ptx", 0)) for told, _ in made] == [(0, 0), (1, 0), (1, 0), (0, 1)] * 2
    text = (project / "made" / "scaled.c").read_text()
    assert text.count("    {.arch = 0},\n") == 4  # the place that no call asks for
    # 5 parameters of the call with 8 bytes, one of 4 and one of 1, as C lays them out, and what Triton appends.
    bytes_of_parameters = 8 + 8 + 8 + 4 + 4 + 8 + 8 + 8 + 8
    bases = {80: 0x160, 90: 0x210, 100: 0x380}  # where parameters begin in the constant bank of an architecture
    for told, code in made:
        assert told["threads"] == 64
        if "ptx" in told:
            assert b".target sm_80" in code
            assert b".version 8.0" in code
            assert code.endswith(b"\0")
            continue
        found = sections(code)
        assert struct.unpack_from("<H", code, 18) == (190,)  # a machine of NVIDIA
        assert ".text.scaled" in found
        assert len(found[".nv.constant0.scaled"]) == bases[told["arch"]] + bytes_of_parameters
        assert str(project).encode() not in code
    assert all(told["shared"] > 0 for told, _ in made)


@needs_triton
def test_what_is_divisible_is_read_in_one_piece(project: Path) -> None:
    """And nothing else is: a tensor that does not begin at a multiple of 16 bytes gets the other kernel."""
    assert run(project, "80+PTX").returncode == 0
    texts = [code.decode(errors="replace") for told, code in images(project) if "ptx" in told]
    assert ["ld.global.v4" in text or "st.global.v4" in text for text in texts] == [False, True]


@needs_triton
def test_the_build_watches_what_a_kernel_imports(project: Path) -> None:
    assert run(project).returncode == 0
    target, listed = (project / "made" / "scaled.d").read_text().split(": ")
    assert target == str(project / "made" / "scaled.c")
    assert listed.split() == [str(project / "csrc" / name) for name in ("parts.py", "scaled.py")]
    assert not (project / "csrc" / "__pycache__").exists()
    again = (project / "made" / "scaled.images").read_bytes()
    assert run(project).returncode == 0
    assert (project / "made" / "scaled.images").read_bytes() == again


SPEC = """
namespace: small
ops:
  scaled:
    types: {T: [float32]}
    devices: [cuda]
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    triton: {kernel: scaled, args: [y, x, n], grid: n}
    differentiable: false
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize(
    ("switch", "answer", "said"),
    [
        ("AUTO", "echo 3.6.1", "-- Triton: 3.6.1, {python}"),
        ("AUTO", "exit 1", "-- Triton: {python} has none, so scaled and what else it compiles have no CUDA part; `pip "
                           'install ".[triton]"` brings it'),
        ("AUTO", "echo 3.5.1", "-- Triton: {python} has version 3.5.1, and 3.6 is the oldest that works, so scaled"),
        ("ON", "exit 1", "SMALL_CUDA is ON, and the operator scaled needs Triton: {python} has none; install it by"),
        ("OFF", "exit 1", "-- CUDA: switched off, only the CPU part is built"),
    ],
)  # fmt: skip
def test_what_a_build_says(project: Path, switch: str, answer: str, said: str) -> None:
    """Without Triton everything else is built, unless the CUDA part is demanded."""
    for name in init.BUILD:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(ROOT / name)
    (project / "ops.yaml").write_text(SPEC)
    subprocess.run([sys.executable, "-m", "codegen", "generate"], cwd=project, check=True, capture_output=True)
    python = project / "python"
    python.write_text(f"#!/bin/sh\n{answer}\n")
    python.chmod(0o755)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["cmake", "-S", project, "-B", project / "b", "-G", "Ninja", f"-DPython3_EXECUTABLE={python}"],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": path, "SMALL_CUDA": switch, "TORCH_CUDA_ARCH_LIST": "9.0"},
    )  # fmt: skip
    assert (done.returncode == 0) == (switch != "ON")
    text = " ".join((done.stdout if switch != "ON" else done.stderr).split())
    assert said.format(python=python) in text
    built = (project / "b" / "triton" / "scaled_missing.c").exists()
    assert built == (answer != "echo 3.6.1" and switch != "ON")


WRONG = {
    "no file": ({"source": "csrc/other.py"}, "csrc/other.py: the file is missing: it holds the Triton kernel"),
    "no kernel": ({"kernel": "other"}, "csrc/scaled.py: other: expected a function under @triton.jit, and there is no "
                                       "function of that name"),
    "no Triton": ({"kernel": "triton"}, "csrc/scaled.py: triton: expected a function under @triton.jit, and it is a "
                                        "module"),
    "arguments": ({"arguments": ["y", "x"]}, "csrc/scaled.py: scaled takes y, x, n, eps, flag, place, half before its "
                                             "constants, and args: lists y, x"),
    "params": ({"kernels": [row(0, [], params={"BLOCK": 8})]}, "csrc/scaled.py: scaled has the tl.constexpr parameters "
                                                              "BLOCK, KIND, and params: lists BLOCK"),
    "block": ({"kernels": [row(0, [], params={"BLOCK": 24, "KIND": ""})]},
              "csrc/scaled.py: Triton does not compile it for compute capability 9.0 (*fp32, *fp32, i64, fp32, i1, "
              "i32, fp64; BLOCK = 24, KIND = ): "),
}  # fmt: skip


@needs_triton
@pytest.mark.parametrize(("changes", "text"), WRONG.values(), ids=WRONG)
def test_mistakes_are_one_line(project: Path, changes: dict[str, Any], text: str) -> None:
    done = run(project, **changes)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(text)
    assert not (project / "made" / "scaled.c").exists()


@pytest.mark.parametrize(
    ("text", "said"), [("def f(:\n", "line 1: "), ("1 / 0\n", "it cannot be imported: ZeroDivisionError: ")]
)
def test_a_file_that_is_no_module(project: Path, text: str, said: str) -> None:
    (project / "csrc" / "scaled.py").write_text(text)
    done = run(project)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, line[: 16 + len(said)]) == (1, f"csrc/scaled.py: {said}")
