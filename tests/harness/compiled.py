"""torch.compile and torch.export. Most tests use the aot_eager backend: the graph is what matters, and it is fast."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from tests.harness.contract import Arguments, Contract, Sample, as_tuple, list_of
from tests.harness.gradients import UPSTREAM, gradients_of, loss_of
from tests.harness.layouts import leaves, make


def traced(op: Contract, function: Callable[..., Any], backend: Any, **options: Any) -> Callable[..., Any]:
    torch._dynamo.reset()

    def call(*positional: Any, **keyword: Any) -> Any:
        return function(*positional, **keyword)

    compiled = torch.compile(call, fullgraph=True, backend=backend, **options)
    # A size that only the kernel knows may be in a graph where this is set, as it is for PyTorch's own operators.
    return torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True)(compiled) if op.dynamic else compiled


def _same(first: Any, second: Any) -> None:
    for one, other in zip(as_tuple(first), as_tuple(second), strict=True):
        assert torch.equal(one, other)
        assert (one.stride(), one.requires_grad) == (other.stride(), other.requires_grad)


def _no_more_than_two(op: Contract, device: str, growing: list[Sample], names: tuple[str, ...]) -> None:
    compiled = traced(op, op.wrapper, "aot_eager")
    before = counters["stats"]["unique_graphs"]
    for sample in growing:
        given = leaves(make(op, sample, op.choices()[0], device), names)
        _same(op.results(op.wrapper, given), op.results(compiled, given))
        if names:
            expected = gradients_of(op.wrapper, op, given, UPSTREAM["dense"])
            found = gradients_of(compiled, op, given, UPSTREAM["dense"])
            assert all(torch.equal(expected[name], found[name]) for name in expected)
    compilations = counters["stats"]["unique_graphs"] - before
    assert 1 <= compilations <= 2, f"{compilations} compilations for {len(growing)} sizes"


def dynamic(op: Contract, device: str, growing: list[Sample]) -> None:
    """Four sizes need at most two compilations: of the wrapper, which is traced with what it calls."""
    _no_more_than_two(op, device, growing, ())


def training(op: Contract, device: str, growing: list[Sample]) -> None:
    """The same with gradients, which are those of eager mode."""
    _no_more_than_two(op, device, growing, op.gradients)


def partial(op: Contract, device: str, sample: Sample) -> None:
    """Each input alone requires grad."""
    arguments = make(op, sample, op.choices()[0], device)
    for name in op.spread(op.gradients, arguments):
        given = leaves(arguments, (name,))
        compiled = traced(op, op.wrapper, "aot_eager")
        expected = gradients_of(op.wrapper, op, given, UPSTREAM["dense"])
        assert torch.equal(expected[name], gradients_of(compiled, op, given, UPSTREAM["dense"])[name])


def inductor(op: Contract, device: str, sample: Sample) -> None:
    """The default backend, with gradients where there are any."""
    names = op.gradients if op.autograd == "declared" else ()
    given = leaves(make(op, sample, op.choices()[0], device), names)
    compiled = traced(op, op.wrapper, "inductor")
    _same(op.results(op.wrapper, given), op.results(compiled, given))
    if names:
        loss, expected = loss_of(as_tuple(op.call(compiled, given)), UPSTREAM["sum"]), {}
        expected = gradients_of(op.wrapper, op, given, UPSTREAM["sum"])
        named = op.spread(names, given)
        found = torch.autograd.grad(loss, [given[name] for name in named])
        for name, gradient in zip(named, found, strict=True):
            # Inductor sums the gradient of an input that was broadcast in an order of its own.
            assert torch.equal(expected[name], gradient) or (
                op.is_elementwise and torch.allclose(expected[name], gradient, rtol=1e-5, atol=1e-5)
            )


def missing(op: Contract, device: str, sample: Sample) -> None:
    """No backward is declared: the error comes when the graph is built with an input that requires grad."""
    given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
    for function in op.entry_points():
        compiled = traced(op, function, "aot_eager")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tracing says where the forward pass was
            with pytest.raises(Exception, match=op.text("no gradient is declared")):
                op.call(compiled, given)


def never(op: Contract, device: str, sample: Sample) -> None:
    """`differentiable: false`: compiled outputs do not require grad either."""
    given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
    for function in op.entry_points():
        _same(op.call(function, given), op.call(traced(op, function, "aot_eager"), given))


class _Module(torch.nn.Module):
    def __init__(self, op: Contract, function: Callable[..., Any], named: Arguments) -> None:
        super().__init__()
        scalars = {name: value for name, value in named.items() if list_of(name) not in op.tensors}
        names = op.spread(tuple(op.tensors), named)
        self.call = lambda *tensors: function(**op.gathered(dict(zip(names, tensors, strict=True)) | scalars))

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.call(*tensors)


def exports(op: Contract, device: str, sample: Sample) -> None:
    """An exported program calls the public operator, and nothing internal."""
    arguments = make(op, sample, op.choices()[0], device)
    names = op.spread(tuple(op.tensors), arguments)
    tensors = tuple(arguments[name] for name in names)
    for function in op.entry_points():
        module = _Module(op, function, arguments)
        for strict in (False, True):
            program = torch.export.export(module, tensors, strict=strict)
            called = [node.target for node in program.graph.nodes if node.op == "call_function"]
            own = [target for target in called if getattr(target, "namespace", "") == op.namespace]
            assert own == [op.overload]
            exported = program.module()

            def replayed(exported: Any = exported, **named: Any) -> Any:
                flat = [one for name in op.tensors for one in (named[name] if name in op.lists else [named[name]])]
                return exported(*flat)

            _same(op.results(function, arguments), op.results(replayed, arguments, named=True))
