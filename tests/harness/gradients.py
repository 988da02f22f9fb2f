"""Gradients: right for every layout, only those that are asked for, refused by name where there are none."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from tests.harness.contract import Arguments, Contract, Sample, as_tuple, list_of, wide
from tests.harness.layouts import leaves, make, recording
from tests.harness.numbers import assert_close, terms, tolerance

# Dtypes whose numerical derivatives are exact enough.
_EXACT = (torch.float64, torch.complex128)

Upstream = Callable[[torch.Tensor], torch.Tensor]


def _weighted(y: torch.Tensor) -> torch.Tensor:
    """A sum with weights that every dtype holds exactly, so that the upstream gradient is exact."""
    weights = (torch.arange(y.numel(), device=y.device) % 7 - 3) / 4
    return (y * weights.to(y.dtype).view(y.shape)).sum()


# What follows the operator decides the strides of the gradient that arrives at it.
UPSTREAM: dict[str, Upstream] = {
    "dense": _weighted,
    "sum": lambda y: y.sum(),
    "cat": lambda y: _weighted(torch.cat([y.reshape(-1), 2 * y.reshape(-1)])),
    "transpose": lambda y: _weighted(y.permute(list(reversed(range(y.dim()))))),
    "expand": lambda y: y.expand(3, *y.shape).sum(),
    "slice": lambda y: _weighted(y.reshape(-1)[::2]),
}


def loss_of(results: tuple[torch.Tensor, ...], upstream: Upstream) -> torch.Tensor:
    return torch.stack([_real(upstream(result)).double() for result in results if result.requires_grad]).sum()


def _real(loss: torch.Tensor) -> torch.Tensor:
    """Both parts of a complex number, with weights that differ."""
    return loss.real - loss.imag / 2 if loss.is_complex() else loss


def gradients_of(function: Callable[..., Any], op: Contract, given: Arguments, upstream: Upstream) -> Arguments:
    """The gradient of each input that requires one."""
    results = as_tuple(op.call(function, given))
    names = recording(given)
    found = torch.autograd.grad(loss_of(results, upstream), [given[name] for name in names])
    return dict(zip(names, found, strict=True))


def shared(op: Contract, device: str, sample: Sample) -> None:
    """One leaf in the place of all inputs of its kind gets the sum of their gradients, for a loss of each output."""
    arguments = make(op, sample, op.choices()[0], device)
    source, first = {name: name for name in arguments}, {}
    for name in recording(leaves(arguments, op.gradients)):
        kind = arguments[name].shape, arguments[name].dtype, repr(sample.get(name))
        source[name] = first.setdefault(kind, name)
    for function in op.entry_points():
        _of_each_output(function, op, arguments, source)


def _of_each_output(function: Callable[..., Any], op: Contract, arguments: Arguments, source: dict[str, str]) -> None:
    """The gradients of one output after the other; `source` says whose tensor each argument is given."""
    found, exact = leaves(arguments, op.gradients), leaves(in_float64(arguments), op.gradients)
    found, exact = ({name: values[source[name]] for name in source} for values in (found, exact))
    names = [name for name in recording(found) if source[name] == name]
    tensors = [value for value in found.values() if isinstance(value, torch.Tensor)]
    for result, wanted in zip(as_tuple(op.call(function, found)), as_tuple(op.exact(exact, found)), strict=True):
        if not result.requires_grad:
            continue
        pair = [
            _zeros_for_none(loss_of((one,), UPSTREAM["dense"]), [values[name] for name in names])
            for one, values in ((result, found), (wanted, exact))
        ]
        for name, gradient, expected in zip(names, *pair, strict=True):
            allowed = tolerance(gradient.dtype, terms(tensors, gradient))
            assert_close(gradient.contiguous(), expected, allowed, f"{op.name}: grad_{name}")


def _zeros_for_none(loss: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Gradients, where there are none too."""
    return torch.autograd.grad(loss, inputs, retain_graph=True, allow_unused=True, materialize_grads=True)


def in_float64(arguments: Arguments) -> Arguments:
    """The same numbers in float64, without a history."""
    return {k: wide(value.detach() if isinstance(value, torch.Tensor) else value) for k, value in arguments.items()}


def _exact_choices(op: Contract) -> list[tuple[str, ...]]:
    """Dtypes whose numerical derivatives are exact enough, real ones and then complex ones."""
    orders = [("float64", "complex128"), ("complex128", "float64")]
    found = [
        tuple(next((exact for exact in order if exact in dtypes), dtypes[0]) for dtypes in op.types.values())
        for order in orders
    ]
    return list(dict.fromkeys(found))


def passes_gradcheck(op: Contract, device: str, samples: list[Sample]) -> None:
    """Numerical derivatives in float64 and complex128, through both entry points, of both modes where there are two."""
    calls = [(sample, ()) for sample in samples] + [(samples[0], absent) for absent in op.absences[1:]]
    for choice, (sample, absent) in product(_exact_choices(op), calls):
        given = _in_float64(op, make(op, sample, choice, device, absent=absent))
        names = recording(given)
        if not names or sum(given[name].numel() for name in names) > 1000:
            continue  # the matrix of derivatives has the square of that many elements
        for function in op.entry_points():

            def call(*tensors: torch.Tensor, function: Callable[..., Any] = function, given: Arguments = given) -> Any:
                return _exact_ones(op.call(function, {**given, **dict(zip(recording(given), tensors, strict=True))}))

            forward = op.forward_mode and _is_real(given, op.call(function, given))
            assert torch.autograd.gradcheck(
                call,
                tuple(given[name] for name in names),
                check_forward_ad=forward,
                # Under vmap, torch.func's transforms are about, and those go through the wrapper alone.
                check_batched_forward_grad=forward and function is op.wrapper,
            )


def _is_real(given: Arguments, results: Any) -> bool:
    tensors = [value for value in (*given.values(), *as_tuple(results)) if isinstance(value, torch.Tensor)]
    return not any(tensor.is_complex() for tensor in tensors)


def _exact_ones(results: Any) -> tuple[torch.Tensor, ...]:
    """Outputs that have numerical derivatives: those of exact dtypes, where there are any."""
    found = as_tuple(results)
    return tuple(result for result in found if result.dtype in _EXACT) or found


def _in_float64(op: Contract, arguments: Arguments) -> Arguments:
    """Leaves of what numerical derivatives can be taken by: inputs of another dtype stay constants."""
    named = op.spread(op.gradients, arguments)
    tensors = {name: arguments[name] for name in named if arguments[name] is not None}
    constants = {k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in arguments.items()}
    return leaves(constants, tuple(name for name, tensor in tensors.items() if tensor.dtype in _EXACT))


class Recorder(TorchDispatchMode):
    """Keeps the operators that PyTorch's dispatcher ran."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func._schema.name, kwargs or {}))
        return func(*args, **(kwargs or {}))


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for count in range(1, len(names) + 1):
        yield from combinations(names, count)


def _computed(op: Contract, names: tuple[str, ...]) -> list[str]:
    """The inputs whose gradients are computed for these: `grad(x)` says that of x is that of another input, too."""
    shared = {name: word[5:-1] for name in names for word in op.words.get(name, ()) if word.startswith("grad(")}
    return sorted({shared.get(name, name) for name in names})


def partial(op: Contract, device: str, sample: Sample) -> None:
    """For every subset of inputs that require grad the backward operator runs once and computes only what is needed."""
    arguments = make(op, sample, op.choices()[0], device)
    every = gradients_of(op.wrapper, op, leaves(arguments, op.gradients), UPSTREAM["dense"])
    inputs = op.spread(op.gradients, arguments)
    for function in op.entry_points():
        for names in _subsets(inputs):
            given = leaves(arguments, names)
            loss = loss_of(as_tuple(op.call(function, given)), UPSTREAM["dense"])
            with Recorder() as recorder:
                loss.backward()
            ran = [kwargs for name, kwargs in recorder.calls if op.backward in name]
            assert len(ran) == 1
            computed, all_computed = _computed(op, names), _computed(op, inputs)
            # PyTorch drops arguments that equal their defaults.
            mask = ran[0].get("grad_mask", [True] * len(all_computed))
            wanted = sorted(name in computed for name in all_computed)
            assert len(all_computed) == 1 or sorted(mask) == wanted or computed == all_computed
            for name in inputs:
                gradient = given[name].grad
                assert torch.equal(gradient, every[name]) if name in names else gradient is None
        with Recorder() as recorder:
            op.call(function, arguments)
        assert not any("_saved" in name for name, _ in recorder.calls), "saved outputs were computed in inference"


def saved_tensors(op: Contract, device: str, sample: Sample) -> None:
    """An input that backward reads and that was written in between is noticed."""
    usual = make(op, sample, op.choices()[0], device)
    for function in op.entry_points():
        for name in op.spread(op.kept, usual):
            given = leaves(usual, tuple(n for n in op.spread(op.gradients, usual) if n != name))
            given[name] = given[name].clone()
            if not any(isinstance(value, torch.Tensor) and value.requires_grad for value in given.values()):
                base = given[name].detach().clone().requires_grad_()
                given[name] = base * 1
            loss = loss_of(as_tuple(op.call(function, given)), UPSTREAM["dense"])
            with torch.no_grad():
                given[name].add_(1)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


def memory(op: Contract, device: str, sample: Sample) -> None:
    """Inputs die with the last reference to the graph, without the garbage collector; a second backward is an error."""
    for function in op.entry_points():
        # On its own: after an error PyTorch's engine may keep tensors that were on their way.
        if op.kept:
            given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
            loss = loss_of(as_tuple(op.call(function, given)), UPSTREAM["dense"])
            loss.backward()
            with pytest.raises(RuntimeError, match="a second time"):
                loss.backward()
        gc.disable()
        try:
            given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
            results = as_tuple(op.call(function, given))
            loss = loss_of(results, UPSTREAM["dense"])
            watched = [weakref.ref(value) for value in given.values() if isinstance(value, torch.Tensor)]
            loss.backward()
            del given, results, loss
            assert all(reference() is None for reference in watched)
        finally:
            gc.enable()


def checkpoints(op: Contract, device: str, sample: Sample) -> None:
    """Recomputed in backward, in both of PyTorch's ways."""
    given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
    for function in op.entry_points():
        plain = gradients_of(function, op, given, UPSTREAM["dense"])
        for reentrant in (False, True):

            def again(*values: Any, function: Callable[..., Any] = function, reentrant: bool = reentrant) -> Any:
                named = dict(zip(given, values, strict=True))

                def run(*values: Any) -> Any:  # tensors in a row: one of the two ways looks into no list
                    return as_tuple(op.call(function, dict(zip(named, values, strict=True))))

                return checkpoint(run, *values, use_reentrant=reentrant)

            results = as_tuple(again(*given.values()))
            for value in given.values():
                if isinstance(value, torch.Tensor):
                    value.grad = None
            loss_of(results, UPSTREAM["dense"]).backward()
            assert all(torch.equal(plain[name], given[name].grad) for name in plain)


def second_order(op: Contract, device: str, sample: Sample) -> None:
    """Gradients of gradients: right, or refused with the name of the operator that lacks one. They do not depend on
    whether the upstream gradient requires grad: what backward reads are functions of the inputs.
    """
    for choice in _exact_choices(op):
        _second_order(op, leaves(make(op, sample, choice, device), op.gradients))


def _second_order(op: Contract, given: Arguments) -> None:
    named = op.spread(op.gradients, given)
    inputs = tuple(given[name] for name in named)
    for function in op.entry_points():

        def call(*tensors: torch.Tensor, function: Callable[..., Any] = function) -> Any:
            return as_tuple(op.call(function, {**given, **dict(zip(named, tensors, strict=True))}))

        if op.second == "declared":
            _passes_gradgradcheck(op, function, _in_float64(op, given))
            if len(named) > 1:  # and where some of the first gradients are not computed
                constants = {k: v.detach() if isinstance(v, torch.Tensor) else v for k, v in given.items()}
                exact = tuple(name for name in named if given[name].dtype in _EXACT)
                _passes_gradgradcheck(op, function, leaves(constants, exact[:1]))
            continue
        results = [result for result in as_tuple(call(*inputs)) if result.requires_grad]
        upstream = [torch.ones_like(result).requires_grad_() for result in results]
        once = torch.autograd.grad(results, inputs, upstream, create_graph=True)
        if op.second == "never":
            assert not any(gradient.requires_grad for gradient in once)
            continue
        if op.second == "missing":
            _lacks(op, op.backward, once, upstream)
        if _is_curved(op, given):
            once = torch.autograd.grad(loss_of(as_tuple(call(*inputs)), UPSTREAM["dense"]), inputs, create_graph=True)
            _lacks(op, op.backward if op.second == "missing" else op.name, once, inputs)


def _lacks(op: Contract, name: str, gradients: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor]) -> None:
    """The gradients have none themselves, which is said with the name of an operator."""
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.grad(sum(gradient.sum().real for gradient in gradients), inputs, allow_unused=True)
    assert str(caught.value).startswith(f"{op.namespace}::{name}: no gradient is declared")


def _is_curved(op: Contract, given: Arguments) -> bool:
    """Whether the gradients of the reference depend on the inputs."""
    names = recording(given)
    exact = leaves(in_float64(given), names)
    inputs = [exact[name] for name in names]
    loss = loss_of(as_tuple(op.exact(exact, given)), UPSTREAM["dense"])
    once = torch.autograd.grad(loss, inputs, create_graph=True)
    depending = [gradient.sum().real for gradient in once if gradient.requires_grad]
    twice = torch.autograd.grad(sum(depending), inputs, allow_unused=True) if depending else ()
    return any(gradient is not None and bool(gradient.any()) for gradient in twice)


def _passes_gradgradcheck(op: Contract, function: Callable[..., Any], given: Arguments) -> None:
    names = recording(given)

    def call(*tensors: torch.Tensor) -> Any:
        return _exact_ones(op.call(function, {**given, **dict(zip(names, tensors, strict=True))}))

    both = op.forward_mode and _is_real(given, op.call(function, given))
    inputs = tuple(given[name] for name in names)
    assert not names or torch.autograd.gradgradcheck(call, inputs, check_fwd_over_rev=both)


def transforms(op: Contract, device: str, sample: Sample) -> None:
    """torch.func differentiates the wrapper; torch.ops under it is an error, never zeros. So does forward mode, where
    the derivative is derived; elsewhere it is an error.
    """
    given = make(op, sample, op.choices()[0], device)
    expected = gradients_of(op.wrapper, op, leaves(given, op.gradients), UPSTREAM["dense"])
    named = op.spread(op.gradients, given)
    positions = tuple(range(len(named)))

    def loss(function: Callable[..., Any], *tensors: torch.Tensor) -> torch.Tensor:
        results = as_tuple(op.call(function, {**given, **dict(zip(named, tensors, strict=True))}))
        return torch.stack([_real(UPSTREAM["dense"](result)).double() for result in results]).sum()

    inputs = tuple(given[name] for name in named)
    found = torch.func.grad(lambda *tensors: loss(op.wrapper, *tensors), argnums=positions)(*inputs)
    assert all(torch.equal(gradient, expected[name]) for name, gradient in zip(named, found, strict=True))
    with pytest.raises(RuntimeError, match=f"{op.namespace}::{op.name}: torch.func transforms"):
        torch.func.grad(lambda *tensors: loss(op.overload, *tensors))(*inputs)
    works = op.forward_mode and _is_real(given, op.call(op.wrapper, given))
    if works:
        found, tangent = torch.func.jvp(lambda *tensors: loss(op.wrapper, *tensors), inputs, inputs)
        assert torch.equal(found, loss(op.wrapper, *inputs))
        products = torch.cat([(expected[name].double() * given[name].double()).flatten() for name in named])
        results = as_tuple(op.call(op.wrapper, given))
        eps = max(torch.finfo(one.dtype).eps for one in (*inputs, *results) if one.is_floating_point())
        # Each term is rounded in the gradient, in the tangent of the result and in that of the loss.
        torch.testing.assert_close(tangent, products.sum(), rtol=0, atol=3 * eps * float(products.abs().sum()))
    for function in op.entry_points()[works:]:
        with pytest.raises(RuntimeError, match=f"{op.namespace}::{op.name}: (forward-mode|torch.func)"):
            torch.func.jvp(lambda x, function=function: loss(function, x, *inputs[1:]), inputs[:1], inputs[:1])


def missing(op: Contract, device: str, sample: Sample) -> None:
    """No backward is declared: the call works, its backward is an error that names the operator."""
    given = leaves(make(op, sample, op.choices()[0], device), op.gradients)
    for function in op.entry_points():
        results = as_tuple(op.call(function, given))
        assert all(result.requires_grad for result in results)
        with pytest.raises(RuntimeError) as caught:
            loss_of(results, UPSTREAM["dense"]).backward()
        assert str(caught.value).startswith(op.text("no gradient is declared"))


def never(op: Contract, device: str, sample: Sample) -> None:
    """`differentiable: false`: outputs never require grad."""
    given = make(op, sample, op.choices()[0], device)
    given = leaves(given, op.gradients)
    for function in (*op.entry_points(), *op.dispatched()):
        assert not any(result.requires_grad for result in as_tuple(op.call(function, given)))


def no_grad(op: Contract, device: str, sample: Sample) -> None:
    """An input that says `no_grad` makes no output require grad, and gets no gradient when another one does."""
    arguments = make(op, sample, op.choices()[0], device)
    silent = tuple(name for name in arguments if "no_grad" in op.words.get(list_of(name), ()))
    silent = tuple(name for name in silent if arguments[name].is_floating_point())
    for function in op.entry_points():
        given = leaves(arguments, silent)
        assert not any(result.requires_grad for result in as_tuple(op.call(function, given)))
        if op.autograd == "declared":
            given = leaves(arguments, (*silent, *op.gradients))
            loss_of(as_tuple(op.call(function, given)), UPSTREAM["dense"]).backward()
            assert all(given[name].grad is None for name in silent)
