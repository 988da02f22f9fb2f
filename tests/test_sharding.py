"""DTensor goes by `batch:`; what is compared stands in tests/sharded.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sharded import RANKS

ROOT = Path(__file__).resolve().parents[1]

RULE = """
assert "torch.distributed.tensor" not in sys.modules
{}
from torch.distributed.tensor import DTensor
known = DTensor._op_dispatcher.sharding_propagator.op_to_schema_info
assert torch.ops.my_ops.rms_norm.default in known and torch.ops.my_ops._rms_norm_saved.default in known
"""


def test_two_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.sharded"]
    ranks = [
        subprocess.Popen(
            [*command, str(rank), str(tmp_path / "store")],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(RANKS)
    ]
    outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * RANKS, "\n".join(outputs)[-8000:]
    assert "'rms_norm_backward': 17" in outputs[0]


PROBE = "import my_ops, importlib.util; importlib.util.find_spec('torch.distributed.tensor')"


@pytest.mark.parametrize("order", ["import my_ops", "import torch.distributed.tensor, my_ops", PROBE])
def test_order_of_imports(order: str) -> None:
    """The package does not import DTensor; its rules are there when it has been imported, before or after, also where
    someone has only asked whether it can be.
    """
    script = f"import sys, torch\n{RULE.format(order)}"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
