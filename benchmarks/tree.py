"""A copy of the repository to edit and build in, so that the user's tree stays as it is."""

import shutil
import subprocess
from pathlib import Path

from .options import ROOT, child_environment

PARTS = ("CMakeLists.txt", "cmake", "codegen", "csrc", "docs", "generated", "ops.yaml", "templates")


def copy_tree(folder: Path) -> Path:
    """Everything that generating and building read, without what a build leaves behind."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            left_behind = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(source, folder / part, symlinks=True, ignore=left_behind)
        else:
            shutil.copy2(source, folder / part)
    return folder


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Runs a command in a folder and returns what it printed; a failure shows it too."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=child_environment(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed with {done.returncode}:\n{done.stdout}")
    return done.stdout
