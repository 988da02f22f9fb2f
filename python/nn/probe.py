"""Calls that show what a module computes.

They are made on the CPU, on another object of its class with other tensors in the places of its parameters; the module
itself, its hooks and the generators of random numbers are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from .coverage import FLOATING

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Unfit(Exception):
    """Why a module is left as it is."""


def numbers(*shape: int) -> Tensor:
    """float32, from -1 to 1, the same in every call."""
    generator = torch.Generator("cpu").manual_seed(1)
    return 2 * torch.rand(shape, generator=generator, dtype=torch.float32, device="cpu") - 1


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A small projection."""
    made = nn.Linear(inputs, outputs, bias=False, device="meta")
    made.weight = nn.Parameter(numbers(outputs, inputs), requires_grad=False)
    return made


def results(
    module: nn.Module,
    *arguments: Any,
    parameters: Mapping[str, Tensor] | None = None,
    buffers: Mapping[str, Tensor] | None = None,
    modules: Mapping[str, nn.Module | None] | None = None,
) -> list[Any]:
    """What the forward of the module's class makes of the arguments, in training mode and out of it. Raises Unfit."""
    found = []
    for training in (True, False):
        other = object.__new__(type(module))
        other.__dict__.update(module.__dict__)
        other.__dict__.update(_parameters={**(parameters or {})}, _buffers={**(buffers or {})})
        other.__dict__.update(_modules={**(modules or {})}, training=training)
        found.append(result(type(module).forward, other, *arguments))
    return found


def result(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """What a function returns; whatever it raises is Unfit."""
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            return function(*arguments, **keywords)
    except Exception as error:
        text = str(error).partition("\n")[0]
        raise Unfit(f"a call that would show what it computes failed with {type(error).__name__}: {text}") from None


def close(found: object, expected: Tensor) -> bool:
    """Whether both are the same but for rounding in float32."""
    return (
        isinstance(found, Tensor)
        and found.shape == expected.shape
        and found.dtype == expected.dtype
        and torch.allclose(found, expected, rtol=1e-5, atol=1e-5)
    )


def is_own(forward: object, module: nn.Module) -> bool:
    """Whether it is the forward of the module's class, bound to the module."""
    return isinstance(forward, MethodType) and forward == MethodType(type(module).forward, module)


def refuse_patched(module: nn.Module) -> None:
    """Raises Unfit for modules whose calls do not go to the forward of their class."""
    if "forward" in vars(module) and not is_own(vars(module)["forward"], module):
        raise Unfit("its forward is set on the module itself, over that of its class")


def refuse_odd(weight: Tensor | None) -> None:
    """Raises Unfit for weights that are not simply there: spread over devices, to come with the first call, or kept
    elsewhere until they are used.
    """
    if weight is not None and type(weight) is not nn.Parameter:
        raise Unfit(f"its weight is a {type(weight).__name__}")
    if weight is not None and weight.numel() == 0:
        raise Unfit("its weight is empty")


def refuse_unheard(module: nn.Module, name: str) -> None:
    """Raises Unfit for a module, the child `name`, that others listen to and that would not be called any more."""
    if any(getattr(module, hooks, None) for hooks in _HOOKS) or "forward" in vars(module):
        raise Unfit(f"{name} has hooks, or a forward of its own, and would not be called any more")


def runs(operator: Callable[..., object], like: Tensor | None, *, count: int) -> None:
    """Raises Unfit where an operator on `count` floating tensors does not run with the device and dtype of `like`."""
    if like is None:
        return
    if like.dtype not in FLOATING:
        raise Unfit(f"its weight is {str(like.dtype).removeprefix('torch.')}, and no operator takes that")
    x = torch.ones(8, dtype=like.dtype, device=like.device)
    try:
        with torch.no_grad():
            operator(*[x] * count)
    except Exception as error:
        raise Unfit(str(error).partition("\n")[0]) from None
