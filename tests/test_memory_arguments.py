"""Memory stays flat over many calls whose arguments own memory: strings, lists of numbers and of tensors, boxes of
optionals. Calls of the conformance library, good and wrong ones, through both entry points.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.conformance.build import build

PROGRAM = """
    import gc, torch, conformance
    torch.set_num_threads(1)
    ops = torch.ops.conformance
    x, table = torch.randn(2, 3), torch.randn(4, 2, 3)
    leaf = x.clone().requires_grad_()
    long = "x" * 255
    tensors, wide = [torch.zeros(2, 3), torch.zeros(3), torch.zeros(())], torch.zeros(2, 6)
    spread = [wide[:, ::2], wide[0, 1::2], torch.zeros(())]

    def refused(call, *arguments, **keywords):
        try:
            call(*arguments, **keywords)
        except RuntimeError:
            return
        raise AssertionError("not refused")

    def good():
        conformance.chosen(x, "tanh", long, type="Int", note=long, plain=True)
        ops.chosen(x, "none", "", True, type=None, note=None, plain=False)
        conformance.chosen(leaf, "tanh", long, type="float", note=long, plain=True).sum().backward()
        conformance.listed(table, [2, 3], [1] * 5, flags=[True] * 40, maybe=[0.5] * 40, steps=[1, 2])
        ops.listed(table, [2, 3], [], (3, 4), [0.5] * 100, flags=None, maybe=None, none=[7] * 100)
        conformance.grid([2, 3, 1], device="cpu")
        conformance.ramp(3, 1.5, torch.int32, device="cpu")
        conformance.converted(x, torch.int8, other=torch.float64, same=None, where="cpu")
        conformance.scaled(x, 2.0, 3, 4, flip=True)
        conformance.scaled(x, None, None, None)
        conformance.list_norm(tensors, 2)
        conformance.scale_list(spread, tensors, x[0, :2])
        ops.scale_list(tensors, (x, x[0], x[0, 0]), x[0, :2])

    def wrong():
        refused(conformance.chosen, x, "tan" + long, long, type="Int", note=long, plain=True)
        refused(conformance.chosen, x, "tanh", long + "x", type="Int", note=long, plain=True)
        refused(ops.chosen, x, "tanh", long, type="int", note=long, plain=True)
        refused(conformance.chosen, leaf, "none", long, type="double", note=long + "x", plain=False)
        refused(conformance.listed, table, [2, 3], [1] * 6, flags=[True] * 40, maybe=[0.5] * 40, steps=[1, 2])
        refused(ops.listed, table, [2, 3], [], (3, 4, 5), [0.5] * 100, flags=None, maybe=None, none=[7] * 100)
        refused(conformance.listed, table, [2, 4], [1], maybe=[0.5], steps=[1])
        refused(conformance.grid, [2, -3, 1], device="cpu")
        refused(conformance.converted, x, torch.float64, other=torch.float64, same=None, where="meta")
        refused(conformance.scaled, x, 2.0, -3, 4, flip=True)
        refused(conformance.list_norm, [], 2)
        refused(ops.list_norm, [x, x.double()], 2)
        refused(conformance.scale_list, spread, [x, x, x], x[0, :2])
        refused(ops.scale_list, [x, x[0]], [x, x[0]], x[0, :2])
        refused(ops.scale_list, tensors, [x], x[0, :2])

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    for _ in range(500):
        {call}()
    before = resident()
    for _ in range({count}):
        {call}()
    print(resident() - before)
"""


@pytest.fixture(scope="module")
def generated() -> Path:
    return build()


@pytest.mark.parametrize(("call", "count", "full_count"), [("wrong", 2_000, 10_000), ("good", 2_000, 20_000)])
def test_flat(generated: Path, call: str, count: int, full_count: int, full: bool) -> None:
    """A dozen calls each time. A leak of one string, list or box per round would be more than that."""
    path = os.pathsep.join([str(generated), *(entry for entry in sys.path if entry)])
    program = textwrap.dedent(PROGRAM.format(call=call, count=full_count if full else count))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    grown = int(done.stdout)
    assert grown < 200_000, f"{grown} bytes more"
