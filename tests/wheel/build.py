"""An sdist of the checkout, and a wheel of what is in that, built as pip does where no PyTorch is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SDIST = "import sys; from scikit_build_core.setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


def sdist(project: Path, folder: Path) -> Path:
    """Packed by the backend of this environment."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", _SDIST, str(folder)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


def unpacked(archive: Path, folder: Path) -> Path:
    """The one folder that is in it."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def wheel(project: Path, folder: Path, *options: str) -> Path:
    """What pip makes of a folder."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *options, "--wheel-dir", folder, project]
    subprocess.run(command, check=True, stderr=subprocess.PIPE if "--no-build-isolation" in options else None)
    (made,) = folder.glob("*.whl")
    return made


def build() -> Path:
    """Both, in build/wheel; the folder that the wheel was built in stays there."""
    folder = ROOT / "build" / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    return wheel(unpacked(sdist(ROOT, folder), folder / "source"), folder)
