"""Checkpoints of the example's model and its optimizer, which load under another layout than that which saved them.

torch.distributed.checkpoint names a weight as a single process does and keeps which part of it lies in which file. So
what fsdp has saved loads with tensor parallelism, on more processes or fewer, or on one. What does not fit is said on
every rank, before anything is loaded, from what the folder itself says: no rank waits for another that has given up.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as storage
from torch import nn
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

FLAT = StateDictOptions(flatten_optimizer_state_dict=True)  # by name of a weight, not by its place in a group


class CheckpointError(RuntimeError):
    """Why a checkpoint could not be saved or loaded; the same on every rank."""


def save(folder: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Every process writes its part; all call this."""
    try:
        storage.save(_state(model, optimizer), checkpoint_id=folder)
    except CheckpointException as error:
        raise CheckpointError(f"{folder} was not saved: {_reasons(error)}") from error


def load(folder: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer | None, *, alone: bool) -> None:
    """Fills model and optimizer. All processes call this; with `alone` each reads all of it, for a model of its own."""
    state = _state(model, optimizer)
    _compare(Path(folder), state)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*assuming the intent is to load in a single process")
            storage.load(state, checkpoint_id=folder, no_dist=alone)
    except CheckpointException as error:
        raise CheckpointError(f"{folder} was not loaded: {_reasons(error)}") from error
    set_model_state_dict(model, state["model"])
    if optimizer is not None:
        set_optimizer_state_dict(model, optimizer, state["optimizer"], options=FLAT)


def _state(model: nn.Module, optimizer: torch.optim.Optimizer | None) -> dict[str, Any]:
    state: dict[str, Any] = {"model": get_model_state_dict(model)}
    if optimizer is not None:
        state["optimizer"] = get_optimizer_state_dict(model, optimizer, options=FLAT)
    return state


def _compare(folder: Path, state: Mapping[str, Mapping[str, Any]]) -> None:
    """Tensors that are missing on one side, or of other sizes, whatever parts they lie in."""
    try:
        there = storage.FileSystemReader(folder).read_metadata().state_dict_metadata
    except OSError as error:
        raise CheckpointError(f"{folder} was not loaded: there is no checkpoint in it ({error.strerror})") from error
    wanted = {f"{part}.{name}": value for part, values in state.items() for name, value in values.items()}
    problems = [f"{name} is missing in it" for name in wanted if name not in there]
    problems += [
        f"{name} is not in the model" for name in there if name.partition(".")[0] in state and name not in wanted
    ]
    for name, value in wanted.items():
        kept = there.get(name)
        if isinstance(value, torch.Tensor) and isinstance(kept, TensorStorageMetadata) and kept.size != value.shape:
            problems.append(f"{name} is {list(kept.size)} in it and {list(value.shape)} in the model")
    if problems:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise CheckpointError(f"{folder} was not loaded: {problems[0]}{more}")


def _reasons(error: CheckpointException) -> str:
    """What went wrong on which ranks."""
    return "; ".join(f"rank {rank}: {type(one[0]).__name__}: {one[0]}" for rank, one in sorted(error.failures.items()))
