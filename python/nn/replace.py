"""replace(model): the modules of a model that compute what an operator does, on that operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import torch
from torch import nn

from . import examine
from .causal_lm import causal_lm_loss
from .forms import Form
from .loss import CrossEntropyLoss
from .norm import LayerNorm, RMSNorm
from .probe import Unfit, is_own

Search = Callable[[nn.Module], type[nn.Module]]  # raises Unfit

KINDS = ("norm", "gated", "rotary", "loss")
_OPERATORS: dict[type[nn.Module], str] = {
    LayerNorm: "my_ops::layer_norm",
    RMSNorm: "my_ops::rms_norm",
    CrossEntropyLoss: "my_ops::cross_entropy",
}


@dataclass(frozen=True)
class Replaced:
    """A module that runs an operator now, and its class before and after; or a loss_function and its function."""

    name: str
    before: str
    after: str
    operator: str


@dataclass(frozen=True)
class Left:
    """A module that looked like one to replace, and why it was not."""

    name: str
    before: str
    reason: str


@dataclass(frozen=True)
class Report:
    """What `replace` did. As text, a line for each kind of change; `undo` brings everything back."""

    replaced: list[Replaced] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    _undo: list[Callable[[], None]] = field(default_factory=list, repr=False)

    def undo(self) -> None:
        """Gives the modules their classes and losses of before again; a second time it does nothing. A module that has
        been given yet another class since keeps that, and copies that were made in between stay replaced.
        """
        while self._undo:
            self._undo.pop()()

    def __str__(self) -> str:
        done = Counter(f"{one.before} -> {one.after} ({one.operator})" for one in self.replaced)
        left = Counter(f"{one.before} left: {one.reason}" for one in self.left)
        return "\n".join(f"{count} {text}" for text, count in (done | left).items())


def replace(model: nn.Module, kinds: Collection[str] = KINDS) -> Report:
    """Puts modules of a model, in place, on the operators of my_ops that are seen to compute what they do.

    By kind, these are looked at:
        norm: torch.nn.LayerNorm and torch.nn.RMSNorm; RMSNorms of any class, scaled by weight or 1 + weight.
        gated: down_proj(act(gate_proj(x)) * up_proj(x)) with SiLU or GELU, as in Llama, Qwen and Gemma.
        rotary: attention that rotates q and k by a function f(q, k, cos, sin), x * cos + rotate_half(x) * sin, where
            the model makes cos and sin of two equal halves.
        loss: torch.nn.CrossEntropyLoss, and the loss_function of causal language models of transformers.

    A module keeps its parameters, tied ones too, its state dict, hooks, mode, dtype, device and attributes: only its
    class changes, to a subclass of it. What it computes is found out by small calls on the CPU, not by its name.
    Results differ by rounding, since operators compute half precision in float32 and round once; calls that an operator
    does not cover, such as mixed dtypes, run the code of the class before. Replace first and compile then: before
    PyTorch 2.13, graphs that torch.compile made of the model stay in use.

    Args:
        model: any module; what torch.jit compiled in it is passed over. Of transformers, Llama, Qwen2, Qwen3, Gemma and
            GPT-2 are tested.
        kinds: those to look at.

    Returns:
        what was replaced and what was left, and why. Modules that run an operator already are left, so that a second
        call changes nothing.

    Raises TypeError for a model that is no torch.nn.Module and ValueError for an unknown kind; nothing changes then.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"my_ops.nn.replace: model: expected a torch.nn.Module, got {type(model).__name__}")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"my_ops.nn.replace: kinds: expected some of {', '.join(KINDS)}, got {kind!r}")
    report = Report()
    modules = {name: one for name, one in model.named_modules() if not isinstance(one, torch.jit.ScriptModule)}
    for name, module in modules.items():
        find = _search(module, kinds, model)
        if find is not None:
            _exchange(report, name, module, find)
    for name, module in modules.items():
        if "loss" in kinds and examine.calls_loss(module):
            _exchange_loss(report, name, module)
    return report


def _search(module: nn.Module, kinds: Collection[str], model: nn.Module) -> Search | None:
    """What says which class a module may have; None for one that nothing here is about."""
    if "norm" in kinds and examine.is_norm(module):
        return examine.norm
    if "gated" in kinds and examine.is_gated(module):
        return examine.gated
    if "rotary" in kinds and examine.is_rotary(module):
        return partial(examine.rotary, model=model)
    if "loss" in kinds and type(module) in (nn.CrossEntropyLoss, CrossEntropyLoss):
        return lambda _: CrossEntropyLoss
    return None


def _exchange(report: Report, name: str, module: nn.Module, find: Search) -> None:
    before = type(module)
    try:
        operator = module.operator if isinstance(module, Form) else _OPERATORS.get(before)
        if operator is not None:
            raise Unfit(f"runs {operator} already")
        after = find(module)
        _give(module, after)
    except Unfit as reason:
        report.left.append(Left(name, before.__name__, str(reason)))
        return
    operator = after.operator if issubclass(after, Form) else _OPERATORS[after]
    report.replaced.append(Replaced(name, before.__name__, f"my_ops.nn.{after.__name__}", operator))
    report._undo.append(partial(_take, module, after, before))


def _take(module: nn.Module, given: type[nn.Module], before: type[nn.Module]) -> None:
    """Takes back a class that was given, unless other code has given the module another one since."""
    if type(module) is given:
        _give(module, before)


def _give(module: nn.Module, other: type[nn.Module]) -> None:
    """Gives a module another class. Code that patches modules for a while, such as transformers' recorder of hidden
    states, leaves the forward of the class on the module, bound to it: that goes, since it is of the class before.
    """
    if is_own(vars(module).get("forward"), module):
        del vars(module)["forward"]
    try:
        module.__class__ = other
    except TypeError as error:
        raise Unfit(f"Python does not let its class be changed: {error}") from None


def _exchange_loss(report: Report, name: str, module: nn.Module) -> None:
    """transformers keeps a loss that was set in an attribute of the module."""
    before, loss = dict(vars(module)), cast("Callable[..., Any]", module.loss_function)
    path, text = f"{name}.loss_function".removeprefix("."), getattr(loss, "__name__", type(loss).__name__)
    try:
        if loss is causal_lm_loss:
            raise Unfit("runs my_ops::cross_entropy already")
        examine.causal_loss(module, loss)
        try:
            module.loss_function = cast("Any", causal_lm_loss)
        except AttributeError as error:
            raise Unfit(f"it cannot be set: {error}") from None
    except Unfit as reason:
        report.left.append(Left(path, text, str(reason)))
        return
    report.replaced.append(Replaced(path, text, "my_ops.nn.causal_lm_loss", "my_ops::cross_entropy"))
    report._undo.append(partial(_restore, module, before))


def _restore(module: nn.Module, before: dict[str, object]) -> None:
    """Brings back the attributes that hold the loss."""
    for name in [name for name, value in vars(module).items() if value is causal_lm_loss]:
        if name in before:
            vars(module)[name] = before[name]
        else:
            del vars(module)[name]
