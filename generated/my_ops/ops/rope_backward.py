"""my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *,
bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)

Gradients of rope, which turns them back.
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

_op = torch.ops.my_ops.rope_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._rope_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::rope_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_q_out: Tensor,
    grad_k_out: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> tuple[Tensor | None, Tensor | None]:
    _check(_rules.count(grad_mask) == 2, lambda: f"grad_mask: expected 2 bools, got {_rules.count(grad_mask)}")
    _check.dims(grad_q_out=grad_q_out, grad_k_out=grad_k_out, cos=cos, sin=sin)
    _check(
        grad_q_out.dtype in _T,
        lambda: (
            "grad_q_out: expected dtype float64, float32, float16 or bfloat16, got "
            f"{_rules.dtype_text(grad_q_out.dtype)}"
        ),
    )
    _check(
        grad_k_out.dtype == grad_q_out.dtype,
        lambda: (
            f"grad_k_out: expected dtype {_rules.dtype_text(grad_q_out.dtype)} (as grad_q_out), got "
            f"{_rules.dtype_text(grad_k_out.dtype)}"
        ),
    )
    _check(
        cos.dtype in (grad_q_out.dtype, torch.float32),
        lambda: (
            f"cos: expected dtype {_rules.dtype_text(grad_q_out.dtype)} (T) or float32, got "
            f"{_rules.dtype_text(cos.dtype)}"
        ),
    )
    _check(
        sin.dtype == cos.dtype,
        lambda: f"sin: expected dtype {_rules.dtype_text(cos.dtype)} (as cos), got {_rules.dtype_text(sin.dtype)}",
    )
    _check(
        grad_k_out.device == grad_q_out.device,
        lambda: f"grad_k_out: expected device {grad_q_out.device} (as grad_q_out), got {grad_k_out.device}",
    )
    _check(
        cos.device == grad_q_out.device,
        lambda: f"cos: expected device {grad_q_out.device} (as grad_q_out), got {cos.device}",
    )
    _check(
        sin.device == grad_q_out.device,
        lambda: f"sin: expected device {grad_q_out.device} (as grad_q_out), got {sin.device}",
    )
    _check(grad_q_out.dim() == 4, lambda: f"grad_q_out: expected 4 dimensions, got {grad_q_out.dim()}")
    b = grad_q_out.shape[0]
    s = grad_q_out.shape[1]
    h = grad_q_out.shape[2]
    d = grad_q_out.shape[3]
    _check(grad_k_out.dim() == 4, lambda: f"grad_k_out: expected 4 dimensions, got {grad_k_out.dim()}")
    hk = grad_k_out.shape[2]
    _check(cos.dim() >= 2, lambda: f"cos: expected at least 2 dimensions, got {cos.dim()}")
    cb = _check.star(cos.shape[:-2], lambda: "cos: the product of cb does not fit 64-bit integers")
    r = cos.shape[-1]
    _check(sin.dim() >= 2, lambda: f"sin: expected at least 2 dimensions, got {sin.dim()}")
    _check(
        grad_k_out.shape[0] == b,
        lambda: (
            f"grad_k_out: expected shape [b, s, hk, d] with b = {b} (from grad_q_out), s = {s} (from grad_q_out), d = "
            f"{d} (from grad_q_out), got {_rules.sizes_text(grad_k_out.shape)}"
        ),
    )
    _check(
        grad_k_out.shape[1] == s,
        lambda: (
            f"grad_k_out: expected shape [b, s, hk, d] with b = {b} (from grad_q_out), s = {s} (from grad_q_out), d = "
            f"{d} (from grad_q_out), got {_rules.sizes_text(grad_k_out.shape)}"
        ),
    )
    _check(
        grad_k_out.shape[3] == d,
        lambda: (
            f"grad_k_out: expected shape [b, s, hk, d] with b = {b} (from grad_q_out), s = {s} (from grad_q_out), d = "
            f"{d} (from grad_q_out), got {_rules.sizes_text(grad_k_out.shape)}"
        ),
    )
    _check(
        cos.shape[-2] == s,
        lambda: f"cos: expected shape [*cb, s, r] with s = {s} (from grad_q_out), got {_rules.sizes_text(cos.shape)}",
    )
    _check.sizes(
        sin.shape[:-2],
        cb,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from grad_q_out), "
            f"r = {r} (from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        sin.shape[-2] == s,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from grad_q_out), "
            f"r = {r} (from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        sin.shape[-1] == r,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from grad_q_out), "
            f"r = {r} (from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        _rules.product(cb) == 1 or _rules.product(cb) == b,
        lambda: f"expected cb == 1 or cb == b, got cb = {_rules.product(cb)}, b = {b}",
    )
    value = _check.computed(lambda: _rules.fit(2 * r) <= d, lambda: "2 * r <= d does not fit 64-bit integers")
    _check(value, lambda: f"expected 2 * r <= d, got r = {r}, d = {d}")
    grad_q = grad_q_out.new_empty((b, s, h, d)) if grad_mask[0] else None
    grad_k = grad_q_out.new_empty((b, s, hk, d)) if grad_mask[1] else None
    return grad_q, grad_k


# ---------------------------------------------------------------- autograd


class _RopeBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        grad_q_out: Tensor, grad_k_out: Tensor, cos: Tensor, sin: Tensor, interleaved: bool, grad_mask: Sequence[bool]
    ) -> Any:
        return _call_no_grad(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask=grad_mask)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("rope_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("rope_backward"))


_apply = _runtime.direct_apply(_RopeBackward)


def _autograd(
    keyset: Any,
    grad_q_out: Tensor,
    grad_k_out: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_q_out, grad_k_out)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("rope_backward")
        return _apply(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask)
    return _op.redispatch(keyset & _after_autograd, grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask=grad_mask)


# ---------------------------------------------------------------- operations of a call


def _flops(
    grad_q_out: Tensor,
    grad_k_out: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool,
    *,
    grad_mask: Sequence[bool] = (True, True),
    **_: Any,
) -> Any:
    return 3 * (grad_q_out.numel() + grad_k_out.numel())


_runtime.count_flops(_flops, "rope_backward", "_rope_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("rope_backward")
torch.library.register_fake("my_ops::rope_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rope_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("rope_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_rope_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rope_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=False,
        arguments={
            "grad_q_out": _batch.Place(1, 4),
            "grad_k_out": _batch.Place(1, 4),
            "cos": _batch.Place(-2, 2),
            "sin": _batch.Place(-2, 2),
        },
        broadcast=(),
        results=(_batch.Place(1, 4), _batch.Place(1, 4)),
    ),
    torch.ops.my_ops.rope_backward.default,
    torch.ops.my_ops._rope_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def rope_backward(
    grad_q_out: Tensor,
    grad_k_out: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool,
    *,
    grad_mask: Sequence[bool] = (True, True),
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of rope, which turns them back.

    Args:
        grad_q_out: T[b, s, h, d] inner
        grad_k_out: T[b, s, hk, d] inner
        cos: C[*cb, s, r] rows no_grad
        sin: C[*cb, s, r] rows no_grad
        interleaved: bool
        grad_mask: which of the gradients are wanted; the others are None

    Returns:
        grad_q: T[b, s, h, d]
        grad_k: T[b, s, hk, d]

    T is float64, float32, float16 or bfloat16.
    C is T or float32.
    A call needs cb == 1 or cb == b, 2 * r <= d.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask)
    ):
        return _op(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask=grad_mask)
    try:
        recorded = _is_grad_enabled() and (grad_q_out.requires_grad or grad_k_out.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask=grad_mask)
            if _is_transformed():
                return _RopeBackward.apply(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask)
            return _apply(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask)
        return _call_no_grad(grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask=grad_mask)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_q_out, grad_k_out, cos, sin, interleaved, grad_mask)
        raise
