"""my_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor

Root-mean-square normalisation over the last dimension, scaled by offset + weight, or by 1 without a weight.
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
from . import rms_norm_backward as _backward

_op = torch.ops.my_ops.rms_norm.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._rms_norm_no_grad.default._op
_call_saved = torch.ops.my_ops._rms_norm_saved.default._op
_backward_no_grad = torch.ops.my_ops._rms_norm_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::rms_norm")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake_saved(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    _check.dims(x=x, weight=weight)
    _check(
        x.dtype in _T,
        lambda: f"x: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}",
    )
    if weight is not None:
        _check(
            weight.dtype == x.dtype,
            lambda: (
                f"weight: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(weight.dtype)}"
            ),
        )
        _check(weight.device == x.device, lambda: f"weight: expected device {x.device} (as x), got {weight.device}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    if weight is not None:
        _check(weight.dim() == 1, lambda: f"weight: expected 1 dimension, got {weight.dim()}")
        _check(
            weight.shape[0] == n,
            lambda: f"weight: expected shape [n] with n = {n} (from x), got {_rules.sizes_text(weight.shape)}",
        )
    _check(n > 0, lambda: f"expected n > 0, got n = {n}")
    _check(eps >= 0, lambda: f"expected eps >= 0, got eps = {_rules.float_text(eps)}")
    y = x.new_empty((*rows, n))
    rstd = x.new_empty(rows, dtype=_rules.acc(x.dtype))
    return y, rstd


def _fake(x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0) -> Tensor:
    return _fake_saved(x, weight, eps, offset)[0]


# ---------------------------------------------------------------- autograd


class _RmsNorm(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor | None, eps: float, offset: float) -> Any:
        return _call_saved(x, weight, eps, offset)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, weight, _, offset = inputs
        _, rstd = output
        ctx.set_materialize_grads(False)
        ctx.value_of_offset = offset
        ctx.save_for_backward(x, weight, rstd)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None, grad_rstd: Tensor | None) -> Any:
        if grad_rstd is not None:
            _runtime.refuse_saved("rms_norm", "rstd")
        if grad_y is None:
            return None, None, None, None
        x, weight, rstd = ctx.saved_tensors
        run = _backward.rms_norm_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_x, grad_weight = run(grad_y, x, weight, rstd, ctx.value_of_offset, grad_mask=[wanted[0], wanted[1]])
        return grad_x, grad_weight, None, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("rms_norm"))


_apply = _runtime.direct_apply(_RmsNorm)


def _autograd(keyset: Any, x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(x, weight)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("rms_norm")
        return _apply(x, weight, eps, offset)[0]
    return _op.redispatch(keyset & _after_autograd, x, weight, eps, offset)


# ---------------------------------------------------------------- operations of a call


def _flops(x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0, **_: Any) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 4 * _rules.product(rows) * n


_runtime.count_flops(_flops, "rms_norm", "_rms_norm_no_grad", "_rms_norm_saved")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("rms_norm")
torch.library.register_fake("my_ops::rms_norm", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rms_norm_no_grad", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rms_norm_saved", _fake_saved, lib=_kernels)
_kernels.impl("rms_norm", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_rms_norm_no_grad", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_rms_norm_saved", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rms_norm_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True, arguments={"x": _batch.Place(0, 1)}, broadcast=(), results=(_batch.Place(0, 1), _batch.Place(0, 0))
    ),
    torch.ops.my_ops.rms_norm.default,
    torch.ops.my_ops._rms_norm_no_grad.default,
    torch.ops.my_ops._rms_norm_saved.default,
)

# ---------------------------------------------------------------- wrapper


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0) -> Tensor:
    """Root-mean-square normalisation over the last dimension, scaled by offset + weight, or by 1 without a weight.

    Args:
        x: T[*rows, n]
        weight: T[n]? = None
        eps: float = 1e-06
        offset: float = 0.0

    Returns:
        y: T[*rows, n]

    T is float64, float32, float16 or bfloat16.
    A call needs n > 0, eps >= 0.
    Results along rows are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(x, weight, eps, offset)
    ):
        return _op(x, weight, eps, offset)
    try:
        recorded = _is_grad_enabled() and (
            x.requires_grad or (weight is not None and weight.requires_grad) or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(x, weight, eps, offset)
            if _is_transformed():
                return _RmsNorm.apply(x, weight, eps, offset)[0]
            return _apply(x, weight, eps, offset)[0]
        return _call_no_grad(x, weight, eps, offset)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, weight, eps, offset)
        raise
