"""What pytest collects, for pages that name tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Tests that need two GPUs are collected where there is none, too.
COLLECT = """
import sys, pytest, torch
torch.cuda.is_available, torch.cuda.device_count = lambda: True, lambda: 2
sys.exit(pytest.main(["--collect-only", "-q", "--device=cpu,cuda", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def collected(names: Iterable[str], **environment: str) -> set[str]:
    """The tests of the files that are named, without their parameters."""
    files = sorted({name.partition("::")[0] for name in names})
    path = os.pathsep.join([environment.pop("PYTHONPATH", ""), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, *files],
        cwd=ROOT,
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
