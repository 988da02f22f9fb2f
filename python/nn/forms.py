"""What becomes of modules whose classes are not PyTorch's: subclasses of those classes that call operators.

A module stays what it is, with its parameters, buffers, hooks, mode and attributes; only its class changes, and can be
changed back. Calls that the operator does not cover go to the forward of the class before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from torch import Tensor, nn

from my_ops import gelu_mul, rms_norm, silu_mul

from .coverage import alike, floats, takes
from .rotary import rebound

_MADE: dict[tuple[Any, ...], type[Form]] = {}


class Form(nn.Module):
    """The first base of a class that is made here; the second one is the class before."""

    before: ClassVar[type[nn.Module]]
    operator: ClassVar[str]
    made_by: ClassVar[tuple[Any, ...]]  # the function that makes the class, and its arguments

    def _get_name(self) -> str:
        return f"my_ops.nn.{type(self).__name__}"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies and pickles: the class is made again where it is not there yet."""
        _, _, *rest = tuple(super().__reduce_ex__(protocol))
        return revived, self.made_by, *rest


def revived(make: Callable[..., type[nn.Module]], *arguments: Any) -> nn.Module:
    """A module without attributes, which copy and pickle give it."""
    made = make(*arguments)
    return made.__new__(made)


def _made(form: type[Form], made_by: tuple[Any, ...], **attributes: Any) -> type[Form]:
    """The class for these arguments, one for all modules, under the name of the one before: other code goes by names,
    to initialise, to wrap and to record.
    """
    if made_by in _MADE:
        return _MADE[made_by]
    before = made_by[1]
    attributes |= {"__module__": "my_ops.nn", "__doc__": before.__doc__, "before": before, "made_by": made_by}
    made: type[Form] = type(before)(before.__name__, (form, before), attributes)
    _MADE[made_by] = made
    return made


class _Norm(Form):
    operator = "my_ops::rms_norm"
    weight: Tensor
    eps_name: ClassVar[str]
    offset: ClassVar[float]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            (x,) = args
            if takes(x) and alike(x, self.weight) and x.shape[-1:] == self.weight.shape:
                return rms_norm(x, self.weight, getattr(self, self.eps_name), self.offset)
        return super().forward(*args, **kwargs)


def norm(before: type[nn.Module], eps_name: str, offset: float) -> type[Form]:
    """x * rsqrt(mean(x ** 2) + eps) * (offset + weight), with eps in the attribute `eps_name`."""
    return _made(_Norm, (norm, before, eps_name, offset), eps_name=eps_name, offset=offset)


def _gelu_tanh_mul(gate: Tensor, up: Tensor) -> Tensor:
    return gelu_mul(gate, up, "tanh")


_PRODUCTS = {"silu": silu_mul, "gelu": gelu_mul, "gelu_tanh": _gelu_tanh_mul}


class _Gated(Form):
    gate_proj: nn.Module
    up_proj: nn.Module
    down_proj: nn.Module
    act_name: ClassVar[str]
    product: ClassVar[Callable[[Tensor, Tensor], Tensor]]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return super().forward(*args, **kwargs)
        gate, up = self.gate_proj(*args), self.up_proj(*args)
        if floats(gate) and alike(gate, up) and gate.shape == up.shape:
            return self.down_proj(type(self).product(gate, up))
        return self.down_proj(getattr(self, self.act_name)(gate) * up)


def gated(before: type[nn.Module], act_name: str, activation: str) -> type[Form]:
    """down_proj(activation(gate_proj(x)) * up_proj(x)), where the attribute `act_name` is the activation."""
    product = staticmethod(_PRODUCTS[activation])
    operator = f"my_ops::{activation.removesuffix('_tanh')}_mul"
    return _made(_Gated, (gated, before, act_name, activation), act_name=act_name, product=product, operator=operator)


class _Rotary(Form):
    operator = "my_ops::rope"


def rotary(before: type[nn.Module]) -> type[Form]:
    """Its forward, but for the functions that rotate q and k."""
    return _made(_Rotary, (rotary, before), forward=rebound(before.forward))
