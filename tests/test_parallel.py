"""The language model of the example over two processes: each kind of PyTorch's parallelism, beside one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SIZES = ["--steps", "4", "--layers", "2", "--width", "64", "--heads", "4", "--context", "32", "--batch", "4"]


@pytest.mark.parametrize("kind", ["fsdp", "tensor", "sequence"])
def test_losses_agree(kind: str) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, "examples/train_lm.py", "--parallel", kind, *SIZES],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "The losses agree" in done.stdout
    assert f"{kind}, 2" in done.stdout


def test_without_processes() -> None:
    """The error says how they are started."""
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    command = [sys.executable, "examples/train_lm.py", "--parallel", "fsdp"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("torchrun --nproc-per-node 2 examples/train_lm.py --parallel ...")
