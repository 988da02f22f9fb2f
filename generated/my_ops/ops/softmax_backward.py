"""my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True])
-> (Tensor, Tensor)

Gradients of softmax, out of its result. Columns that `causal` leaves out get zeros.
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

_op = torch.ops.my_ops.softmax_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._softmax_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::softmax_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_y: Tensor, y: Tensor, scale: float, causal: bool, *, grad_mask: Sequence[bool] = (True, True)
) -> tuple[Tensor | None, Tensor | None]:
    _check(_rules.count(grad_mask) == 2, lambda: f"grad_mask: expected 2 bools, got {_rules.count(grad_mask)}")
    _check.dims(grad_y=grad_y, y=y)
    _check(
        grad_y.dtype in _T,
        lambda: f"grad_y: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(grad_y.dtype)}",
    )
    _check(
        y.dtype == grad_y.dtype,
        lambda: f"y: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(y.dtype)}",
    )
    _check(y.device == grad_y.device, lambda: f"y: expected device {grad_y.device} (as grad_y), got {y.device}")
    _check(grad_y.dim() >= 2, lambda: f"grad_y: expected at least 2 dimensions, got {grad_y.dim()}")
    batch = _check.star(grad_y.shape[:-2], lambda: "grad_y: the product of batch does not fit 64-bit integers")
    m = grad_y.shape[-2]
    n = grad_y.shape[-1]
    _check(y.dim() >= 2, lambda: f"y: expected at least 2 dimensions, got {y.dim()}")
    _check.sizes(
        y.shape[:-2],
        batch,
        lambda: (
            f"y: expected shape [*batch, m, n] with batch = {_rules.sizes_text(batch)} (from grad_y), m = {m} (from "
            f"grad_y), n = {n} (from grad_y), got {_rules.sizes_text(y.shape)}"
        ),
    )
    _check(
        y.shape[-2] == m,
        lambda: (
            f"y: expected shape [*batch, m, n] with batch = {_rules.sizes_text(batch)} (from grad_y), m = {m} (from "
            f"grad_y), n = {n} (from grad_y), got {_rules.sizes_text(y.shape)}"
        ),
    )
    _check(
        y.shape[-1] == n,
        lambda: (
            f"y: expected shape [*batch, m, n] with batch = {_rules.sizes_text(batch)} (from grad_y), m = {m} (from "
            f"grad_y), n = {n} (from grad_y), got {_rules.sizes_text(y.shape)}"
        ),
    )
    grad_x = grad_y.new_empty((*batch, m, n)) if grad_mask[0] else None
    grad_bias = grad_y.new_empty((*batch, m, n), dtype=_rules.acc(grad_y.dtype)) if grad_mask[1] else None
    return grad_x, grad_bias


# ---------------------------------------------------------------- autograd


class _SoftmaxBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(grad_y: Tensor, y: Tensor, scale: float, causal: bool, grad_mask: Sequence[bool]) -> Any:
        return _call_no_grad(grad_y, y, scale, causal, grad_mask=grad_mask)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("softmax_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("softmax_backward"))


_apply = _runtime.direct_apply(_SoftmaxBackward)


def _autograd(
    keyset: Any, grad_y: Tensor, y: Tensor, scale: float, causal: bool, *, grad_mask: Sequence[bool] = (True, True)
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_y, y)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("softmax_backward")
        return _apply(grad_y, y, scale, causal, grad_mask)
    return _op.redispatch(keyset & _after_autograd, grad_y, y, scale, causal, grad_mask=grad_mask)


# ---------------------------------------------------------------- operations of a call


def _flops(
    grad_y: Tensor, y: Tensor, scale: float, causal: bool, *, grad_mask: Sequence[bool] = (True, True), **_: Any
) -> Any:
    return 4 * y.numel()


_runtime.count_flops(_flops, "softmax_backward", "_softmax_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("softmax_backward")
torch.library.register_fake("my_ops::softmax_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_softmax_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("softmax_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_softmax_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_softmax_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"grad_y": _batch.Place(0, 2), "y": _batch.Place(0, 2)},
        broadcast=(),
        results=(_batch.Place(0, 2), _batch.Place(0, 2)),
    ),
    torch.ops.my_ops.softmax_backward.default,
    torch.ops.my_ops._softmax_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def softmax_backward(
    grad_y: Tensor, y: Tensor, scale: float, causal: bool, *, grad_mask: Sequence[bool] = (True, True)
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of softmax, out of its result. Columns that `causal` leaves out get zeros.

    Args:
        grad_y: T[*batch, m, n]
        y: T[*batch, m, n]
        scale: float
        causal: bool
        grad_mask: which of the gradients are wanted; the others are None

    Returns:
        grad_x: T[*batch, m, n]
        grad_bias: acc(T)[*batch, m, n]

    T is float64, float32, float16 or bfloat16.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_y, y, scale, causal, grad_mask)
    ):
        return _op(grad_y, y, scale, causal, grad_mask=grad_mask)
    try:
        recorded = _is_grad_enabled() and (grad_y.requires_grad or y.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_y, y, scale, causal, grad_mask=grad_mask)
            if _is_transformed():
                return _SoftmaxBackward.apply(grad_y, y, scale, causal, grad_mask)
            return _apply(grad_y, y, scale, causal, grad_mask)
        return _call_no_grad(grad_y, y, scale, causal, grad_mask=grad_mask)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_y, y, scale, causal, grad_mask)
        raise
