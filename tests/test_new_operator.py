"""What `new` adds builds without a warning and passes its generated tests as it is: a copy, until the math is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.build import ROOT, SHARED


def run(folder: Path, *command: str) -> str:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "CFLAGS": "-Werror",
        "ADDED_CUDA": "OFF",
        "PYTHONPATH": os.pathsep.join([str(folder / "generated"), str(folder.parent), str(ROOT)]),
        "OPS_TEST_PROJECT": f"{folder.name}.tests",
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    return done.stdout


def test_a_new_operator_passes_its_tests(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in SHARED:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(ROOT / name)
    (project / "tests").mkdir()
    (project / "tests" / "references.py").write_text("from torch import Tensor\n")
    first = "  first:\n    devices: [cpu]\n    inputs: {x: 'float32[n]'}\n    outputs: {y: 'float32[n]'}\n"
    (project / "ops.yaml").write_text(f"namespace: added\nops:\n{first}")
    (project / "csrc" / "first.c").write_text(
        "static void first(const first_args *a, int64_t begin, int64_t end) { (void)a, (void)begin, (void)end; }\n"
    )
    run(project, sys.executable, "-m", "codegen", "new", "second")
    run(project, sys.executable, "-m", "codegen", "generate")
    run(project, "sh", "cmake/dev_build.sh")
    tests = (sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-x")
    assert " passed" in run(project, *tests, "generated/tests/test_second.py")
