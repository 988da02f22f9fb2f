"""torch.func beyond its grad: vjp, jacrev, which is a vmap of gradients, and jacrev of jacrev, which is a Hessian."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.harness.contract import Arguments, Contract, Sample, as_tuple
from tests.harness.gradients import UPSTREAM, gradients_of
from tests.harness.layouts import leaves, make
from tests.harness.numbers import assert_close, tolerance

Tensors = tuple[torch.Tensor, ...]


def jacobians(op: Contract, device: str, sample: Sample) -> None:
    """What the autograd engine gives for one row after the other, in one call. jacrev takes no complex tensors, and
    vmap no operator with keyword-only tensors and lists, which PyTorch says itself.
    """
    given = make(op, sample, op.choices()[0], device)
    names = tuple(name for name in op.spread(op.gradients, given) if given[name] is not None)
    inputs = tuple(given[name] for name in names)
    rows = [gradients_of(op.wrapper, op, leaves(given, names), UPSTREAM[kind]) for kind in ("dense", "sum")]

    def losses(*tensors: torch.Tensor) -> torch.Tensor:
        return torch.stack([_loss(op, given, names, tensors, kind) for kind in ("dense", "sum")])

    for row, upstream in enumerate(torch.eye(2, dtype=torch.float64, device=device)):
        found = torch.func.vjp(losses, *inputs)[1](upstream)
        assert all(torch.equal(one, rows[row][name]) for one, name in zip(found, names, strict=True))
    if any(one.is_complex() for one in inputs) or _is_left_to_pytorch(op):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's loop over a batch where there is no `batch:`
        found = torch.func.jacrev(losses, tuple(range(len(names))))(*inputs)
    for one, name in zip(found, names, strict=True):
        torch.testing.assert_close(one, torch.stack([row[name] for row in rows]))
    _hessian(op, given, names)


def _hessian(op: Contract, given: Arguments, names: tuple[str, ...]) -> None:
    """By jacrev of jacrev, beside the engine's second gradients, which gradgradcheck has looked at; without a second
    gradient, the error that names the operator which lacks one.
    """
    inputs, positions = tuple(given[name] for name in names), tuple(range(len(names)))

    def loss(*tensors: torch.Tensor) -> torch.Tensor:
        return _loss(op, given, names, tensors, "dense").square()

    function = torch.func.jacrev(torch.func.jacrev(loss, positions), positions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if op.second != "declared":
            if op.second == "missing":
                with pytest.raises(RuntimeError, match=f"^{op.namespace}::{op.backward}: no gradient is declared"):
                    function(*inputs)
            return
        hessian = function(*inputs)
    tensors = tuple(one.detach().clone().requires_grad_() for one in inputs)
    once = torch.autograd.grad(loss(*tensors), tensors, create_graph=True)
    weights = [torch.linspace(-1, 2, one.numel(), dtype=one.dtype, device=one.device).view_as(one) for one in once]
    weighted = sum((one * weight).sum() for one, weight in zip(once, weights, strict=True))
    twice = torch.autograd.grad(weighted, tensors, materialize_grads=True)
    for column, expected in enumerate(twice):
        parts = [torch.tensordot(weight, hessian[row][column], weight.dim()) for row, weight in enumerate(weights)]
        allowed = tolerance(expected.dtype, sum(one.numel() for one in inputs))
        found = torch.stack(parts).sum(0)
        assert_close(found, expected.cpu(), allowed, f"{op.name}: second gradient by {names[column]}")


def compiled_is_right_or_refused(op: Contract, device: str, sample: Sample) -> None:
    """torch.compile of torch.func.grad, where PyTorch before 2.14 would drop a gradient without a word."""
    given = make(op, sample, op.choices()[0], device)
    names = tuple(name for name in op.spread(op.gradients, given) if given[name] is not None)[:1]
    expected = gradients_of(op.wrapper, op, leaves(given, names), UPSTREAM["dense"])[names[0]]
    for function in op.entry_points():
        gradient = torch.func.grad(lambda x, function=function: _loss(op, given, names, (x,), "dense", function))
        torch._dynamo.reset()
        found, text = None, ""
        try:
            found = torch.compile(gradient, backend="eager")(given[names[0]])
        except Exception as error:
            text = str(error)
        if found is None:
            assert f"{op.namespace}::{op.name}: torch.func transforms differentiate" in text
        else:
            torch.testing.assert_close(found, expected)
    torch._dynamo.reset()


# ---------------------------------------------------------------- helpers


def _loss(
    op: Contract,
    given: Arguments,
    names: tuple[str, ...],
    tensors: Tensors,
    kind: str,
    function: Callable[..., Any] | None = None,
) -> torch.Tensor:
    """Outputs that have a gradient, summed in a way that UPSTREAM names; under torch.func none says whether it has."""
    results = as_tuple(op.call(function or op.wrapper, {**given, **dict(zip(names, tensors, strict=True))}))
    parts = [UPSTREAM[kind](one) for one in results if one.is_floating_point() or one.is_complex()]
    return torch.stack([(part.real - part.imag / 2 if part.is_complex() else part).double() for part in parts]).sum()


def _is_left_to_pytorch(op: Contract) -> bool:
    """Whether torch.vmap has no way through the operator or its backward."""
    return bool(op.lists) and any(name in op.tensors for name in op.keywords)
