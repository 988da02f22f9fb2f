"""Operators that write in place: autograd, compiled graphs and the rest of the memory see what was written, and no
more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from tests.harness import protected
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
    """Autograd sees each write, in inference mode as well."""
    for function in op.entry_points():
        given = op.unwritten(make(op, sample, op.choices()[0], device))
        protected.versions(partial(op.call, function), given, _names(op, given))
        protected.saved_is_noticed(partial(op.call, function), given, _floating(op, given))


def kinds_are_refused(op: Contract, device: str, sample: Sample) -> None:
    """Tensors that PyTorch's own operators do not write, or whose tangent would no longer be right."""
    for function in op.entry_points():
        given = op.unwritten(make(op, sample, op.choices()[0], device))
        call, names = partial(op.call, function), _names(op, given)
        protected.inference(call, given, names, op.text(""))
        protected.negated(call, given, names, op.text(""))
        tangent = "{}: has a tangent" if op.autograd == "never" else "no gradient is declared"
        protected.tangents(call, given, _floating(op, given), lambda name, text=tangent: op.text(text.format(name)))


def recording_is_refused(op: Contract, device: str, sample: Sample) -> None:
    """A leaf that requires grad cannot be written; what is computed from one either cannot (`differentiable: false`),
    or has a backward that is an error with the name of the operator.
    """
    for function in op.entry_points():
        for name in _floating(op, make(op, sample, op.choices()[0], device)):
            given = op.unwritten(make(op, sample, op.choices()[0], device))
            leaf = {**given, name: given[name].detach().requires_grad_()}
            refusal = "requires grad and is written in place"
            for kind, tried in (("a leaf", leaf[name]), ("a view of a leaf", leaf[name].view_as(leaf[name]))):
                text = refusal if op.autograd == "never" else f"{kind} Variable"
                with pytest.raises(RuntimeError, match=op.text(f"{list_of(name)}: {text}")):
                    op.call(function, {**leaf, name: tried})
                assert torch.equal(leaf[name], given[name]), "written before the error"
                assert leaf[name]._version == given[name]._version
            with torch.no_grad():
                op.call(function, leaf)
            given[name] = given[name].detach().requires_grad_() * 1
            if op.autograd == "never":
                with pytest.raises(RuntimeError, match=op.text(f"{list_of(name)}: {refusal}")):
                    op.call(function, given)
                continue
            op.call(function, given)
            assert given[name].requires_grad
            with pytest.raises(RuntimeError) as caught:
                given[name].sum().backward()
            assert str(caught.value).startswith(op.text("no gradient is declared"))


def recording_is_refused_compiled(op: Contract, device: str, sample: Sample) -> None:
    """The same when the graph is built."""
    text = "is written in place" if op.autograd == "never" else op.text("no gradient is declared")
    for function in op.entry_points():
        for name in _floating(op, make(op, sample, op.choices()[0], device)):
            given = op.unwritten(make(op, sample, op.choices()[0], device))
            given[name] = given[name].detach().requires_grad_() * 1
            torch._dynamo.reset()
            compiled = torch.compile(_plain(function), fullgraph=True, backend="aot_eager", dynamic=False)
            with pytest.raises(Exception, match=text):
                op.call(compiled, given)


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *positional, **keyword: function(*positional, **keyword)


def functional_graph(op: Contract, device: str, sample: Sample) -> None:
    """Between other work on the same tensor a compiled graph keeps the order of reads and writes."""
    arguments = make(op, sample, op.choices()[0], device)
    order = list(arguments)
    for function in op.entry_points():

        def step(*values: Any, function: Callable[..., Any] = function) -> Any:
            named = dict(zip(order, values, strict=True))
            for name in _names(op, named):
                named[name].add_(1)
            before = [named[name] * 1 for name in _names(op, named)]
            op.call(function, named)
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


def transforms_are_refused(op: Contract, device: str, sample: Sample, *, has_batch: bool) -> None:
    """torch.func cannot see every write, but for torch.vmap where there is a `batch:`. Through torch.ops PyTorch itself
    refuses others, with the name.
    """
    given = op.unwritten(make(op, sample, op.choices()[0], device))
    if has_batch:
        for function in op.entry_points():
            inside = torch.func.grad(lambda one, function=function: (op.call(function, given), one)[1])
            with pytest.raises(
                RuntimeError, match=op.text("writes in place, which torch.func transforms but torch.vmap")
            ):
                inside(torch.ones(()))
        return
    name = _names(op, given)[0]
    for function, text in zip(
        op.entry_points(), (op.text("writes in place"), f"{op.namespace}::{op.name}"), strict=True
    ):

        def call(value: torch.Tensor, function: Callable[..., Any] = function) -> torch.Tensor:
            op.call(function, {**given, name: value})
            return value

        with pytest.raises(RuntimeError, match=text):
            torch.func.vmap(call)(torch.stack([given[name], given[name]]))
