"""What keys about an operator as a whole promise: tags, determinism, deprecation."""

from __future__ import annotations

import importlib
import warnings

import pytest
import torch

from tests.harness.contract import Contract, Sample
from tests.harness.layouts import make


def tagged(op: Contract) -> None:
    """The operator and its twins have the tags; one that this PyTorch does not know means nothing."""
    wanted = {getattr(torch.Tag, name) for name in op.tags if hasattr(torch.Tag, name)}
    for operator in op.dispatched():
        assert wanted <= set(operator.tags)


def nondeterministic(op: Contract, device: str, sample: Sample) -> None:
    """Every road refuses where only deterministic algorithms are wanted, or warns where that is enough."""
    arguments = make(op, sample, op.choices()[0], device)
    text = "results can differ from run to run"
    torch._dynamo.reset()
    overload = op.overload

    def call(*positional: object, **keyword: object) -> object:
        return overload(*positional, **keyword)

    roads = [op.wrapper, *op.dispatched(), torch.compile(call, backend="aot_eager", fullgraph=True)]
    for road in roads:
        op.results(road, arguments)
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        for road in roads:
            torch.use_deterministic_algorithms(True)
            for inference in (False, True):
                with torch.inference_mode(inference), pytest.raises(RuntimeError, match=op.text(text)):
                    op.results(road, arguments)
            torch.use_deterministic_algorithms(True, warn_only=True)
            with pytest.warns(UserWarning, match=op.text(text)):
                op.results(road, arguments)
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def deprecated(op: Contract, device: str, sample: Sample) -> None:
    """The wrapper says so, once per process."""
    arguments = make(op, sample, op.choices()[0], device)
    importlib.import_module(f"{op.namespace}._runtime")._deprecated.discard(op.name)
    with pytest.warns(FutureWarning, match=op.text("deprecated: ")) as warned:
        op.results(op.wrapper, arguments)
    assert [one.filename for one in warned] == [op.results.__code__.co_filename]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        op.results(op.wrapper, arguments)
