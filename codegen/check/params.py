"""`params:` of a launch: template arguments that are constants, or switches over run-time values, for each of which a
kernel of its own is compiled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Mapping as Map

from codegen import names
from codegen.errors import shown
from codegen.expr.fold import FoldError, constant, depends_on_dtypes
from codegen.expr.tree import Constant, Expr, Member, Name, NameKind, Query, Type, substitute, uses, walk
from codegen.frozen import replace
from codegen.launches import Param, combinations
from codegen.load import Mapping, Node
from codegen.reader import Reader
from codegen.scope import Scope

MAX_COMBINATIONS = 64


def check_params(
    read: Reader, node: Mapping, scope: Scope, taken: Map[str, str], dtypes: Sequence[Map[str, str]]
) -> tuple[tuple[Param, ...], Scope]:
    """The params of one launch entry, and the scope in which the rest of the entry names them. `dtypes` are the choices
    of dtypes that kernels are compiled for.
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
