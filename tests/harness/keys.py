"""What keys about an operator as a whole promise: tags, determinism, deprecation."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from tests.harness.contract import Arguments, Contract, Sample, as_tuple
from tests.harness.layouts import leaves, make

HALF_OR_SINGLE = (torch.float32, torch.float16, torch.bfloat16)


def tagged(op: Contract) -> None:
    """The operator and its internal overloads have the tags; one that this PyTorch does not know means nothing."""
    wanted = {getattr(torch.Tag, name) for name in op.tags if hasattr(torch.Tag, name)}
    for operator in op.dispatched():
        assert wanted <= set(operator.tags)


def nondeterministic(op: Contract, device: str, sample: Sample) -> None:
    """Every entry point refuses where only deterministic algorithms are wanted, or warns where that is enough."""
    arguments = make(op, sample, op.choices()[0], device)
    text = "results can differ from run to run"
    functions = [op.wrapper, *op.dispatched(), _compiled(op)]
    for function in functions:
        op.results(function, arguments)
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        for function in functions:
            torch.use_deterministic_algorithms(True)
            for inference in (False, True):
                with torch.inference_mode(inference), pytest.raises(RuntimeError, match=op.text(text)):
                    op.results(function, arguments)
            torch.use_deterministic_algorithms(True, warn_only=True)
            with pytest.warns(UserWarning, match=op.text(text)):
                op.results(function, arguments)
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


def autocast(op: Contract, device: str, dtypes: tuple[str, ...], lower: str, sample: Sample) -> None:
    """Every entry point gives under autocast what it gives for inputs that were cast before, gradients included."""
    arguments = make(op, sample, dtypes, device)
    tensors = leaves(arguments, op.gradients) if op.autograd == "declared" else arguments
    mixed = [tensors]
    if op.autocast == "promote":  # one input of each variable is of another dtype
        mixed.append(
            {
                **tensors,
                **{
                    name: tensors[name].detach().to(torch.float32)
                    for names in op.cast.values()
                    for name in op.spread(names, tensors)[:1]
                },
            }
        )
    for given in mixed:
        cast = {**given, **_cast(op, given, getattr(torch, lower))}
        wanted = op.results(op.wrapper, cast)
        for function in [*op.entry_points(), _compiled(op)]:
            with torch.autocast(torch.device(device).type, getattr(torch, lower)):
                found = op.results(function, given)
            for one, other in zip(found, wanted, strict=True):
                assert one.dtype == other.dtype
                assert torch.equal(one, other)
            with torch.inference_mode(), torch.autocast(torch.device(device).type, getattr(torch, lower)):
                plain = {k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
                assert all(
                    torch.equal(one, other) for one, other in zip(op.results(function, plain), wanted, strict=True)
                )
            inputs = [given[name] for name in op.spread(op.gradients, given) if given[name].requires_grad]
            if op.autograd == "declared" and inputs:
                right = torch.autograd.grad(sum(r.sum() for r in wanted), inputs, retain_graph=True)
                gradients = torch.autograd.grad(sum(r.sum() for r in found), inputs)
                for name, one, other in zip(inputs, gradients, right, strict=True):
                    assert one.dtype == name.dtype
                    assert torch.equal(one, other)


def draws(op: Contract, device: str, sample: Sample) -> None:
    """Calls draw from PyTorch's generator: the same ones after the same seed, by every entry point, and anew in each
    call; checkpointing repeats what was drawn.
    """
    arguments = make(op, sample, op.choices()[0], device)

    def once(function: Callable[..., Any]) -> tuple[torch.Tensor, ...]:
        given = op.unwritten(arguments)
        positional, keyword = op.split(given)
        returned = function(*positional, **keyword)
        return (*(as_tuple(returned) if op.outputs else ()), *(given[name] for name in op.written))

    def twice(function: Callable[..., Any]) -> tuple[tuple[torch.Tensor, ...], int]:
        torch.manual_seed(1)
        return (*once(function), *once(function)), _next(device)

    expected = twice(op.wrapper)
    torch.manual_seed(1)
    for _ in range(2):
        torch.empty(2, dtype=torch.int64, device=device).random_()
    assert expected[1] == _next(device), "a call draws two numbers"
    for function in [op.overload, _compiled(op)]:
        found = twice(function)
        assert found[1] == expected[1]
        assert all(torch.equal(one, other) for one, other in zip(found[0], expected[0], strict=True))
    if op.autograd == "declared":
        given = leaves(arguments, op.gradients)
        positional, keyword = op.split(given)
        inputs = [given[name] for name in op.gradients]
        gradients = []
        for checkpointed in (False, True):
            for function in (op.wrapper, op.overload):
                torch.manual_seed(1)
                results = (
                    checkpoint(function, *positional, use_reentrant=False, **keyword)
                    if checkpointed
                    else function(*positional, **keyword)
                )
                gradients.append(torch.autograd.grad(sum(r.sum() for r in as_tuple(results)), inputs))
        for found in gradients[1:]:
            assert all(torch.equal(one, other) for one, other in zip(found, gradients[0], strict=True))


def draws_under_vmap(op: Contract, device: str, sample: Sample) -> None:
    """Parts of a batch draw their own numbers where torch.vmap is told so, and all else is refused."""
    arguments = make(op, sample, op.choices()[0], device)
    name = next(iter(op.tensors), "")
    refused = op.text("draws random numbers")
    for function in op.entry_points():

        def call(part: torch.Tensor, name: str = "", function: Callable[..., Any] = function) -> Any:
            return as_tuple(op.call(function, {**arguments, name: part} if name else arguments))

        for randomness in ("error", "same", "different"):
            with pytest.raises(RuntimeError, match=refused):  # one draw for all parts
                torch.vmap(call, randomness=randomness)(torch.zeros(3))
        if name:
            batch = torch.stack([arguments[name]] * 8)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch says that it calls the operator eight times
                found = torch.vmap(partial(call, name=name), randomness="different")(batch)
            assert any(not torch.equal(y[0], other) for y in found for other in y[1:])
            for randomness in ("error", "same"):
                with pytest.raises(RuntimeError, match=refused):
                    torch.vmap(partial(call, name=name), randomness=randomness)(batch)


def _next(device: str) -> int:
    """What the generator would draw next."""
    return int(torch.empty(1, dtype=torch.int64, device=device).random_())


def _compiled(op: Contract) -> Callable[..., Any]:
    torch._dynamo.reset()
    overload = op.overload

    def call(*positional: Any, **keyword: Any) -> Any:
        return overload(*positional, **keyword)

    return torch.compile(call, backend="aot_eager", fullgraph=True)


def _cast(op: Contract, given: Arguments, lower: torch.dtype) -> Arguments:
    """The inputs that autocast casts, in the dtype that it casts to."""
    found: Arguments = {}
    for variable, names in op.cast.items():
        inputs = op.spread(names, given)
        present = [name for name in inputs if given[name] is not None and given[name].dtype in HALF_OR_SINGLE]
        wide = any(given[name].dtype == torch.float32 for name in present)
        wide = wide or len({given[name].dtype for name in present}) > 1
        dtype = lower if op.autocast == "lower" else torch.float32
        if op.autocast == "promote" and present and not wide:
            dtype = given[present[0]].dtype
        if str(dtype).removeprefix("torch.") in op.types[variable]:
            found |= {name: given[name].to(dtype) for name in present}
    return found
