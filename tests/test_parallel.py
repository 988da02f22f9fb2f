"""The language model of the example over two processes: each kind of PyTorch's parallelism, beside one process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZES = ["--steps", "4", "--layers", "2", "--width", "64", "--heads", "4", "--context", "32", "--batch", "4"]


def started(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.run(
        [*command, "examples/train_lm.py", *arguments, *SIZES],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def first_loss(output: str) -> float:
    """Of the run over two processes."""
    return float(re.findall(r"^\w+, 2 +([0-9.]+)", output, re.MULTILINE)[0])


def test_losses_agree(tmp_path: Path) -> None:
    """Each goes on from what the one before has saved."""
    losses = []
    for before, kind in (("", "fsdp"), ("fsdp", "tensor"), ("tensor", "sequence")):
        loaded = ["--load", str(tmp_path / before)] if before else []
        done = started("--parallel", kind, "--save", str(tmp_path / kind), *loaded)
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        assert "The losses agree" in done.stdout
        assert f"{kind}, 2" in done.stdout
        losses.append(first_loss(done.stdout))
    assert losses[0] > losses[1] > losses[2]
    done = started("--parallel", "fsdp", "--load", str(tmp_path / "nowhere"))
    assert done.returncode == 1
    for rank in (0, 1):
        assert f"rank {rank}: {tmp_path}/nowhere was not loaded: there is no checkpoint in it" in done.stderr


def test_checkpoints() -> None:
    """Between layouts and to one process; what does not fit, and a rank that fails, is an error on both ranks."""
    command = [sys.executable, "-m", "tests.checkpoints"]
    with tempfile.TemporaryDirectory() as folder:
        ranks = [
            subprocess.Popen([*command, str(rank), folder], cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            for rank in (0, 1)
        ]  # fmt: skip
        try:
            outputs = [rank.communicate(timeout=120)[0] for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
    # The last thing that happens is that rank 1 leaves without a word.
    assert [rank.returncode for rank in ranks] == [0, 3], "\n".join(outputs)[-8000:]
    assert [output.splitlines()[-1] for output in outputs] == ["all is as it should be: rank 0", "rank 1 is gone"]


def test_without_processes() -> None:
    """The error says how they are started."""
    environment = {name: value for name, value in os.environ.items() if name != "RANK"}
    command = [sys.executable, "examples/train_lm.py", "--parallel", "fsdp"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("torchrun --nproc-per-node 2 examples/train_lm.py --parallel ...")
