"""What `init` makes builds, passes its tests and is installed, as it is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.build import ROOT

(COMMAND,) = re.findall(r"^python -m codegen (init .+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
NAMESPACE = COMMAND.split()[-1]


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python, in a project, as its user runs it."""
    foreign = ("PYTEST", "OPS_TEST", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    others = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not entry.startswith(str(ROOT))]
    kept["PYTHONPATH"] = os.pathsep.join([environment.pop("PYTHONPATH", ""), *others]).strip(os.pathsep)
    settings = {"PATH": path, "CFLAGS": "-O0 -Werror", f"{NAMESPACE.upper()}_CUDA": "OFF", **environment}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env={**kept, **settings}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by the command of README, its folder aside."""
    folder = tmp_path_factory.mktemp("init") / "acme"
    done = run(ROOT, "-m", "codegen", *COMMAND.replace("../acme", str(folder)).split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"next: cd {folder} && make demo\n")
    return folder


def test_it_builds_and_passes_its_tests(project: Path) -> None:
    """With a choice of the generated ones; demo and benchmark run."""
    assert run(project, "-m", "codegen", "check").returncode == 0
    build = "import subprocess, sys; sys.exit(subprocess.call(['sh', 'cmake/dev_build.sh']))"
    done = run(project, "-c", build)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    some = "softsign or wrong_scale or call_styles or gradcheck or test_refused or opcheck"
    done = run(project, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", some)
    assert done.returncode == 0, done.stdout[-8000:]
    assert re.search(r"\b\d\d+ passed", done.stdout)
    for program in ("examples/demo.py", "benchmarks/soft_sign.py"):
        done = run(project, program, PYTHONPATH="generated")
        assert done.returncode == 0, done.stderr
        assert f"{NAMESPACE}" in done.stdout
    targets = set(re.findall(r"^([a-z-]+):", (project / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)\b", (project / "README.md").read_text())) <= targets


def test_it_builds_without_make(project: Path, tmp_path: Path) -> None:
    """With CMake alone, by a preset, and is installed as a package of CMake."""
    for command in (["--preset", "native"], ["--build", "--preset", "native"],
                    ["--install", "build/native", "--prefix", str(tmp_path)]):  # fmt: skip
        done = run(project, "-c", f"import subprocess, sys; sys.exit(subprocess.call({['cmake', *command]!r}))")
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    installed = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert installed == {f"{NAMESPACE}.so", f"{NAMESPACE}Config.cmake"}
