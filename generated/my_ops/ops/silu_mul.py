"""my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor

silu(gate) * up, the gated activation of SwiGLU.
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
from . import silu_mul_backward as _backward

_op = torch.ops.my_ops.silu_mul.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._silu_mul_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._silu_mul_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::silu_mul")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(gate: Tensor, up: Tensor) -> Tensor:
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


class _SiluMul(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(gate: Tensor, up: Tensor) -> Any:
        return _call_no_grad(gate, up)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        gate, up = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(gate, up)
        if _forward_ad._current_level >= 0:
            ctx.forms_of_results = _runtime.forms_of_results(output)
            ctx.save_for_forward(gate, up)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None) -> Any:
        if grad_y is None:
            return None, None
        gate, up = ctx.saved_tensors
        run = _backward.silu_mul_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_gate, grad_up = run(grad_y, gate, up, grad_mask=[wanted[0], wanted[1]])
        return grad_gate, grad_up

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _runtime.forward_derivative("silu_mul", _SiluMul.backward, ctx, tangents)


_apply = _runtime.direct_apply(_SiluMul)


def _autograd(keyset: Any, gate: Tensor, up: Tensor) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(gate, up)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("silu_mul")
        return _apply(gate, up)
    return _op.redispatch(keyset & _after_autograd, gate, up)


# ---------------------------------------------------------------- operations of a call


def _flops(*given: Any, out_val: Any = None, **named: Any) -> Any:
    return 3 * _runtime.elements([*given, *named.values()])


_runtime.count_flops(_flops, "silu_mul", "_silu_mul_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("silu_mul")
torch.library.register_fake("my_ops::silu_mul", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_silu_mul_no_grad", _fake, lib=_kernels)
_kernels.impl("silu_mul", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_silu_mul_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_silu_mul_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"gate": _batch.Place(0, 0), "up": _batch.Place(0, 0)},
        broadcast=(),
        results=(_batch.Place(0, 0),),
    ),
    torch.ops.my_ops.silu_mul.default,
    torch.ops.my_ops._silu_mul_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def silu_mul(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) * up, the gated activation of SwiGLU.

    Args:
        gate: T[*shape]
        up: T[*shape]

    Returns:
        y: T[*shape]

    T is float64, float32, float16 or bfloat16.
    Results along shape are independent.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(gate, up):
        return _op(gate, up)
    try:
        recorded = _is_grad_enabled() and (gate.requires_grad or up.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(gate, up)
            if _is_transformed():
                return _SiluMul.apply(gate, up)
            return _apply(gate, up)
        return _call_no_grad(gate, up)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, gate, up)
        raise
