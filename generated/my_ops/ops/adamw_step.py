"""my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs,
SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float
weight_decay=0.01, bool maximize=False) -> ()

One step of AdamW, with decoupled weight decay, for all parameters at once and in place: what torch.optim.AdamW does, step being 1 at the first one. exp_avgs and exp_avg_sqs, which begin as zeros, are of the dtype of the parameters or float32. Gradients are multiplied by grad_scale, such as a factor that clips their norm.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _rules, _runtime
from .._runtime import after_autograd as _after_autograd
from .._runtime import after_in_place as _after_in_place
from .._runtime import any_requires_grad as _any_requires_grad
from .._runtime import compiler as _compiler
from .._runtime import count_modes as _count_modes
from .._runtime import forward_ad as _forward_ad
from .._runtime import has_torch_function as _has_torch_function
from .._runtime import is_dynamo_compiling as _is_dynamo_compiling
from .._runtime import is_grad_enabled as _is_grad_enabled
from .._runtime import is_transformed as _is_transformed

_op = torch.ops.my_ops.adamw_step.default
# The C++ function under the overload, without the Python method around it.
_call_no_grad = torch.ops.my_ops._adamw_step_no_grad.default._op

# ---------------------------------------------------------------- fake kernel

_check = _rules.Check("my_ops::adamw_step")
_T = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _fake(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    step: int,
    grad_scale: Tensor | None = None,
    *,
    lr: float = 0.001,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-08,
    weight_decay: float = 0.01,
    maximize: bool = False,
) -> None:
    _check.dims(params=params, grads=grads, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs, grad_scale=grad_scale)
    s: dict[int, Any] = {}
    _check(_rules.count(params) > 0, lambda: "params: expected at least one tensor")
    _check(_rules.count(grads) > 0, lambda: "grads: expected at least one tensor")
    _check(_rules.count(exp_avgs) > 0, lambda: "exp_avgs: expected at least one tensor")
    _check(_rules.count(exp_avg_sqs) > 0, lambda: "exp_avg_sqs: expected at least one tensor")
    _check(
        _rules.count(grads) == _rules.count(params),
        lambda: f"grads: expected {_rules.count(params)} tensors (as params), got {_rules.count(grads)}",
    )
    _check(
        _rules.count(exp_avgs) == _rules.count(params),
        lambda: f"exp_avgs: expected {_rules.count(params)} tensors (as params), got {_rules.count(exp_avgs)}",
    )
    _check(
        _rules.count(exp_avg_sqs) == _rules.count(params),
        lambda: f"exp_avg_sqs: expected {_rules.count(params)} tensors (as params), got {_rules.count(exp_avg_sqs)}",
    )
    _check(
        params[0].dtype in _T,
        lambda: (
            f"params[0]: expected dtype float64, float32, float16 or bfloat16, got {_rules.dtype_text(params[0].dtype)}"
        ),
    )
    for _i in range(_rules.count(params)):
        _check(
            params[_i].dtype == params[0].dtype,
            lambda: (
                f"params[{_i}]: expected dtype {_rules.dtype_text(params[0].dtype)} (as params[0]), got "
                f"{_rules.dtype_text(params[_i].dtype)}"
            ),
        )
    for _i in range(_rules.count(grads)):
        _check(
            grads[_i].dtype == params[0].dtype,
            lambda: (
                f"grads[{_i}]: expected dtype {_rules.dtype_text(params[0].dtype)} (as params[0]), got "
                f"{_rules.dtype_text(grads[_i].dtype)}"
            ),
        )
    if grad_scale is not None:
        _check(
            grad_scale.dtype == _rules.acc(params[0].dtype),
            lambda: (
                f"grad_scale: expected dtype {_rules.dtype_text(_rules.acc(params[0].dtype))} (accumulation dtype of "
                f"params[0]), got {_rules.dtype_text(grad_scale.dtype)}"
            ),
        )
    _check(
        exp_avgs[0].dtype in (params[0].dtype, torch.float32),
        lambda: (
            f"exp_avgs[0]: expected dtype {_rules.dtype_text(params[0].dtype)} (T) or float32, got "
            f"{_rules.dtype_text(exp_avgs[0].dtype)}"
        ),
    )
    for _i in range(_rules.count(exp_avgs)):
        _check(
            exp_avgs[_i].dtype == exp_avgs[0].dtype,
            lambda: (
                f"exp_avgs[{_i}]: expected dtype {_rules.dtype_text(exp_avgs[0].dtype)} (as exp_avgs[0]), got "
                f"{_rules.dtype_text(exp_avgs[_i].dtype)}"
            ),
        )
    for _i in range(_rules.count(exp_avg_sqs)):
        _check(
            exp_avg_sqs[_i].dtype == exp_avgs[0].dtype,
            lambda: (
                f"exp_avg_sqs[{_i}]: expected dtype {_rules.dtype_text(exp_avgs[0].dtype)} (as exp_avgs[0]), got "
                f"{_rules.dtype_text(exp_avg_sqs[_i].dtype)}"
            ),
        )
    for _i in range(_rules.count(params)):
        _check(
            params[_i].device == params[0].device,
            lambda: f"params[{_i}]: expected device {params[0].device} (as params[0]), got {params[_i].device}",
        )
    for _i in range(_rules.count(grads)):
        _check(
            grads[_i].device == params[0].device,
            lambda: f"grads[{_i}]: expected device {params[0].device} (as params[0]), got {grads[_i].device}",
        )
    for _i in range(_rules.count(exp_avgs)):
        _check(
            exp_avgs[_i].device == params[0].device,
            lambda: f"exp_avgs[{_i}]: expected device {params[0].device} (as params[0]), got {exp_avgs[_i].device}",
        )
    for _i in range(_rules.count(exp_avg_sqs)):
        _check(
            exp_avg_sqs[_i].device == params[0].device,
            lambda: (
                f"exp_avg_sqs[{_i}]: expected device {params[0].device} (as params[0]), got {exp_avg_sqs[_i].device}"
            ),
        )
    if grad_scale is not None:
        _check(
            grad_scale.device == params[0].device,
            lambda: f"grad_scale: expected device {params[0].device} (as params[0]), got {grad_scale.device}",
        )
    _check(_rules.count(betas) == 2, lambda: f"betas: expected 2 floats, got {_rules.count(betas)}")
    for _i in range(_rules.count(params)):
        s[_i] = _check.star(params[_i].shape, lambda: f"params[{_i}]: the product of s does not fit 64-bit integers")
    if grad_scale is not None:
        _check(grad_scale.dim() == 0, lambda: f"grad_scale: expected 0 dimensions, got {grad_scale.dim()}")
    for _i in range(_rules.count(grads)):
        _check.sizes(
            grads[_i].shape,
            s[_i],
            lambda: (
                f"grads[{_i}]: expected shape [*s] with s = {_rules.sizes_text(s[_i])} (from params[{_i}]), got "
                f"{_rules.sizes_text(grads[_i].shape)}"
            ),
        )
    for _i in range(_rules.count(exp_avgs)):
        _check.sizes(
            exp_avgs[_i].shape,
            s[_i],
            lambda: (
                f"exp_avgs[{_i}]: expected shape [*s] with s = {_rules.sizes_text(s[_i])} (from params[{_i}]), got "
                f"{_rules.sizes_text(exp_avgs[_i].shape)}"
            ),
        )
    for _i in range(_rules.count(exp_avg_sqs)):
        _check.sizes(
            exp_avg_sqs[_i].shape,
            s[_i],
            lambda: (
                f"exp_avg_sqs[{_i}]: expected shape [*s] with s = {_rules.sizes_text(s[_i])} (from params[{_i}]), got "
                f"{_rules.sizes_text(exp_avg_sqs[_i].shape)}"
            ),
        )
    _check(step > 0, lambda: f"expected step > 0, got step = {step}")
    _check(lr >= 0, lambda: f"expected lr >= 0, got lr = {_rules.float_text(lr)}")
    _check(
        0 <= betas[0] < 1 and 0 <= betas[1] < 1,
        lambda: (
            f"expected 0 <= betas[0] < 1 and 0 <= betas[1] < 1, got betas[0] = {_rules.float_text(betas[0])}, betas[1] "
            f"= {_rules.float_text(betas[1])}"
        ),
    )
    _check(eps >= 0, lambda: f"expected eps >= 0, got eps = {_rules.float_text(eps)}")
    _check(
        weight_decay >= 0, lambda: f"expected weight_decay >= 0, got weight_decay = {_rules.float_text(weight_decay)}"
    )


# ---------------------------------------------------------------- autograd


def _autograd(
    keyset: Any,
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    step: int,
    grad_scale: Tensor | None = None,
    *,
    lr: float = 0.001,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-08,
    weight_decay: float = 0.01,
    maximize: bool = False,
) -> Any:
    if _is_transformed():
        _runtime.check_in_place("adamw_step", has_batch=False)
    if (_is_grad_enabled() and _any_requires_grad(*params, *exp_avgs, *exp_avg_sqs)) or _forward_ad._current_level >= 0:
        _runtime.refuse_recording("adamw_step", params=params, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
    return _op.redispatch(
        keyset & _after_autograd,
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        step,
        grad_scale,
        lr=lr,
        betas=betas,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
    )


def _count_writes(
    keyset: Any,
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    step: int,
    grad_scale: Tensor | None = None,
    *,
    lr: float = 0.001,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-08,
    weight_decay: float = 0.01,
    maximize: bool = False,
) -> Any:
    _runtime.check_writes("adamw_step", params=params, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
    _op.redispatch(
        keyset & _after_in_place,
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        step,
        grad_scale,
        lr=lr,
        betas=betas,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
    )
    _runtime.count_writes(params, exp_avgs, exp_avg_sqs)


# ---------------------------------------------------------------- operations of a call


def _flops(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    step: int,
    grad_scale: Tensor | None = None,
    *,
    lr: float = 0.001,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-08,
    weight_decay: float = 0.01,
    maximize: bool = False,
    **_: Any,
) -> Any:
    return 14 * _rules.numel(params)


_runtime.count_flops(_flops, "adamw_step", "_adamw_step_no_grad")

# ---------------------------------------------------------------- registration

_kernels = _runtime.kernels("adamw_step")
torch.library.register_fake("my_ops::adamw_step", _fake, lib=_kernels)
torch.library.register_fake("my_ops::_adamw_step_no_grad", _fake, lib=_kernels)
_kernels.impl("adamw_step", _autograd, "Autograd", with_keyset=True)
_kernels.impl("_adamw_step_no_grad", torch.library.fallthrough_kernel, "Autograd")
_runtime.show_traced(_kernels, "_adamw_step_no_grad", _op)
_kernels.impl("adamw_step", _count_writes, "ADInplaceOrView", with_keyset=True)
_runtime.refuse_views(
    _kernels, "adamw_step", torch.ops.my_ops.adamw_step.default, torch.ops.my_ops._adamw_step_no_grad.default
)

# ---------------------------------------------------------------- wrapper


def adamw_step(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    step: int,
    grad_scale: Tensor | None = None,
    *,
    lr: float = 0.001,
    betas: Sequence[float] = (0.9, 0.999),
    eps: float = 1e-08,
    weight_decay: float = 0.01,
    maximize: bool = False,
) -> tuple[Sequence[Tensor], Sequence[Tensor], Sequence[Tensor]]:
    """One step of AdamW, with decoupled weight decay, for all parameters at once and in place: what torch.optim.AdamW does, step being 1 at the first one. exp_avgs and exp_avg_sqs, which begin as zeros, are of the dtype of the parameters or float32. Gradients are multiplied by grad_scale, such as a factor that clips their norm.

    Args:
        params: T[*s][]!
        grads: T[*s][]
        exp_avgs: S[*s][]!
        exp_avg_sqs: S[*s][]!
        step: size
        grad_scale: acc(T)[]? = None
        lr: float = 0.001
        betas: float[2] = [0.9, 0.999]
        eps: float = 1e-08
        weight_decay: float = 0.01
        maximize: bool = False

    Returns:
        params: T[*s][]!
        exp_avgs: S[*s][]!
        exp_avg_sqs: S[*s][]!

    T is float64, float32, float16 or bfloat16.
    S is T or float32.
    A call needs step > 0, lr >= 0, 0 <= betas[0] < 1 and 0 <= betas[1] < 1, eps >= 0, weight_decay >= 0.
    """
    if (
        _is_dynamo_compiling()
        or _compiler._is_compiling_flag
        or _count_modes()
        or _has_torch_function(
            *_runtime.several(params),
            *_runtime.several(grads),
            *_runtime.several(exp_avgs),
            *_runtime.several(exp_avg_sqs),
            step,
            grad_scale,
            lr,
            betas,
            eps,
            weight_decay,
            maximize,
        )
    ):
        _op(
            params,
            grads,
            exp_avgs,
            exp_avg_sqs,
            step,
            grad_scale,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
        )
        return params, exp_avgs, exp_avg_sqs
    try:
        if _is_transformed():
            _runtime.check_in_place("adamw_step", has_batch=False)
            _op(
                params,
                grads,
                exp_avgs,
                exp_avg_sqs,
                step,
                grad_scale,
                lr=lr,
                betas=betas,
                eps=eps,
                weight_decay=weight_decay,
                maximize=maximize,
            )
            return params, exp_avgs, exp_avg_sqs
        recorded = _is_grad_enabled() and _any_requires_grad(*params, *exp_avgs, *exp_avg_sqs)
        if recorded or _forward_ad._current_level >= 0:
            _runtime.refuse_recording("adamw_step", params=params, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
        _runtime.check_writes("adamw_step", params=params, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs)
        _call_no_grad(
            params,
            grads,
            exp_avgs,
            exp_avg_sqs,
            step,
            grad_scale,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
        )
        _runtime.count_writes(params, exp_avgs, exp_avg_sqs)
        return params, exp_avgs, exp_avg_sqs
    except (RuntimeError, TypeError, AttributeError) as error:
        _runtime.explain(
            error, _op, params, grads, exp_avgs, exp_avg_sqs, step, grad_scale, lr, betas, eps, weight_decay, maximize
        )
        raise
