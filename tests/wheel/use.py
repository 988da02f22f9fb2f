"""A wheel in an environment of its own, with some version of PyTorch."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

from tests.wheel.build import ROOT

TOOLS = ("numpy", "pytest", "expecttest")  # of generated tests; without NumPy torch warns


def pinned(name: str) -> str:
    """The version of a package in requirements.txt, for this Python."""
    lines = re.findall(rf"^{name}==([\w.]+)(?:; python_version ([<>=]+) \"3\.(\d+)\")?", _requirements(), re.MULTILINE)
    minor = sys.version_info.minor
    return next(one for one, sign, limit in lines if not sign or (minor < int(limit)) == (sign == "<"))


def _requirements() -> str:
    return (ROOT / "requirements.txt").read_text()


def use(wheel: Path, torch: str, tests: list[str] | None = None) -> int:
    """Installs both, calls the library, and runs tests of the checkout on what is installed. The exit code."""
    folder = ROOT / "build" / "test-matrix" / f"torch-{torch}"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    packages = [f"{name}=={pinned(name)}" for name in TOOLS]
    print(f"{wheel.name}, sha256 {hashlib.sha256(wheel.read_bytes()).hexdigest()}, torch {torch}", flush=True)
    commands = [
        (folder, [*pip, f"torch=={torch}", *packages]),
        (folder, [*pip, "--force-reinstall", "--no-deps", wheel]),
        (folder, [python, "-I", ROOT / "tests" / "wheel" / "smoke.py"]),
    ]
    if tests:  # the folder generated/, in which another library may lie, is not searched
        commands.append((ROOT, [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=.", *tests]))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    for place, command in commands:
        done = subprocess.run(command, cwd=place, env=environment, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0
