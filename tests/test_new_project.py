"""What `init` makes builds, passes its tests and is installed, as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_project import NAMESPACE, ROOT, made, run


def built(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`run` where the library is built as fast as can be, for the CPU."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not entry.startswith(str(ROOT))]
    search = os.pathsep.join([environment.pop("PYTHONPATH", ""), *others]).strip(os.pathsep)
    settings = {"PATH": path, "PYTHONPATH": search, "CFLAGS": "-O0 -Werror", f"{NAMESPACE.upper()}_CUDA": "OFF"}
    return run(folder, *command, **{**settings, **environment})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("init") / "acme")


def test_it_builds_and_passes_its_tests(project: Path) -> None:
    """With a choice of the generated ones; demo and benchmark run."""
    assert built(project, "-m", "codegen", "check").returncode == 0
    build = "import subprocess, sys; sys.exit(subprocess.call(['sh', 'cmake/dev_build.sh']))"
    done = built(project, "-c", build)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    some = "softsign or wrong_scale or call_styles or gradcheck or test_refused or opcheck"
    done = built(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", some)
    assert done.returncode == 0, done.stdout[-8000:]
    assert re.search(r"\b\d\d+ passed", done.stdout)
    for program in ("examples/demo.py", "benchmarks/soft_sign.py"):
        done = built(project, program, PYTHONPATH="generated")
        assert done.returncode == 0, done.stderr
        assert f"{NAMESPACE}" in done.stdout
    checked = {f"{NAMESPACE.upper()}_CHECK_CALLS": "compare,log", "PYTHONPATH": "generated"}
    assert built(project, "examples/demo.py", **checked).returncode == 0
    calls = "".join(path.read_text() for path in (project / f"{NAMESPACE}_calls").glob("calls-*.jsonl"))
    assert f"{NAMESPACE}::_soft_sign_backward_no_grad" in calls
    assert calls.count('"compared": true') == calls.count("\n")
    targets = set(re.findall(r"^([a-z-]+):", (project / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)\b", (project / "README.md").read_text())) <= targets


def test_it_builds_without_make(project: Path, tmp_path: Path) -> None:
    """With CMake alone, by a preset, and is installed as a package of CMake."""
    for command in (["--preset", "native"], ["--build", "--preset", "native"],
                    ["--install", "build/native", "--prefix", str(tmp_path)]):  # fmt: skip
        done = built(project, "-c", f"import subprocess, sys; sys.exit(subprocess.call({['cmake', *command]!r}))")
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    installed = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {f"{NAMESPACE}.so", f"{NAMESPACE}Config.cmake"}
