"""my_ops::rms_norm_backward(Tensor grad_y, Tensor x, Tensor? weight, Tensor rstd, float offset, *, bool[2]
grad_mask=[True, True]) -> (Tensor, Tensor)

Gradients of rms_norm. Each block sums a fixed set of rows; a second pass adds the partial sums in a fixed order.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
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

_op = torch.ops.my_ops.rms_norm_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._rms_norm_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::rms_norm_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_y: Tensor,
    x: Tensor,
    weight: Tensor | None,
    rstd: Tensor,
    offset: float,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> tuple[Tensor | None, Tensor | None]:
    _check(_rules.count(grad_mask) == 2, lambda: f"grad_mask: expected 2 bools, got {_rules.count(grad_mask)}")
    _check.dims(grad_y=grad_y, x=x, weight=weight, rstd=rstd)
    _check(
        grad_y.dtype in _T,
        lambda: f"grad_y: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(grad_y.dtype)}",
    )
    _check(
        x.dtype == grad_y.dtype,
        lambda: f"x: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(x.dtype)}",
    )
    _check(
        rstd.dtype == _rules.acc(grad_y.dtype),
        lambda: (
            f"rstd: expected dtype {_rules.dtype_text(_rules.acc(grad_y.dtype))} (accumulation dtype of grad_y), got "
            f"{_rules.dtype_text(rstd.dtype)}"
        ),
    )
    if weight is not None:
        _check(
            weight.dtype == grad_y.dtype,
            lambda: (
                f"weight: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got "
                f"{_rules.dtype_text(weight.dtype)}"
            ),
        )
    _check(x.device == grad_y.device, lambda: f"x: expected device {grad_y.device} (as grad_y), got {x.device}")
    if weight is not None:
        _check(
            weight.device == grad_y.device,
            lambda: f"weight: expected device {grad_y.device} (as grad_y), got {weight.device}",
        )
    _check(
        rstd.device == grad_y.device, lambda: f"rstd: expected device {grad_y.device} (as grad_y), got {rstd.device}"
    )
    _check(grad_y.dim() >= 1, lambda: f"grad_y: expected at least 1 dimension, got {grad_y.dim()}")
    rows = _check.star(grad_y.shape[:-1], lambda: "grad_y: the product of rows does not fit 64-bit integers")
    n = grad_y.shape[-1]
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    if weight is not None:
        _check(weight.dim() == 1, lambda: f"weight: expected 1 dimension, got {weight.dim()}")
    _check.sizes(
        x.shape[:-1],
        rows,
        lambda: (
            f"x: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from grad_y), n = {n} (from grad_y), "
            f"got {_rules.sizes_text(x.shape)}"
        ),
    )
    _check(
        x.shape[-1] == n,
        lambda: (
            f"x: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from grad_y), n = {n} (from grad_y), "
            f"got {_rules.sizes_text(x.shape)}"
        ),
    )
    if weight is not None:
        _check(
            weight.shape[0] == n,
            lambda: f"weight: expected shape [n] with n = {n} (from grad_y), got {_rules.sizes_text(weight.shape)}",
        )
    _check.sizes(
        rstd.shape,
        rows,
        lambda: (
            f"rstd: expected shape [*rows] with rows = {_rules.sizes_text(rows)} (from grad_y), got "
            f"{_rules.sizes_text(rstd.shape)}"
        ),
    )
    grad_x = grad_y.new_empty((*rows, n)) if grad_mask[0] else None
    grad_weight = grad_y.new_empty((n,)) if grad_mask[1] else None
    return grad_x, grad_weight


# ---------------------------------------------------------------- autograd


class _RmsNormBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        grad_y: Tensor, x: Tensor, weight: Tensor | None, rstd: Tensor, offset: float, grad_mask: Sequence[bool]
    ) -> Any:
        return _call_no_grad(grad_y, x, weight, rstd, offset, grad_mask=grad_mask)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("rms_norm_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("rms_norm_backward"))


_apply = _runtime.direct_apply(_RmsNormBackward)


def _autograd(
    keyset: Any,
    grad_y: Tensor,
    x: Tensor,
    weight: Tensor | None,
    rstd: Tensor,
    offset: float,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_y, x, weight, rstd)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("rms_norm_backward")
        return _apply(grad_y, x, weight, rstd, offset, grad_mask)
    return _op.redispatch(keyset & _after_autograd, grad_y, x, weight, rstd, offset, grad_mask=grad_mask)


# ---------------------------------------------------------------- operations of a call


def _flops(
    grad_y: Tensor,
    x: Tensor,
    weight: Tensor | None,
    rstd: Tensor,
    offset: float,
    *,
    grad_mask: Sequence[bool] = (True, True),
    **_: Any,
) -> Any:
    rows = _check.star(grad_y.shape[:-1], lambda: "grad_y: the product of rows does not fit 64-bit integers")
    n = grad_y.shape[-1]
    return 9 * _rules.product(rows) * n


_runtime.count_flops(_flops, "rms_norm_backward", "_rms_norm_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("rms_norm_backward")
torch.library.register_fake("my_ops::rms_norm_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rms_norm_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("rms_norm_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_rms_norm_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rms_norm_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"grad_y": _batch.Place(0, 1), "x": _batch.Place(0, 1), "rstd": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 1), None),
    ),
    torch.ops.my_ops.rms_norm_backward.default,
    torch.ops.my_ops._rms_norm_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def rms_norm_backward(
    grad_y: Tensor,
    x: Tensor,
    weight: Tensor | None,
    rstd: Tensor,
    offset: float,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of rms_norm. Each block sums a fixed set of rows; a second pass adds the partial sums in a fixed order.

    Args:
        grad_y: T[*rows, n]
        x: T[*rows, n]
        weight: T[n]?
        rstd: acc(T)[*rows]
        offset: float
        grad_mask: which of the gradients are wanted; the others are None

    Returns:
        grad_x: T[*rows, n]
        grad_weight: T[n]

    T is float64, float32, float16 or bfloat16.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_y, x, weight, rstd, offset, grad_mask)
    ):
        return _op(grad_y, x, weight, rstd, offset, grad_mask=grad_mask)
    try:
        recorded = _is_grad_enabled() and (
            grad_y.requires_grad
            or x.requires_grad
            or (weight is not None and weight.requires_grad)
            or rstd.requires_grad
            or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_y, x, weight, rstd, offset, grad_mask=grad_mask)
            if _is_transformed():
                return _RmsNormBackward.apply(grad_y, x, weight, rstd, offset, grad_mask)
            return _apply(grad_y, x, weight, rstd, offset, grad_mask)
        return _call_no_grad(grad_y, x, weight, rstd, offset, grad_mask=grad_mask)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_y, x, weight, rstd, offset, grad_mask)
        raise
