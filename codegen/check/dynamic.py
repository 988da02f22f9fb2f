"""`dynamic:`: sizes of outputs that are known only after the kernel ran."""

from __future__ import annotations

import ast

from codegen import names
from codegen.errors import shown
from codegen.expr.tree import Type
from codegen.fields import Take
from codegen.frozen import replace
from codegen.load import Mapping, Scalar
from codegen.model import DynamicDim
from codegen.presence import Condition
from codegen.reader import Reader
from codegen.scope import Scope

_EXAMPLE = "k <= m, or total if given(total) else k <= m"


def dynamic_names(read: Reader, operator: Mapping, take: Take) -> list[str]:
    """The names that `dynamic:` gives, needed before their bounds can be read."""
    node = operator.get("dynamic")
    section = read.within("dynamic").mapping(node, "dynamic: {k: k <= m}") if node is not None else None
    found: list[str] = []
    for key, _ in section.entries if section else ():
        problem = names.problem(key.text)
        if problem:
            read.error(key, f'dynamic: "{shown(key.text)}" cannot be the name of a size: {problem}')
        else:
            take(key, key.text, "a size that is known after the kernel ran")
            found.append(key.text)
    return found


def read_dynamic(read: Reader, operator: Mapping, scope: Scope) -> tuple[DynamicDim, ...]:
    """The entries of `dynamic:`, over what shapes and checks may name."""
    node = operator.get("dynamic")
    found: list[DynamicDim] = []
    for key, value in node.entries if isinstance(node, Mapping) else ():
        inner = read.within(f"dynamic: {shown(key.text)}")
        scalar = inner.text(value, "a bound") if not names.problem(key.text) else None
        dim = _entry(inner, key.text, scalar, scope) if scalar is not None else None
        if dim is not None:
            found.append(dim)
    return tuple(found)


def _entry(read: Reader, name: str, scalar: Scalar, scope: Scope) -> DynamicDim | None:
    text = " ".join(scalar.text.split())
    parts = _parts(scalar.text, name)
    if parts is None:
        read.error(scalar, f'"{shown(text)}" does not bound {name}', f"for instance {_EXAMPLE}")
        return None
    (bound_at, bound_end), *given = parts
    bound = read.expression_at(scalar, scalar.text[bound_at:bound_end], bound_at, scope, Type.INT, "a size")
    if not given:
        return DynamicDim(name, bound, text) if bound is not None else None
    (known_at, known_end), (test_at, test_end) = given
    condition = read.expression_at(scalar, scalar.text[test_at:test_end], test_at, scope, Type.BOOL, "a condition")
    inside = replace(scope, met=(*scope.met, Condition(condition))) if condition is not None else scope
    known = read.expression_at(scalar, scalar.text[known_at:known_end], known_at, inside, Type.INT, "a size")
    if bound is None or known is None or condition is None:
        return None
    return DynamicDim(name, bound, text, known, condition)


def _parts(text: str, name: str) -> list[tuple[int, int]] | None:
    """Where the bound stands in `k <= m`, and in `total if given(total) else k <= m` also the value and the condition;
    None for any other form.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    compared = tree.orelse if isinstance(tree, ast.IfExp) else tree
    if not isinstance(compared, ast.Compare) or not isinstance(compared.left, ast.Name) or compared.left.id != name:
        return None
    if [type(operator) for operator in compared.ops] != [ast.LtE]:
        return None
    wanted: list[ast.expr] = [compared.comparators[0]]
    wanted += [tree.body, tree.test] if isinstance(tree, ast.IfExp) else []
    return [(part.col_offset, part.end_col_offset or len(text)) for part in wanted]
