"""Checkpoints of the example under other layouts, in two processes: python -m tests.checkpoints RANK FOLDER."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import torch
from torch import Tensor, distributed, nn
from torch.distributed.checkpoint import FileSystemWriter
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import checkpoint
import parallel
from train_lm import LanguageModel


def whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def contents(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[Tensor]:
    """Weights and what the optimizer keeps of each, put together."""
    found = [whole(one).detach() for one in model.parameters()]
    for one in model.parameters():
        found += [whole(optimizer.state[one][name]) for name in ("exp_avg", "exp_avg_sq", "step")]
    return found


def refused(call: Callable[[], None]) -> str:
    try:
        call()
    except checkpoint.CheckpointError as error:
        return str(error)
    raise AssertionError("no error")


def main(rank: int, folder: Path) -> None:
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
    mesh = init_device_mesh("cpu", (2,))
    torch.manual_seed(0)
    plain = LanguageModel(32, 2, 1, 8)
    tokens = torch.randint(256, (2, 9))

    def layout(kind: str, seed: int) -> tuple[nn.Module, torch.optim.Optimizer]:
        """Other weights than those that were saved, divided."""
        model = copy.deepcopy(plain)
        torch.manual_seed(seed)
        for one in model.parameters():
            nn.init.normal_(one, std=0.02)
        if kind != "one process":
            parallel.shard(model, kind, mesh)
        return model, parallel.optimizer_of(model, 1e-2)

    model, optimizer = layout("fsdp", 1)
    model(tokens[:, :-1], tokens[:, 1:]).backward()
    optimizer.step()
    optimizer.zero_grad()
    right = contents(model, optimizer)
    checkpoint.save(folder / "fsdp", model, optimizer)
    before = "fsdp"
    for kind in ("tensor", "sequence", "one process", "fsdp"):
        other, other_optimizer = layout(kind, 2)
        checkpoint.load(folder / before, other, other_optimizer, alone=kind == "one process")
        found = contents(other, other_optimizer)
        assert all(torch.equal(one, two) for one, two in zip(found, right, strict=True)), kind
        if kind in ("tensor", "sequence"):
            before = kind
            checkpoint.save(folder / kind, other, other_optimizer)

    # Parts of different sizes: five rows over two processes.
    uneven = [fully_shard(nn.Linear(3, 5, bias=False), mesh=mesh) for _ in range(2)]
    checkpoint.save(folder / "uneven", uneven[0], parallel.optimizer_of(uneven[0], 1e-2))
    checkpoint.load(folder / "uneven", uneven[1], None, alone=False)
    single = nn.Linear(3, 5, bias=False)
    checkpoint.load(folder / "uneven", single, None, alone=True)
    assert torch.equal(whole(uneven[1].weight), whole(uneven[0].weight))
    assert torch.equal(single.weight, whole(uneven[0].weight))

    # What does not fit, on both ranks.
    wide = LanguageModel(64, 2, 1, 8)
    deep = LanguageModel(32, 2, 2, 8)
    none = LanguageModel(32, 2, 0, 8)
    place = folder / "tensor"
    text = refused(lambda: checkpoint.load(place, wide, None, alone=False))
    assert text.startswith(f"{place} was not loaded: model.cos is [8, 8] in it and [8, 16] in the model; and"), text
    text = refused(lambda: checkpoint.load(place, deep, None, alone=False))
    assert text.startswith(f"{place} was not loaded: model.blocks.1.norm1.weight is missing in it; and 6 more"), text
    text = refused(lambda: checkpoint.load(place, none, None, alone=False))
    assert text.startswith(f"{place} was not loaded: model.blocks.0."), text
    assert "is not in the model; and 6 more" in text
    text = refused(lambda: checkpoint.load(folder / "nothing", plain, None, alone=False))
    assert text == f"{folder}/nothing was not loaded: there is no checkpoint in it (No such file or directory)"

    # A rank that cannot write.
    write = FileSystemWriter.write_data
    if rank == 1:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        FileSystemWriter.write_data = full
    text = refused(lambda: checkpoint.save(folder / "full", model, optimizer))
    assert text == f"{folder}/full was not saved: rank 1: OSError: [Errno 28] No space left on device"
    FileSystemWriter.write_data = write
    # And one whose files are gone when it reads.
    distributed.barrier()
    if rank == 0:
        for file in (folder / "fsdp").glob("__1_*"):
            file.unlink()
    distributed.barrier()
    text = refused(lambda: checkpoint.load(folder / "fsdp", *layout("fsdp", 3), alone=False))
    assert text.startswith(f"{folder}/fsdp was not loaded: rank "), text
    assert "No such file or directory" in text

    # One that ends: the other does not wait for it.
    distributed.barrier()
    if rank == 1:
        print("rank 1 is gone", flush=True)
        os._exit(3)
    try:
        checkpoint.save(folder / "last", model, optimizer)
    except (RuntimeError, checkpoint.CheckpointError) as error:
        print(f"{type(error).__name__}: {error}")
        print("all is as it should be: rank 0", flush=True)
        os._exit(0)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
