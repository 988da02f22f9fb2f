"""Runs Python code in a process of its own, with the same path and the same my_ops."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import my_ops

PACKAGE = Path(my_ops.__file__).parent


def run(code: str, *, packages: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `code`; `packages` is a folder to import from first."""
    folders = [str(packages)] if packages else []
    path = os.pathsep.join([*folders, *(entry for entry in sys.path if entry)])
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )


def output(code: str, *, packages: Path | None = None, **environment: str) -> str:
    """What `code` prints; it must succeed."""
    done = run(code, packages=packages, **environment)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()


def copy_package(folder: Path) -> Path:
    """A copy of the package, library included, in a new folder to import from."""
    shutil.copytree(PACKAGE, folder / "my_ops", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "my_ops"
