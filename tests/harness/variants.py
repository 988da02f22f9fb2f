"""The in-place and out forms of an operator write what the operator itself returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad

from tests.harness import protected
from tests.harness.contract import Arguments, Contract, Sample, alike, as_tuple, list_of
from tests.harness.gradients import UPSTREAM
from tests.harness.layouts import LAYOUTS, leaves, make


def _with_lists(op: Contract, kind: str) -> Contract:
    """The operator, of which keywords of a variant are lists, too."""
    listed = [given for output, given in op.variants[kind] if output in op.list_outputs]
    return replace(op, lists=tuple(dict.fromkeys([*op.lists, *listed])))


def _pairs(op: Contract, kind: str, arguments: Arguments) -> dict[str, str]:
    """What is written in a call, each tensor of a list by its own name, and the output that it holds."""
    given = dict(op.variants[kind])
    return {one.replace(list_of(one), given[list_of(one)], 1): one for one in op.output_names(arguments)}


def _entry_points(op: Contract, kind: str) -> list[Callable[..., Any]]:
    """The wrapper and the overload of a variant."""
    overload = op.namespaced(f"{op.name}_").default if kind == "inplace" else op.packet.out
    return [op.function(f"{op.name}_") if kind == "inplace" else op.wrapper, overload]


def _given(op: Contract, kind: str, arguments: Arguments) -> Arguments:
    """The arguments of a call of a variant: copies of what is written, or somewhere to write to."""
    written = _pairs(op, kind, arguments)
    if kind == "inplace":
        return {name: alike(v) if name in written else v for name, v in arguments.items()}
    results = as_tuple(op.call(op.wrapper, arguments))
    return arguments | {
        name: torch.full(result.shape, 7, dtype=result.dtype, device=result.device)
        for name, result in zip(written, results, strict=True)
    }


def _expected(op: Contract, kind: str, arguments: Arguments) -> dict[str, torch.Tensor]:
    """What is written where."""
    results = as_tuple(op.call(op.wrapper, arguments))
    return dict(zip(_pairs(op, kind, arguments), results, strict=True))


def writes(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """Every layout of inputs and of what is written, both entry points, all choices of dtypes; nothing else changes."""
    op = _with_lists(op, kind)
    for dtypes in op.choices():
        for layout in LAYOUTS:
            arguments = make(op, sample, dtypes, device, "sliced" if layout == "expanded" else layout)
            expected = _expected(op, kind, arguments)
            for function in _entry_points(op, kind):
                given = _given(op, kind, arguments)
                for name in expected if kind == "out" else ():
                    given[name] = _laid_out(given[name], layout)
                returned = op.call(function, given)
                for name, value in expected.items():
                    assert torch.equal(given[name], value), f"{name}, {layout}"
                results = [given[name] for name in expected]
                if function is _entry_points(op, kind)[0]:
                    assert all(one is other for one, other in zip(as_tuple(returned), results, strict=True))
                else:
                    assert returned is None


def _laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    if layout in ("transposed", "sliced") and tensor.dim():
        whole = tensor.new_full((2, *reversed(tensor.shape)), 7)
        return whole[1].permute(list(reversed(range(tensor.dim()))))
    return tensor


def gradients(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """Recorded, they are the operator and a copy."""
    op = _with_lists(op, kind)
    arguments = make(op, sample, op.choices()[0], device)
    spread = op.spread(op.gradients, arguments) if op.autograd == "declared" else ()
    names = tuple(name for name in spread if arguments[name] is not None)
    for function in _entry_points(op, kind):
        inputs = leaves(arguments, names)
        plain = sum(UPSTREAM["dense"](y) for y in as_tuple(op.call(op.wrapper, inputs)) if y.requires_grad)
        given = dict(inputs) | {n: v for n, v in _given(op, kind, arguments).items() if n not in inputs}
        written = _pairs(op, kind, arguments)
        for name in written:
            given[name] = given[name] * 1  # no leaf
        op.call(function, given)
        found = sum(UPSTREAM["dense"](given[name]) for name in written)
        if not names:
            assert not isinstance(found, torch.Tensor) or not found.requires_grad
            continue
        wanted = torch.autograd.grad(plain, [inputs[name] for name in names])
        got = torch.autograd.grad(found, [inputs[name] for name in names])
        assert all(torch.equal(one, other) for one, other in zip(wanted, got, strict=True))


def leaves_are_protected(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """A leaf that requires grad is written under no_grad only."""
    op = _with_lists(op, kind)
    for function in _entry_points(op, kind):
        arguments = make(op, sample, op.choices()[0], device)
        given = _given(op, kind, arguments)
        for name in _pairs(op, kind, arguments):
            if not given[name].is_floating_point():
                continue
            leaf = given | {name: given[name].detach().requires_grad_()}
            before = {one: given[one].clone() for one in _pairs(op, kind, arguments)}
            with pytest.raises(RuntimeError, match="leaf"):
                op.call(function, leaf)
            assert all(torch.equal(given[one], value) for one, value in before.items()), "written before the error"
            with torch.no_grad():
                version = leaf[name]._version
                op.call(function, leaf)
                assert leaf[name]._version > version


def versions(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """Autograd sees each write, in inference mode as well; tensors that PyTorch's own operators do not write are
    refused.
    """
    op = _with_lists(op, kind)
    name = f"{op.name}_" if kind == "inplace" else f"{op.name}.out"
    start = f"{op.namespace}::{name}: "
    for function in _entry_points(op, kind):
        arguments = make(op, sample, op.choices()[0], device)
        given, names = _given(op, kind, arguments), tuple(_pairs(op, kind, arguments))
        call, floating = partial(op.call, function), [name for name in names if given[name].is_floating_point()]
        protected.versions(call, given, names)
        protected.saved_is_noticed(call, given, floating)
        protected.inference(call, given, names, start)
        protected.negated(call, given, names, start)
        for name in floating if op.autograd == "never" else []:
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(given[name].clone(), torch.ones_like(given[name]))
                call({**given, name: dual})
                tangent = forward_ad.unpack_dual(dual).tangent
                assert tangent is None or not tangent.any(), "the tangent of before the write"


def compiled(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """In a graph, between other reads and writes."""
    op = _with_lists(op, kind)
    arguments = make(op, sample, op.choices()[0], device)
    order, written = list(_given(op, kind, arguments)), tuple(_pairs(op, kind, arguments))
    for function in _entry_points(op, kind):

        def step(*values: Any, function: Callable[..., Any] = function) -> Any:
            named = dict(zip(order, values, strict=True))
            for name in written:
                named[name].add_(1)
            op.call(function, named)
            return [named[name] * 2 for name in written]

        torch._dynamo.reset()
        graph = torch.compile(step, fullgraph=True, backend="aot_eager", dynamic=False)
        results = []
        for function in (step, graph):
            given = {k: alike(v) if isinstance(v, torch.Tensor) else v for k, v in _given(op, kind, arguments).items()}
            found = function(*given.values())
            results.append([*found, *(given[name] for name in written)])
        assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))


def refused(op: Contract, kind: str, device: str, sample: Sample) -> None:
    """What is written is as the operator would have made it, and lies on nothing else."""
    op = _with_lists(op, kind)
    arguments = make(op, sample, op.choices()[0], device)
    for function in _entry_points(op, kind):
        for name, output in _pairs(op, kind, arguments).items():
            given = _given(op, kind, arguments)
            overlapping = given | {name: given[name].new_zeros(()).expand(given[name].shape)}
            if given[name].numel() > 1:
                _raises(op, function, overlapping, f"{name}: expected no overlap among its own elements")
            if kind == "inplace":
                continue
            other = torch.int16
            shape = [*given[name].shape, 1]
            _raises(op, function, given | {name: given[name].to(other)}, f"{name}: expected dtype ", real=False)
            _raises(
                op,
                function,
                given | {name: given[name].unsqueeze(-1)},
                f"{name}: expected shape {list(given[name].shape)}, got {shape}",
                real=False,
            )
            inputs, own = op.spread(tuple(op.tensors), given), given[name]
            same = [k for k in inputs if given[k].shape == own.shape and given[k].dtype == own.dtype]
            for partner in same:
                _raises(op, function, given | {name: given[partner]}, f"{name}: expected no overlap with {partner}")
            count = len(op.spread((list_of(name),), given))
            if name.endswith(f"[{count - 1}]"):  # of a list the last one
                length = f"{count} tensors (as {op.list_outputs[list_of(output)]})"
                extra = given | {f"{list_of(name)}[{count}]": given[name].clone()}
                _raises(op, function, extra, f"{list_of(name)}: expected {length}, got {count + 1}", real=False)


def _recorded(op: Contract, given: Arguments, written: str) -> Arguments:
    """The same arguments, of which inputs require grad; what was one tensor is one."""
    found: dict[int, Any] = {}
    for name in op.spread(op.recordable, given):
        if name != written and given[name] is not None and given[name].is_floating_point():
            found.setdefault(id(given[name]), given[name].detach().requires_grad_() * 1)
    return {name: found.get(id(value), value) for name, value in given.items()}


def _raises(op: Contract, function: Callable[..., Any], given: Arguments, text: str, *, real: bool = True) -> None:
    for arguments in (given, _recorded(op, given, text.partition(":")[0])):
        with pytest.raises(RuntimeError) as caught:
            op.call(function, arguments)
        assert str(caught.value).startswith(op.text(text)), caught.value
    if not real:  # the fake kernel says the same
        torch._dynamo.reset()
        graph = torch.compile(lambda *a, **k: function(*a, **k), fullgraph=True, backend="eager", dynamic=False)
        with pytest.raises(Exception, match=op.name) as traced:
            op.call(graph, given)
        assert op.text(text) in str(traced.value)
