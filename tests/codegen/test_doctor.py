"""What `doctor` says of machines that are put together of fake programs: each line, its command, and whether it stops a
build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from codegen.commands.doctor import examine
from codegen.doctor import cuda, library, tools
from codegen.doctor.fact import Fact, ask

ROOT = Path(__file__).parents[2]
SETTINGS = ("CC", "CFLAGS", "CMAKE", "NINJA", "CUDACXX", "CUDA_HOME", "CUDA_PATH", "CUDAHOSTCXX", "DEMO_CUDA",
            "TORCH_CUDA_ARCH_LIST", "PYTHONPATH")  # fmt: skip
Machine = Callable[..., Path]
NEWLINE, EMPTY = "\n", "''"  # in a shell


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Puts programs on PATH, which has nothing else, and settings into the environment; their folder. A program is what
    it prints for each pattern of its arguments, and its exit code behind a `!`.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setattr(cuda, "_USUAL", str(tmp_path / "usual"))
    monkeypatch.setenv("PATH", str(folder))
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)

    def make(programs: Mapping[str, Mapping[str, str]], **settings: str) -> Path:
        for name, answers in programs.items():
            cases = ""
            for pattern, text in answers.items():
                said, code = re.fullmatch(r"(?s)(.*?)(?:!(\d+))?", text).groups()  # type: ignore[union-attr]
                answer = f"printf {said + NEWLINE!r}{' >&2' if code else ''}" if said else ":"
                cases += f"{pattern or EMPTY}) {answer}; exit {code or 0} ;;\n"
            program = folder / name
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) exit 0 ;;\nesac\n')
            program.chmod(0o755)
        for name, value in settings.items():
            monkeypatch.setenv(name, value.format(bin=folder))
        return folder

    return make


def line(fact: Fact, folder: Path) -> str:
    """As it is printed, with what it stops."""
    text = f"{'ok' if fact.ok else 'stops' if fact.stops_build else 'problem'} {fact.name}: {fact.text}; {fact.mend}"
    return text.replace(str(folder), "BIN")


GCC = "gcc (Debian 12.2.0-14) 12.2.0"
COMPILERS = {
    "ok": ({"cc": {"--version": GCC}}, {}, "ok compiler: gcc 12.2.0, BIN/cc; "),
    "missing": ({}, {}, "stops compiler: there is no cc; apt-get install gcc libc6-dev, or set CC"),
    "misnamed": (
        {}, {"CC": "clong -m64"}, "stops compiler: there is no clong; apt-get install gcc libc6-dev, or set CC",
    ),
    "clang": (
        {"clang": {"--version": "Debian clang version 14.0.6"}}, {"CC": "clang"},
        "ok compiler: clang 14.0.6, BIN/clang; ",
    ),
    "old": (
        {"cc": {"--version": "cc (GCC) 9.4.0"}}, {},
        "stops compiler: gcc 9.4.0 of BIN/cc is too old: 11 is the oldest that works; apt-get install gcc-11, and set "
        "CC=gcc-11",
    ),
    "broken": (
        {"cc": {"--version": GCC, "*trial.c": "trial.c:1:10: fatal error: dlfcn.h: No such file!1"}}, {},
        "stops compiler: BIN/cc does not compile: trial.c:1:10: fatal error: dlfcn.h: No such file; apt-get install "
        "libc6-dev, or set CC and CFLAGS",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMPILERS)
def test_compiler(machine: Machine, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    programs, settings, expected = COMPILERS[case]
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    folder = machine(programs, **settings)
    assert line(tools.compiler(), folder) == expected


@pytest.mark.parametrize(
    ("look", "programs", "expected"),
    [
        (tools.cmake, {"cmake": {"--version": "cmake version 3.25.1"}}, "ok cmake: 3.25.1, BIN/cmake; "),
        (tools.cmake, {}, "stops cmake: there is none; python -m pip install cmake"),
        (
            tools.cmake,
            {"cmake": {"--version": "cmake version 3.16.3"}},
            "stops cmake: 3.16.3 of BIN/cmake is too old: 3.22 is the oldest that works; python -m pip install cmake",
        ),
        (
            tools.cmake,
            {"cmake": {"--version": "bad interpreter!126"}},
            "stops cmake: BIN/cmake does not run: bad interpreter; python -m pip install cmake",
        ),
        (tools.ninja, {"ninja": {"--version": "1.11.1"}}, "ok ninja: 1.11.1, BIN/ninja; "),
        (tools.ninja, {}, "stops ninja: there is none; python -m pip install ninja"),
        (
            tools.ninja,
            {"ninja": {"--version": "!3"}},
            "stops ninja: BIN/ninja does not run: exit code 3; python -m pip install ninja",
        ),
    ],
)
def test_tools(
    machine: Machine, look: Callable[[], Fact], programs: Mapping[str, Mapping[str, str]], expected: str
) -> None:
    folder = machine(programs)
    assert line(look(), folder) == expected


def nvcc(release: str, trial: str = "") -> dict[str, str]:
    return {"--version": f"Cuda compilation tools, release {release}, V{release}.1", "*trial.cu": trial}


def smi(capability: str = "9.0", newest: str = "13.0") -> dict[str, str]:
    return {"--query*": f"{capability}, 580.1, Some GPU", "": f"Driver Version: 580.1  CUDA Version: {newest}"}


OFF = "or DEMO_CUDA=OFF"
TOOLKIT = f"python -m pip install -e '.[cuda]', or install the CUDA toolkit, 12.0 or newer, and set CUDA_HOME, {OFF}"
NEWER = f"12.0 is the oldest that works; set CUDA_HOME to a newer CUDA toolkit, {OFF}"
NO_GPU = ["ok driver: no nvidia-smi here, and so no GPU; "]
FITS = [
    "ok driver: 580.1, for CUDA up to 13.0; ",
    "ok GPU: Some GPU: compute capability 9.0; the library is built for 9.0; ",
]
TWO = {"old/bin/nvcc": nvcc("12.4"), "new/bin/nvcc": nvcc("13.0")}
CUDA = {
    "nothing": ({}, {}, ["ok nvcc: there is none, and no GPU: only the CPU part is built; ", *NO_GPU]),
    "demanded": (
        {}, {"DEMO_CUDA": "on"},
        [f"stops nvcc: there is none, and DEMO_CUDA is ON; {TOOLKIT}", *NO_GPU],
    ),
    "GPU without nvcc": (
        {"nvidia-smi": smi()}, {},
        [f"problem nvcc: there is a GPU and no nvcc: only the CPU part is built; {TOOLKIT}", *FITS],
    ),
    "misnamed": (
        {}, {"CUDACXX": "/nowhere/nvcc"},
        ["stops nvcc: CUDACXX is /nowhere/nvcc, and there is no such program; unset CUDACXX", *NO_GPU],
    ),
    "switch": (
        {}, {"DEMO_CUDA": "maybe"},
        ["stops nvcc: DEMO_CUDA is maybe, and not AUTO, ON or OFF; unset DEMO_CUDA"],
    ),
    "off": ({"nvcc": nvcc("11.0")}, {"DEMO_CUDA": "OFF"}, ["ok nvcc: not asked for: DEMO_CUDA=OFF; ", *NO_GPU]),
    "no GPU": (
        {"nvcc": nvcc("12.4")}, {},
        ["ok nvcc: 12.4, BIN/nvcc; not used, as there is no GPU; ",
         "ok host compiler: the one of PATH, which nvcc 12.4 accepts; ", *NO_GPU],
    ),
    "all": (
        {"nvcc": nvcc("13.0"), "nvidia-smi": smi()}, {"CUDAHOSTCXX": "g++-12"},
        ["ok nvcc: 13.0, BIN/nvcc; ", "ok host compiler: g++-12, which nvcc 13.0 accepts; ", *FITS],
    ),
    "old": (
        {"nvcc": nvcc("11.8"), "nvidia-smi": smi()}, {},
        [f"stops nvcc: release 11.8 of BIN/nvcc: {NEWER}", *FITS],
    ),
    "old and not used": (
        {"nvcc": nvcc("11.8")}, {},
        [f"problem nvcc: release 11.8 of BIN/nvcc: {NEWER}", *NO_GPU],
    ),
    "no release": (
        {"nvcc": {"--version": "!1"}}, {"DEMO_CUDA": "ON"},
        [f"stops nvcc: release unknown of BIN/nvcc: {NEWER}", *NO_GPU],
    ),
    "two": (
        TWO, {"CUDA_HOME": "{bin}/old", "PATH": "{bin}/new/bin"},
        ["problem nvcc: 12.4 of BIN/old/bin/nvcc is taken, and there is 13.0 of BIN/new/bin/nvcc; set "
         "CUDACXX=BIN/old/bin/nvcc, or to the other one",
         "ok host compiler: the one of PATH, which nvcc 12.4 accepts; ", *NO_GPU],
    ),
    "two, one of them chosen": (
        TWO, {"CUDACXX": "{bin}/new/bin/nvcc", "CUDA_HOME": "{bin}/old", "TORCH_CUDA_ARCH_LIST": "9.0"},
        ["ok nvcc: 13.0, BIN/new/bin/nvcc; ", "ok host compiler: the one of PATH, which nvcc 13.0 accepts; ", *NO_GPU],
    ),
    "host compiler": (
        {"nvcc": nvcc("12.4", "host.h: error: unsupported GNU version! gcc versions later than 13 are not supported!1"),
         "nvidia-smi": smi()}, {},
        ["ok nvcc: 12.4, BIN/nvcc; ",
         "stops host compiler: nvcc 12.4 does not compile: host.h: error: unsupported GNU version! gcc versions later "
         "than 13 are "
         f"not supported; set CUDAHOSTCXX to a C++ compiler that it accepts, {OFF}", *FITS],
    ),
    "driver": (
        {"nvcc": nvcc("13.0"), "nvidia-smi": smi(newest="12.4")}, {},
        ["ok nvcc: 13.0, BIN/nvcc; ", "ok host compiler: the one of PATH, which nvcc 13.0 accepts; ",
         "problem driver: 580.1 is for CUDA 12.4, and nvcc is 13.0: it does not load what that compiles; install a "
         "newer driver, or set CUDA_HOME to CUDA 12.4 or older", FITS[1]],
    ),
    "no driver": (
        {"nvidia-smi": {"*": "NVIDIA-SMI has failed!9"}}, {},
        ["ok nvcc: there is none, and no GPU: only the CPU part is built; ",
         "problem driver: nvidia-smi: NVIDIA-SMI has failed; install the driver again, or start the machine again"],
    ),
    "driver of the same major version": (
        {"nvcc": nvcc("13.1"), "nvidia-smi": smi()}, {},
        ["ok nvcc: 13.1, BIN/nvcc; ", "ok host compiler: the one of PATH, which nvcc 13.1 accepts; ", *FITS],
    ),
    "another GPU": (
        {"nvcc": nvcc("13.0"), "nvidia-smi": smi("8.6")}, {},
        ["ok nvcc: 13.0, BIN/nvcc; ", "ok host compiler: the one of PATH, which nvcc 13.0 accepts; ", FITS[0],
         "problem GPU: Some GPU: compute capability 8.6; the library is built for 9.0; "
         'TORCH_CUDA_ARCH_LIST="8.6" make build'],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CUDA)
def test_cuda(machine: Machine, case: str) -> None:
    programs, settings, expected = CUDA[case]
    folder = machine(programs, **settings)
    assert [line(fact, folder) for fact in cuda.facts("DEMO", "9.0")] == expected


@pytest.mark.parametrize(
    ("capability", "entries", "expected"),
    [
        ("8.6", "8.0", True),
        ("8.0", "8.6", False),
        ("9.0", "8.0", False),
        ("9.0", "8.0+PTX", True),
        ("8.0", "9.0+PTX", False),
        ("9.0", "9.0a", True),
        ("10.3", "10.0a", False),
        ("10.3", "10.0f", True),
        ("12.0", "8.0 9.0 10.0 12.0", True),
        ("12.0", "", False),
    ],
)
def test_what_a_gpu_runs(capability: str, entries: str, expected: bool) -> None:
    assert any(cuda.runs(capability, entry) for entry in entries.split()) == expected


def test_nvcc_of_python(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra `cuda` brings one, which is taken where there is no other."""
    folder = machine({"packages/nvidia/cu13/bin/nvcc": nvcc("13.0"), "nvidia-smi": smi()})
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(folder / "packages") if name == "purelib" else "")
    assert line(cuda.facts("DEMO", None)[0], folder) == "ok nvcc: 13.0, BIN/packages/nvidia/cu13/bin/nvcc; "
    machine({"nvcc": nvcc("12.8")})
    assert "12.8 of BIN/nvcc is taken, and there is 13.0 of" in line(cuda.facts("DEMO", None)[0], folder)


def test_a_library_for_the_cpu_alone(machine: Machine) -> None:
    folder = machine({"nvidia-smi": smi()})
    assert "the library is built for the CPU alone" in line(cuda.facts("DEMO", "")[-1], folder)
    assert [fact.name for fact in cuda.facts("DEMO", None)] == ["nvcc", "driver"]


# ---- PyTorch and the library


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "problem torch: there is none, which a build does not need and the package does; "),
        ("__version__ = '2.11.0+cu130'\ncuda: Optional[str] = '13.0'\n", "ok torch: 2.11.0+cu130, with CUDA 13.0; "),
        ("__version__ = '2.13.0'\ncuda = None\n", "ok torch: 2.13.0, for the CPU; "),
        ("__version__ = '2.9.1'\n", "problem torch: 2.9.1 of BIN/torch is too old: 2.10 is the oldest that works; "),
        ("", "problem torch: BIN/torch does not say its version; "),
    ],
)
def test_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, expected: str) -> None:
    """It is not imported: this one would say so."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    if text is not None:
        (tmp_path / "torch").mkdir()
        (tmp_path / "torch" / "__init__.py").write_text("raise AssertionError\n")
        (tmp_path / "torch" / "version.py").write_text(text)
    mend = "" if expected.startswith("ok") else "python -m pip install 'torch>=2.10'"
    assert line(library.torch(), tmp_path) == expected + mend


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "generated" / "demo").mkdir(parents=True)
    (root / "build" / "dev").mkdir(parents=True)
    (root / "cmake").mkdir()
    (root / "cmake" / "check_generated.cmake").touch()
    (root / "ops.yaml").write_text("# a library\nnamespace: demo\n")
    (root / "build" / "dev" / "build.ninja").touch()
    for folder in ("generated/demo", "build/dev"):
        (root / folder / "demo.so").write_bytes(b"...: this library was built for 9.0 10.0+PTX; build it again with")
    return root


def test_spec(machine: Machine, project: Path) -> None:
    spec = project / "ops.yaml"
    folder = machine({})
    expected = "problem spec: not compared with generated/, for want of cmake; python -m pip install cmake"
    assert line(library.generated(project, spec), folder) == expected
    machine({"cmake": {}})
    assert line(library.generated(project, spec), folder) == "ok spec: generated/ is what was made of it; "
    machine({"cmake": {"*": "ops.yaml has changed since generated/ was written: run `make generate`!1"}})
    expected = "stops spec: ops.yaml has changed since generated/ was written; make generate"
    assert line(library.generated(project, spec), folder) == expected
    assert library.generated(project, project / "none.yaml").stops_build


def test_library(machine: Machine, project: Path) -> None:
    path = project / "generated" / "demo" / "demo.so"

    def look(can_load: bool = True) -> str:
        return line(library.library(project, "demo", can_load), project)

    body = project / "csrc" / "double.c"
    body.parent.mkdir()
    body.touch()
    os.utime(body, (1, 1))
    machine(
        {"ninja": {"*deps": f"double.c.o: #deps 1 (VALID)\n    {body}\n    ../../gone.h\n    /bin/sh"}, "python": {}}
    )
    assert look() == "ok library: BIN/generated/demo/demo.so; it loads; "
    assert look(can_load=False) == "ok library: BIN/generated/demo/demo.so; not loaded, for want of torch; "
    machine({"python": {"*": "ImportError: undefined symbol: absent!1"}})
    assert look() == "problem library: it does not load: ImportError: undefined symbol: absent; make build"
    assert library.architectures(project, "demo") == "9.0 10.0+PTX"
    path.write_bytes(b"another")
    assert library.architectures(project, "demo") == ""
    assert look() == "problem library: BIN/generated/demo/demo.so is not what the last build made; make build"
    body.touch()
    assert look() == "problem library: BIN/generated/demo/demo.so is older than csrc/double.c; make build"
    path.unlink()
    assert look() == "problem library: BIN/generated/demo/demo.so is missing; make build"
    assert library.architectures(project, "demo") is None


def test_namespace(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "site" / "demo"
    other.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), str(tmp_path / "none"), str(project / "generated")])
    expected = "ok namespace: demo is registered by no other library on Python's path; "
    assert line(library.registered(project, "demo"), tmp_path) == expected
    (other / "demo.so").touch()
    expected = (
        "problem namespace: demo is registered by BIN/site/demo/demo.so, too; a process can load one; python -m pip "
        "uninstall demo"
    )
    assert line(library.registered(project, "demo"), tmp_path) == expected


# ---- The command


def doctor(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return subprocess.run(
        [sys.executable, "-m", "codegen", "doctor", *arguments], cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_nothing_at_all(tmp_path: Path) -> None:
    """No project, no programs: a line each, no traceback, and exit code 1; the same for a program."""
    done = doctor(tmp_path, PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    assert "problem  spec" in done.stdout
    again = doctor(tmp_path, "--json", PATH=str(tmp_path))
    assert (again.returncode, again.stderr) == (1, "")
    facts = json.loads(again.stdout)
    assert [fact["name"] for fact in facts] == [one[9:].split("  ")[0].strip() for one in done.stdout.splitlines()]
    assert all({*fact} == {"name", "ok", "text", "mend", "stops_build"} for fact in facts)
    assert any(fact["stops_build"] for fact in facts)


TRITON = {
    "none": ("", {"nvidia-smi": smi()},
             "problem triton: there is a GPU and no Triton: first, second cannot run on it; "
             "python -m pip install -e '.[triton]'"),
    "none, and no GPU": ("", {}, "ok triton: there is none, and no GPU; "),
    "old": ("3.5.1", {}, "problem triton: 3.5.1 is too old: 3.6 is the oldest that works; "
                         "python -m pip install 'triton>=3.6'"),
    "odd": ("main", {}, "problem triton: main is too old: 3.6 is the oldest that works; "
                        "python -m pip install 'triton>=3.6'"),
    "fits": ("3.10.0", {}, "ok triton: 3.10.0; "),
}  # fmt: skip


@pytest.mark.parametrize(("version", "programs", "expected"), TRITON.values(), ids=TRITON)
def test_triton(
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    programs: dict[str, Any],
    expected: str,
) -> None:
    """Asked for only where an operator has a kernel in it."""

    def installed(_: str) -> str:
        if not version:
            raise metadata.PackageNotFoundError
        return version

    folder = machine(programs)
    monkeypatch.setattr(metadata, "version", installed)
    assert cuda.triton(tmp_path) == []
    (tmp_path / "generated").mkdir()
    listed = tmp_path / "generated" / "ops.cmake"
    listed.write_text("cuda_unit(other)\n")
    assert cuda.triton(tmp_path) == []
    listed.write_text("triton_unit(first)\ncuda_unit(other)\ntriton_unit(second ARCH 90)\n")
    (found,) = cuda.triton(tmp_path)
    assert line(found, folder) == expected


def test_without_a_namespace(machine: Machine, tmp_path: Path) -> None:
    machine({"nvcc": nvcc("11.8")})
    (found,) = [fact for fact in examine(tmp_path / "ops.yaml") if fact.name == "nvcc"]
    assert found.mend == "set CUDA_HOME to a newer CUDA toolkit, or <NAMESPACE>_CUDA=OFF"


def test_a_part_that_fails(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which nobody has thought: the others are looked at all the same."""
    monkeypatch.setattr(shutil, "which", lambda *_, **__: 1 / 0)
    facts = examine(project / "ops.yaml")
    failed = {fact.name for fact in facts if fact.text == "cannot be looked at: ZeroDivisionError: division by zero"}
    assert {"compiler", "cmake", "ninja"} <= failed
    assert {"python", "torch", "namespace"} & failed == set()


def test_programs_that_cannot_be_run(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b"\x00\xff")
    odd.chmod(0o755)
    assert ask([str(odd)]).code == 127
    assert ask([str(tmp_path)]).code == 127
    assert ask([sys.executable, "-c", "import os; os.write(1, bytes([255]))"]).out == "\ufffd"


def test_an_old_python() -> None:
    """Which cannot read the generator: it says so, without a traceback."""
    code = "import sys; sys.version_info = (3, 9, 2); import codegen"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "codegen needs Python 3.10 or newer, and this is 3.9\n")
