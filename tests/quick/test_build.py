"""That a quick build is the build of the project, for one machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from codegen.commands.init import ROOT
from codegen.lower.c.files import BuildOperator
from my_ops import quick
from my_ops.quick import device, host, nvrtc
from tests.quick.texts import CPU, CUDA, SHIFTED, bodies, scaled

CPU_CMAKE, CUDA_CMAKE = ((ROOT / f"cmake/{name}.cmake").read_text() for name in ("cpu", "cuda"))
MAIN_CMAKE = (ROOT / "CMakeLists.txt").read_text()


def test_flags() -> None:
    """Those of CMake."""
    flags = re.search(r"set\(cpu_flags (.*?)\)", CPU_CMAKE)
    assert flags is not None
    assert tuple(flags[1].split()) == host.CPU_FLAGS
    for flag in (*host.GCC_FLAGS, "-fexceptions", "-Werror=implicit-function-declaration"):
        assert f" {flag}" in MAIN_CMAKE
        assert flag in (*host.FLAGS, *host.GCC_FLAGS)
    assert "C_STANDARD 11" in MAIN_CMAKE
    assert "-std=c11" in host.FLAGS
    for name, needed in host.LEVELS.items():
        assert f"set(cpu_flags_{name} -march=x86-64-{name})" in CPU_CMAKE
        for word in needed.split():
            assert f'flags MATCHES " {word}"' in CPU_CMAKE
    command = re.search(r"set\(nvcc_command \${nvcc} -fatbin (.*?)\)", CUDA_CMAKE)
    assert command is not None
    assert {*command[1].split()} == {*device._FLAGS, *device._NVCC_FLAGS}
    for major, driver in device.DRIVERS.items():
        assert f"set(driver_{major} {driver})" in CUDA_CMAKE


def test_units() -> None:
    """The units of a CPU body, as CMake writes them."""
    op = BuildOperator("f", True, False, "f", ("T=float32 I=int64",), "", triton=False)
    assert list(host.cpu_units(op, "v3")) == [
        ("f__float32_int64", "#define T_DTYPE float32\n#define I_DTYPE int64\n"
         '#define CPU_SYMBOL(kernel) kernel##__float32_int64__v3\n#include "f.cpu.c"\n')
    ]  # fmt: skip
    op = BuildOperator("f", True, False, "f", (), "", triton=False)
    assert [text.splitlines()[0] for _, text in host.cpu_units(op, "v3")] == ["#define CPU_SYMBOL(kernel) kernel##__v3"]


@pytest.mark.parametrize(("arch", "found"), [("9.0", "90"), ("sm_90a", "90a"), ("12.0", "120"), ("10.3f", "103f")])
def test_architecture(arch: str, found: str) -> None:
    assert device.architectures(arch) == (found,)


COMPILERS = [
    pytest.param("nvrtc", marks=pytest.mark.skipif(nvrtc.find() is None, reason="there is no NVRTC")),
    pytest.param("nvcc", marks=pytest.mark.skipif(not device._nvcc(os.environ), reason="there is no nvcc")),
]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_images(compiler: str) -> None:
    """Without a GPU, for one that is elsewhere; and what is wrong with a body, at its own lines."""
    texts = bodies(CUDA, "imaged", 2)
    ops = quick.load(scaled("imaged", 2), bodies(CPU, "imaged", 2), texts, arch="9.0", compiler=compiler)
    library = Path(ops.__file__).with_name("quick_imaged.so").read_bytes()
    assert b"imaged__float32__0" in library
    assert library.count(b"\x7fELF") > 1 or compiler == "nvcc"  # a cubin, and what nvcc makes is compressed
    texts["imaged"] = texts["imaged"].replace("to_acc", "to_ac")
    with pytest.raises(quick.QuickError) as caught:
        quick.load(scaled("imaged", 2), bodies(CPU, "imaged", 2), texts, arch="9.0", compiler=compiler)
    lines = str(caught.value).splitlines()
    assert lines[0] == "the cuda body of imaged does not compile"
    assert re.match(r'imaged\.cu\(7\): error: identifier "to_ac" is undefined', lines[1]), lines


@pytest.mark.skipif(nvrtc.find() is None, reason="there is no NVRTC")
def test_headers_of_the_system() -> None:
    """Those that NVRTC has no file for are there; another one is named, with the way out."""
    texts = bodies(CUDA, "included", 2)
    texts["included"] = "#include <cmath>\n#include <cfloat>\n#include <climits>\n" + texts["included"]
    quick.load(scaled("included", 2), bodies(CPU, "included", 2), texts, arch="9.0", compiler="nvrtc")
    texts["included"] = "#include <vector>\n" + texts["included"]
    with pytest.raises(quick.QuickError, match="leave vector out, or install nvcc"):
        quick.load(scaled("included", 2), bodies(CPU, "included", 2), texts, arch="9.0", compiler="nvrtc")


@pytest.mark.skipif(nvrtc.find() is None or not device._nvcc(os.environ), reason="both compilers are needed")
def test_what_nvrtc_cannot_read() -> None:
    """Is compiled by nvcc, unless the caller wants NVRTC."""
    texts = bodies(CUDA, "vectored", 2)
    texts["vectored"] = "#include <vector>\n" + texts["vectored"]
    assert quick.load(scaled("vectored", 2), bodies(CPU, "vectored", 2), texts, arch="9.0").vectored


@pytest.mark.parametrize("variable", ["CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"])
def test_what_nvcc_reads(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes other images, and is part of their key."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho release 13.0\n")
    nvcc.chmod(0o755)
    found = device.Device(("90",), None, (str(nvcc),))
    before = found.identity
    monkeypatch.setenv(variable, "other")
    assert found.identity != before


def test_no_compiler_for_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "find", lambda: None)
    monkeypatch.setattr(device, "_nvcc", lambda environment: "")
    for compiler, text in ((None, "neither NVRTC nor nvcc here"), ("nvcc", "no nvcc here: set CUDA_HOME")):
        with pytest.raises(quick.QuickError, match=text):
            quick.load(scaled("f", 2), cuda=bodies(CUDA, "f", 2), arch="9.0", compiler=compiler)
    with pytest.raises(quick.QuickError, match=r"say devices: \[cpu\]"):
        quick.load(SHIFTED, arch="9.0")
    quick.load(f"{SHIFTED}  devices: [cpu]\n", arch="9.0")  # which is the way out that the error names


def test_only_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(quick.QuickError, match=r'no GPU here, and no cpu body: pass arch="9\.0"'):
        quick.load(scaled("f", 2), cuda=bodies(CUDA, "f", 2))


@pytest.mark.cuda
@pytest.mark.parametrize("compiler", COMPILERS)
def test_on_a_gpu(device: str, compiler: str) -> None:
    """Built, replaced, trained and compiled there."""
    import torch

    x = torch.randn(1000, device=device, requires_grad=True)
    compiled = None
    for factor in (2, 3, 2):
        ops = quick.load(scaled("there", factor), None, bodies(CUDA, "there", factor), compiler=compiler)
        compiled = compiled or torch.compile(ops.there, backend="aot_eager")
        for function in (ops.there, torch.ops.quick_there.there, compiled):
            y = function(x)
            torch.testing.assert_close(y, factor * x)
            torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], torch.full_like(x, factor))


def test_sources_of_a_wheel() -> None:
    """The build installs what the module looks for."""
    from my_ops.quick import sources

    section = MAIN_CMAKE.split("if(SKBUILD)")[1].split("else()")[0]
    for part in sources._PARTS:
        assert part in section
