"""What PyTorch does for tensors that its own operators write, for written arguments and for variants alike.

Each takes a `call` of arguments by name, the `names` of those that it writes, and how the text of its errors begins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import pytest
import torch
from torch.autograd import forward_ad

from tests.harness.contract import Arguments, list_of

Call = Callable[[Arguments], object]


def versions(call: Call, given: Arguments, names: Sequence[str]) -> None:
    """The version counters of what was written move, those of a base with its view, and no others; in inference mode
    as well.
    """
    for inference in (False, True):
        bases = {name: torch.stack([given[name], given[name]]) for name in names}
        given = given | {name: base[0] for name, base in bases.items()}
        before = {name: value._version for name, value in given.items() if isinstance(value, torch.Tensor)}
        with torch.inference_mode(inference):
            call(given)
        for name, version in before.items():
            moved = given[name]._version > version
            assert moved == (name in names), f"{name}: version {version}, then {given[name]._version}"
        assert all(base._version > 0 for base in bases.values())


def saved_is_noticed(call: Call, given: Arguments, names: Sequence[str]) -> None:
    """What autograd has saved before it was overwritten is an error of backward, not a wrong gradient."""
    for name in names:
        value = given[name].clone()
        factor = torch.ones_like(value).requires_grad_()
        loss = (factor * value).sum()
        call({**given, name: value})
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


def _is_refused(call: Call, given: Arguments, name: str, text: str) -> None:
    """With the text, and before anything is written."""
    before = given[name].detach().clone()
    with pytest.raises(RuntimeError) as caught:
        call(given)
    assert str(caught.value).startswith(text), caught.value
    assert torch.equal(given[name].detach(), before), f"{name} was written before the error"


def inference(call: Call, given: Arguments, names: Sequence[str], start: str) -> None:
    """A tensor that was made in inference mode is written there, and nowhere else."""
    for name in names:
        with torch.inference_mode():
            inside = given | {name: given[name].clone()}
            call({**inside, name: inside[name].clone()})
        for context in (contextlib.nullcontext(), torch.no_grad()):
            with context:
                _is_refused(call, inside, name, f"{start}{list_of(name)}: is an inference tensor")


def negated(call: Call, given: Arguments, names: Sequence[str], start: str) -> None:
    """A view that only carries a negative bit is not written."""
    for name in names:
        value = given[name].detach()
        if value.dtype in (torch.float32, torch.float64):
            view = torch.imag(torch.complex(torch.zeros_like(value), -value).conj())
            assert view.is_neg()
            _is_refused(call, {**given, name: view}, name, f"{start}{list_of(name)}: is a view that negates")


def tangents(call: Call, given: Arguments, names: Sequence[str], text: Callable[[str], str]) -> None:
    """A tangent of forward mode is never left as it was while its tensor is written."""
    for name in names:
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(given[name].clone(), torch.ones_like(given[name]))
            _is_refused(call, {**given, name: dual}, name, text(list_of(name)))
