"""my_ops::softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor

Gradient of softmax_triton, out of its result.
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

_op = torch.ops.my_ops.softmax_triton_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._softmax_triton_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::softmax_triton_backward")
_T = (torch.float32, torch.float16, torch.bfloat16)


def _fake(grad_y: Tensor, y: Tensor) -> Tensor:
    _check.dims(grad_y=grad_y, y=y)
    _check(
        grad_y.dtype in _T,
        lambda: f"grad_y: expected dtype float32, float16 or bfloat16, got {_rules.dtype_text(grad_y.dtype)}",
    )
    _check(
        y.dtype == grad_y.dtype,
        lambda: f"y: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(y.dtype)}",
    )
    _check(y.device == grad_y.device, lambda: f"y: expected device {grad_y.device} (as grad_y), got {y.device}")
    _check(grad_y.dim() >= 1, lambda: f"grad_y: expected at least 1 dimension, got {grad_y.dim()}")
    rows = _check.star(grad_y.shape[:-1], lambda: "grad_y: the product of rows does not fit 64-bit integers")
    n = grad_y.shape[-1]
    _check(y.dim() >= 1, lambda: f"y: expected at least 1 dimension, got {y.dim()}")
    _check.sizes(
        y.shape[:-1],
        rows,
        lambda: (
            f"y: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from grad_y), n = {n} (from grad_y), "
            f"got {_rules.sizes_text(y.shape)}"
        ),
    )
    _check(
        y.shape[-1] == n,
        lambda: (
            f"y: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from grad_y), n = {n} (from grad_y), "
            f"got {_rules.sizes_text(y.shape)}"
        ),
    )
    _check(n <= 16384, lambda: f"a row must fit the registers of a block (expected n <= 16384, got n = {n})")
    grad_x = grad_y.new_empty((*rows, n))
    return grad_x


# ---------------------------------------------------------------- autograd


class _SoftmaxTritonBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad_y: Tensor, y: Tensor) -> Any:
        return _call_no_grad(grad_y, y)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("softmax_triton_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("softmax_triton_backward"))


_apply = _runtime.direct_apply(_SoftmaxTritonBackward)


def _autograd(keyset: Any, grad_y: Tensor, y: Tensor) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_y, y)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("softmax_triton_backward")
        return _apply(grad_y, y)
    return _op.redispatch(keyset & _after_autograd, grad_y, y)


# ---------------------------------------------------------------- operations of a call


def _flops(grad_y: Tensor, y: Tensor, **_: Any) -> Any:
    rows = _check.star(grad_y.shape[:-1], lambda: "grad_y: the product of rows does not fit 64-bit integers")
    n = grad_y.shape[-1]
    return 4 * _rules.product(rows) * n


_runtime.count_flops(_flops, "softmax_triton_backward", "_softmax_triton_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("softmax_triton_backward")
torch.library.register_fake("my_ops::softmax_triton_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_softmax_triton_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("softmax_triton_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_softmax_triton_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_softmax_triton_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"grad_y": _batch.Place(0, 1), "y": _batch.Place(0, 1)},
        broadcast=(),
        results=(_batch.Place(0, 1),),
    ),
    torch.ops.my_ops.softmax_triton_backward.default,
    torch.ops.my_ops._softmax_triton_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def softmax_triton_backward(grad_y: Tensor, y: Tensor) -> Tensor:
    """Gradient of softmax_triton, out of its result.

    Args:
        grad_y: T[*rows, n]
        y: T[*rows, n]

    Returns:
        grad_x: T[*rows, n]

    T is float32, float16 or bfloat16.
    A call needs n <= 16384.
    Results along rows are independent.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(grad_y, y):
        return _op(grad_y, y)
    try:
        recorded = _is_grad_enabled() and (grad_y.requires_grad or y.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_y, y)
            if _is_transformed():
                return _SoftmaxTritonBackward.apply(grad_y, y)
            return _apply(grad_y, y)
        return _call_no_grad(grad_y, y)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_y, y)
        raise
