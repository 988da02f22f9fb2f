"""How kernels of an operator are launched, as frozen dataclasses: part of the model, without its contract."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from codegen.expr.tree import Constant, Expr, substitute
from codegen.frozen import cached_property, dataclass


@dataclass(frozen=True)
class Param:
    """A template argument of a kernel: a constant per choice of dtypes and of the values of the switches before it, or
    itself a switch over the run-time value `expr`, which must be one of `choices` (words for a choice argument).
    """

    name: str
    expr: Expr
    choices: tuple[int | bool | str, ...] = ()


def combinations(params: Iterable[Param]) -> tuple[dict[str, Expr], ...]:
    """Every combination of values of constants and switches, the last one changing fastest; a kernel is compiled for
    each. Without switches there is one.
    """
    found: list[dict[str, Expr]] = [{}]
    for param in params:
        if param.choices:
            found = [{**one, param.name: Constant(value, param.expr.type)} for one in found for value in param.choices]
        else:
            found = [{**one, param.name: substitute(param.expr, one)} for one in found]
    return tuple(found)


@dataclass(frozen=True)
class LaunchEntry:
    """One launch shape; the first entry whose `when` holds is taken. `grid`, `block` and `cluster` have up to three
    numbers (x, y, z).
    """

    when: Expr | None
    params: tuple[Param, ...]
    grid: tuple[Expr, ...]
    block: tuple[Expr, ...]
    shared: Expr | None = None
    cluster: tuple[Expr, ...] = ()

    @cached_property
    def combinations(self) -> tuple[dict[str, Expr], ...]:
        """What its params can be."""
        return combinations(self.params)

    @cached_property
    def values(self) -> dict[str, Expr]:
        """What its params are in a call: constants, and the run-time values of its switches."""
        found: dict[str, Expr] = {}
        for param in self.params:
            found[param.name] = substitute(param.expr, found)
        return found


@dataclass(frozen=True)
class ListedParam:
    """A template argument of a kernel of `launch: custom`, with the values that it is compiled for; they may depend on
    dtypes.
    """

    name: str
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class CustomKernel:
    """An entry of `kernels:`; csrc/<op>.launch.c launches it."""

    name: str
    params: tuple[ListedParam, ...]

    @cached_property
    def combinations(self) -> tuple[tuple[Expr, ...], ...]:
        """Every combination of values, the last one changing fastest; a kernel is compiled for each."""
        return tuple(product(*(param.values for param in self.params)))


@dataclass(frozen=True)
class TritonKernel:
    """`triton:`: a kernel in csrc/<op>.py, which Triton compiles when the library is built. Behind `args`, names of
    tensors, sizes and scalars in its order, it takes the params of `launch`, whose block is that of `num_warps`.
    """

    name: str
    args: tuple[str, ...]
    launch: LaunchEntry
    num_warps: Expr
    num_stages: Expr


@dataclass(frozen=True)
class Pass:
    """One kernel of an operator; an operator with a single `launch:` has one pass, named after the operator.

    `when`: skipped when false. `launches` is empty when the operator has no cuda in `devices:`. `units` is what
    [begin, end) of the C body counts: `parallel:`, else the grid of a pass, else the first output's shape without its
    last entry. `sm_count` in it is 32 on the CPU.
    """

    kernel: str
    when: Expr | None
    launches: tuple[LaunchEntry, ...]
    units: Expr
