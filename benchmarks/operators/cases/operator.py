"""What a case says of an operator on one shape, and what several cases use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch

from ...cuda_cases import Shape

Tensors: TypeAlias = tuple[Any, ...]  # tensors, and lists of them
Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Operator:
    """`inputs` makes one set: the first tensor arguments of the operator, in the order of ops.yaml. `ours` and `eager`
    take them; `eager`, in float64, says what is right. Those at `leaves` require grad in the backward case, and without
    any there is none. `scalars`: arguments that decide what an output is, where they are not the default. `formula`:
    what torch.compile gets in the place of `eager`, where that is no one graph.
    """

    inputs: Callable[[], Tensors]
    ours: Function
    eager: Function
    leaves: tuple[int, ...] = ()
    scalars: Mapping[str, Any] = field(default_factory=dict)
    formula: Function | None = None


def maker(shape: Shape, device: str, *sizes: tuple[int, ...]) -> Callable[[], Tensors]:
    """Normal random tensors of these sizes."""
    return lambda: tuple(torch.randn(size, device=device, dtype=shape.dtype) for size in sizes)


def rows_of(shape: Shape, device: str, count: int = 1) -> Callable[[], Tensors]:
    """So many tensors of the shape itself."""
    return maker(shape, device, *[(shape.rows, shape.n)] * count)
