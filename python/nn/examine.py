"""Whether a module computes what an operator does: what it is asked is what its forward returns, not its name.

Each function returns the class that the module may have in place of its own. Unfit says why it may not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from my_ops import gelu_mul, layer_norm, rms_norm, silu_mul

from . import forms
from .norm import LayerNorm, RMSNorm
from .probe import (
    Unfit,
    close,
    is_own,
    linear,
    numbers,
    refuse_odd,
    refuse_patched,
    refuse_unheard,
    result,
    results,
    runs,
)
from .rotary import parts, rotary_functions

_EPS_NAMES = ("variance_epsilon", "eps", "epsilon")
_ACT_NAMES = ("act_fn", "activation_fn", "act")
_LINEARS = ("gate_proj", "up_proj", "down_proj")
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
}


def is_norm(module: nn.Module) -> bool:
    """Whether it is one to look at: one weight and an eps, or a name that says so."""
    named = "norm" in type(module).__name__.lower()
    return not module._modules and (named or ([*module._parameters] == ["weight"] and bool(_eps_names(module))))


def _eps_names(module: nn.Module) -> list[str]:
    return [name for name in _EPS_NAMES if isinstance(vars(module).get(name), float)]


def norm(module: nn.Module) -> type[nn.Module]:
    """LayerNorm or RMSNorm for PyTorch's; a form of its class for others that compute what my_ops.rms_norm does."""
    refuse_patched(module)
    weight = module._parameters.get("weight")
    refuse_odd(weight)
    if type(module) is nn.LayerNorm:
        runs(layer_norm, weight, count=2)
        return LayerNorm
    if type(module) is nn.RMSNorm:
        runs(rms_norm, weight, count=2)
        return RMSNorm
    if weight is None or weight.dim() != 1 or len(module._parameters) != 1:
        raise Unfit("it has not just a weight of one dimension")
    names = _eps_names(module)
    if len(names) != 1:
        raise Unfit(f"it has no number under one of the names {', '.join(_EPS_NAMES)}")
    offset = _offset(module, getattr(module, names[0]), weight.shape[0])
    runs(rms_norm, weight, count=2)
    return forms.norm(type(module), names[0], offset)


def _offset(module: nn.Module, eps: float, n: int) -> float:
    """What is added to the weight, 0 or 1, where the module is an RMSNorm."""
    x, weight = numbers(3, 4, n) + 0.5, numbers(n) + 0.5
    x[1] *= max(eps, 1e-8) ** 0.5  # rows in which eps tells
    x[2] *= 30
    found = results(module, x, parameters={"weight": weight})
    for offset in (0.0, 1.0):
        expected = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * (offset + weight)
        if all(close(one, expected) for one in found):
            break
    else:
        raise Unfit("it does not compute x * rsqrt(mean(x ** 2) + eps) * weight, nor that with 1 + weight")
    for one in results(module, x.bfloat16(), parameters={"weight": weight.bfloat16()}):
        if one.dtype != torch.bfloat16:
            raise Unfit("its results are not of the dtype that it is given")
    return offset


def is_gated(module: nn.Module) -> bool:
    """Whether it is one to look at: two projections and one back."""
    return all(name in module._modules for name in _LINEARS)


def gated(module: nn.Module) -> type[nn.Module]:
    """A form of its class where that computes down_proj(act(gate_proj(x)) * up_proj(x)), act being silu or gelu."""
    refuse_patched(module)
    names = [name for name in _ACT_NAMES if name in module._modules or name in vars(module)]
    if len(names) != 1:
        raise Unfit(f"it has no activation under one of the names {', '.join(_ACT_NAMES)}")
    (act_name,) = names
    if {*module._modules} - {*_LINEARS, act_name}:
        raise Unfit("it has more modules than two projections, an activation and a projection back")
    act = getattr(module, act_name)
    if isinstance(act, nn.Module):
        refuse_unheard(act, act_name)
    activation = _activation(act, act_name)
    gate, up, down = linear(3, 5), linear(3, 5), linear(5, 4)
    up.weight.data.mul_(-0.5)
    x, stand_ins = 9 * numbers(2, 3, 3), {"gate_proj": gate, "up_proj": up, "down_proj": down}
    expected = down(_ACTIVATIONS[activation](gate(x)) * up(x))
    if not all(close(one, expected) for one in results(module, x, modules={**module._modules, **stand_ins})):
        raise Unfit(f"it does not compute down_proj({act_name}(gate_proj(x)) * up_proj(x))")
    weight = getattr(module.gate_proj, "weight", None)
    if type(weight) is nn.Parameter and weight.is_floating_point():  # and not packed by some quantisation
        runs(silu_mul if activation == "silu" else gelu_mul, weight, count=2)
    return forms.gated(type(module), act_name, activation)


def _activation(act: Any, name: str) -> str:
    """Which of _ACTIVATIONS it is."""
    x = torch.linspace(-12, 12, 97, dtype=torch.float32, device="cpu")
    found = result(act, x)
    for activation, function in _ACTIVATIONS.items():
        if close(found, function(x)):
            return activation
    raise Unfit(f"{name} is neither silu nor gelu")


def is_rotary(module: nn.Module) -> bool:
    """Whether it is one to look at: its forward calls a function f(q, k, cos, sin)."""
    return bool(rotary_functions(type(module).forward))


def rotary(module: nn.Module, model: nn.Module) -> type[nn.Module]:
    """A form of its class where f(q, k, cos, sin) is x * cos + rotate_half(x) * sin for both x, q and k, and where the
    model makes cos and sin of two equal halves, of which the operator takes one.
    """
    refuse_patched(module)
    for name, rotary in rotary_functions(type(module).forward).items():
        _check_rotary(name, rotary)
    makers = {name: maker for name, maker in model.named_modules() if "inv_freq" in maker._buffers}
    if not makers:
        raise Unfit("there is no module with inv_freq that makes cos and sin")
    for name, maker in makers.items():
        _check_angles(name, maker)
    return forms.rotary(type(module))


def _check_rotary(name: str, rotary: Callable[..., Any]) -> None:
    q, k = numbers(2, 3, 5, 8), numbers(2, 1, 5, 8)
    cos, sin = numbers(2, 5, 4), numbers(3, 5, 4)[1:]
    found = result(rotary, q, k, torch.cat([cos, cos], -1), torch.cat([sin, sin], -1))
    for place, x in enumerate((q, k)):
        a, b, c, s = *x.chunk(2, -1), cos.unsqueeze(1), sin.unsqueeze(1)
        expected = torch.cat([a * c - b * s, b * c + a * s], -1)
        if not (isinstance(found, tuple) and len(found) == 2 and close(found[place], expected)):
            raise Unfit(f"{name} does not compute x * cos + rotate_half(x) * sin")


def _check_angles(name: str, maker: nn.Module) -> None:
    if "forward" in vars(maker) and not is_own(vars(maker)["forward"], maker):
        raise Unfit(f"{name} has a forward of its own, over that of its class")
    buffers = {key: buffer for key, buffer in maker._buffers.items() if buffer is not None}
    if any(buffer.is_meta for buffer in buffers.values()):
        raise Unfit(f"what {name} makes cannot be seen on the meta device")
    buffers = {key: buffer.cpu() for key, buffer in buffers.items()}
    positions = torch.arange(5, device="cpu").unsqueeze(0)
    for pair in results(maker, numbers(1, 5, 8), positions, buffers=buffers):
        if not isinstance(pair, tuple) or not all(isinstance(one, Tensor) and one.dim() == 3 for one in pair):
            raise Unfit(f"{name} does not make cos and sin")
        if not all(torch.equal(*one.chunk(2, -1)) for one in pair):
            raise Unfit(f"{name} makes cos and sin of two unequal halves")


def calls_loss(module: nn.Module) -> bool:
    """Whether its forward calls its loss_function."""
    return hasattr(type(module), "loss_function") and any(
        "loss_function" in part.__code__.co_names for part in parts(type(module).forward)
    )


def causal_loss(module: nn.Module, loss: Callable[..., Any]) -> None:
    """Raises Unfit where the loss of a module is not the cross entropy of the next label."""
    refuse_patched(module)
    logits, labels = 4 * numbers(2, 5, 7), torch.tensor([[1, 0, -100, 6, 2], [3, 3, -100, -100, 5]], device="cpu")
    shifted = functional.pad(labels, (0, 1), value=-100)[:, 1:]
    total = functional.cross_entropy(logits.flatten(0, 1), shifted.flatten(), reduction="sum")
    for items, expected in ((None, total / (shifted != -100).sum()), (3, total / 3)):
        if not close(result(loss, logits=logits, labels=labels, vocab_size=7, num_items_in_batch=items), expected):
            raise Unfit("it is not the cross entropy of the next label")
