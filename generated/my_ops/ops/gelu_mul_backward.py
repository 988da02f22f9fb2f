"""my_ops::gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2]
grad_mask=[True, True]) -> (Tensor, Tensor)

Gradient of gelu_mul, derived from its lines.
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
from . import gelu_mul_backward_backward as _backward

_op = torch.ops.my_ops.gelu_mul_backward.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._gelu_mul_backward_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._gelu_mul_backward_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::gelu_mul_backward")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    grad_y: Tensor, gate: Tensor, up: Tensor, approximate: str, *, grad_mask: Sequence[bool] = (True, True)
) -> tuple[Tensor | None, Tensor | None]:
    _check(_rules.count(grad_mask) == 2, lambda: f"grad_mask: expected 2 bools, got {_rules.count(grad_mask)}")
    _check.dims(grad_y=grad_y, gate=gate, up=up)
    _check(
        grad_y.dtype in _T,
        lambda: f"grad_y: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(grad_y.dtype)}",
    )
    _check(
        gate.dtype == grad_y.dtype,
        lambda: (
            f"gate: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(gate.dtype)}"
        ),
    )
    _check(
        up.dtype == grad_y.dtype,
        lambda: f"up: expected dtype {_rules.dtype_text(grad_y.dtype)} (as grad_y), got {_rules.dtype_text(up.dtype)}",
    )
    _check(
        gate.device == grad_y.device, lambda: f"gate: expected device {grad_y.device} (as grad_y), got {gate.device}"
    )
    _check(up.device == grad_y.device, lambda: f"up: expected device {grad_y.device} (as grad_y), got {up.device}")
    _check(
        approximate in ("none", "tanh"), lambda: f"approximate: expected none or tanh, got {_rules.quoted(approximate)}"
    )
    shape = _check.star(grad_y.shape, lambda: "grad_y: the product of shape does not fit 64-bit integers")
    _check.sizes(
        gate.shape,
        shape,
        lambda: (
            f"gate: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_y), got "
            f"{_rules.sizes_text(gate.shape)}"
        ),
    )
    _check.sizes(
        up.shape,
        shape,
        lambda: (
            f"up: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from grad_y), got "
            f"{_rules.sizes_text(up.shape)}"
        ),
    )
    grad_gate = grad_y.new_empty_strided(shape, _rules.like_strides(grad_y)) if grad_mask[0] else None
    grad_up = grad_y.new_empty_strided(shape, _rules.like_strides(grad_y)) if grad_mask[1] else None
    return grad_gate, grad_up


# ---------------------------------------------------------------- autograd


class _GeluMulBackward(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(grad_y: Tensor, gate: Tensor, up: Tensor, approximate: str, grad_mask: Sequence[bool]) -> Any:
        return _call_no_grad(grad_y, gate, up, approximate, grad_mask=grad_mask)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        grad_y, gate, up, approximate, _ = inputs
        ctx.set_materialize_grads(False)
        ctx.value_of_approximate = approximate
        ctx.like_grad_gate = grad_y.shape, grad_y.dtype, grad_y.device
        ctx.like_grad_up = grad_y.shape, grad_y.dtype, grad_y.device
        ctx.save_for_backward(grad_y, gate, up)
        if _forward_ad._current_level >= 0:
            ctx.forms_of_results = _runtime.forms_of_results(output)
            ctx.save_for_forward(grad_y, gate, up)

    @staticmethod
    def backward(ctx: Any, grad_grad_gate: Tensor | None, grad_grad_up: Tensor | None) -> Any:
        if grad_grad_gate is None and grad_grad_up is None:
            return None, None, None, None, None
        if grad_grad_gate is None:
            grad_grad_gate = _runtime.zeros(*ctx.like_grad_gate)
        if grad_grad_up is None:
            grad_grad_up = _runtime.zeros(*ctx.like_grad_up)
        grad_y, gate, up = ctx.saved_tensors
        run = _backward.gelu_mul_backward_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_grad_y, grad_gate, grad_up = run(
            grad_grad_gate,
            grad_grad_up,
            grad_y,
            gate,
            up,
            ctx.value_of_approximate,
            grad_mask=[wanted[0], wanted[1], wanted[2]],
        )
        return grad_grad_y, grad_gate, grad_up, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _runtime.forward_derivative("gelu_mul_backward", _GeluMulBackward.backward, ctx, tangents)


_apply = _runtime.direct_apply(_GeluMulBackward)


def _autograd(
    keyset: Any, grad_y: Tensor, gate: Tensor, up: Tensor, approximate: str, *, grad_mask: Sequence[bool] = (True, True)
) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(grad_y, gate, up)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("gelu_mul_backward")
        return _apply(grad_y, gate, up, approximate, grad_mask)
    return _op.redispatch(keyset & _after_autograd, grad_y, gate, up, approximate, grad_mask=grad_mask)


# ---------------------------------------------------------------- operations of a call


def _flops(*given: Any, out_val: Any = None, **named: Any) -> Any:
    return 23 * _runtime.elements([*given, *named.values()])


_runtime.count_flops(_flops, "gelu_mul_backward", "_gelu_mul_backward_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("gelu_mul_backward")
torch.library.register_fake("my_ops::gelu_mul_backward", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_gelu_mul_backward_no_grad", _fake, lib=_kernels)
_kernels.impl("gelu_mul_backward", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_gelu_mul_backward_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_gelu_mul_backward_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"grad_y": _batch.Place(0, 0), "gate": _batch.Place(0, 0), "up": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 0), _batch.Place(0, 0)),
    ),
    torch.ops.my_ops.gelu_mul_backward.default,
    torch.ops.my_ops._gelu_mul_backward_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def gelu_mul_backward(
    grad_y: Tensor, gate: Tensor, up: Tensor, approximate: str, *, grad_mask: Sequence[bool] = (True, True)
) -> tuple[Tensor | None, Tensor | None]:
    """Gradient of gelu_mul, derived from its lines.

    Args:
        grad_y: T[*shape]
        gate: T[*shape]
        up: T[*shape]
        approximate: choice(none, tanh)
        grad_mask: which of the gradients are wanted; the others are None

    Returns:
        grad_gate: T[*shape]
        grad_up: T[*shape]

    T is float64, float32, float16 or bfloat16.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(grad_y, gate, up, approximate, grad_mask)
    ):
        return _op(grad_y, gate, up, approximate, grad_mask=grad_mask)
    try:
        recorded = _is_grad_enabled() and (
            grad_y.requires_grad or gate.requires_grad or up.requires_grad or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(grad_y, gate, up, approximate, grad_mask=grad_mask)
            if _is_transformed():
                return _GeluMulBackward.apply(grad_y, gate, up, approximate, _runtime.one(grad_mask))
            return _apply(grad_y, gate, up, approximate, grad_mask)
        return _call_no_grad(grad_y, gate, up, approximate, grad_mask=grad_mask)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, grad_y, gate, up, approximate, grad_mask)
        raise
