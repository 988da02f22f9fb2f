"""my_ops::silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate,
Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)

Gradient of silu_mul_backward, derived from its lines.
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

_op = torch.ops.my_ops.silu_mul_backward_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._silu_mul_backward_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::silu_mul_backward_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_grad_gate: Tensor,
    grad_grad_up: Tensor,
    grad_y: Tensor,
    gate: Tensor,
    up: Tensor,
    *,
    grad_mask: Sequence[bool] = (True, True, True),
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    _check(_rules.count(grad_mask) == 3, lambda: f"grad_mask: expected 3 bools, got {_rules.count(grad_mask)}")
    _check.dims(grad_grad_gate=grad_grad_gate, grad_grad_up=grad_grad_up, grad_y=grad_y, gate=gate, up=up)
    _check(
        grad_grad_gate.dtype in _T,
        lambda: (
            "grad_grad_gate: expected dtype float64, float32, float16 or bfloat16, got "
            f"{_rules.dtype_text(grad_grad_gate.dtype)}"
        ),
    )
    _check(
        grad_grad_up.dtype == grad_grad_gate.dtype,
        lambda: (
            f"grad_grad_up: expected dtype {_rules.dtype_text(grad_grad_gate.dtype)} (as grad_grad_gate), got "
            f"{_rules.dtype_text(grad_grad_up.dtype)}"
        ),
    )
    _check(
        grad_y.dtype == grad_grad_gate.dtype,
        lambda: (
            f"grad_y: expected dtype {_rules.dtype_text(grad_grad_gate.dtype)} (as grad_grad_gate), got "
            f"{_rules.dtype_text(grad_y.dtype)}"
        ),
    )
    _check(
        gate.dtype == grad_grad_gate.dtype,
        lambda: (
            f"gate: expected dtype {_rules.dtype_text(grad_grad_gate.dtype)} (as grad_grad_gate), got "
            f"{_rules.dtype_text(gate.dtype)}"
        ),
    )
    _check(
        up.dtype == grad_grad_gate.dtype,
        lambda: (
            f"up: expected dtype {_rules.dtype_text(grad_grad_gate.dtype)} (as grad_grad_gate), got "
            f"{_rules.dtype_text(up.dtype)}"
        ),
    )
    _check(
        grad_grad_up.device == grad_grad_gate.device,
        lambda: f"grad_grad_up: expected device {grad_grad_gate.device} (as grad_grad_gate), got {grad_grad_up.device}",
    )
    _check(
        grad_y.device == grad_grad_gate.device,
        lambda: f"grad_y: expected device {grad_grad_gate.device} (as grad_grad_gate), got {grad_y.device}",
    )
    _check(
        gate.device == grad_grad_gate.device,
        lambda: f"gate: expected device {grad_grad_gate.device} (as grad_grad_gate), got {gate.device}",
    )
    _check(
        up.device == grad_grad_gate.device,
        lambda: f"up: expected device {grad_grad_gate.device} (as grad_grad_gate), got {up.device}",
    )
    shape = _check.star(
        grad_grad_gate.shape, lambda: "grad_grad_gate: the product of shape does not fit 64-bit integers"
    )
    _check.sizes(
        grad_grad_up.shape,
        shape,
        lambda: (
            f"grad_grad_up: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_grad_gate), got "
            f"{_rules.sizes_text(grad_grad_up.shape)}"
        ),
    )
    _check.sizes(
        grad_y.shape,
        shape,
        lambda: (
            f"grad_y: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_grad_gate), got "
            f"{_rules.sizes_text(grad_y.shape)}"
        ),
    )
    _check.sizes(
        gate.shape,
        shape,
        lambda: (
            f"gate: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_grad_gate), got "
            f"{_rules.sizes_text(gate.shape)}"
        ),
    )
    _check.sizes(
        up.shape,
        shape,
        lambda: (
            f"up: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_grad_gate), got "
            f"{_rules.sizes_text(up.shape)}"
        ),
    )
    grad_grad_y = grad_grad_gate.new_empty_strided(shape, _rules.like_strides(grad_grad_gate)) if grad_mask[0] else None
    grad_gate = grad_grad_gate.new_empty_strided(shape, _rules.like_strides(grad_grad_gate)) if grad_mask[1] else None
    grad_up = grad_grad_gate.new_empty_strided(shape, _rules.like_strides(grad_grad_gate)) if grad_mask[2] else None
    return grad_grad_y, grad_gate, grad_up


# ---------------------------------------------------------------- autograd


class _SiluMulBackwardBackward(torch.autograd.Function):
    """Neither `backward:` nor `differentiable: false` is declared: an error, never a gradient that is silently zero."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        grad_grad_gate: Tensor,
        grad_grad_up: Tensor,
        grad_y: Tensor,
        gate: Tensor,
        up: Tensor,
        grad_mask: Sequence[bool],
    ) -> Any:
        return _call_no_grad(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask=grad_mask)

    @staticmethod
    def setup_context(ctx: Any, *_: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("silu_mul_backward_backward"))

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_gradient("silu_mul_backward_backward"))


_apply = _runtime.direct_apply(_SiluMulBackwardBackward)


def _autograd(
    keyset: Any,
    grad_grad_gate: Tensor,
    grad_grad_up: Tensor,
    grad_y: Tensor,
    gate: Tensor,
    up: Tensor,
    *,
    grad_mask: Sequence[bool] = (True, True, True),
) -> Any:
    recorded = _is_grad_enabled() and _any_requires_grad(grad_grad_gate, grad_grad_up, grad_y, gate, up)
    if recorded or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("silu_mul_backward_backward")
        return _apply(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask)
    return _op.redispatch(keyset & _after_autograd, grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask=grad_mask)


# ---------------------------------------------------------------- operations of a call


def _flops(*given: Any, out_val: Any = None, **named: Any) -> Any:
    return 28 * _runtime.elements([*given, *named.values()])


_runtime.count_flops(_flops, "silu_mul_backward_backward", "_silu_mul_backward_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("silu_mul_backward_backward")
torch.library.register_fake("my_ops::silu_mul_backward_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_silu_mul_backward_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("silu_mul_backward_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_silu_mul_backward_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_silu_mul_backward_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={
            "grad_grad_gate": _batch.Place(0, 0),
            "grad_grad_up": _batch.Place(0, 0),
            "grad_y": _batch.Place(0, 0),
            "gate": _batch.Place(0, 0),
            "up": _batch.Place(0, 0),
        },
        broadcast=(),
        results=(_batch.Place(0, 0), _batch.Place(0, 0), _batch.Place(0, 0)),
    ),
    torch.ops.my_ops.silu_mul_backward_backward.default,
    torch.ops.my_ops._silu_mul_backward_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def silu_mul_backward_backward(
    grad_grad_gate: Tensor,
    grad_grad_up: Tensor,
    grad_y: Tensor,
    gate: Tensor,
    up: Tensor,
    *,
    grad_mask: Sequence[bool] = (True, True, True),
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradient of silu_mul_backward, derived from its lines.

    Args:
        grad_grad_gate: T[*shape]
        grad_grad_up: T[*shape]
        grad_y: T[*shape]
        gate: T[*shape]
        up: T[*shape]
        grad_mask: which of the gradients are wanted; the others are None

    Returns:
        grad_grad_y: T[*shape]
        grad_gate: T[*shape]
        grad_up: T[*shape]

    T is float64, float32, float16 or bfloat16.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask)
    ):
        return _op(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask=grad_mask)
    try:
        recorded = _is_grad_enabled() and (
            grad_grad_gate.requires_grad
            or grad_grad_up.requires_grad
            or grad_y.requires_grad
            or gate.requires_grad
            or up.requires_grad
            or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask=grad_mask)
            if _is_transformed():
                return _SiluMulBackwardBackward.apply(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask)
            return _apply(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask)
        return _call_no_grad(grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask=grad_mask)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_grad_gate, grad_grad_up, grad_y, gate, up, grad_mask)
        raise
