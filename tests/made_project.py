"""A project of its own, made by the command that README has for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
(COMMAND,) = re.findall(r"^python -m codegen (init .+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
NAMESPACE = COMMAND.split()[-1]


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python, in a project, as its user runs it: without what these tests put into the environment."""
    foreign = ("PYTEST", "OPS_TEST", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env={**kept, **environment}, capture_output=True, text=True, check=False
    )


def made(folder: Path) -> Path:
    """The command of README, its folder aside."""
    done = run(ROOT, "-m", "codegen", *COMMAND.replace("../acme", str(folder)).split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"next: cd {folder} && make demo\n")
    return folder
