"""`params:` of a launch: template arguments that are constants, or switches over run-time values, for each of which a
kernel of its own is compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Mapping as Map

from codegen import load, names
from codegen.errors import shown
from codegen.expr.bounds import ANY, Numbers, listed
from codegen.expr.bounds import values as values_of
from codegen.expr.fold import FoldError, constant, depends_on_dtypes
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Member, Name, NameKind, Query, Type, substitute, uses, walk
from codegen.expr.tree import names as names_in
from codegen.frozen import replace
from codegen.launches import Param, combinations
from codegen.load import Mapping, Node
from codegen.reader import Reader
from codegen.scope import Scope

MAX_COMBINATIONS = 64


def check_params(
    read: Reader,
    node: Mapping,
    scope: Scope,
    taken: Map[str, str],
    dtypes: Sequence[Map[str, str]],
    known: Map[str, Numbers] | None = None,
) -> tuple[tuple[Param, ...], Scope]:
    """The params of one launch entry, and the scope in which the rest of the entry names them. `dtypes` are the choices
    of dtypes that kernels are compiled for. With what is `known` of names, a number that a call computes is a switch
    over all that it can be.
    """
    value = node.get("params")
    section = read.within("params").mapping(value, "params: {VEC: 16 // sizeof(T)}") if value is not None else None
    found: list[Param] = []
    count = 1
    for key, text in section.entries if section else ():
        problem = names.problem(key.text) or ("bodies call their arguments so" if key.text == "a" else "")
        if problem or key.text in taken:
            problem = problem or f"it is {taken[key.text]}"
            read.error(key, f'"{shown(key.text)}" cannot be a launch parameter: {problem}')
            continue
        expr = _expression(read.within(f"params: {key.text}"), text, _with(scope, found))
        param = _param(read, text, key.text, expr, scope) if expr is not None else None
        if param is not None and not param.choices and known is not None and any(map(_at_run_time, walk(param.expr))):
            param = _computed(read, text, param, {**known, **_values_of(found)}, dtypes)
        if param is not None and (param.choices or _is_constant(read, text, param, found, dtypes)):
            count *= len(param.choices) or 1
            # One too many is an error below; until then it has one value, since the rest goes through all of them.
            found.append(param if count <= MAX_COMBINATIONS else replace(param, choices=param.choices[:1]))
    if section is not None and count > MAX_COMBINATIONS:
        read.error(section, f"params: {count} combinations of values; at most {MAX_COMBINATIONS} are compiled")
    return tuple(found), _with(scope, found)


def _with(scope: Scope, params: Collection[Param]) -> Scope:
    if not params:
        return scope
    known = {param.name: Name(param.name, NameKind.PARAM, param.expr.type) for param in params}
    words = {
        param.name: scope.choices[param.expr.name]
        for param in params
        if isinstance(param.expr, Name) and param.expr.name in scope.choices
    }
    return replace(scope, names={**scope.names, **known}, choices={**scope.choices, **words})


def _expression(read: Reader, node: Node, scope: Scope) -> Expr | None:
    """An int, a bool or a choice; which one is seen only when it has been read."""
    return constant_expression(read, node, scope, (Type.INT, Type.BOOL, Type.STR), "an int, a bool or a choice")


def constant_expression(read: Reader, node: Node, scope: Scope, types: tuple[Type, ...], what: str) -> Expr | None:
    """An expression in which `true` and `false` may stand for bools, too."""
    scalar = read.text(node, "a constant")
    if scalar is None:
        return None
    if scalar.text in ("true", "false"):
        return Constant(scalar.text == "true", Type.BOOL)
    return read.expression(scalar, scope, types, what)


def _param(read: Reader, place: Node, name: str, expr: Expr, scope: Scope) -> Param | None:
    """A constant, or a switch: `d in [64, 128]` over numbers, and whatever is a bool or a choice."""
    if isinstance(expr, Member) and not expr.negated and any(map(_at_run_time, walk(expr.operand))):
        return _listed(read, place, name, expr)
    if not any(map(_at_run_time, walk(expr))):
        return Param(name, expr)
    if expr.type is Type.STR and isinstance(expr, Name):
        return Param(name, expr, scope.choices[expr.name])
    if expr.type is Type.BOOL and not uses(expr, NameKind.PARAM):
        return Param(name, expr, (False, True))
    return Param(name, expr)


def _at_run_time(part: Expr) -> bool:
    """Whether it is something that only a call knows: neither a dtype nor another param."""
    if isinstance(part, Name):
        return part.kind not in (NameKind.VARIABLE, NameKind.PARAM)
    return isinstance(part, Query) and part.function != "sizeof"


def _values_of(params: Collection[Param]) -> dict[str, Numbers]:
    """What earlier params can be."""
    return {
        param.name: listed(value for value in param.choices if isinstance(value, int))
        for param in params
        if param.choices and param.expr.type is Type.INT
    }


def _computed(
    read: Reader, place: Node, param: Param, known: Map[str, Numbers], dtypes: Sequence[Map[str, str]]
) -> Param | None:
    """A switch over everything that an expression of a call can be."""
    found: set[int] = set()
    for choice in dtypes if depends_on_dtypes(param.expr) else dtypes[:1]:
        of_choice = values_of(param.expr, choice, known)
        if of_choice.listed is None or of_choice.high is None:
            open_ends = [name.name for name in names_in(param.expr) if known.get(name.name, ANY).high is None]
            bound = f"bound it under checks:, as in {open_ends[0]} <= 4096" if open_ends else "bound it more narrowly"
            hint = f"kernels are compiled for each: {bound}, or list those to compile, as in"
            text = f"params: {param.name}: {print_text(param.expr)} can be any of too many numbers"
            read.error(place, text, f"{hint} {param.name}: {print_text(param.expr)} in [64, 128]")
            return None
        found.update(of_choice.listed)
    if len(found) > MAX_COMBINATIONS:
        text = f"params: {param.name}: {print_text(param.expr)} can be any of {len(found)} numbers"
        read.error(place, f"{text}; at most {MAX_COMBINATIONS} are compiled", "next_pow2(...) is one of a few")
        return None
    if not all(map(fits, found)):
        read.error(place, f"params: {param.name}: {max(found, key=abs)} does not fit an int of 32 bits")
        return None
    return replace(param, choices=tuple(sorted(found)))


def _listed(read: Reader, place: Node, name: str, expr: Member) -> Param | None:
    if expr.operand.type is Type.FLOAT:
        read.error(place, f"params: {name}: a switch is over an int, a bool or a choice")
        return None
    values = [constant(choice, {}) for choice in expr.choices]
    known = [value for value in values if isinstance(value, int | str)]
    if len(known) != len(values) or any(isinstance(value, int) and not fits(value) for value in known):
        read.error(place, f"params: {name}: expected constants of 32 bits in the brackets")
        return None
    return Param(name, expr.operand, tuple(dict.fromkeys(known)))


def launch_numbers(read: Reader, node: Node, scope: Scope, limit: int) -> tuple[Expr, ...]:
    """A number of a launch, or up to three of them for x, y and z."""
    if isinstance(node, load.Sequence) and limit > 1:
        if not 1 <= len(node.items) <= limit:
            read.error(node, f"expected 1 to {limit} numbers, got {len(node.items)}")
            return ()
        nodes: Sequence[Node] = node.items
    else:
        nodes = (node,)
    found = [read.expression(item, scope, Type.INT, "a number") for item in nodes]
    return tuple(expr for expr in found if expr is not None) if None not in found else ()


def fits(value: int) -> bool:
    """Whether a template argument can have this value."""
    return -(2**31) <= value < 2**31


def _is_constant(
    read: Reader, place: Node, param: Param, earlier: list[Param], dtypes: Sequence[Map[str, str]]
) -> bool:
    """An int of 32 bits or a bool, known for every choice of dtypes and every value of the switches before it."""
    for values in combinations(earlier):
        expr = substitute(param.expr, values)
        for choice in dtypes if depends_on_dtypes(expr) else dtypes[:1]:
            try:
                value = constant(expr, choice)
            except FoldError as error:
                read.error(place, f"{param.name} has no value: {error}")
                return False
            if value is None:
                text = f"params: {param.name}: expected a constant for every dtype"
                hint = "a switch over a run-time value lists those that are compiled: HEAD: d in [64, 128]"
                read.error(place, text, hint)
                return False
            if isinstance(value, int) and not fits(value):
                read.error(place, f"params: {param.name}: {value} does not fit an int of 32 bits")
                return False
    return True
