"""my_ops::layer_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor

Layer normalisation over the last dimension, scaled by weight and shifted by bias, which may both be left out.
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
from . import layer_norm_backward as _backward

_op = torch.ops.my_ops.layer_norm.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._layer_norm_no_grad.default._op
_call_saved = torch.ops.my_ops._layer_norm_saved.default._op
_backward_no_grad = torch.ops.my_ops._layer_norm_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::layer_norm")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake_saved(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> tuple[Tensor, Tensor, Tensor]:
    _check.dims(x=x, weight=weight, bias=bias)
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
    if bias is not None:
        _check(
            bias.dtype == x.dtype,
            lambda: f"bias: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(bias.dtype)}",
        )
    if weight is not None:
        _check(weight.device == x.device, lambda: f"weight: expected device {x.device} (as x), got {weight.device}")
    if bias is not None:
        _check(bias.device == x.device, lambda: f"bias: expected device {x.device} (as x), got {bias.device}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    if weight is not None:
        _check(weight.dim() == 1, lambda: f"weight: expected 1 dimension, got {weight.dim()}")
    if bias is not None:
        _check(bias.dim() == 1, lambda: f"bias: expected 1 dimension, got {bias.dim()}")
    if weight is not None:
        _check(
            weight.shape[0] == n,
            lambda: f"weight: expected shape [n] with n = {n} (from x), got {_rules.sizes_text(weight.shape)}",
        )
    if bias is not None:
        _check(
            bias.shape[0] == n,
            lambda: f"bias: expected shape [n] with n = {n} (from x), got {_rules.sizes_text(bias.shape)}",
        )
    _check(n > 0, lambda: f"expected n > 0, got n = {n}")
    _check(eps >= 0, lambda: f"expected eps >= 0, got eps = {_rules.float_text(eps)}")
    y = x.new_empty((*rows, n))
    mean = x.new_empty(rows, dtype=_rules.acc(x.dtype))
    rstd = x.new_empty(rows, dtype=_rules.acc(x.dtype))
    return y, mean, rstd


def _fake(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    return _fake_saved(x, weight, bias, eps)[0]


# ---------------------------------------------------------------- autograd


class _LayerNorm(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Any:
        return _call_saved(x, weight, bias, eps)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, weight, bias, _ = inputs
        _, mean, rstd = output
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, weight, bias, mean, rstd)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None, grad_mean: Tensor | None, grad_rstd: Tensor | None) -> Any:
        if grad_mean is not None:
            _runtime.refuse_saved("layer_norm", "mean")
        if grad_rstd is not None:
            _runtime.refuse_saved("layer_norm", "rstd")
        if grad_y is None:
            return None, None, None, None
        x, weight, bias, mean, rstd = ctx.saved_tensors
        run = _backward.layer_norm_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_x, grad_weight, grad_bias = run(
            grad_y, x, weight, bias, mean, rstd, grad_mask=[wanted[0], wanted[1], wanted[2]]
        )
        return grad_x, grad_weight, grad_bias, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("layer_norm"))


_apply = _runtime.direct_apply(_LayerNorm)


def _autograd(
    keyset: Any, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(x, weight, bias)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("layer_norm")
        return _apply(x, weight, bias, eps)[0]
    return _op.redispatch(keyset & _after_autograd, x, weight, bias, eps)


# ---------------------------------------------------------------- operations of a call


def _flops(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05, **_: Any) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 8 * _rules.product(rows) * n


_runtime.count_flops(_flops, "layer_norm", "_layer_norm_no_grad", "_layer_norm_saved")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("layer_norm")
torch.library.register_fake("my_ops::layer_norm", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_layer_norm_no_grad", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_layer_norm_saved", _fake_saved, lib=_kernels)
_kernels.impl("layer_norm", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_layer_norm_no_grad", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_layer_norm_saved", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_layer_norm_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"x": _batch.Place(0, 1)},
        broadcast=(),
        results=(_batch.Place(0, 1), _batch.Place(0, 0), _batch.Place(0, 0)),
    ),
    torch.ops.my_ops.layer_norm.default,
    torch.ops.my_ops._layer_norm_no_grad.default,
    torch.ops.my_ops._layer_norm_saved.default,
)

# ---------------------------------------------------------------- wrapper


def layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Layer normalisation over the last dimension, scaled by weight and shifted by bias, which may both be left out.

    Args:
        x: T[*rows, n]
        weight: T[n]? = None
        bias: T[n]? = None
        eps: float = 1e-05

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
        or _has_torch_function(x, weight, bias, eps)
    ):
        return _op(x, weight, bias, eps)
    try:
        recorded = _is_grad_enabled() and (
            x.requires_grad
            or (weight is not None and weight.requires_grad)
            or (bias is not None and bias.requires_grad)
            or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(x, weight, bias, eps)
            if _is_transformed():
                return _LayerNorm.apply(x, weight, bias, eps)[0]
            return _apply(x, weight, bias, eps)[0]
        return _call_no_grad(x, weight, bias, eps)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, weight, bias, eps)
        raise
