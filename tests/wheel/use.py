"""A wheel in an environment of its own, with some version of PyTorch."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.wheel.build import ROOT

TOOLS = ("numpy", "pytest", "expecttest", "Jinja2", "PyYAML")  # of tests and of the extra; without NumPy torch warns


def pinned(name: str, minor: int = sys.version_info.minor) -> str:
    """The version of a package in requirements.txt, for this Python, or for 3.<minor>."""
    lines = re.findall(rf"^{name}==([\w.]+)(?:; python_version ([<>=]+) \"3\.(\d+)\")?", _requirements(), re.MULTILINE)
    return next(one for one, sign, limit in lines if not sign or (minor < int(limit)) == (sign == "<"))


def _requirements() -> str:
    return (ROOT / "requirements.txt").read_text()


def use(wheel: Path, version: str, tests: list[str] | None = None) -> int:
    """Installs both, calls the library, and runs tests of the checkout on what is installed. The exit code.

    The version is that of torch, for this Python, or for another one: 2.10.0@python3.12.
    """
    torch, _, named = version.partition("@")
    interpreter = shutil.which(named or sys.executable)
    if interpreter is None:
        print(f"{version}: there is no {named}")
        return 1
    asked = [interpreter, "-c", "import sys; print(sys.version_info.minor)"]
    minor = int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    folder = ROOT / "build" / "test-matrix" / f"torch-{torch}-python3.{minor}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([interpreter, "-m", "venv", "--clear", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    packages = [f"{name}=={pinned(name, minor)}" for name in TOOLS]
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
