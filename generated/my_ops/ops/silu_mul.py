"""my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor

silu(gate) * up, the gated activation of SwiGLU.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import torch
from torch import Tensor

from .. import _rules, _runtime
from .._runtime import compiler as _compiler
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling

_op = torch.ops.my_ops.silu_mul.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._silu_mul_no_grad.default._op

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


# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("silu_mul")
torch.library.register_fake("my_ops::silu_mul", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_silu_mul_no_grad", _fake, lib=_kernels)
_kernels.impl("silu_mul", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_silu_mul_no_grad", torch.library.fallthrough_kernel, "Autograd")

# ---------------------------------------------------------------- wrapper


def silu_mul(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) * up, the gated activation of SwiGLU.

    Args:
        gate: T[*shape]
        up: T[*shape]

    Returns:
        y: T[*shape]

    T is float64, float32, float16 or bfloat16.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag:
        return _op(gate, up)
    return _call_no_grad(gate, up)
