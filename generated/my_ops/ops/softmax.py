"""my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor

Softmax of scale * x + bias over the last dimension. With `causal`, column j of row i of an m x n matrix is left out where j > i + n - m. Rows in which nothing is left, or everything is -infinity, are zeros.
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
from . import softmax_backward as _backward

_op = torch.ops.my_ops.softmax.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._softmax_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._softmax_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::softmax")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(x: Tensor, bias: Any = None, scale: float = 1.0, causal: bool = False) -> Tensor:
    _check.dims(x=x, bias=bias)
    _check(
        x.dtype in _T,
        lambda: f"x: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(x.dtype)}",
    )
    if bias is not None:
        _check(
            bias.dtype == x.dtype,
            lambda: f"bias: expected dtype {_rules.dtype_text(x.dtype)} (as x), got {_rules.dtype_text(bias.dtype)}",
        )
        _check(bias.device == x.device, lambda: f"bias: expected device {x.device} (as x), got {bias.device}")
    _check(x.dim() >= 2, lambda: f"x: expected at least 2 dimensions, got {x.dim()}")
    batch = _check.star(x.shape[:-2], lambda: "x: the product of batch does not fit 64-bit integers")
    m = x.shape[-2]
    n = x.shape[-1]
    if bias is not None:
        bias = _check.expand(
            bias,
            (*batch, m, n),
            lambda: (
                f"bias: expected shape [*batch, m, n] with batch = {_rules.sizes_text(batch)} (from x), m = {m} (from x), "
                f"n = {n} (from x), got {_rules.sizes_text(bias.shape)}, which does not broadcast to it"
            ),
        )
    y = x.new_empty((*batch, m, n))
    return y


# ---------------------------------------------------------------- autograd


class _Softmax(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, bias: Tensor | None, scale: float, causal: bool) -> Any:
        return _call_no_grad(x, bias, scale, causal)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, bias, scale, causal = inputs
        y = output
        ctx.set_materialize_grads(False)
        ctx.value_of_scale = scale
        ctx.value_of_causal = causal
        ctx.form_of_bias = None if bias is None else (bias.shape, bias.dtype)
        ctx.save_for_backward(y)

    @staticmethod
    def backward(ctx: Any, grad_y: Tensor | None) -> Any:
        if grad_y is None:
            return None, None, None, None
        (y,) = ctx.saved_tensors
        run = _backward.softmax_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_x, grad_bias = run(grad_y, y, ctx.value_of_scale, ctx.value_of_causal, grad_mask=[wanted[0], wanted[1]])
        grad_bias = _runtime.summed(grad_bias, ctx.form_of_bias)
        return grad_x, grad_bias, None, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("softmax"))


_apply = _runtime.direct_apply(_Softmax)


def _autograd(keyset: Any, x: Tensor, bias: Tensor | None = None, scale: float = 1.0, causal: bool = False) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(x, bias)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("softmax")
        return _apply(x, bias, scale, causal)
    return _op.redispatch(keyset & _after_autograd, x, bias, scale, causal)


# ---------------------------------------------------------------- operations of a call


def _flops(x: Tensor, bias: Any = None, scale: float = 1.0, causal: bool = False, **_: Any) -> Any:
    return 5 * x.numel()


_runtime.count_flops(_flops, "softmax", "_softmax_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("softmax")
torch.library.register_fake("my_ops::softmax", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_softmax_no_grad", _fake, lib=_kernels)
_kernels.impl("softmax", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_softmax_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_softmax_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=True,
        arguments={"x": _batch.Place(0, 2), "bias": _batch.Place(0, 2)},
        broadcast=("bias",),
        results=(_batch.Place(0, 2),),
    ),
    torch.ops.my_ops.softmax.default,
    torch.ops.my_ops._softmax_no_grad.default,
)

# ---------------------------------------------------------------- wrapper


def softmax(x: Tensor, bias: Tensor | None = None, scale: float = 1.0, causal: bool = False) -> Tensor:
    """Softmax of scale * x + bias over the last dimension. With `causal`, column j of row i of an m x n matrix is left out where j > i + n - m. Rows in which nothing is left, or everything is -infinity, are zeros.

    Args:
        x: T[*batch, m, n]
        bias: T[*batch, m, n]? inner expand = None
        scale: float = 1.0
        causal: bool = False

    Returns:
        y: T[*batch, m, n]

    T is float64, float32, float16 or bfloat16.
    Results along batch are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(x, bias, scale, causal)
    ):
        return _op(x, bias, scale, causal)
    try:
        recorded = _is_grad_enabled() and (
            x.requires_grad or (bias is not None and bias.requires_grad) or _is_transformed()
        )
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(x, bias, scale, causal)
            if _is_transformed():
                return _Softmax.apply(x, bias, scale, causal)
            return _apply(x, bias, scale, causal)
        return _call_no_grad(x, bias, scale, causal)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, x, bias, scale, causal)
        raise
