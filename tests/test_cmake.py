"""The library without Python: installed by CMake, found by find_package, called by a program that links LibTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.conformance.build import ROOT


def run(*command: str | Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
@pytest.mark.skipif(
    bool(torch.version.cuda) and shutil.which("nvcc") is None, reason="LibTorch's package asks for nvcc"
)
def test_a_program_without_python(tmp_path: Path) -> None:
    """The example, against what the development build installs, in a folder with a space."""
    installed = tmp_path / "of us"
    run("cmake", "--install", ROOT / "build" / "dev", "--prefix", installed)
    installed.rename(tmp_path / "moved to")  # where it lies does not matter
    prefixes = f"{torch.utils.cmake_prefix_path};{tmp_path / 'moved to'}"
    build = tmp_path / "build"
    example = ROOT / "examples" / "cpp"
    run(
        "cmake",
        "-S",
        example,
        "-B",
        build,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Debug",
        f"-DCMAKE_PREFIX_PATH={prefixes}",
    )
    run("cmake", "--build", build, "--target", "example")
    schema, verdict = run(build / "example").splitlines()
    assert schema.startswith("my_ops::rms_norm(Tensor x, Tensor? weight=None, ")
    assert verdict == "right"
    loaded = run("ldd", build / "example")
    assert "my_ops.so => " in loaded
    assert "libpython" not in loaded
