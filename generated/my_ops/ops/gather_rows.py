"""my_ops::gather_rows(Tensor table, Tensor index) -> Tensor

Rows of table picked by index.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling

_op = torch.ops.my_ops.gather_rows.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._gather_rows_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::gather_rows")
_T = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.complex64,
    torch.complex128,
)
_I = (torch.int32, torch.int64)


def _fake(table: Tensor, index: Tensor) -> Tensor:
    _check.dims(table=table, index=index)
    _check(
        table.dtype in _T,
        lambda: (
            "table: expected dtype float64, float32, float16, bfloat16, uint8, int8, int16, int32, int64, bool, "
            f"complex64 or complex128, got {_rules.dtype_text(table.dtype)}"
        ),
    )
    _check(index.dtype in _I, lambda: f"index: expected dtype int32 or int64, got {_rules.dtype_text(index.dtype)}")
    _check(
        index.device == table.device, lambda: f"index: expected device {table.device} (as table), got {index.device}"
    )
    _check(table.dim() == 2, lambda: f"table: expected 2 dimensions, got {table.dim()}")
    n = table.shape[1]
    _check(index.dim() == 1, lambda: f"index: expected 1 dimension, got {index.dim()}")
    k = index.shape[0]
    y = table.new_empty((k, n))
    return y


# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("gather_rows")
torch.library.register_fake("my_ops::gather_rows", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_gather_rows_no_grad", _fake, lib=_kernels)
_kernels.impl("gather_rows", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_gather_rows_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_gather_rows_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(star=False, arguments={"index": _batch.Place(0, 1)}, broadcast=(), results=(_batch.Place(0, 2),)),
    torch.ops.my_ops.gather_rows.default,
    torch.ops.my_ops._gather_rows_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def gather_rows(table: Tensor, index: Tensor) -> Tensor:
    """Rows of table picked by index.

    Args:
        table: T[m, n]
        index: I[k]

    Returns:
        y: T[k, n]

    T is float64, float32, float16, bfloat16, uint8, int8, int16, int32, int64, bool, complex64 or complex128.
    I is int32 or int64.
    A call needs 0 <= index < m.
    Results along k are independent.
    """
    if _is_dynamo_compiling() or _compiler._is_compiling_flag or _count_modes() or _has_torch_function(table, index):
        return _op(table, index)
    try:
        return _call_no_grad(table, index)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, table, index)
        raise
