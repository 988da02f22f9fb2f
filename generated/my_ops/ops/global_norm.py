"""my_ops::global_norm(Tensor[] xs) -> Tensor

The norm of all elements of a list of tensors together, the square root of the sum of their squares, as gradients are clipped by. Parts are summed and added in a fixed order.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling

_op = torch.ops.my_ops.global_norm.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._global_norm_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::global_norm")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(xs: Sequence[Tensor]) -> Tensor:
    _check.dims(xs=xs)
    s: dict[int, Any] = {}
    _check(_rules.count(xs) > 0, lambda: "xs: expected at least one tensor")
    _check(
        xs[0].dtype in _T,
        lambda: f"xs[0]: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(xs[0].dtype)}",
    )
    for _i in range(_rules.count(xs)):
        _check(
            xs[_i].dtype == xs[0].dtype,
            lambda: (
                f"xs[{_i}]: expected dtype {_rules.dtype_text(xs[0].dtype)} (as xs[0]), got "
                f"{_rules.dtype_text(xs[_i].dtype)}"
            ),
        )
    for _i in range(_rules.count(xs)):
        _check(
            xs[_i].device == xs[0].device,
            lambda: f"xs[{_i}]: expected device {xs[0].device} (as xs[0]), got {xs[_i].device}",
        )
        s[_i] = _check.star(xs[_i].shape, lambda: f"xs[{_i}]: the product of s does not fit 64-bit integers")
    norm = xs[0].new_empty((), dtype=_rules.acc(xs[0].dtype))
    return norm


# ---------------------------------------------------------------- operations of a call


def _flops(xs: Sequence[Tensor], **_: Any) -> Any:
    return 2 * _rules.numel(xs)


_runtime.count_flops(_flops, "global_norm", "_global_norm_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("global_norm")
torch.library.register_fake("my_ops::global_norm", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_global_norm_no_grad", _fake, lib=_kernels)
_kernels.impl("global_norm", torch.library.fallthrough_kernel, "Autograd")
_kernels.impl("_global_norm_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_global_norm_no_grad", _op)
_batch.register_parts(
    _kernels,
    torch.ops.my_ops.global_norm.default,
    torch.ops.my_ops._global_norm_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def global_norm(xs: Sequence[Tensor]) -> Tensor:
    """The norm of all elements of a list of tensors together, the square root of the sum of their squares, as gradients are clipped by. Parts are summed and added in a fixed order.

    Args:
        xs: T[*s][]

    Returns:
        norm: acc(T)[]

    T is float64, float32, float16 or bfloat16.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(*_runtime.several(xs))
    ):
        return _op(xs)
    try:
        return _call_no_grad(xs)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, xs)
        raise
