"""The conformance project builds without a warning, and its generated tests pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.build import ROOT, build


@pytest.fixture(scope="module")
def generated() -> Path:
    return build()


def test_generated_tests_pass(generated: Path, request: pytest.FixtureRequest) -> None:
    device = request.config.getoption("--device")
    path = [str(generated), *(entry for entry in sys.path if entry)]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", "--tb=short",
         f"--device={device}", str(generated / "tests"), str(ROOT / "tests" / "conformance")],
        cwd=ROOT,
        env={**os.environ, "OPS_TEST_PROJECT": "tests.conformance", "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout[-20000:] + tests.stderr[-2000:]
    assert " passed" in tests.stdout
    assert " skipped" not in tests.stdout
