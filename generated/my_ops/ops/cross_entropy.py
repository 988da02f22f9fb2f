"""my_ops::cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float
z_loss=0.0) -> Tensor

Cross entropy of the softmax of each row of logits against its target, one loss for each row, plus z_loss times the square of the row's log-sum-exp. Rows whose target is ignore_index have loss and gradient 0. On a GPU a target that is out of range makes both of its row NaN.
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
from . import cross_entropy_backward as _backward

_op = torch.ops.my_ops.cross_entropy.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._cross_entropy_no_grad.default._op
_call_saved = torch.ops.my_ops._cross_entropy_saved.default._op
_backward_no_grad = torch.ops.my_ops._cross_entropy_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::cross_entropy")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake_saved(
    logits: Tensor, target: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0
) -> tuple[Tensor, Tensor]:
    _check.dims(logits=logits, target=target)
    _check(
        logits.dtype in _T,
        lambda: f"logits: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(logits.dtype)}",
    )
    _check(target.dtype == torch.int64, lambda: f"target: expected dtype int64, got {_rules.dtype_text(target.dtype)}")
    _check(
        target.device == logits.device,
        lambda: f"target: expected device {logits.device} (as logits), got {target.device}",
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
    _check(
        0 <= label_smoothing <= 1,
        lambda: f"expected 0 <= label_smoothing <= 1, got label_smoothing = {_rules.float_text(label_smoothing)}",
    )
    loss = logits.new_empty(rows, dtype=_rules.acc(logits.dtype))
    lse = logits.new_empty(rows, dtype=_rules.acc(logits.dtype))
    return loss, lse


def _fake(
    logits: Tensor, target: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0
) -> Tensor:
    return _fake_saved(logits, target, ignore_index, label_smoothing, z_loss)[0]


# ---------------------------------------------------------------- autograd


class _CrossEntropy(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(logits: Tensor, target: Tensor, ignore_index: int, label_smoothing: float, z_loss: float) -> Any:
        return _call_saved(logits, target, ignore_index, label_smoothing, z_loss)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        logits, target, ignore_index, label_smoothing, z_loss = inputs
        _, lse = output
        ctx.set_materialize_grads(False)
        ctx.value_of_ignore_index = ignore_index
        ctx.value_of_label_smoothing = label_smoothing
        ctx.value_of_z_loss = z_loss
        ctx.save_for_backward(logits, target, lse)

    @staticmethod
    def backward(ctx: Any, grad_loss: Tensor | None, grad_lse: Tensor | None) -> Any:
        if grad_lse is not None:
            _runtime.refuse_saved("cross_entropy", "lse")
        if grad_loss is None:
            return None, None, None, None, None
        logits, target, lse = ctx.saved_tensors
        run = _backward.cross_entropy_backward if _is_grad_enabled() else _backward_no_grad
        grad_logits = run(
            grad_loss, logits, target, lse, ctx.value_of_ignore_index, ctx.value_of_label_smoothing, ctx.value_of_z_loss
        )
        return grad_logits, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("cross_entropy"))


_apply = _runtime.direct_apply(_CrossEntropy)


def _autograd(
    keyset: Any,
    logits: Tensor,
    target: Tensor,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(logits)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("cross_entropy")
        return _apply(logits, target, ignore_index, label_smoothing, z_loss)[0]
    return _op.redispatch(keyset & _after_autograd, logits, target, ignore_index, label_smoothing, z_loss)


# ---------------------------------------------------------------- operations of a call


def _flops(
    logits: Tensor,
    target: Tensor,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    z_loss: float = 0.0,
    **_: Any,
) -> Any:
    rows = _check.star(logits.shape[:-1], lambda: "logits: the product of rows does not fit 64-bit integers")
    n = logits.shape[-1]
    return 4 * _rules.product(rows) * n


_runtime.count_flops(_flops, "cross_entropy", "_cross_entropy_no_grad", "_cross_entropy_saved")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("cross_entropy")
torch.library.register_fake("my_ops::cross_entropy", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_cross_entropy_no_grad", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_cross_entropy_saved", _fake_saved, lib=_kernels)
_kernels.impl("cross_entropy", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_cross_entropy_no_grad", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_cross_entropy_saved", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_cross_entropy_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"logits": _batch.Place(0, 1), "target": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 0), _batch.Place(0, 0)),
    ),
    torch.ops.my_ops.cross_entropy.default,
    torch.ops.my_ops._cross_entropy_no_grad.default,
    torch.ops.my_ops._cross_entropy_saved.default,
)

# ---------------------------------------------------------------- wrapper


def cross_entropy(
    logits: Tensor, target: Tensor, ignore_index: int = -100, label_smoothing: float = 0.0, z_loss: float = 0.0
) -> Tensor:
    """Cross entropy of the softmax of each row of logits against its target, one loss for each row, plus z_loss times the square of the row's log-sum-exp. Rows whose target is ignore_index have loss and gradient 0. On a GPU a target that is out of range makes both of its row NaN.

    Args:
        logits: T[*rows, n]
        target: int64[*rows]
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
        or _has_torch_function(logits, target, ignore_index, label_smoothing, z_loss)
    ):
        return _op(logits, target, ignore_index, label_smoothing, z_loss)
    try:
        if (_is_grad_enabled() and (logits.requires_grad or _is_transformed())) or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(logits, target, ignore_index, label_smoothing, z_loss)
            if _is_transformed():
                return _CrossEntropy.apply(logits, target, ignore_index, label_smoothing, z_loss)[0]
            return _apply(logits, target, ignore_index, label_smoothing, z_loss)[0]
        return _call_no_grad(logits, target, ignore_index, label_smoothing, z_loss)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, logits, target, ignore_index, label_smoothing, z_loss)
        raise
