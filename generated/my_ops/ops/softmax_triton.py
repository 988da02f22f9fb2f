"""my_ops::softmax_triton(Tensor x) -> Tensor

Softmax over the last dimension, whose kernel for GPUs is written in Triton and compiled with the library.
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
from . import softmax_triton_backward as _backward

_op = torch.ops.my_ops.softmax_triton.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._softmax_triton_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._softmax_triton_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::softmax_triton")
_T = (torch.float32, torch.float16, torch.bfloat16)


def _fake(x: Tensor) -> Tensor:
    _check.dims(x=x)
    _check(x.dtype in _T, lambda: f"x: expected dtype float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    _check(n <= 16384, lambda: f"a row must fit the registers of a block (expected n <= 16384, got n = {n})")
    y = x.new_empty((*rows, n))
    return y


# ---------------------------------------------------------------- autograd


class _SoftmaxTriton(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Any:
        return _call_no_grad(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        y = output
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(y)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None) -> Any:
        if grad_y is None:
            return None
        (y,) = ctx.saved_tensors
        run = _backward.softmax_triton_backward if _is_grad_enabled() else _backward_no_grad
        grad_x = run(grad_y, y)
        return grad_x

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("softmax_triton"))


_apply = _runtime.direct_apply(_SoftmaxTriton)


def _autograd(keyset: Any, x: Tensor) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(x)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("softmax_triton")
        return _apply(x)
    return _op.redispatch(keyset & _after_autograd, x)


# ---------------------------------------------------------------- operations of a call


def _flops(x: Tensor, **_: Any) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 5 * _rules.product(rows) * n


_runtime.count_flops(_flops, "softmax_triton", "_softmax_triton_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("softmax_triton")
torch.library.register_fake("my_ops::softmax_triton", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_softmax_triton_no_grad", _fake, lib=_kernels)
_kernels.impl("softmax_triton", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_softmax_triton_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_softmax_triton_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(star=True, arguments={"x": _batch.Place(0, 1)}, broadcast=(), results=(_batch.Place(0, 1),)),
    torch.ops.my_ops.softmax_triton.default,
    torch.ops.my_ops._softmax_triton_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def softmax_triton(x: Tensor) -> Tensor:
    """Softmax over the last dimension, whose kernel for GPUs is written in Triton and compiled with the library.

    Args:
        x: T[*rows, n]

    Returns:
        y: T[*rows, n]

    T is float32, float16 or bfloat16.
    A call needs n <= 16384.
    Results along rows are independent.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(x):
        return _op(x)
    try:
        if (_is_grad_enabled() and (x.requires_grad or _is_transformed())) or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(x)
            if _is_transformed():
                return _SoftmaxTriton.apply(x)
            return _apply(x)
        return _call_no_grad(x)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x)
        raise
