"""my_ops::rms_norm_quantize(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0, *, ScalarType
dtype=int8) -> (Tensor, Tensor)

rms_norm of x, each row in int8 or float8_e4m3fn by a scale of its own, as in quantize_per_token; what is normalised is not rounded in between.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling

_op = torch.ops.my_ops.rms_norm_quantize.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._rms_norm_quantize_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::rms_norm_quantize")
_T = (torch.float32, torch.float16, torch.bfloat16)
_Q = (torch.int8, torch.float8_e4m3fn)


def _fake(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0, *, dtype: torch.dtype = torch.int8
) -> tuple[Tensor, Tensor]:
    _check.dims(x=x, weight=weight)
    _check(x.dtype in _T, lambda: f"x: expected dtype float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}")
    _check(dtype in _Q, lambda: f"dtype: expected int8 or float8_e4m3fn, got {_rules.dtype_text(dtype)}")
    if weight is not None:
        _check(
            weight.dtype == x.dtype,
            lambda: (
                f"weight: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(weight.dtype)}"
            ),
        )
        _check(weight.device == x.device, lambda: f"weight: expected device {x.device} (as x), got {weight.device}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    if weight is not None:
        _check(weight.dim() == 1, lambda: f"weight: expected 1 dimension, got {weight.dim()}")
        _check(
            weight.shape[0] == n,
            lambda: f"weight: expected shape [n] with n = {n} (from x), got {_rules.sizes_text(weight.shape)}",
        )
    _check(n > 0, lambda: f"expected n > 0, got n = {n}")
    _check(eps >= 0, lambda: f"expected eps >= 0, got eps = {_rules.float_text(eps)}")
    q = x.new_empty((*rows, n), dtype=dtype)
    scale = x.new_empty(rows, dtype=torch.float32)
    return q, scale


# ---------------------------------------------------------------- operations of a call


def _flops(
    x: Tensor,
    weight: Tensor | None = None,
    eps: float = 1e-06,
    offset: float = 0.0,
    *,
    dtype: torch.dtype = torch.int8,
    **_: Any,
) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 8 * _rules.product(rows) * n


_runtime.count_flops(_flops, "rms_norm_quantize", "_rms_norm_quantize_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("rms_norm_quantize")
torch.library.register_fake("my_ops::rms_norm_quantize", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rms_norm_quantize_no_grad", _fake, lib=_kernels)
_kernels.impl("rms_norm_quantize", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_rms_norm_quantize_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rms_norm_quantize_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True, arguments={"x": _batch.Place(0, 1)}, broadcast=(), results=(_batch.Place(0, 1), _batch.Place(0, 0))
    ),
    torch.ops.my_ops.rms_norm_quantize.default,
    torch.ops.my_ops._rms_norm_quantize_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def rms_norm_quantize(
    x: Tensor, weight: Tensor | None = None, eps: float = 1e-06, offset: float = 0.0, *, dtype: torch.dtype = torch.int8
) -> tuple[Tensor, Tensor]:
    """rms_norm of x, each row in int8 or float8_e4m3fn by a scale of its own, as in quantize_per_token; what is normalised is not rounded in between.

    Args:
        x: T[*rows, n]
        weight: T[n]? = None
        eps: float = 1e-06
        offset: float = 0.0
        dtype: dtype(Q) = int8

    Returns:
        q: Q[*rows, n]
        scale: float32[*rows]

    T is float32, float16 or bfloat16.
    Q is int8 or float8_e4m3fn.
    A call needs n > 0, eps >= 0.
    Results along rows are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(x, weight, eps, offset, dtype)
    ):
        return _op(x, weight, eps, offset, dtype=dtype)
    try:
        return _call_no_grad(x, weight, eps, offset, dtype=dtype)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, weight, eps, offset, dtype)
        raise
