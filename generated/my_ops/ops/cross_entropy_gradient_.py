"""my_ops::cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor? grad_loss=None, int
ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor

The loss of cross_entropy, and its gradient in place of the logits, times grad_loss, which is 1 when it is left out: one read and one write for both.
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
from .._runtime import is_transformed as _is_transformed

_op = torch.ops.my_ops.cross_entropy_gradient_.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._cross_entropy_gradient__no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::cross_entropy_gradient_")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    logits: Tensor,
    target: Tensor,
    grad_loss: Any = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Tensor:
    _check.dims(logits=logits, target=target, grad_loss=grad_loss)
    _check(
        logits.dtype in _T,
        lambda: f"logits: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(logits.dtype)}",
    )
    _check(target.dtype == torch.int64, lambda: f"target: expected dtype int64, got {_rules.dtype_text(target.dtype)}")
    if grad_loss is not None:
        _check(
            grad_loss.dtype == _rules.acc(logits.dtype),
            lambda: (
                f"grad_loss: expected dtype {_rules.dtype_text(_rules.acc(logits.dtype))} (accumulation dtype of logits), "
                f"got {_rules.dtype_text(grad_loss.dtype)}"
            ),
        )
    _check(
        target.device == logits.device,
        lambda: f"target: expected device {logits.device} (as logits), got {target.device}",
    )
    if grad_loss is not None:
        _check(
            grad_loss.device == logits.device,
            lambda: f"grad_loss: expected device {logits.device} (as logits), got {grad_loss.device}",
        )
    _check(logits.dim() >= 1, lambda: f"logits: expected at least 1 dimension, got {logits.dim()}")
    rows = _check.star(logits.shape[:-1], lambda: "logits: the product of rows does not fit 64-bit integers")
    _check.sizes(
        target.shape,
        rows,
        lambda: (
            f"target: expected shape [*rows] with rows = {_rules.sizes_text(rows)} (from logits), got "
            f"{_rules.sizes_text(target.shape)}"
        ),
    )
    if grad_loss is not None:
        grad_loss = _check.expand(
            grad_loss,
            rows,
            lambda: (
                f"grad_loss: expected shape [*rows] with rows = {_rules.sizes_text(rows)} (from logits), got "
                f"{_rules.sizes_text(grad_loss.shape)}, which does not broadcast to it"
            ),
        )
    _check(
        0 <= label_smoothing <= 1,
        lambda: f"expected 0 <= label_smoothing <= 1, got label_smoothing = {_rules.float_text(label_smoothing)}",
    )
    loss = logits.new_empty(rows, dtype=_rules.acc(logits.dtype))
    return loss


# ---------------------------------------------------------------- autograd


def _autograd(
    keyset: Any,
    logits: Tensor,
    target: Tensor,
    grad_loss: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Any:
    if _is_transformed():
        _runtime.check_in_place("cross_entropy_gradient_", has_batch=True)
    if (_is_grad_enabled() and _any_requires_grad(logits)) or _forward_ad._current_level >= 0:
        _runtime.refuse_recording("cross_entropy_gradient_", logits=logits)
    return _op.redispatch(keyset & _after_autograd, logits, target, grad_loss, ignore_index, label_smoothing, z_loss)


def _count_writes(
    keyset: Any,
    logits: Tensor,
    target: Tensor,
    grad_loss: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Any:
    _runtime.check_writes("cross_entropy_gradient_", logits=logits)
    loss = _op.redispatch(keyset & _after_in_place, logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
    _runtime.count_writes(logits)
    return loss


# ---------------------------------------------------------------- operations of a call


def _flops(
    logits: Tensor,
    target: Tensor,
    grad_loss: Any = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    **_: Any,
) -> Any:
    rows = _check.star(logits.shape[:-1], lambda: "logits: the product of rows does not fit 64-bit integers")
    n = logits.shape[-1]
    return 8 * _rules.product(rows) * n


_runtime.count_flops(_flops, "cross_entropy_gradient_", "_cross_entropy_gradient__no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("cross_entropy_gradient_")
torch.library.register_fake("my_ops::cross_entropy_gradient_", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_cross_entropy_gradient__no_grad", _fake, lib=_kernels)
_kernels.impl("cross_entropy_gradient_", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_cross_entropy_gradient__no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_cross_entropy_gradient__no_grad", _op)
_kernels.impl("cross_entropy_gradient_", _count_writes, "ADInplaceOrView", with_keyset=True)
_runtime.refuse_views(
    _kernels,
    "cross_entropy_gradient_",
    torch.ops.my_ops.cross_entropy_gradient_.default,
    torch.ops.my_ops._cross_entropy_gradient__no_grad.default,
)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"logits": _batch.Place(0, 1), "target": _batch.Place(0, 0), "grad_loss": _batch.Place(0, 0)},
        broadcast=("grad_loss",),
        results=(_batch.Place(0, 0),),
        written=("logits",),
    ),
    torch.ops.my_ops.cross_entropy_gradient_.default,
    torch.ops.my_ops._cross_entropy_gradient__no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def cross_entropy_gradient_(
    logits: Tensor,
    target: Tensor,
    grad_loss: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Tensor:
    """The loss of cross_entropy, and its gradient in place of the logits, times grad_loss, which is 1 when it is left out: one read and one write for both.

    Args:
        logits: T[*rows, n]!
        target: int64[*rows]
        grad_loss: acc(T)[*rows]? expand = None
        ignore_index: int = -100
        label_smoothing: float = 0.0
        z_loss: float = 0.0

    Returns:
        loss: acc(T)[*rows]

    T is float64, float32, float16 or bfloat16.
    A call needs 0 <= label_smoothing <= 1, 0 <= target < n or target == ignore_index.
    Results along rows are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
    ):
        loss = _op(logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
        return loss
    try:
        if _is_transformed():
            _runtime.check_in_place("cross_entropy_gradient_", has_batch=True)
            loss = _op(logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
            return loss
        if (_is_grad_enabled() and logits.requires_grad) or _forward_ad._current_level >= 0:
            _runtime.refuse_recording("cross_entropy_gradient_", logits=logits)
        _runtime.check_writes("cross_entropy_gradient_", logits=logits)
        loss = _call_no_grad(logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
        _runtime.count_writes(logits)
        return loss
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, logits, target, grad_loss, ignore_index, label_smoothing, z_loss)
        raise
