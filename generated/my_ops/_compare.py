"""How near is near enough.

The tolerance is relative: to the element, and to the largest element of the output or to 1, which is the size of the
inputs, since the terms of a sum may cancel. Kernels round once, to the dtype of the output, what they computed in the
accumulation dtype.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import torch

from ._derived import Derived

# For each dtype of an output: what storing an element may change, and what is added for the square root of the number
# of terms in a sum.
_ALLOWED = {
    "float64": (2.220446049250313e-16, 1.7763568394002505e-15),
    "float32": (1.1920928955078125e-07, 9.5367431640625e-07),
    "float16": (0.0009765625, 9.5367431640625e-07),
    "bfloat16": (0.0078125, 9.5367431640625e-07),
    "uint8": (0.0, 0.0),
    "int8": (0.0, 0.0),
    "int16": (0.0, 0.0),
    "int32": (0.0, 0.0),
    "int64": (0.0, 0.0),
    "bool": (0.0, 0.0),
    "complex64": (1.1920928955078125e-07, 9.5367431640625e-07),
    "complex128": (2.220446049250313e-16, 1.7763568394002505e-15),
    "float8_e4m3fn": (0.125, 9.5367431640625e-07),
    "float8_e5m2": (0.25, 9.5367431640625e-07),
    "float8_e4m3fnuz": (0.125, 9.5367431640625e-07),
    "float8_e5m2fnuz": (0.25, 9.5367431640625e-07),
    "float8_e8m0fnu": (1.0, 9.5367431640625e-07),
}


def name_of(dtype: torch.dtype) -> str:
    """float32"""
    return str(dtype).removeprefix("torch.")


def terms(inputs: Iterable[torch.Tensor], output: torch.Tensor) -> int:
    """An upper limit of the number of terms in the sums behind an element of `output`."""
    tensors = list(inputs)
    widest = max((size for tensor in tensors for size in tensor.shape), default=1)
    return max([1, widest, *(tensor.numel() // max(output.numel(), 1) for tensor in tensors)])


def tolerance(dtype: torch.dtype, count: int) -> float:
    """For an output of this dtype whose elements are sums of `count` terms."""
    rounding, per_term = _ALLOWED[name_of(dtype)]
    return rounding + per_term * sqrt(count)


def difference(found: torch.Tensor, expected: torch.Tensor, allowed: float) -> str:
    """How a result on the CPU differs from its reference in float64 of the same shape; "" where it does not."""
    if not found.is_floating_point() and not found.is_complex():
        if not allowed:
            exact = expected.to(found.dtype)  # beyond 2^53, whole numbers that differ are one in float64
            return _first(found != exact, found, exact)
        # The reference is left unrounded: a whole number is as near as any, but for what is allowed.
        expected = expected.nan_to_num(0)
        found = expected + ((found - expected).abs() - 0.5).clamp(min=0)
    largest = torch.finfo(found.dtype).max
    found, wanted = found.to(expected.dtype), expected
    # What the dtype cannot hold is infinite in it.
    overflows = found.isinf() & (wanted.abs() > 0.99 * largest)
    wanted = torch.where(overflows & wanted.isfinite(), found, wanted)
    finite = wanted[wanted.isfinite()].abs()
    scale = max(1.0, finite.max().item() if finite.numel() else 0.0)
    near = (found - wanted).abs() <= allowed * (wanted.abs() + scale)
    wrong = ~(near | (found == wanted) | (found.isnan() & wanted.isnan()))
    text = _first(wrong, found, wanted)
    return f"{text} (tolerance {allowed:.3g} of the element and of {scale:.3g})" if text else ""


def _first(wrong: torch.Tensor, found: torch.Tensor, wanted: torch.Tensor) -> str:
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in wrong.nonzero()[0])
    count = f"{int(wrong.sum())} of {wrong.numel()} elements differ"
    return f"{count}, the first at {at}: {found[at]} instead of {wanted[at]}"


def wide(value: Any) -> Any:
    """A tensor, or each of a list, in float64 or complex128 on the CPU; whole numbers and other values as they are."""
    if isinstance(value, (list, tuple)):
        return [wide(one) for one in value] if any(isinstance(one, torch.Tensor) for one in value) else value
    if not isinstance(value, torch.Tensor):
        return value
    kind = torch.float64 if value.is_floating_point() else torch.complex128 if value.is_complex() else value.dtype
    return value.detach().cpu().to(kind, copy=True)


def every(result: Any) -> list[Any]:
    """The outputs of a call, None for those that are not there; those of a list one by one."""
    return [one for part in result for one in every(part)] if isinstance(result, (list, tuple)) else [result]


def _apart(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Calls it in a thread of its own, where nothing is set: no mode, no autocast, no gradient that is under way."""
    found: list[Any] = []

    def run() -> None:
        try:
            with torch.no_grad():
                found.append(function(**given))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


@dataclass(frozen=True)
class Call:
    """What comparing a call has to know of an operator."""

    name: str
    reference: str
    arguments: tuple[str, ...]  # but for grad_mask
    outputs: tuple[str, ...]  # what it returns, but for what is saved for the gradient
    written: tuple[str, ...]
    # What it is in the dispatcher, internal overloads too; the arguments that a variant writes its outputs to.
    entries: Mapping[str, tuple[str, ...]]
    tolerance: Mapping[str, float] = field(default_factory=dict)
    derived: Derived | None = None  # of a gradient operator that was derived: what it is the gradient of
    random: bool = False
    unread: tuple[str, ...] = ()  # of what is written, what is not read

    def problem(
        self, reference: Callable[..., Any], entry: str, before: Any, arguments: Mapping[str, Any], results: Any
    ) -> str:
        """How results differ from those of the reference, which is called with the arguments as they were `before`."""
        own = {name: before.arguments[name] for name in self.arguments}
        given = {name: wide(value) for name, value in own.items()} | ({"seed": before.seed} if self.random else {})
        public = [results] if len(self.outputs) == 1 and not isinstance(results, tuple) else list(results or ())
        found = [*zip(self.outputs, public, strict=False)]  # without what is saved for the gradient
        found = [(name, arguments[name]) for name in self.entries[entry]] or found
        found += [(name, arguments[name]) for name in self.written]
        try:
            right = _apart(reference if self.derived is None else self.derived.function(reference), given)
        except Exception as error:
            return f"its reference {self.reference} raised {type(error).__name__}: {error}"
        flat = [(name, one) for name, value in found for one in every(value)]
        wanted = every(right)
        mask = arguments.get("grad_mask")
        if mask and len(mask) == len(wanted):
            wanted = [one if flag else None for one, flag in zip(wanted, mask, strict=True)]
        if len(flat) != len(wanted):  # lists have no place for what is not there
            flat = [(name, one) for name, one in flat if one is not None]
            wanted = [one for one in wanted if one is not None]
        if len(flat) != len(wanted):
            return f"its reference {self.reference} gave {len(wanted)} tensors, and the call {len(flat)}"
        inputs = [one for one in every([*own.values()]) if isinstance(one, torch.Tensor)]
        return next(filter(None, (self._difference(*one, inputs) for one in zip(flat, wanted, strict=True))), "")

    def _difference(
        self, named: tuple[str, torch.Tensor | None], wanted: torch.Tensor | None, inputs: list[torch.Tensor]
    ) -> str:
        name, result = named
        if result is None or wanted is None:
            return "" if result is wanted else f"{name}: {'nothing' if result is None else 'a tensor'} came"
        if result.shape != wanted.shape:
            return f"{name}: expected shape {tuple(wanted.shape)}, got {tuple(result.shape)}"
        found = result.detach().cpu()
        if found.is_floating_point() or found.is_complex():
            # Which of NaN and infinity comes of infinities, and of what the dtype cannot hold, depends on how a formula
            # is arranged.
            exact = found.to(wanted.dtype)
            beyond = ~wanted.isfinite() | (wanted.abs() > 0.9 * torch.finfo(found.dtype).max)
            wanted = torch.where(~exact.isfinite() & beyond, exact, wanted)
        allowed = self.tolerance.get(name_of(result.dtype)) or tolerance(result.dtype, terms(inputs, result))
        text = difference(found, wanted, allowed)
        return f"{name}: {text}" if text else ""
