"""my_ops::add_rms_norm(Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-06, float offset=0.0) ->
(Tensor, Tensor)

rms_norm of x + residual, and that sum itself, rounded to the dtype of x, which is what is normalised.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import after_autograd as _after_autograd
from .._runtime import after_in_place as _after_in_place
from .._runtime import any_requires_grad as _any_requires_grad
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import forward_ad as _forward_ad
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling
from .._runtime import is_grad_enabled as _is_grad_enabled
from .._runtime import is_tracing as _is_tracing
from .._runtime import is_transformed as _is_transformed
from . import add_rms_norm_backward as _backward

_op = torch.ops.my_ops.add_rms_norm.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._add_rms_norm_no_grad.default._op
_call_saved = torch.ops.my_ops._add_rms_norm_saved.default._op
_backward_no_grad = torch.ops.my_ops._add_rms_norm_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::add_rms_norm")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake_saved(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    _check.dims(x=x, residual=residual, weight=weight)
    _check(
        x.dtype in _T,
        lambda: f"x: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}",
    )
    _check(
        residual.dtype == x.dtype,
        lambda: (
            f"residual: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(residual.dtype)}"
        ),
    )
    if weight is not None:
        _check(
            weight.dtype == x.dtype,
            lambda: (
                f"weight: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(weight.dtype)}"
            ),
        )
    _check(residual.device == x.device, lambda: f"residual: expected device {x.device} (as x), got {residual.device}")
    if weight is not None:
        _check(weight.device == x.device, lambda: f"weight: expected device {x.device} (as x), got {weight.device}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    _check(residual.dim() >= 1, lambda: f"residual: expected at least 1 dimension, got {residual.dim()}")
    if weight is not None:
        _check(weight.dim() == 1, lambda: f"weight: expected 1 dimension, got {weight.dim()}")
    _check.sizes(
        residual.shape[:-1],
        rows,
        lambda: (
            f"residual: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from x), n = {n} (from x), "
            f"got {_rules.sizes_text(residual.shape)}"
        ),
    )
    _check(
        residual.shape[-1] == n,
        lambda: (
            f"residual: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from x), n = {n} (from x), "
            f"got {_rules.sizes_text(residual.shape)}"
        ),
    )
    if weight is not None:
        _check(
            weight.shape[0] == n,
            lambda: f"weight: expected shape [n] with n = {n} (from x), got {_rules.sizes_text(weight.shape)}",
        )
    _check(n > 0, lambda: f"expected n > 0, got n = {n}")
    _check(eps >= 0, lambda: f"expected eps >= 0, got eps = {_rules.float_text(eps)}")
    y = x.new_empty((*rows, n))
    residual_out = x.new_empty((*rows, n))
    rstd = x.new_empty(rows, dtype=_rules.acc(x.dtype))
    return y, residual_out, rstd


def _fake(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    return _fake_saved(x, residual, weight, eps, offset)[:2]


# ---------------------------------------------------------------- autograd


class _AddRmsNorm(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, residual: Tensor, weight: Tensor | None, eps: float, offset: float) -> Any:
        return _call_saved(x, residual, weight, eps, offset)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, _, weight, _, offset = inputs
        y, residual_out, rstd = output
        ctx.set_materialize_grads(False)
        ctx.value_of_offset = offset
        ctx.like_y = y.shape, y.dtype, y.device
        ctx.save_for_backward(residual_out, weight, rstd)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None, grad_residual_out: Tensor | None, grad_rstd: Tensor | None) -> Any:
        if grad_rstd is not None:
            _runtime.refuse_saved("add_rms_norm", "rstd")
        if grad_y is None and grad_residual_out is None:
            return None, None, None, None, None
        if grad_y is None:
            grad_y = _runtime.zeros(*ctx.like_y)
        residual_out, weight, rstd = ctx.saved_tensors
        run = _backward.add_rms_norm_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_x, grad_weight = run(
            grad_y,
            grad_residual_out,
            residual_out,
            weight,
            rstd,
            ctx.value_of_offset,
            grad_mask=[wanted[0] or wanted[1], wanted[2]],
        )
        return grad_x, grad_x, grad_weight, None, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("add_rms_norm"))


_apply = _runtime.direct_apply(_AddRmsNorm)


def _autograd(
    keyset: Any, x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(x, residual, weight)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("add_rms_norm")
        return _apply(x, residual, weight, eps, offset)[:2]
    return _op.redispatch(keyset & _after_autograd, x, residual, weight, eps, offset)


# ---------------------------------------------------------------- operations of a call


def _flops(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0, **_: Any
) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 5 * _rules.product(rows) * n


_runtime.count_flops(
    _flops, "add_rms_norm", "_add_rms_norm_no_grad", "_add_rms_norm_saved", "add_rms_norm_", "_add_rms_norm__no_grad"
)

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("add_rms_norm")
torch.library.register_fake("my_ops::add_rms_norm", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_add_rms_norm_no_grad", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_add_rms_norm_saved", _fake_saved, lib=_kernels)
_kernels.impl("add_rms_norm", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_add_rms_norm_no_grad", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_add_rms_norm_saved", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_add_rms_norm_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"x": _batch.Place(0, 1), "residual": _batch.Place(0, 1)},
        broadcast=(),
        results=(_batch.Place(0, 1), _batch.Place(0, 1), _batch.Place(0, 0)),
    ),
    torch.ops.my_ops.add_rms_norm.default,
    torch.ops.my_ops._add_rms_norm_no_grad.default,
    torch.ops.my_ops._add_rms_norm_saved.default,
)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"x": _batch.Place(0, 1), "residual": _batch.Place(0, 1)},
        broadcast=(),
        results=(),
        written=("x", "residual"),
    ),
    torch.ops.my_ops.add_rms_norm_.default,
    torch.ops.my_ops._add_rms_norm__no_grad.default,
)

# ---------------------------------------------------------------- add_rms_norm_

_in_place = torch.ops.my_ops.add_rms_norm_.default
_call_in_place = torch.ops.my_ops._add_rms_norm__no_grad.default._op


def _fake_in_place(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> None:
    y_, residual_out_ = _fake(x, residual, weight, eps, offset)
    _check.output("x", x, y_)
    _check.output("residual", residual, residual_out_)


def _autograd_in_place(
    keyset: Any, x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> None:
    if _is_transformed():
        _runtime.check_in_place("add_rms_norm_", has_batch=True)
    if (_is_grad_enabled() and _any_requires_grad(x, residual, weight)) or _forward_ad._current_level >= 0:
        y_, residual_out_ = _op(x, residual, weight, eps, offset)
        _check.output("x", x, y_)
        _check.output("residual", residual, residual_out_)
        _check.apart({"x": x, "residual": residual}, {"x": x, "residual": residual, "weight": weight})
        _runtime.check_copies("add_rms_norm_", (y_, residual_out_), x=x, residual=residual)
        x.copy_(y_)
        residual.copy_(residual_out_)
    else:
        _in_place.redispatch(keyset & _after_autograd, x, residual, weight, eps, offset)


def _count_in_place(
    keyset: Any, x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> None:
    _runtime.check_writes("add_rms_norm_", x=x, residual=residual)
    _in_place.redispatch(keyset & _after_in_place, x, residual, weight, eps, offset)
    _runtime.count_writes(x, residual)


torch.library.register_fake("my_ops::add_rms_norm_", _fake_in_place, lib=_kernels)
torch.library.register_fake("my_ops::_add_rms_norm__no_grad", _fake_in_place, lib=_kernels)
_kernels.impl("add_rms_norm_", _autograd_in_place, "Autograd", with_keyset=True)
_kernels.impl("_add_rms_norm__no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_add_rms_norm__no_grad", _in_place)
_kernels.impl("add_rms_norm_", _count_in_place, "ADInplaceOrView", with_keyset=True)
_runtime.refuse_views(_kernels, "add_rms_norm_", _in_place, torch.ops.my_ops._add_rms_norm__no_grad.default)


def add_rms_norm_(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    """add_rms_norm, writing y to x, residual_out to residual, in place."""
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(x, residual, weight, eps, offset)
    ):
        _in_place(x, residual, weight, eps, offset)
        return x, residual
    if _is_transformed():
        _runtime.check_in_place("add_rms_norm_", has_batch=True)
        _in_place(x, residual, weight, eps, offset)
        return x, residual
    try:
        recorded = _is_grad_enabled() and (
            x.requires_grad or residual.requires_grad or (weight is not None and weight.requires_grad)
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                _in_place(x, residual, weight, eps, offset)
                return x, residual
            y_, residual_out_ = _op(x, residual, weight, eps, offset)
            _check.output("x", x, y_)
            _check.output("residual", residual, residual_out_)
            _check.apart({"x": x, "residual": residual}, {"x": x, "residual": residual, "weight": weight})
            _runtime.check_copies("add_rms_norm_", (y_, residual_out_), x=x, residual=residual)
            x.copy_(y_)
            residual.copy_(residual_out_)
        else:
            _runtime.check_writes("add_rms_norm_", x=x, residual=residual)
            _call_in_place(x, residual, weight, eps, offset)
            _runtime.count_writes(x, residual)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _in_place, x, residual, weight, eps, offset)
        raise
    return x, residual


# ---------------------------------------------------------------- wrapper


def add_rms_norm(
    x: Tensor, residual: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0
) -> tuple[Tensor, Tensor]:
    """rms_norm of x + residual, and that sum itself, rounded to the dtype of x, which is what is normalised.

    Args:
        x: T[*rows, n]
        residual: T[*rows, n] grad(x)
        weight: T[n]? = None
        eps: float = 1e-06
        offset: float = 0.0

    Returns:
        y: T[*rows, n]
        residual_out: T[*rows, n]

    T is float64, float32, float16 or bfloat16.
    A call needs n > 0, eps >= 0.
    add_rms_norm_ writes y to x and residual_out to residual.
    Results along rows are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(x, residual, weight, eps, offset)
    ):
        return _op(x, residual, weight, eps, offset)
    try:
        recorded = _is_grad_enabled() and (
            x.requires_grad
            or residual.requires_grad
            or (weight is not None and weight.requires_grad)
            or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(x, residual, weight, eps, offset)
            if _is_transformed():
                return _AddRmsNorm.apply(x, residual, weight, eps, offset)[:2]
            return _apply(x, residual, weight, eps, offset)[:2]
        return _call_no_grad(x, residual, weight, eps, offset)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, residual, weight, eps, offset)
        raise
