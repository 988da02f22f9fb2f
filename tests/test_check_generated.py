"""A build stops, with one line that says what to do, when ops.yaml and generated/ disagree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CMAKE = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The spec and what is generated from it, as they are in the repository."""
    for line in (ROOT / "generated" / "SHA256SUMS").read_text().splitlines():
        path = tmp_path / line[66:]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / line[66:], path)
    shutil.copy(ROOT / "generated" / "SHA256SUMS", tmp_path / "generated")
    return tmp_path


def problem(folder: Path) -> str:
    """The first line of the complaint; "" when all is well."""
    script = ROOT / "cmake" / "check_generated.cmake"
    assert CMAKE is not None, "no cmake: pip install -r requirements.txt"
    done = subprocess.run([CMAKE, f"-DROOT={folder}", "-P", script], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == bool(done.stderr.strip()), done
    return done.stderr.strip().partition("\n")[0]


def test_whole(copy: Path) -> None:
    assert problem(copy) == ""


@pytest.mark.parametrize("name", ["a[1]", "a;b", 'a"b', "a*", "a?", "a\\b"])
def test_a_path_that_cmake_reads_otherwise(tmp_path: Path, name: str) -> None:
    text = 'the path has one of [ ] * ? ; " or a backslash; move the folder'
    assert problem(tmp_path / name) == f"CMake cannot build in {tmp_path / name}: {text}"


def test_spec_changed(copy: Path) -> None:
    with (copy / "ops.yaml").open("a") as spec:
        spec.write("# a comment is a change too\n")
    assert problem(copy) == "ops.yaml has changed since generated/ was written: run `make generate`"


def test_file_changed(copy: Path) -> None:
    (copy / "generated/c/square.c").write_text("")
    assert problem(copy) == "generated/c/square.c is not what the generator wrote: run `make generate`"


def test_file_missing(copy: Path) -> None:
    (copy / "generated/cuda/square.cu").unlink()
    assert problem(copy) == "generated/cuda/square.cu is missing: run `make generate`"


def test_sums_missing(copy: Path) -> None:
    (copy / "generated/SHA256SUMS").unlink()
    assert problem(copy) == "generated/SHA256SUMS is missing: run `make generate`"


def test_module_left_over(copy: Path) -> None:
    (copy / "generated/my_ops/ops/cube.py").write_text("")
    assert problem(copy) == "generated/my_ops/ops/cube.py belongs to no operator: run `make generate`"
