"""my_ops::gelu_mul(Tensor gate, Tensor up, str approximate="none") -> Tensor

gelu(gate) * up, the gated activation of GEGLU, with the error function or its approximation by tanh.
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
from . import gelu_mul_backward as _backward

_op = torch.ops.my_ops.gelu_mul.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._gelu_mul_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._gelu_mul_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::gelu_mul")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(gate: Tensor, up: Tensor, approximate: str = "none") -> Tensor:
    _check.dims(gate=gate, up=up)
    _check(
        gate.dtype in _T,
        lambda: f"gate: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(gate.dtype)}",
    )
    _check(
        up.dtype == gate.dtype,
        lambda: f"up: expected dtype {_rules.dtype_text(gate.dtype)} (as gate), got {_rules.dtype_text(up.dtype)}",
    )
    _check(up.device == gate.device, lambda: f"up: expected device {gate.device} (as gate), got {up.device}")
    _check(
        approximate in ("none", "tanh"), lambda: f"approximate: expected none or tanh, got {_rules.quoted(approximate)}"
    )
    shape = _check.star(gate.shape, lambda: "gate: the product of shape does not fit 64-bit integers")
    _check.sizes(
        up.shape,
        shape,
        lambda: (
            f"up: expected shape [*shape] with shape = {_rules.sizes_text(shape)} (from gate), got "
            f"{_rules.sizes_text(up.shape)}"
        ),
    )
    y = gate.new_empty_strided(shape, _rules.like_strides(gate))
    return y


# ---------------------------------------------------------------- autograd


class _GeluMul(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(gate: Tensor, up: Tensor, approximate: str) -> Any:
        return _call_no_grad(gate, up, approximate)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        gate, up, approximate = inputs
        ctx.set_materialize_grads(False)
        ctx.value_of_approximate = approximate
        ctx.save_for_backward(gate, up)
        if _forward_ad._current_level >= 0:
            ctx.forms_of_results = _runtime.forms_of_results(output)
            ctx.save_for_forward(gate, up)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None) -> Any:
        if grad_y is None:
            return None, None, None
        gate, up = ctx.saved_tensors
        run = _backward.gelu_mul_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_gate, grad_up = run(grad_y, gate, up, ctx.value_of_approximate, grad_mask=[wanted[0], wanted[1]])
        return grad_gate, grad_up, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _runtime.forward_derivative("gelu_mul", _GeluMul.backward, ctx, tangents)


_apply = _runtime.direct_apply(_GeluMul)


def _autograd(keyset: Any, gate: Tensor, up: Tensor, approximate: str = "none") -> Any:
    if (_is_grad_enabled() and _any_requires_grad(gate, up)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("gelu_mul")
        return _apply(gate, up, approximate)
    return _op.redispatch(keyset & _after_autograd, gate, up, approximate)


# ---------------------------------------------------------------- operations of a call


def _flops(*given: Any, out_val: Any = None, **named: Any) -> Any:
    return 9 * _runtime.elements([*given, *named.values()])


_runtime.count_flops(_flops, "gelu_mul", "_gelu_mul_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("gelu_mul")
torch.library.register_fake("my_ops::gelu_mul", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_gelu_mul_no_grad", _fake, lib=_kernels)
_kernels.impl("gelu_mul", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_gelu_mul_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_gelu_mul_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"gate": _batch.Place(0, 0), "up": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 0),),
    ),
    torch.ops.my_ops.gelu_mul.default,
    torch.ops.my_ops._gelu_mul_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def gelu_mul(gate: Tensor, up: Tensor, approximate: str = "none") -> Tensor:
    """gelu(gate) * up, the gated activation of GEGLU, with the error function or its approximation by tanh.

    Args:
        gate: T[*shape]
        up: T[*shape]
        approximate: choice(none, tanh) = none

    Returns:
        y: T[*shape]

    T is float64, float32, float16 or bfloat16.
    Results along shape are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(gate, up, approximate)
    ):
        return _op(gate, up, approximate)
    try:
        recorded = _is_grad_enabled() and (gate.requires_grad or up.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(gate, up, approximate)
            if _is_transformed():
                return _GeluMul.apply(gate, up, approximate)
            return _apply(gate, up, approximate)
        return _call_no_grad(gate, up, approximate)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, gate, up, approximate)
        raise
