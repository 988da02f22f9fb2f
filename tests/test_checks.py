"""Some test fails when any check of the library's generated C or fake kernels is left out or turned round."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_no_check_is_idle() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.checks"],
        cwd=ROOT,
        env={**os.environ, "MY_OPS_CUDA": "OFF"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert " checks in C, each left out and turned round; 0 times no test failed" in done.stdout
