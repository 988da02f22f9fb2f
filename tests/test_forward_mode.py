"""Forward-mode derivatives of element-wise operators: PyTorch's transforms of them, beside those of its own operators.
Generated tests compare the derivatives with numerical ones, and see to it that other operators refuse by name.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import forward_ad

import my_ops

Function = Callable[[Tensor, Tensor], Tensor]
OURS: Function = my_ops.silu_mul


def theirs(gate: Tensor, up: Tensor) -> Tensor:
    return F.silu(gate) * up


def loss(function: Function) -> Callable[[Tensor], Tensor]:
    """A function of one tensor, whose second derivatives mix with those around it."""
    return lambda x: function(x.sin(), x.square()).square().sum()


def per_sample(function: Function) -> Callable[[Tensor], Tensor]:
    def tangent(x: Tensor) -> Tensor:
        return torch.func.jvp(lambda one: function(one, one.cos()), (x,), (torch.ones_like(x),))[1]

    return torch.vmap(tangent)


TRANSFORMS: dict[str, Callable[[Function], Callable[[Tensor], Tensor]]] = {
    "jacfwd": lambda f: torch.func.jacfwd(lambda x: f(x, x.cos())),
    "hessian": lambda f: torch.func.hessian(loss(f)),
    "reverse over reverse": lambda f: torch.func.jacrev(torch.func.jacrev(loss(f))),
    "reverse over forward": lambda f: torch.func.jacrev(torch.func.jacfwd(loss(f))),
    "vmap of jvp": per_sample,
    "jvp of vmap": lambda f: lambda x: torch.func.jvp(torch.vmap(f, (0, None)), (x, x[0]), (x.cos(), x[1]))[1],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str, device: str) -> None:
    x = torch.randn(3, 4, dtype=torch.float64, device=device)
    found, wanted = (TRANSFORMS[name](function)(x) for function in (OURS, theirs))
    assert wanted.abs().max() > 0.1
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("function", [my_ops.silu_mul, torch.ops.my_ops.silu_mul], ids=["wrapper", "torch.ops"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_dual_numbers(function: Function, dtype: torch.dtype, device: str) -> None:
    """Outside torch.func both ways in have them, and tangents may lie in any strides, or be those of one input."""
    torch.manual_seed(0)
    gate, up = torch.randn(2, 5, 3, device=device).to(dtype)
    tangent = torch.randn(5, 1, device=device).to(dtype).expand(5, 3)
    exact = [value.double() for value in (gate, up, tangent)]
    for both in (False, True):
        with forward_ad.dual_level():
            given = forward_ad.make_dual(gate, tangent), forward_ad.make_dual(up, gate) if both else up
            found = forward_ad.unpack_dual(function(*given)).tangent
        tangents = (exact[2], exact[0] if both else torch.zeros_like(exact[1]))
        zero = torch.zeros_like(exact[0])
        parts = [
            torch.func.jvp(theirs, (exact[0], exact[1]), pair)[1] for pair in ((tangents[0], zero), (zero, tangents[1]))
        ]
        assert found is not None
        assert found.dtype == dtype
        # Each part is rounded, and their sum.
        atol = 2 * torch.finfo(dtype).eps * float((parts[0].abs() + parts[1].abs()).max())
        torch.testing.assert_close(found.double(), parts[0] + parts[1], rtol=0, atol=atol)


def test_forward_over_forward(device: str) -> None:
    """PyTorch loses a part of it without a word."""
    x = torch.randn(3, 4, device=device)
    with pytest.raises(RuntimeError, match="my_ops::silu_mul: forward mode over forward mode is not supported"):
        torch.func.jacfwd(torch.func.jacfwd(loss(OURS)))(x)


def test_compiled(device: str) -> None:
    """Dynamo does not see the derivative: an error, and no zeros."""
    x = torch.randn(3, 4, device=device)
    program = torch.compile(lambda x: torch.func.jvp(OURS, (x, x), (x, x))[1], fullgraph=True)
    with pytest.raises(Exception, match=r"my_ops::silu_mul: torch.func transforms differentiate my_ops\.silu_mul"):
        program(x)
