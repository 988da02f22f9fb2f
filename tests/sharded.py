"""Operators with a `batch:` on sharded tensors, in two processes: python -m tests.sharded RANK FILE.

Every result and every gradient, put together again, is what one process computes: of tensors that are sharded along any
dim, evenly or not, replicated, or the sum of two.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import torch
from torch import distributed
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor

import my_ops
from my_ops._batch import rules
from my_ops._sharding import _MASKS
from tests.harness.contract import Arguments, Contract, as_tuple
from tests.harness.layouts import make

RANKS = 2
TESTS = Path(__file__).resolve().parents[1] / "generated" / "tests"


def _modules() -> Iterator[ModuleType]:
    for path in sorted(TESTS.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        rule = rules.get(module.OP.overload)
        if rule is not None and not rule.written:
            yield module


def _placements(tensor: torch.Tensor) -> list[Placement]:
    """Along each dim that has an element for every rank; whole numbers are never sums."""
    found: list[Placement] = [Shard(dim) for dim in range(tensor.dim()) if tensor.shape[dim] >= RANKS]
    return [*found, Replicate(), *([Partial("sum")] if tensor.is_floating_point() else [])]


def _placed(tensor: torch.Tensor, mesh: DeviceMesh, placement: Placement) -> DTensor:
    if isinstance(placement, Partial):
        own = tensor if mesh.get_local_rank() == 0 else torch.zeros_like(tensor)
        return DTensor.from_local(own, mesh, [placement])
    return distribute_tensor(tensor, mesh, [placement])


def _compare(op: Contract, given: Arguments, placed: Arguments) -> None:
    leaves = [name for name in op.recordable if given[name] is not None] if op.autograd == "declared" else []
    for arguments in (given, placed):
        for name in leaves:
            arguments[name] = arguments[name].detach().requires_grad_(True)
    expected, found = (as_tuple(op.call(op.wrapper, arguments)) for arguments in (given, placed))
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, DTensor)
        torch.testing.assert_close(one.full_tensor(), other, equal_nan=True)
    if not leaves:
        return
    wholes = [sum(one.square().sum() for one in results) for results in (expected, found)]
    for whole in wholes:
        whole.backward()
    for name in leaves:
        torch.testing.assert_close(placed[name].grad.full_tensor(), given[name].grad)


def _operator(module: ModuleType, mesh: DeviceMesh) -> int:
    op: Contract = module.OP
    given = make(op, module.SAMPLES[0], op.choices()[0], "cpu")
    tensors = [name for name, value in given.items() if isinstance(value, torch.Tensor)]
    count = 0
    for first in tensors:
        for placement in _placements(given[first]):
            placed = dict(given)
            for name in tensors:
                placed[name] = _placed(given[name], mesh, placement if name == first else Replicate())
            try:
                _compare(op, dict(given), placed)
            except Exception as error:
                raise AssertionError(f"{op.name}: {first}: {placement}") from error
            count += 1
    return count


def _some_gradients(mesh: DeviceMesh) -> None:
    """One after the other, so that neither is taken for the other."""
    for leaf in ("x", "weight", "x"):
        given = {"x": torch.randn(4, 8), "weight": torch.randn(8)}
        placed = {name: distribute_tensor(value, mesh, [Shard(0)]) for name, value in given.items()}
        for arguments in (given, placed):
            arguments[leaf].requires_grad_(True)
            my_ops.rms_norm(**arguments).square().sum().backward()
        torch.testing.assert_close(placed[leaf].grad.full_tensor(), given[leaf].grad)


def _other_dtype(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.randn(4, 8), mesh, [Shard(0)])
    for dtype in (torch.int8, torch.float8_e4m3fn):
        q, scale = my_ops.quantize_per_token(x, dtype=dtype)
        assert q.dtype == q.to_local().dtype == dtype
        assert q.placements == scale.placements == (Shard(0),)


def main(rank: int, file: str) -> None:
    """In one of the processes."""
    store = distributed.FileStore(file, RANKS)
    distributed.init_process_group("gloo", store=store, rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,))
    torch.manual_seed(0)
    counts = {module.OP.name: _operator(module, mesh) for module in _modules()}
    if _MASKS:
        _some_gradients(mesh)
    _other_dtype(mesh)
    print(counts)
    distributed.barrier()
    sys.stdout.flush()
    os._exit(0)  # examples/parallel.py, leave, says why


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
