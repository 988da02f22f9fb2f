"""Puts the conformance project together in build/conformance, generates and builds it there: python -m
tests.conformance.build. A second run compiles only what changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "conformance"
PROJECT = ROOT / "build" / "conformance"
# What every project has, taken from this repository; its own are ops.yaml and the bodies.
SHARED = ("CMakeLists.txt", "cmake", "codegen", "templates", "csrc/cpu", "csrc/device", "csrc/runtime")


def build() -> Path:
    """The folder to import the package from. Warnings of the C compiler are errors."""
    wanted = {PROJECT / name: ROOT / name for name in SHARED}
    wanted[PROJECT / "ops.yaml"] = HERE / "ops.yaml"
    wanted |= {PROJECT / "csrc" / body.name: body for body in (HERE / "csrc").iterdir()}
    (PROJECT / "csrc").mkdir(parents=True, exist_ok=True)
    for link in (*PROJECT.iterdir(), *(PROJECT / "csrc").iterdir()):
        if link.is_symlink() and link not in wanted:
            link.unlink()
    for link, target in wanted.items():
        if not link.is_symlink():
            link.symlink_to(target)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "CFLAGS": f"{os.environ.get('CFLAGS', '')} -Werror".strip(),
    }
    for command in ([sys.executable, "-m", "codegen", "generate"], ["sh", "cmake/dev_build.sh"]):
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{(done.stdout + done.stderr)[-8000:]}")
    return PROJECT / "generated"


if __name__ == "__main__":
    print(build())
