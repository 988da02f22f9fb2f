"""Puts the conformance project together in build/conformance, generates and builds it there: python -m
tests.conformance.build. A second run compiles only what changed.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from codegen.commands import init

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "conformance"
PROJECT = ROOT / "build" / "conformance"
SHARED = init.BUILD  # taken from this repository; a project's own are ops.yaml and the bodies


def build() -> Path:
    """The folder to import the conformance package from. Warnings of the C compiler are errors. One process builds at a
    time; the others of the same run of pytest do nothing.
    """
    PROJECT.mkdir(parents=True, exist_ok=True)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
    with (PROJECT.parent / "conformance.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if run and lock.read() == run:
            return PROJECT / "generated"
        lock.truncate(0)
        found = build_project(HERE, PROJECT, "-Werror")
        lock.write(run)
        return found


def build_project(source: Path, folder: Path, flags: str) -> Path:
    """Generates and builds in `folder` what `source` has in ops.yaml and csrc/; the folder to import from."""
    bodies = [body for body in (source / "csrc").iterdir() if body.is_file()]
    wanted = {folder / name: ROOT / name for name in SHARED}
    wanted[folder / "ops.yaml"] = source / "ops.yaml"
    wanted |= {folder / "csrc" / body.name: body for body in bodies}
    (folder / "csrc").mkdir(parents=True, exist_ok=True)
    for link in (*folder.iterdir(), *(folder / "csrc").iterdir()):
        if link.is_symlink() and link not in wanted:
            link.unlink()
    for link, target in wanted.items():
        if not link.is_symlink():
            link.symlink_to(target)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "CFLAGS": f"{os.environ.get('CFLAGS', '')} {flags}".strip(),
    }
    for command in ([sys.executable, "-m", "codegen", "generate"], ["sh", "cmake/dev_build.sh"]):
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{(done.stdout + done.stderr)[-8000:]}")
    return folder / "generated"


if __name__ == "__main__":
    print(build())
