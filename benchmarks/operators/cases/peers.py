"""How each library computes an operator: what to measure, by peer."""

import importlib.util
import types
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ...cuda_cases import ATEN, COMPILED, OURS, Shape
from .operator import Function, Operator, Tensors

LIGER = "Liger"
QUACK = "QuACK"
PEERS = (OURS, ATEN, COMPILED, LIGER, QUACK)
INSTALLED = {LIGER: "liger_kernel", QUACK: "quack"}  # extra packages
COMPILES = (COMPILED, LIGER, QUACK)  # takes seconds a shape before it can run, and can do so beside others


@dataclass(frozen=True)
class Implementation:
    """`forward` is called without grad, `training` records for backward: the fastest that the library's interface
    allows for each. `prepare`: the same inputs as it wants them, made once, outside of what is timed. `no_graph`: why
    no graph can hold its calls.
    """

    forward: Function
    training: Function
    prepare: Callable[[Tensors], Tensors] = lambda inputs: inputs
    no_graph: str = ""


def implementation_of(peer: str, name: str, shape: Shape, op: Operator) -> Implementation | None:
    """None where the library has no such operator. Raises what importing it raises."""
    if peer == OURS:
        return Implementation(op.ours, op.ours)
    if peer == ATEN:
        return Implementation(op.eager, op.eager)
    if peer == COMPILED:
        compiled = torch.compile(_alone(op.formula or op.eager), dynamic=False)
        return Implementation(compiled, compiled)
    return factory(peer, name)(shape) if has(peer, name) else None


def has(peer: str, name: str) -> bool:
    """Whether a library has an operator; imports nothing of it."""
    return peer not in INSTALLED or name in _of(peer)


def installed(peer: str) -> bool:
    """Whether a library is there; imports nothing of it."""
    return peer not in INSTALLED or importlib.util.find_spec(INSTALLED[peer]) is not None


def factory(peer: str, name: str) -> Callable[[Shape], Implementation]:
    return _of(peer)[name]


def _of(peer: str) -> dict[str, Callable[[Shape], Implementation]]:
    from . import liger, quack

    return {LIGER: liger.IMPLEMENTATIONS, QUACK: quack.IMPLEMENTATIONS}[peer]


def _alone(function: Function) -> Function:
    """A copy with code of its own. Dynamo counts recompilations by code, and gives up after eight."""
    if not isinstance(function, types.FunctionType):
        return _alone(lambda *inputs: function(*inputs))
    code = function.__code__.replace()
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
