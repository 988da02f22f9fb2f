"""One language model over several processes, under PyTorch's own parallelism, and its loss beside that of one process.

    torchrun --nproc-per-node 2 examples/train_lm.py --parallel fsdp       each process has a part of every weight
                                                                 tensor     a part of the heads and of the hidden layer
                                                                 sequence   and, between these, a part of each sequence

Every process also trains the model alone, on the same batches, and the losses have to agree. With --save DIR what they
trained together is kept, and --load DIR goes on from there, under any of the three and with any number of processes,
alone and together; without --parallel, train_lm.py loads it in one process. With `sequence` the norms
run on shards of DTensors, which is what `batch: rows` in ops.yaml allows.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import NoReturn

import checkpoint
import torch
from torch import Tensor, distributed, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

KINDS = ("fsdp", "tensor", "sequence")
Batches = Sequence[tuple[Tensor, Tensor]]


def start_processes(device: str) -> DeviceMesh:
    """All processes in a row; with GPUs, one for each."""
    if "RANK" not in os.environ:
        sys.exit("--parallel needs processes: torchrun --nproc-per-node 2 examples/train_lm.py --parallel ...")
    kind = torch.device(device).type
    if kind == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=timedelta(minutes=5))
    return init_device_mesh(kind, (distributed.get_world_size(),))


def leave(code: int) -> NoReturn:
    """Ends this process once all have come this far, without the end of the interpreter: a thread of gloo's that still
    lets go of a tensor is aborted there (torch 2.13), and neither destroy_process_group nor shutdown joins it."""
    distributed.barrier()
    distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def shard(model: nn.Module, kind: str, mesh: DeviceMesh) -> None:
    """Divides a LanguageModel, in place."""
    blocks = list(model.blocks)
    if kind == "fsdp":
        for module in (*blocks, model):
            fully_shard(module, mesh=mesh)
        return
    whole: dict[str, ParallelStyle] = {}
    block: dict[str, ParallelStyle] = {
        **{name: ColwiseParallel() for name in ("qkv", "gate", "up")},
        **{name: RowwiseParallel() for name in ("proj", "down")},
    }
    if kind == "sequence":
        rows = Shard(1)
        whole = {
            "embed": PrepareModuleOutput(output_layouts=Replicate(), desired_output_layouts=rows),
            "norm": SequenceParallel(),
            "head": ColwiseParallel(input_layouts=rows, output_layouts=Replicate()),
        }
        block = {
            **{name: SequenceParallel() for name in ("norm1", "norm2")},
            **{name: ColwiseParallel(input_layouts=rows) for name in ("qkv", "gate", "up")},
            **{name: RowwiseParallel(output_layouts=rows) for name in ("proj", "down")},
        }
    parallelize_module(model, mesh, whole)
    for one in blocks:
        parallelize_module(one, mesh, block)


def optimizer_of(model: nn.Module, lr: float) -> torch.optim.Optimizer:
    """Weights are DTensors or not, which operators on lists of them do not mix."""
    return torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=0.1, foreach=False)


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, kind: str, mesh: DeviceMesh, batches: Batches
) -> tuple[list[float], list[float]]:
    """Losses and seconds of each step. With fsdp each process takes its part of a batch, else all of it."""
    losses, seconds = [], []
    for tokens, targets in batches:
        distributed.barrier()
        start = time.perf_counter()
        if kind == "fsdp":
            tokens, targets = (part.chunk(mesh.size())[mesh.get_rank()] for part in (tokens, targets))
        loss = model(tokens.to(mesh.device_type), targets.to(mesh.device_type))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss = loss.detach()
        if kind == "fsdp":
            distributed.all_reduce(loss)
            loss /= mesh.size()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - start)
    return losses, seconds


def run(start: nn.Module, batches: Batches, args: argparse.Namespace, tolerance: float) -> NoReturn:
    """Trains alone and together; exits with whether the losses agree."""
    mesh = start_processes(args.device)
    size = mesh.size()
    if args.heads % size or args.batch % size or args.context % size:
        sys.exit(f"{size} processes need heads, batch and context that {size} divides")
    start = start.to(mesh.device_type)
    together = copy.deepcopy(start)
    shard(together, args.parallel, mesh)
    optimizers = [optimizer_of(model, args.lr) for model in (start, together)]
    try:
        if args.load:
            checkpoint.load(args.load, start, optimizers[0], alone=True)
            checkpoint.load(args.load, together, optimizers[1], alone=False)
        alone, alone_seconds = train(start, optimizers[0], "alone", mesh, batches)
        losses, seconds = train(together, optimizers[1], args.parallel, mesh, batches)
        if args.save:
            checkpoint.save(args.save, together, optimizers[1])
    except checkpoint.CheckpointError as error:
        print(f"rank {mesh.get_rank()}: {error}", file=sys.stderr)
        leave(1)
    worst = max(abs(one - other) for one, other in zip(alone, losses, strict=True))
    if mesh.get_rank() == 0:
        print(f"{'run':<22}{'first loss':>11}{'last loss':>11}{'ms/step':>9}")
        for name, curve, times in (
            ("one process", alone, alone_seconds),
            (f"{args.parallel}, {size}", losses, seconds),
        ):
            print(f"{name:<22}{curve[0]:>11.4f}{curve[-1]:>11.4f}{1e3 * statistics.median(times[2:]):>9.1f}")
        verb = "agree" if worst <= tolerance else "DISAGREE"
        print(f"The losses {verb}: {worst:.1e} apart at most, {tolerance:.1e} allowed.")
    leave(0 if worst <= tolerance else 1)
