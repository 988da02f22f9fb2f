"""my_ops.nn.RMSNorm and LayerNorm in the places of PyTorch's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

from my_ops import nn
from tests.nn.accuracy import assert_as_near
from tests.nn.calls import DTYPES, operators, outcome

ARGUMENTS = [
    ("RMSNorm", 8, {}),
    ("RMSNorm", [8], {"eps": 1e-2}),
    ("RMSNorm", (2, 4), {}),
    ("RMSNorm", 8, {"elementwise_affine": False}),
    ("LayerNorm", 8, {}),
    ("LayerNorm", [8], {"eps": 1e-2, "bias": False}),
    ("LayerNorm", (2, 4), {}),
    ("LayerNorm", (2, 4), {"elementwise_affine": False}),
]
OPERATORS = {"RMSNorm": "my_ops::rms_norm", "LayerNorm": "my_ops::layer_norm"}


def pair(name: str, *arguments: Any, **keywords: Any) -> tuple[torch.nn.Module, torch.nn.Module]:
    """PyTorch's module with parameters at random, and ours with the same."""
    theirs, ours = (getattr(library, name)(*arguments, **keywords) for library in (torch.nn, nn))
    for parameter in theirs.parameters():
        torch.nn.init.uniform_(parameter, 0.5, 1.5)
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def gradients(module: torch.nn.Module, x: torch.Tensor, upstream: torch.Tensor) -> list[torch.Tensor]:
    """The result and all gradients."""
    leaf = x.clone().requires_grad_()
    y = module(leaf)
    (y * upstream).sum().backward()
    return [y.detach(), leaf.grad, *(parameter.grad for parameter in module.parameters())]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("name", "shape", "keywords"), ARGUMENTS, ids=str)
def test_as_pytorch(name: str, shape: Any, keywords: dict[str, Any], dtype: torch.dtype, device: str) -> None:
    """Text, parameters, results and gradients."""
    torch.manual_seed(0)
    theirs, ours = pair(name, shape, **keywords, device=device, dtype=dtype)
    assert isinstance(ours, type(theirs))
    assert repr(ours) == repr(theirs)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    x = torch.randn(3, 2, 4, device=device, dtype=dtype)
    x = x.flatten(1) if len(theirs.normalized_shape) == 1 else x
    assert operators(lambda: ours(x)) == {OPERATORS[name]}
    exact = copy.deepcopy(theirs).double()
    upstream = torch.linspace(-1, 1, 8, device=device, dtype=dtype).view(x.shape[1:])
    runs = ((ours, dtype), (theirs, dtype), (exact, torch.float64))
    results = [gradients(module, x.to(given), upstream) for module, given in runs]
    assert_as_near(*results)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_eps_left_out(dtype: torch.dtype, device: str) -> None:
    """Rows so small that they are nothing but eps."""
    x = torch.linspace(-1, 1, 16, device=device, dtype=torch.float64).view(2, 8)
    x = (x * (1e-8 if dtype == torch.float64 else 1e-4)).to(dtype)
    theirs, ours = pair("RMSNorm", 8, device=device, dtype=dtype)
    assert theirs(x).abs().max() < 1
    torch.testing.assert_close(ours(x), theirs(x))


@pytest.mark.parametrize("name", ["RMSNorm", "LayerNorm"])
@pytest.mark.filterwarnings("ignore:Mismatch dtype")
def test_what_is_left_to_pytorch(name: str, device: str) -> None:
    """Results and errors are PyTorch's: mixed dtypes, wrong shapes, other dtypes, autocast."""
    theirs, ours = pair(name, 8, device=device)
    x = torch.randn(3, 8, device=device)
    for wrong in (x.bfloat16(), x.double(), x[:, :7], x[0, 0], x.int(), x.to(torch.complex64)):
        found, expected = outcome(lambda wrong=wrong: ours(wrong)), outcome(lambda wrong=wrong: theirs(wrong))
        torch.testing.assert_close(found, expected) if isinstance(expected, torch.Tensor) else None
        assert isinstance(expected, torch.Tensor) or found == expected
        assert operators(lambda wrong=wrong: outcome(lambda: ours(wrong))) == set()
    for dtype in (torch.float32, torch.bfloat16):
        theirs, ours = theirs.to(dtype), ours.to(dtype)
        with torch.autocast(device, torch.bfloat16):
            found, expected = ours(x.to(dtype)), theirs(x.to(dtype))
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found, expected)


def test_no_rows(device: str) -> None:
    for name in OPERATORS:
        theirs, ours = pair(name, 8, device=device)
        for module in (theirs, ours):
            module(torch.zeros(0, 8, device=device)).sum().backward()
        assert all(torch.equal(one.grad, torch.zeros_like(one)) for one in ours.parameters())


def test_copies_are_modules_of_the_library(device: str) -> None:
    for name in OPERATORS:
        _, ours = pair(name, 8, device=device)
        for other in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
            assert type(other) is type(ours)
            assert torch.equal(other.weight, ours.weight)


def test_compiled(device: str) -> None:
    """Whole graphs, also where PyTorch's code runs: the last one is of another dtype."""
    model = torch.nn.Sequential(nn.RMSNorm(8), nn.LayerNorm((2, 4)), nn.RMSNorm(4)).to(device)
    model[2].double()
    x = torch.randn(3, 2, 8, device=device, requires_grad=True)
    model.insert(1, torch.nn.Unflatten(-1, (2, 4)))
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), model(x))
    (found,) = torch.autograd.grad(compiled(x).square().sum(), x)
    (expected,) = torch.autograd.grad(model(x).square().sum(), x)
    torch.testing.assert_close(found, expected)
    torch._dynamo.reset()
