"""my_ops::square_backward(Tensor grad_y, Tensor x) -> Tensor

Gradient of square.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import after_autograd as _after_autograd
from .._runtime import any_requires_grad as _any_requires_grad
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import forward_ad as _forward_ad
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling
from .._runtime import is_grad_enabled as _is_grad_enabled
from .._runtime import is_tracing as _is_tracing
from .._runtime import is_transformed as _is_transformed

_op = torch.ops.my_ops.square_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._square_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::square_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(grad_y: Tensor, x: Tensor) -> Tensor:
    _check.dims(grad_y=grad_y, x=x)
    _check(
        grad_y.dtype in _T,
        lambda: f"grad_y: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(grad_y.dtype)}",
    )
    _check(
        x.dtype == grad_y.dtype,
        lambda: f"x: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(x.dtype)}",
    )
    _check(x.device == grad_y.device, lambda: f"x: expected device {grad_y.device} (as grad_y), got {x.device}")
    shape = _check.star(grad_y.shape, lambda: "grad_y: the product of shape does not fit 64-bit integers")
    _check.sizes(
        x.shape,
        shape,
        lambda: (
            f"x: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_y), got "
            f"{_rules.sizes_text(x.shape)}"
        ),
    )
    grad_x = grad_y.new_empty(shape)
    return grad_x


# ---------------------------------------------------------------- autograd


class _SquareBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad_y: Tensor, x: Tensor) -> Any:
        return _call_no_grad(grad_y, x)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("square_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("square_backward"))


_apply = _runtime.direct_apply(_SquareBackward)


def _autograd(keyset: Any, grad_y: Tensor, x: Tensor) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_y, x)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("square_backward")
        return _apply(grad_y, x)
    return _op.redispatch(keyset & _after_autograd, grad_y, x)


# ---------------------------------------------------------------- operations of a call


def _flops(grad_y: Tensor, x: Tensor, **_: Any) -> Any:
    return 2 * x.numel()


_runtime.count_flops(_flops, "square_backward", "_square_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("square_backward")
torch.library.register_fake("my_ops::square_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_square_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("square_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_square_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_square_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"grad_y": _batch.Place(0, 0), "x": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 0),),
    ),
    torch.ops.my_ops.square_backward.default,
    torch.ops.my_ops._square_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def square_backward(grad_y: Tensor, x: Tensor) -> Tensor:
    """Gradient of square.

    Args:
        grad_y: T[*shape]
        x: T[*shape]

    Returns:
        grad_x: T[*shape]

    T is float64, float32, float16 or bfloat16.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(grad_y, x):
        return _op(grad_y, x)
    try:
        recorded = _is_grad_enabled() and (grad_y.requires_grad or x.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_y, x)
            if _is_transformed():
                return _SquareBackward.apply(grad_y, x)
            return _apply(grad_y, x)
        return _call_no_grad(grad_y, x)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_y, x)
        raise
