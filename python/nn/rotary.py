"""The rotary embedding of attention modules that call a function f(q, k, cos, sin) of their own module.

Such a forward is copied with another function under that name: other models of the class keep theirs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from torch import Tensor

from my_ops import rope

from .coverage import alike, floats

Rotary = Callable[..., tuple[Tensor, Tensor]]


def rotary_functions(function: Callable[..., Any]) -> dict[str, FunctionType]:
    """The functions f(q, k, cos, sin, ...) that a function calls, or one that it wraps, by their names."""
    return {name: value for part in parts(function) for name, value in _named(part).items()}


def parts(function: object) -> list[FunctionType]:
    """A function, and those that it wraps: those in its closure, and in theirs."""
    found = [function] if isinstance(function, FunctionType) else []
    for part in found:  # which grows
        held = [_held(cell) for cell in part.__closure__ or ()]
        found += [one for one in held if isinstance(one, FunctionType) and one not in found]
    return found


def _held(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _named(function: FunctionType) -> dict[str, FunctionType]:
    found = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return {name: value for name, value in found.items() if isinstance(value, FunctionType) and _is_rotary(value)}


def _is_rotary(function: FunctionType) -> bool:
    return list(inspect.signature(function).parameters)[:4] == ["q", "k", "cos", "sin"]


def rebound(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function, and of those that it wraps, that calls my_ops.rope where it called a rotary function."""
    return _rebound(function, {}) if isinstance(function, FunctionType) else function


def _rebound(function: FunctionType, copies: dict[FunctionType, FunctionType]) -> FunctionType:
    """`copies` are those that are there or being made: closures may refer to one another."""
    replaced = {name: _on_rope(rotary) for name, rotary in _named(function).items()}
    held = [_held(cell) for cell in function.__closure__ or ()]
    cells = tuple(
        CellType() if isinstance(old, FunctionType) and rotary_functions(old) else cell
        for old, cell in zip(held, function.__closure__ or (), strict=True)
    )
    scope = function.__globals__ | replaced if replaced else function.__globals__
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(copy, function)
    copies[function] = copy
    for old, cell in zip(held, cells, strict=True):
        if isinstance(old, FunctionType) and rotary_functions(old):
            cell.cell_contents = copies.get(old) or _rebound(old, copies)
    return copy


def _on_rope(rotary: Rotary) -> Rotary:
    """f(q, k, cos, sin) with q and k as [batch, heads, length, size], and cos and sin as [batch or 1, length, size] of
    two equal halves.
    """

    @functools.wraps(rotary)
    def on_rope(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if args or kwargs or not _covers(q, k, cos, sin):
            return rotary(q, k, cos, sin, *args, **kwargs)
        half = q.shape[-1] // 2
        q, k = rope(q.transpose(1, 2), k.transpose(1, 2), cos[..., :half], sin[..., :half])
        return q.transpose(1, 2), k.transpose(1, 2)

    return on_rope


def _covers(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> bool:
    return (
        floats(q)
        and alike(q, k)
        and alike(q, cos)
        and alike(q, sin)
        and q.dim() == k.dim() == 4
        and cos.dim() == 3
        and cos.shape == sin.shape
        and cos.shape[-2:] == q.shape[-2:]
        and cos.shape[0] in (1, q.shape[0])
        and q.shape[0] == k.shape[0]
        and q.shape[2:] == k.shape[2:]
        and not (cos.requires_grad or sin.requires_grad)
    )
