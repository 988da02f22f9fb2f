"""Operators that launch kernels themselves: `launch: custom` with `kernels:`, and `full_cuda: true`."""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence

from codegen import load, names
from codegen.check.contract import Contract
from codegen.check.params import MAX_COMBINATIONS, constant_expression, fits
from codegen.check.rules import check_flag
from codegen.errors import shown
from codegen.expr.fold import FoldError, constant, depends_on_dtypes
from codegen.expr.text import print_text
from codegen.expr.tree import Expr, Type
from codegen.launches import CustomKernel, ListedParam
from codegen.load import Mapping, Node, Scalar
from codegen.reader import Reader

_EXAMPLE = "kernels: {first: {VEC: [1, 8]}}"
MAX_KERNELS = 32
# What launching a kernel in csrc/<op>.launch.c takes beside its params, and bodies call their arguments.
_TAKEN = ("a", "c", "ctx", "launch")


def is_custom(node: Mapping) -> bool:
    """Whether an operator says `launch: custom`."""
    launch = node.get("launch")
    return isinstance(launch, Scalar) and launch.text == "custom"


def check_kernels(
    read: Reader, operator: str, node: Mapping, contract: Contract, dtypes: Sequence[Map[str, str]]
) -> tuple[tuple[CustomKernel, ...], tuple[tuple[str, Node], ...]]:
    """`kernels:`, and where each of them is named; `dtypes` are the choices that they are compiled for."""
    value = node.get("kernels")
    if value is None:
        if is_custom(node):
            read.error(node.key("launch") or node, "`kernels:` is missing", f"for instance {_EXAMPLE}")
        return (), ()
    if not is_custom(node):
        read.error(node.key("kernels") or value, "`kernels:` stands beside `launch: custom`")
    read = read.within("kernels")
    section = read.mapping(value, _EXAMPLE)
    if section is not None and not 0 < len(section.entries) <= MAX_KERNELS:
        read.error(value, f"expected 1 to {MAX_KERNELS} kernels, got {len(section.entries)}")
    kernels: list[CustomKernel] = []
    places: list[tuple[str, Node]] = []
    for key, params in section.entries if section else ():
        problem = names.operator_problem(key.text)
        if f"launch_{key.text}" == f"{operator}_launch":
            problem = f"launch_{key.text} is the launcher of this operator"
        if problem:
            read.error(key, f'"{shown(key.text)}" cannot be a kernel: {problem}')
            continue
        found = _params(read.within(key.text), params, contract, dtypes)
        kernels.append(CustomKernel(key.text, found))
        places.append((key.text, key))
    return tuple(kernels), tuple(places)


def check_full_cuda(read: Reader, node: Mapping) -> bool:
    """`full_cuda:`, which may be what an operator says even where it is neither true nor false."""
    value = check_flag(read, node, "full_cuda")
    if not value:
        return value is None and node.get("full_cuda") is not None
    for other in ("launch", "passes", "kernels"):
        key = node.key(other)
        if key is not None:
            read.error(key, f"`full_cuda: true` needs no `{other}:`: its host code launches")
    return True


def _params(read: Reader, node: Node, contract: Contract, dtypes: Sequence[Map[str, str]]) -> tuple[ListedParam, ...]:
    """The params of a kernel; an empty mapping where it has none."""
    section = read.mapping(node, "{VEC: [1, 8]}")
    found: list[ListedParam] = []
    count = 1
    for key, values in section.entries if section else ():
        problem = names.problem(key.text) or ("launchers use it" if key.text in _TAKEN else "")
        if problem or key.text in contract.taken:
            problem = problem or f"it is {contract.taken[key.text]}"
            read.error(key, f'"{shown(key.text)}" cannot be a launch parameter: {problem}')
            continue
        listed = _values(read.within(key.text), values, contract, dtypes)
        count *= max(1, len(listed))
        found.append(ListedParam(key.text, listed))
    if section is not None and count > MAX_COMBINATIONS:
        read.error(section, f"{count} combinations of values; at most {MAX_COMBINATIONS} are compiled")
    return tuple(found)


def _values(read: Reader, node: Node, contract: Contract, dtypes: Sequence[Map[str, str]]) -> tuple[Expr, ...]:
    """What a param is compiled for: ints or bools, constant for every choice of dtypes."""
    nodes = read.items(node, "VEC: [1, 8]")
    if isinstance(node, load.Sequence) and not node.items:
        read.error(node, "the list is empty")
    found: list[Expr] = []
    for item in nodes:
        expr = constant_expression(read, item, contract.launches, (Type.INT, Type.BOOL), "an int or a bool")
        if expr is None:
            continue
        if found and expr.type is not found[0].type:
            read.error(item, "ints and bools are no values of one param")
        elif print_text(expr) in map(print_text, found):
            read.error(item, f"{print_text(expr)} is there twice")
        elif _is_constant(read, item, expr, dtypes):
            found.append(expr)
    return tuple(found)


def _is_constant(read: Reader, place: Node, expr: Expr, dtypes: Sequence[Map[str, str]]) -> bool:
    for choice in dtypes if depends_on_dtypes(expr) else dtypes[:1]:
        try:
            value = constant(expr, choice)
        except FoldError as error:
            read.error(place, f"this value cannot be computed: {error}")
            return False
        if value is None:
            hint = "the launcher chooses among the values that are listed"
            read.error(place, "expected a constant for every dtype", hint)
            return False
        if isinstance(value, int) and not fits(value):
            read.error(place, f"{value} does not fit an int of 32 bits")
            return False
    return True
