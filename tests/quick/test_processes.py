"""Whole calls in processes of their own: killed while they build, and side by side."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALL = """
import torch
from my_ops import quick
from tests.quick.texts import CPU, bodies, scaled
texts = {name: text + "/* \\xfc */" for name, text in bodies(CPU, "shared", 7).items()}
ops = quick.load(scaled("shared", 7), cpu=texts)
assert torch.equal(ops.shared(torch.ones(3)), torch.full((3,), 7.0))
"""


def test_killed_and_side_by_side(cache: Path, tmp_path: Path) -> None:
    """One process is killed while compilers run; two that come after it find nothing wrong."""
    for runtime in cache.glob("built/runtime-*"):  # what need not be built again
        shutil.copytree(runtime, tmp_path / "built" / runtime.name)
    cache = tmp_path
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry)])
    environment = {**os.environ, "PYTHONPATH": path, "MY_OPS_QUICK_CACHE": str(cache)}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # and texts that are no ASCII

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", CALL], env=environment, stderr=subprocess.PIPE, text=True)

    first = start()
    while not any(cache.glob("staging/*/units")):
        assert first.poll() is None, first.communicate()[1]
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    others = [start(), start()]
    for other in others:
        _, text = other.communicate(timeout=300)
        assert other.returncode == 0, text
        assert "Warning" not in text


def test_damaged_library(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that was cut short is built again, by the same call."""
    from my_ops import quick
    from tests.quick.texts import SHIFTED

    ops = quick.load(SHIFTED, namespace="damaged")
    folder = Path(ops.__file__).parents[1]
    library = folder / "damaged/damaged.so"
    short = library.with_suffix(".short")  # the one that is loaded keeps its pages
    short.write_bytes(library.read_bytes()[:1000])
    short.replace(library)
    import torch

    ops = quick.load(SHIFTED, namespace="damaged")
    assert library.stat().st_size > 1000
    assert torch.equal(ops.shifted(torch.ones(2)), torch.full((2,), 2.0))
