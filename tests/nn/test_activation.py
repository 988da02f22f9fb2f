"""my_ops.nn.Softmax in the place of PyTorch's, and the gated activations against what they are made of."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from my_ops import nn
from tests.nn.calls import operators, outcome

GATED = [
    (nn.SiLUMul(), functional.silu, "my_ops::silu_mul"),
    (nn.GELUMul(), functional.gelu, "my_ops::gelu_mul"),
    (nn.GELUMul("tanh"), lambda x: functional.gelu(x, approximate="tanh"), "my_ops::gelu_mul"),
]


@pytest.mark.parametrize(("module", "activation", "operator"), GATED, ids=["silu", "gelu", "tanh"])
def test_gated(module: torch.nn.Module, activation: object, operator: str, device: str) -> None:
    torch.manual_seed(0)
    gate, up = torch.randn(2, 3, 8, device=device, requires_grad=True).chunk(2, -1)
    y, expected = module(gate, up), activation(gate) * up
    torch.testing.assert_close(y, expected)
    torch.testing.assert_close(
        torch.autograd.grad(y.square().sum(), [gate, up]), torch.autograd.grad(expected.square().sum(), [gate, up])
    )
    assert operators(lambda: module(gate, up)) == {operator}


def test_text_and_errors_of_gated() -> None:
    assert repr(torch.nn.ModuleList(module for module, _, _ in GATED)) == (
        "ModuleList(\n  (0): SiLUMul()\n  (1): GELUMul(approximate='none')\n  (2): GELUMul(approximate='tanh')\n)"
    )
    x = torch.ones(2, 4)
    with pytest.raises(RuntimeError, match=r"my_ops::silu_mul: up: expected shape \[\*shape\]"):
        nn.SiLUMul()(x, x[:, :3])
    with pytest.raises(RuntimeError, match='my_ops::gelu_mul: approximate: expected none or tanh, got "tan"'):
        nn.GELUMul("tan")(x, x)


@pytest.mark.parametrize(("dim", "ours"), [(-1, True), (2, True), (1, False), (-2, False), (3, False)])
def test_softmax(dim: int, ours: bool, device: str) -> None:
    x = torch.randn(2, 3, 5, device=device)
    module, theirs = nn.Softmax(dim), torch.nn.Softmax(dim)
    assert repr(module) == repr(theirs)
    found, expected = outcome(lambda: module(x)), outcome(lambda: theirs(x))
    if isinstance(expected, torch.Tensor):
        torch.testing.assert_close(found, expected)
    else:
        assert found == expected
    assert operators(lambda: outcome(lambda: module(x))) == ({"my_ops::softmax"} if ours else set())


def test_softmax_of_few_dims(device: str) -> None:
    x = torch.randn(5, device=device, dtype=torch.bfloat16)
    for one, dim in ((x, 0), (x, -1), (x[0], 0), (x.view(1, 5), None)):
        with pytest.warns(UserWarning, match="Implicit dimension") if dim is None else pytest.MonkeyPatch.context():
            torch.testing.assert_close(nn.Softmax(dim)(one), torch.softmax(one, one.dim() - 1 if one.dim() else 0))


def test_softmax_of_nothing(device: str) -> None:
    """The one difference that the docstring names."""
    x = torch.full((2, 3), -torch.inf, device=device)
    assert torch.equal(nn.Softmax(-1)(x), torch.zeros_like(x))
    assert torch.nn.Softmax(-1)(x).isnan().all()
