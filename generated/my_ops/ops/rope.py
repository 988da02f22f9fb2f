"""my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)

Rotary position embedding. Turns each pair of columns (x1, x2) of the heads of q and k into (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Pair j is columns j and j + r, or 2 * j and 2 * j + 1 where interleaved; columns from 2 * r on stay as they are. q and k may be views into one packed tensor.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _batch, _rules, _runtime
from .._runtime import after_autograd as _after_autograd
from .._runtime import after_in_place as _after_in_place
from .._runtime import any_requires_grad as _any_requires_grad
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import forward_ad as _forward_ad
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling
from .._runtime import is_grad_enabled as _is_grad_enabled
from .._runtime import is_tracing as _is_tracing
from .._runtime import is_transformed as _is_transformed
from . import rope_backward as _backward

_op = torch.ops.my_ops.rope.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._rope_no_grad.default._op
_backward_no_grad = torch.ops.my_ops._rope_backward_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::rope")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> tuple[Tensor, Tensor]:
    _check.dims(q=q, k=k, cos=cos, sin=sin)
    _check(
        q.dtype in _T,
        lambda: f"q: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(q.dtype)}",
    )
    _check(
        k.dtype == q.dtype,
        lambda: f"k: expected dtype {_rules.dtype_text(q.dtype)} (as q), got {_rules.dtype_text(k.dtype)}",
    )
    _check(
        cos.dtype in (q.dtype, torch.float32),
        lambda: f"cos: expected dtype {_rules.dtype_text(q.dtype)} (T) or float32, got {_rules.dtype_text(cos.dtype)}",
    )
    _check(
        sin.dtype == cos.dtype,
        lambda: f"sin: expected dtype {_rules.dtype_text(cos.dtype)} (as cos), got {_rules.dtype_text(sin.dtype)}",
    )
    _check(k.device == q.device, lambda: f"k: expected device {q.device} (as q), got {k.device}")
    _check(cos.device == q.device, lambda: f"cos: expected device {q.device} (as q), got {cos.device}")
    _check(sin.device == q.device, lambda: f"sin: expected device {q.device} (as q), got {sin.device}")
    _check(q.dim() == 4, lambda: f"q: expected 4 dimensions, got {q.dim()}")
    b = q.shape[0]
    s = q.shape[1]
    h = q.shape[2]
    d = q.shape[3]
    _check(k.dim() == 4, lambda: f"k: expected 4 dimensions, got {k.dim()}")
    hk = k.shape[2]
    _check(cos.dim() >= 2, lambda: f"cos: expected at least 2 dimensions, got {cos.dim()}")
    cb = _check.star(cos.shape[:-2], lambda: "cos: the product of cb does not fit 64-bit integers")
    r = cos.shape[-1]
    _check(sin.dim() >= 2, lambda: f"sin: expected at least 2 dimensions, got {sin.dim()}")
    _check(
        k.shape[0] == b,
        lambda: (
            f"k: expected shape [b, s, hk, d] with b = {b} (from q), s = {s} (from q), d = {d} (from q), got "
            f"{_rules.sizes_text(k.shape)}"
        ),
    )
    _check(
        k.shape[1] == s,
        lambda: (
            f"k: expected shape [b, s, hk, d] with b = {b} (from q), s = {s} (from q), d = {d} (from q), got "
            f"{_rules.sizes_text(k.shape)}"
        ),
    )
    _check(
        k.shape[3] == d,
        lambda: (
            f"k: expected shape [b, s, hk, d] with b = {b} (from q), s = {s} (from q), d = {d} (from q), got "
            f"{_rules.sizes_text(k.shape)}"
        ),
    )
    _check(
        cos.shape[-2] == s,
        lambda: f"cos: expected shape [*cb, s, r] with s = {s} (from q), got {_rules.sizes_text(cos.shape)}",
    )
    _check.sizes(
        sin.shape[:-2],
        cb,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from q), r = {r} "
            f"(from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        sin.shape[-2] == s,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from q), r = {r} "
            f"(from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        sin.shape[-1] == r,
        lambda: (
            f"sin: expected shape [*cb, s, r] with cb = {_rules.sizes_text(cb)} (from cos), s = {s} (from q), r = {r} "
            f"(from cos), got {_rules.sizes_text(sin.shape)}"
        ),
    )
    _check(
        _rules.product(cb) == 1 or _rules.product(cb) == b,
        lambda: f"expected cb == 1 or cb == b, got cb = {_rules.product(cb)}, b = {b}",
    )
    value = _check.computed(lambda: _rules.fit(2 * r) <= d, lambda: "2 * r <= d does not fit 64-bit integers")
    _check(value, lambda: f"expected 2 * r <= d, got r = {r}, d = {d}")
    q_out = q.new_empty_strided((b, s, h, d), _rules.like_strides(q))
    k_out = q.new_empty_strided((b, s, hk, d), _rules.like_strides(k))
    return q_out, k_out


# ---------------------------------------------------------------- autograd


class _Rope(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool) -> Any:
        return _call_no_grad(q, k, cos, sin, interleaved)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, _, cos, sin, interleaved = inputs
        q_out, k_out = output
        ctx.set_materialize_grads(False)
        ctx.value_of_interleaved = interleaved
        ctx.like_q_out = q_out.shape, q_out.dtype, q_out.device
        ctx.like_k_out = k_out.shape, k_out.dtype, k_out.device
        ctx.save_for_backward(cos, sin)

    @staticmethod
    def backward(ctx: Any, grad_q_out: Tensor | None, grad_k_out: Tensor | None) -> Any:
        if grad_q_out is None and grad_k_out is None:
            return None, None, None, None, None
        if grad_q_out is None:
            grad_q_out = _runtime.zeros(*ctx.like_q_out)
        if grad_k_out is None:
            grad_k_out = _runtime.zeros(*ctx.like_k_out)
        cos, sin = ctx.saved_tensors
        run = _backward.rope_backward if _is_grad_enabled() else _backward_no_grad
        wanted = ctx.needs_input_grad
        grad_q, grad_k = run(
            grad_q_out, grad_k_out, cos, sin, ctx.value_of_interleaved, grad_mask=[wanted[0], wanted[1]]
        )
        return grad_q, grad_k, None, None, None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_runtime.no_forward_derivative("rope"))


_apply = _runtime.direct_apply(_Rope)


def _autograd(keyset: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> Any:
    if (_is_grad_enabled() and _any_requires_grad(q, k)) or _forward_ad._current_level >= 0:
        if _is_transformed():
            _runtime.refuse_transform("rope")
        return _apply(q, k, cos, sin, interleaved)
    return _op.redispatch(keyset & _after_autograd, q, k, cos, sin, interleaved)


# ---------------------------------------------------------------- operations of a call


def _flops(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False, **_: Any) -> Any:
    return 3 * (q.numel() + k.numel())


_runtime.count_flops(_flops, "rope", "_rope_no_grad", "rope_", "_rope__no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("rope")
torch.library.register_fake("my_ops::rope", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_rope_no_grad", _fake, lib=_kernels)
_kernels.impl("rope", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_rope_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rope_no_grad", _op)
_batch.register(
    _kernels,
    _batch.Batch(
        star=False,
        arguments={
            "q": _batch.Place(1, 4),
            "k": _batch.Place(1, 4),
            "cos": _batch.Place(-2, 2),
            "sin": _batch.Place(-2, 2),
        },
        broadcast=(),
        results=(_batch.Place(1, 4), _batch.Place(1, 4)),
    ),
    torch.ops.my_ops.rope.default,
    torch.ops.my_ops._rope_no_grad.default,
)
_batch.register(
    _kernels,
    _batch.Batch(
        star=False,
        arguments={
            "q": _batch.Place(1, 4),
            "k": _batch.Place(1, 4),
            "cos": _batch.Place(-2, 2),
            "sin": _batch.Place(-2, 2),
        },
        broadcast=(),
        results=(),
        written=("q", "k"),
    ),
    torch.ops.my_ops.rope_.default,
    torch.ops.my_ops._rope__no_grad.default,
)

# ---------------------------------------------------------------- rope_

_in_place = torch.ops.my_ops.rope_.default
_call_in_place = torch.ops.my_ops._rope__no_grad.default._op


def _fake_in_place(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> None:
    q_out_, k_out_ = _fake(q, k, cos, sin, interleaved)
    _check.output("q", q, q_out_)
    _check.output("k", k, k_out_)


def _autograd_in_place(keyset: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> None:
    if _is_transformed():
        _runtime.check_in_place("rope_", has_batch=True)
    if (_is_grad_enabled() and _any_requires_grad(q, k)) or _forward_ad._current_level >= 0:
        q_out_, k_out_ = _op(q, k, cos, sin, interleaved)
        _check.output("q", q, q_out_)
        _check.output("k", k, k_out_)
        _check.apart({"q": q, "k": k}, {"q": q, "k": k, "cos": cos, "sin": sin})
        _runtime.check_copies("rope_", (q_out_, k_out_), q=q, k=k)
        q.copy_(q_out_)
        k.copy_(k_out_)
    else:
        _in_place.redispatch(keyset & _after_autograd, q, k, cos, sin, interleaved)


def _count_in_place(keyset: Any, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> None:
    _runtime.check_writes("rope_", q=q, k=k)
    _in_place.redispatch(keyset & _after_in_place, q, k, cos, sin, interleaved)
    _runtime.count_writes(q, k)


torch.library.register_fake("my_ops::rope_", _fake_in_place, lib=_kernels)
torch.library.register_fake("my_ops::_rope__no_grad", _fake_in_place, lib=_kernels)
_kernels.impl("rope_", _autograd_in_place, "Autograd", with_keyset=True)
_kernels.impl("_rope__no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_rope__no_grad", _in_place)
_kernels.impl("rope_", _count_in_place, "ADInplaceOrView", with_keyset=True)
_runtime.refuse_views(_kernels, "rope_", _in_place, torch.ops.my_ops._rope__no_grad.default)


def rope_(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> tuple[Tensor, Tensor]:
    """rope, writing q_out to q, k_out to k, in place."""
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(q, k, cos, sin, interleaved)
    ):
        _in_place(q, k, cos, sin, interleaved)
        return q, k
    if _is_transformed():
        _runtime.check_in_place("rope_", has_batch=True)
        _in_place(q, k, cos, sin, interleaved)
        return q, k
    try:
        if (_is_grad_enabled() and (q.requires_grad or k.requires_grad)) or _forward_ad._current_level >= 0:
            if _is_tracing():
                _in_place(q, k, cos, sin, interleaved)
                return q, k
            q_out_, k_out_ = _op(q, k, cos, sin, interleaved)
            _check.output("q", q, q_out_)
            _check.output("k", k, k_out_)
            _check.apart({"q": q, "k": k}, {"q": q, "k": k, "cos": cos, "sin": sin})
            _runtime.check_copies("rope_", (q_out_, k_out_), q=q, k=k)
            q.copy_(q_out_)
            k.copy_(k_out_)
        else:
            _runtime.check_writes("rope_", q=q, k=k)
            _call_in_place(q, k, cos, sin, interleaved)
            _runtime.count_writes(q, k)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _in_place, q, k, cos, sin, interleaved)
        raise
    return q, k


# ---------------------------------------------------------------- wrapper


def rope(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> tuple[Tensor, Tensor]:
    """Rotary position embedding. Turns each pair of columns (x1, x2) of the heads of q and k into (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Pair j is columns j and j + r, or 2 * j and 2 * j + 1 where interleaved; columns from 2 * r on stay as they are. q and k may be views into one packed tensor.

    Args:
        q: T[b, s, h, d] inner
        k: T[b, s, hk, d] inner
        cos: C[*cb, s, r] rows no_grad
        sin: C[*cb, s, r] rows no_grad
        interleaved: bool = False

    Returns:
        q_out: T[b, s, h, d] like(q)
        k_out: T[b, s, hk, d] like(k)

    T is float64, float32, float16 or bfloat16.
    C is T or float32.
    A call needs cb == 1 or cb == b, 2 * r <= d.
    rope_ writes q_out to q and k_out to k.
    Results along s are independent.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(q, k, cos, sin, interleaved)
    ):
        return _op(q, k, cos, sin, interleaved)
    try:
        recorded = _is_grad_enabled() and (q.requires_grad or k.requires_grad or _is_transformed())
        if recorded or _forward_ad._current_level >= 0:
            if _is_tracing():
                return _op(q, k, cos, sin, interleaved)
            if _is_transformed():
                return _Rope.apply(q, k, cos, sin, interleaved)
            return _apply(q, k, cos, sin, interleaved)
        return _call_no_grad(q, k, cos, sin, interleaved)
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(error, _op, q, k, cos, sin, interleaved)
        raise
