"""my_ops::quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)

Each row of x in int8 or float8_e4m3fn, by a scale of its own: scale is max(abs(x)) / L with L = 127 or 448, and q is x * (L / max(abs(x))), rounded, all in float32. q * scale is x again, nearly.
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

_op = torch.ops.my_ops.quantize_per_token.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._quantize_per_token_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::quantize_per_token")
_T = (torch.float32, torch.float16, torch.bfloat16)
_Q = (torch.int8, torch.float8_e4m3fn)


def _fake(x: Tensor, *, dtype: torch.dtype = torch.int8) -> tuple[Tensor, Tensor]:
    _check.dims(x=x)
    _check(x.dtype in _T, lambda: f"x: expected dtype float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}")
    _check(dtype in _Q, lambda: f"dtype: expected int8 or float8_e4m3fn, got {_rules.dtype_text(dtype)}")
    _check(x.dim() >= 1, lambda: f"x: expected at least 1 dimension, got {x.dim()}")
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    q = x.new_empty((*rows, n), dtype=dtype)
    scale = x.new_empty(rows, dtype=torch.float32)
    return q, scale


# ---------------------------------------------------------------- operations of a call


def _flops(x: Tensor, *, dtype: torch.dtype = torch.int8, **_: Any) -> Any:
    rows = _check.star(x.shape[:-1], lambda: "x: the product of rows does not fit 64-bit integers")
    n = x.shape[-1]
    return 4 * _rules.product(rows) * n


_runtime.count_flops(_flops, "quantize_per_token", "_quantize_per_token_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("quantize_per_token")
torch.library.register_fake("my_ops::quantize_per_token", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_quantize_per_token_no_grad", _fake, lib=_kernels)
_kernels.impl("quantize_per_token", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_quantize_per_token_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_quantize_per_token_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True, arguments={"x": _batch.Place(0, 1)}, broadcast=(), results=(_batch.Place(0, 1), _batch.Place(0, 0))
    ),
    torch.ops.my_ops.quantize_per_token.default,
    torch.ops.my_ops._quantize_per_token_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def quantize_per_token(x: Tensor, *, dtype: torch.dtype = torch.int8) -> tuple[Tensor, Tensor]:
    """Each row of x in int8 or float8_e4m3fn, by a scale of its own: scale is max(abs(x)) / L with L = 127 or 448, and q is x * (L / max(abs(x))), rounded, all in float32. q * scale is x again, nearly.

    Args:
        x: T[*rows, n]
        dtype: dtype(Q) = int8

    Returns:
        q: Q[*rows, n]
        scale: float32[*rows]

    T is float32, float16 or bfloat16.
    Q is int8 or float8_e4m3fn.
    Results along rows are independent.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(x, dtype):
        return _op(x, dtype=dtype)
    try:
        return _call_no_grad(x, dtype=dtype)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, dtype)
        raise
