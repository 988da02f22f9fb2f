"""Wheels, as far as they can be judged without building that of the library, which `make wheel-check` does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.made_project import NAMESPACE, made
from tests.wheel import build, library, report

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "generated" / "my_ops" / "my_ops.so"
ABI = (ROOT / "csrc" / "runtime" / "torch_abi.h").read_text()


# ---- What the library asks of others


def test_the_oldest_pytorch_has_every_symbol() -> None:
    assert library.missing(LIBRARY) == set()
    assert "torch_library_impl" in library.undefined(LIBRARY, "U")
    strong = set(re.findall(r"^TORCH_ABI \w.*?(\w+)\(", ABI, re.MULTILINE))
    weak = set(re.findall(r"^TORCH_ABI_WEAK \w.*?(\w+)\(", ABI, re.MULTILINE))
    listed = library.listed("libtorch_cpu")
    assert strong - listed == {"_Znwm", "_ZdlPv"}
    assert not weak & listed  # what is older is no weak symbol
    assert library.undefined(LIBRARY, "w") & set(re.findall(r"\w*torch_\w+", ABI)) <= weak


def test_what_libtorch_cuda_is_asked_for() -> None:
    """By dlsym: no linker says that a name is missing."""
    asked = re.findall(r"dlsym\(torch_cuda, \"(\w+)\"\)", (ROOT / "csrc" / "runtime" / "cuda_device.c").read_text())
    assert asked
    assert set(asked) <= library.listed("libtorch_cuda")


def test_it_is_linked_to_pytorch_and_to_nothing_of_cuda() -> None:
    needed = library.needed(LIBRARY)
    assert "libtorch_cpu.so" in needed
    assert [one for one in needed if not library.MAY_NEED.fullmatch(one)] == []
    assert not library.MAY_NEED.fullmatch("libcudart.so.13")


def test_a_symbol_of_a_newer_pytorch_is_noticed(tmp_path: Path) -> None:
    source, made_library = tmp_path / "new.c", tmp_path / "new.so"
    source.write_text("void torch_from_blob_v9(void); void call(void); void call(void) { torch_from_blob_v9(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", made_library], check=True)
    assert library.missing(made_library) == {"torch_from_blob_v9"}


def test_python_is_for_modules_of_the_stable_abi(tmp_path: Path) -> None:
    source = tmp_path / "new.c"
    source.write_text("void PyErr_Clear(void); void call(void); void call(void) { PyErr_Clear(); }\n")
    for name, missing in (("other.so", {"PyErr_Clear"}), ("_C.abi3.so", set())):
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", tmp_path / name], check=True)
        assert library.missing(tmp_path / name) == missing
        assert library.of_python(tmp_path / name) == {"PyErr_Clear"} - missing


# ---- A small project: its wheel, twice


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One operator and its gradient."""
    return made(tmp_path_factory.mktemp("wheel") / "first")


def _build(project: Path, folder: Path, **settings: str) -> bytes:
    """As pip builds it with the tools that are here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("TORCH_CUDA_ARCH_LIST", "8.0;9.0+PTX")
        for name, value in settings.items():
            patch.setenv(name, value)
        return build.wheel(project, folder, "--no-build-isolation").read_bytes()


def test_equal_sources_make_equal_wheels(project: Path, tmp_path: Path) -> None:
    """The same from a checkout and from its sdist, in folders of other names, with other permissions and dates. With
    GPU code where there is an nvcc.
    """
    first = _build(project, tmp_path / "wheel")
    second = build.unpacked(build.sdist(project, tmp_path / "sdist"), tmp_path / "elsewhere of a longer name")
    for path in second.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert _build(second, tmp_path / "other", MAX_JOBS="1") == first
    (wheel,) = (tmp_path / "wheel").iterdir()
    assert re.fullmatch(rf"{NAMESPACE}-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    text = report.report(wheel)
    assert ("code for sm_90" in text) == ("PTX of sm_90" in text) == (shutil.which("nvcc") is not None)
    (commands,) = (one for one in project.glob("build/temp*/**/build.ninja") if "CMakeFiles" not in one.parts)
    assert "--split-compile" not in commands.read_text()  # with which code differs now and then
    with zipfile.ZipFile(wheel) as packed:
        data = packed.read(f"{NAMESPACE}/{NAMESPACE}.so")
        assert str(project).encode() not in data
        assert {one.date_time[0] for one in packed.infolist()} == {2020}


# ---- The compiler that the extra `cuda` brings

HOOK = "from scikit_build_core.setuptools import build_meta; print(build_meta.get_requires_for_build_wheel())"
SCRIPT = (
    "import runpy, setuptools; setuptools.setup = lambda **a: print(a['setup_requires']); runpy.run_path('setup.py')"
)


@pytest.mark.parametrize(
    ("settings", "argument", "brings"),
    [
        ({}, ".[cuda]", True),
        ({}, "-e.[test, cuda]", True),
        ({}, "Acme.Ops[cuda]", True),
        ({"ACME_OPS_CUDA": "ON"}, "", True),
        ({}, ".", False),
        ({}, "../other[cuda]", False),
        ({"ACME_OPS_CUDA": "OFF"}, ".[cuda]", False),
        ({"CUDACXX": "/opt/nvcc"}, ".[cuda]", False),
        ({"VIRTUAL": "1"}, ".[cuda]", False),
    ],
)
def test_the_compiler_from_pypi(
    project: Path, tmp_path: Path, settings: dict[str, str], argument: str, brings: bool
) -> None:
    """pip installs it for the build where it is asked for, and nothing else has an nvcc."""
    copy = tmp_path / "acme"
    shutil.copytree(project, copy, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    script = (copy / "setup.py").read_text()
    assert "/usr/local/cuda/bin" in script
    (copy / "setup.py").write_text(script.replace("/usr/local/cuda/bin", "/nowhere"))
    path = str(tmp_path / "packages")
    if settings.pop("VIRTUAL", ""):
        (tmp_path / "packages/nvidia/cu13/bin").mkdir(parents=True)
        (tmp_path / "packages/nvidia/cu13/bin/nvcc").touch()
    environment = {"PATH": "/nowhere", "PYTHONPATH": path, **settings}
    command = [sys.executable, "-c", HOOK if argument == "Acme.Ops[cuda]" else SCRIPT, argument]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=True)
    required = done.stdout.splitlines()[-1]
    pins = dict(re.findall(r"'(nvidia-[\w-]+)==([\d.*]+)'", required))
    assert bool(pins) == brings
    if brings:
        assert len({pins[f"nvidia-{part}"] for part in ("cuda-nvcc", "nvvm", "cuda-crt")}) == 1
