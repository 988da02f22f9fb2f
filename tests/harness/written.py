"""Operators that write in place: autograd, compiled graphs and the rest of the memory see what was written, and no
more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.harness.contract import Arguments, Contract, Sample, list_of
from tests.harness.layouts import LAYOUTS, make


def _names(op: Contract, arguments: Arguments) -> list[str]:
    return [name for name in op.spread(op.written, arguments) if arguments[name] is not None]


def _floating(op: Contract, arguments: Arguments) -> list[str]:
    return [name for name in _names(op, arguments) if arguments[name].is_floating_point()]


def returned(op: Contract, device: str, sample: Sample) -> None:
    """torch.ops returns the outputs; so does the wrapper, and where there are none, the written tensors themselves."""
    for absent in op.absences:
        given = op.unwritten(make(op, sample, op.choices()[0], device, absent=absent))
        assert bool(op.outputs) or op.call(op.overload, given) is None
        if not op.outputs:
            found = op.call(op.wrapper, given)
            results = found if len(op.written) > 1 or op.lists else [found]
            flat = [one for part in results for one in (part if isinstance(part, list) else [part])]
            names = op.spread(op.written, given)
            assert all(one is given[name] for name, one in zip(names, flat, strict=True))


def versions(op: Contract, device: str, sample: Sample) -> None:
    """The version counters of what was written move, those of a base with its view, and no others."""
    for road in op.roads():
        given = make(op, sample, op.choices()[0], device)
        bases = {name: torch.stack([given[name], given[name]]) for name in _names(op, given)}
        given |= {name: base[0] for name, base in bases.items()}
        before = {name: value._version for name, value in given.items() if isinstance(value, torch.Tensor)}
        op.call(road, given)
        for name, version in before.items():
            moved = given[name]._version > version
            assert moved == (list_of(name) in op.written), f"{name}: version {version}, then {given[name]._version}"
        assert all(base._version > 0 for base in bases.values())


def saved_is_noticed(op: Contract, device: str, sample: Sample) -> None:
    """What autograd has saved before it was overwritten is an error of backward, not a wrong gradient."""
    for road in op.roads():
        given = op.unwritten(make(op, sample, op.choices()[0], device))
        for name in _floating(op, given):
            factor = torch.ones_like(given[name]).requires_grad_()
            loss = (factor * given[name]).sum()
            op.call(road, given)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


def recording_is_refused(op: Contract, device: str, sample: Sample) -> None:
    """A leaf that requires grad cannot be written; what is computed from one either cannot (`differentiable: false`),
    or has a backward that is an error with the name of the operator.
    """
    for road in op.roads():
        for name in _floating(op, make(op, sample, op.choices()[0], device)):
            given = op.unwritten(make(op, sample, op.choices()[0], device))
            leaf = {**given, name: given[name].detach().requires_grad_()}
            text = "a leaf Variable"
            if op.autograd == "never":
                text = f"{list_of(name)}: requires grad and is written in place"
            with pytest.raises(RuntimeError, match=text):
                op.call(road, leaf)
            with torch.no_grad():
                op.call(road, leaf)
            given[name] = given[name].detach().requires_grad_() * 1
            if op.autograd == "never":
                with pytest.raises(RuntimeError, match=text):
                    op.call(road, given)
                continue
            op.call(road, given)
            assert given[name].requires_grad
            with pytest.raises(RuntimeError) as caught:
                given[name].sum().backward()
            assert str(caught.value).startswith(op.text("no gradient is declared"))


def recording_is_refused_compiled(op: Contract, device: str, sample: Sample) -> None:
    """The same when the graph is built."""
    text = "is written in place" if op.autograd == "never" else op.text("no gradient is declared")
    for road in op.roads():
        for name in _floating(op, make(op, sample, op.choices()[0], device)):
            given = op.unwritten(make(op, sample, op.choices()[0], device))
            given[name] = given[name].detach().requires_grad_() * 1
            torch._dynamo.reset()
            compiled = torch.compile(_plain(road), fullgraph=True, backend="aot_eager", dynamic=False)
            with pytest.raises(Exception, match=text):
                op.call(compiled, given)


def _plain(road: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *positional, **keyword: road(*positional, **keyword)


def functional_graph(op: Contract, device: str, sample: Sample) -> None:
    """Between other work on the same tensor a compiled graph keeps the order of reads and writes."""
    arguments = make(op, sample, op.choices()[0], device)
    order = list(arguments)
    for road in op.roads():

        def step(*values: Any, road: Callable[..., Any] = road) -> Any:
            named = dict(zip(order, values, strict=True))
            for name in _names(op, named):
                named[name].add_(1)
            before = [named[name] * 1 for name in _names(op, named)]
            op.call(road, named)
            return before, [named[name] * 2 for name in _names(op, named)]

        torch._dynamo.reset()
        compiled = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
        results = []
        for function in (step, compiled):
            given = op.unwritten(arguments)
            op.seed()
            found = function(*given.values())
            results.append([*found[0], *found[1], *(given[name] for name in _names(op, given))])
        assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def only_its_elements(op: Contract, device: str, sample: Sample) -> None:
    """Memory around a view that is written stays as it was."""
    for layout in LAYOUTS:
        given = op.unwritten(make(op, sample, op.choices()[0], device, layout))
        before = {name: _storage(given[name]).clone() for name in _names(op, given)}
        op.call(op.wrapper, given)
        for name, old in before.items():
            outside = torch.ones_like(old, dtype=torch.bool)
            outside.as_strided(given[name].shape, given[name].stride(), given[name].storage_offset()).fill_(False)
            assert torch.equal(_storage(given[name])[outside], old[outside]), layout


def _storage(tensor: torch.Tensor) -> torch.Tensor:
    """All elements of the memory behind a tensor."""
    return torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage())


def transforms_are_refused(op: Contract, device: str, sample: Sample) -> None:
    """torch.func cannot see every write."""
    given = op.unwritten(make(op, sample, op.choices()[0], device))
    name = _names(op, given)[0]

    def call(value: torch.Tensor) -> torch.Tensor:
        op.call(op.wrapper, {**given, name: value})
        return value

    with pytest.raises(RuntimeError, match=op.text("writes in place")):
        torch.func.vmap(call)(torch.stack([given[name], given[name]]))
