"""Calls under torch.vmap: a `batch:` that is not true is found, and what cannot be joined is called for each part."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import my_ops
from my_ops import _batch
from tests.harness import batched
from tests.harness.contract import Contract

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def centred() -> Iterator[torch.library.Library]:
    """An operator whose rows are not independent."""
    with torch.library._scoped_library("falsely", "FRAGMENT") as library:
        library.define("centred(Tensor x) -> Tensor")
        library.impl("centred", lambda x: x - x.flatten(0, -2).mean(0), "CompositeExplicitAutograd")
        sys.modules["falsely"] = SimpleNamespace(centred=torch.ops.falsely.centred)  # type: ignore[assignment]
        yield library
        del sys.modules["falsely"]


def _contract() -> Contract:
    spec = importlib.util.spec_from_file_location("square", ROOT / "generated" / "tests" / "test_square.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return replace(module.OP, namespace="falsely", name="centred")


def _place(*place: int) -> _batch.Place:
    return _batch.Place(*place)


@pytest.mark.parametrize(("star", "place"), [(True, (0, 1)), (False, (0, 2))], ids=["star", "dim"])
def test_false_batch_is_found(centred: torch.library.Library, star: bool, place: tuple[int, int]) -> None:
    rule = _batch.Batch(star, {"x": _place(*place)}, (), (_place(*place),))
    _batch.register(centred, rule, torch.ops.falsely.centred.default)
    with pytest.raises(AssertionError, match="not close"):
        batched.agrees(_contract(), "cpu", {"x": (4, 8)})


def test_true_batch_is_not(centred: torch.library.Library) -> None:
    """Columns are independent."""
    rule = _batch.Batch(False, {"x": _place(-1, 1)}, (), (_place(-1, 1),))
    _batch.register(centred, rule, torch.ops.falsely.centred.default)
    batched.agrees(_contract(), "cpu", {"x": (4, 8)})


def _calls(operator: Any, function: Any) -> int:
    """How often the CPU kernel of an operator is called."""
    count = 0

    class Counter(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal count
            count += func is operator
            return func(*args, **kwargs or {})

    with Counter():
        function()
    return count


def test_one_call_for_the_batch() -> None:
    x, weight = torch.randn(5, 3, 8), torch.randn(8)
    entry = torch.ops.my_ops.rms_norm.default
    assert _calls(entry, lambda: torch.vmap(my_ops.rms_norm, (0, None))(x, weight)) == 1
    assert _calls(entry, lambda: torch.vmap(my_ops.rms_norm)(x, torch.randn(5, 8))) == 5
    assert _calls(entry, lambda: torch.vmap(torch.vmap(lambda one: my_ops.rms_norm(one, weight)))(x)) == 1


@pytest.mark.parametrize("length", [0, 3])
def test_empty(length: int) -> None:
    """No part, or parts without rows; a batch of weights tells its shapes by a call of none of them."""
    x, weight = torch.randn(0, length, 8), torch.randn(0, 8)
    assert torch.vmap(my_ops.rms_norm, (0, None))(x, torch.randn(8)).shape == x.shape
    assert torch.vmap(my_ops.rms_norm)(x, weight).shape == x.shape
    assert torch.vmap(my_ops.rms_norm, (1, None))(x, torch.randn(8)).shape == (length, 0, 8)


def test_bias_of_fewer_dims() -> None:
    """What is broadcast may have a batch, and fewer dims than what it is broadcast to."""
    x = torch.randn(5, 2, 3, 4, 8)
    for bias in (torch.randn(5, 4, 8), torch.randn(5, 3, 1, 8), torch.randn(5, 8)):
        found = torch.vmap(my_ops.softmax)(x, bias)
        assert torch.allclose(found, torch.stack([my_ops.softmax(*one) for one in zip(x, bias, strict=True)]))


def test_gradients_of_transforms() -> None:
    """Of torch.func.jacrev, and twice of it, which is a batch of gradients of gradients."""
    x, weight = torch.randn(2, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)

    def norm(one: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.rms_norm(one, (3,), weight, 1e-6)

    found = torch.func.jacrev(lambda one: my_ops.rms_norm(one, weight))(x)
    assert torch.allclose(found, torch.func.jacrev(norm)(x))

    def swish(one: torch.Tensor) -> torch.Tensor:
        return (torch.nn.functional.silu(one) * one).sum()

    found = torch.func.jacrev(torch.func.jacrev(lambda one: my_ops.silu_mul(one, one).sum()))(x)
    assert torch.allclose(found, torch.func.jacrev(torch.func.jacrev(swish))(x))


def test_versions_of_what_is_written() -> None:
    """Autograd outside of torch.vmap notices the write."""
    x, residual = torch.randn(3, 4, 8), torch.randn(3, 4, 8)
    before = x._version, residual._version
    torch.vmap(my_ops.add_rms_norm_)(x, residual)
    assert x._version > before[0]
    assert residual._version > before[1]
