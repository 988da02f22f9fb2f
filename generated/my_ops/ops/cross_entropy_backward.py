"""my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index,
float label_smoothing, float z_loss) -> Tensor

Gradient of cross_entropy, out of the logits and the log-sum-exp of each row.
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

_op = torch.ops.my_ops.cross_entropy_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._cross_entropy_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::cross_entropy_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_loss: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
) -> Tensor:
    _check.dims(grad_loss=grad_loss, logits=logits, target=target, lse=lse)
    _check(
        logits.dtype in _T,
        lambda: f"logits: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(logits.dtype)}",
    )
    _check(target.dtype == torch.int64, lambda: f"target: expected dtype int64, got {_rules.dtype_text(target.dtype)}")
    _check(
        lse.dtype == _rules.acc(logits.dtype),
        lambda: (
            f"lse: expected dtype {_rules.dtype_text(_rules.acc(logits.dtype))} (accumulation dtype of logits), got "
            f"{_rules.dtype_text(lse.dtype)}"
        ),
    )
    _check(
        grad_loss.dtype == _rules.acc(logits.dtype),
        lambda: (
            f"grad_loss: expected dtype {_rules.dtype_text(_rules.acc(logits.dtype))} (accumulation dtype of logits), "
            f"got {_rules.dtype_text(grad_loss.dtype)}"
        ),
    )
    _check(
        logits.device == grad_loss.device,
        lambda: f"logits: expected device {grad_loss.device} (as grad_loss), got {logits.device}",
    )
    _check(
        target.device == grad_loss.device,
        lambda: f"target: expected device {grad_loss.device} (as grad_loss), got {target.device}",
    )
    _check(
        lse.device == grad_loss.device,
        lambda: f"lse: expected device {grad_loss.device} (as grad_loss), got {lse.device}",
    )
    rows = _check.star(grad_loss.shape, lambda: "grad_loss: the product of rows does not fit 64-bit integers")
    _check(logits.dim() >= 1, lambda: f"logits: expected at least 1 dimension, got {logits.dim()}")
    n = logits.shape[-1]
    _check.sizes(
        logits.shape[:-1],
        rows,
        lambda: (
            f"logits: expected shape [*rows, n] with rows = {_rules.sizes_text(rows)} (from grad_loss), got "
            f"{_rules.sizes_text(logits.shape)}"
        ),
    )
    _check.sizes(
        target.shape,
        rows,
        lambda: (
            f"target: expected shape [*rows] with rows = {_rules.sizes_text(rows)} (from grad_loss), got "
            f"{_rules.sizes_text(target.shape)}"
        ),
    )
    _check.sizes(
        lse.shape,
        rows,
        lambda: (
            f"lse: expected shape [*rows] with rows = {_rules.sizes_text(rows)} (from grad_loss), got "
            f"{_rules.sizes_text(lse.shape)}"
        ),
    )
    _check(
        0 <= label_smoothing <= 1,
        lambda: f"expected 0 <= label_smoothing <= 1, got label_smoothing = {_rules.float_text(label_smoothing)}",
    )
    grad_logits = grad_loss.new_empty((*rows, n), dtype=logits.dtype)
    return grad_logits


# ---------------------------------------------------------------- autograd


class _CrossEntropyBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        grad_loss: Tensor,
        logits: Tensor,
        target: Tensor,
        lse: Tensor,
        ignore_index: int,
        label_smoothing: float,
        z_loss: float,
    ) -> Any:
        return _call_no_grad(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("cross_entropy_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("cross_entropy_backward"))


_apply = _runtime.direct_apply(_CrossEntropyBackward)


def _autograd(
    keyset: Any,
    grad_loss: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_loss, logits, lse)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("cross_entropy_backward")
        return _apply(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
    return _op.redispatch(
        keyset & _after_autograd, grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss
    )


# ---------------------------------------------------------------- operations of a call


def _flops(
    grad_loss: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
    **_: Any,
) -> Any:
    rows = _check.star(grad_loss.shape, lambda: "grad_loss: the product of rows does not fit 64-bit integers")
    n = logits.shape[-1]
    return 4 * _rules.product(rows) * n


_runtime.count_flops(_flops, "cross_entropy_backward", "_cross_entropy_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("cross_entropy_backward")
torch.library.register_fake("my_ops::cross_entropy_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_cross_entropy_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("cross_entropy_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_cross_entropy_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_cross_entropy_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={
            "grad_loss": _batch.Place(0, 0),
            "logits": _batch.Place(0, 1),
            "target": _batch.Place(0, 0),
            "lse": _batch.Place(0, 0),
        },
        broadcast=(),
        results=(_batch.Place(0, 1),),
    ),
    torch.ops.my_ops.cross_entropy_backward.default,
    torch.ops.my_ops._cross_entropy_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def cross_entropy_backward(
    grad_loss: Tensor,
    logits: Tensor,
    target: Tensor,
    lse: Tensor,
    ignore_index: int,
    label_smoothing: float,
    z_loss: float,
) -> Tensor:
    """Gradient of cross_entropy, out of the logits and the log-sum-exp of each row.

    Args:
        grad_loss: acc(T)[*rows] strided
        logits: T[*rows, n]
        target: int64[*rows]
        lse: acc(T)[*rows]
        ignore_index: int
        label_smoothing: float
        z_loss: float

    Returns:
        grad_logits: T[*rows, n]

    T is float64, float32, float16 or bfloat16.
    A call needs 0 <= label_smoothing <= 1, 0 <= target < n or target == ignore_index.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
    ):
        return _op(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
    try:
        recorded = _is_grad_enabled() and (
            grad_loss.requires_grad or logits.requires_grad or lse.requires_grad or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
            if _is_transformed():
                return _CrossEntropyBackward.apply(
                    grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss
                )
            return _apply(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
        return _call_no_grad(grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_loss, logits, target, lse, ignore_index, label_smoothing, z_loss)
        raise
