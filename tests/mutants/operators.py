"""What can be changed in a module of the generator, one change at a time.

A change is made in the syntax tree and put into the text in the place of what it changes; the rest of the file stays
as it is. Changed are: comparisons, `and` and `or`, `not`, arithmetic, conditions (turned round, or left out of a
comprehension), numbers, truth values, texts and the parts of f-strings, arguments (two swapped, a named one left
out), functions that have a counterpart (any and all, min and max, sorted and list, startswith and endswith ...),
elements of lists, sets, dicts and tables, and statements: calls, assignments to a part, yields, raises and early
returns that are left out, values that are not returned, continue and break.

Left alone is what no test of a behaviour could miss or should miss:
- docstrings, annotations, aliases of types, TypeVar, the first argument of cast, and `if TYPE_CHECKING`: nothing of
  them is executed for its value;
- decorators: `cache`, `cached_property` and `slots` are about speed alone, a class without `dataclass` cannot be made;
- `assert` and `strict` of zip: they narrow types for mypy, or say what no spec can bring about;
- `__repr__`, which nothing prints, and imports;
- `if __name__ == "__main__"`, where garbage collection is turned off for speed;
- formats inside of f-strings, such as `:>4`, whose other values mostly are no formats.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
ONE_SIDE = (ast.Add, ast.BitOr, ast.BitAnd)  # of numbers, texts, sets: one operand is left out
COUNTERPARTS = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": "list",
    "reversed": "iter",
    "startswith": "endswith",
    "endswith": "startswith",
    "removeprefix": "removesuffix",
    "removesuffix": "removeprefix",
    "partition": "rpartition",
    "rpartition": "partition",
    "extend": "append",
}
REMOVED = (ast.AugAssign, ast.Delete, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True)
class Site:
    """A node that can be changed."""

    node: ast.AST  # what is changed
    anchor: ast.AST  # what is written anew: the node, or the f-string that it is in
    scope: tuple[ast.AST, ...]  # the functions and classes that it is in, outermost first
    statement: ast.stmt  # the innermost statement that it is in
    changes: tuple[ast.AST, ...]  # what can stand in its place


def sites(tree: ast.Module) -> Iterator[Site]:
    """Every node of a module that can be changed, in the order of the text."""
    yield from _walk(tree, None, (), None, None)


def _walk(
    node: ast.AST,
    parent: ast.AST | None,
    scope: tuple[ast.AST, ...],
    statement: ast.stmt | None,
    anchor: ast.AST | None,
) -> Iterator[Site]:
    if _left_alone(node, parent, scope):
        return
    if isinstance(node, ast.stmt):
        statement = node
    if isinstance(node, ast.JoinedStr) and anchor is None:
        anchor = node
    changes = tuple(_changes(node, parent))
    if changes and statement is not None:
        yield Site(node, anchor or node, scope, statement, changes)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "format_spec"):
            continue
        within = scope
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and name == "body":
            within = (*scope, node)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, node, within, statement, anchor)


def _left_alone(node: ast.AST, parent: ast.AST | None, scope: tuple[ast.AST, ...]) -> bool:
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring, or one below an attribute
        case ast.FunctionDef(name="__repr__"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) | ast.Subscript()) if not scope:
            return True  # an alias of types
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Constant() if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
            return isinstance(parent.func, ast.Name) and parent.func.id == "cast"
    return False


def _changes(node: ast.AST, parent: ast.AST | None) -> Iterator[ast.AST]:
    match node:
        case ast.Compare():
            for i, old in enumerate(node.ops):
                for new in COMPARISONS[type(old)]:
                    yield _with(node, ops=[*node.ops[:i], new(), *node.ops[i + 1 :]])
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for rest in _one_less(node.values):
                yield _with(node, values=rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.BinOp():
            if isinstance(node.op, ONE_SIDE):
                yield from (node.left, node.right)
                if any(isinstance(side, ast.Constant) and type(side.value) is int for side in (node.left, node.right)):
                    yield _with(node, op=ast.Sub())
            elif type(node.op) in ARITHMETIC:
                yield _with(node, op=ARITHMETIC[type(node.op)]())
        case ast.Constant():
            yield from map(ast.Constant, _values(node.value))
        case ast.List() | ast.Set() | ast.Tuple() if _is_table(node, parent):
            for rest in _one_less(node.elts):
                yield _with(node, elts=rest) if rest or not isinstance(node, ast.Set) else _call("set")
        case ast.Dict():
            for keys, values in zip(_one_less(node.keys), _one_less(node.values), strict=True):
                yield _with(node, keys=keys, values=values)
        case ast.Call():
            yield from _changed_call(node)
        case ast.stmt():
            yield from _changed_statement(node, parent)
    if isinstance(node, ast.expr):
        yield from _changed_condition(node, parent)


def _changed_condition(node: ast.expr, parent: ast.AST | None) -> Iterator[ast.AST]:
    """A condition turned round; comparisons and `not` are turned round as such."""
    is_condition = isinstance(parent, ast.If | ast.While | ast.IfExp | ast.match_case) and node in (
        parent.guard if isinstance(parent, ast.match_case) else parent.test,
    )
    filters = isinstance(parent, ast.comprehension) and node in parent.ifs
    if (is_condition or filters) and not isinstance(node, ast.Compare | ast.UnaryOp | ast.Constant):
        yield ast.UnaryOp(ast.Not(), node)
    if filters:
        yield ast.Constant(True)


def _changed_call(node: ast.Call) -> Iterator[ast.AST]:
    match node.func:
        case ast.Name(id="isinstance" | "cast"):
            return
        case ast.Name(id=name) if name in COUNTERPARTS:
            keywords = [] if COUNTERPARTS[name] in ("list", "iter") else node.keywords
            yield _with(node, func=ast.Name(COUNTERPARTS[name]), keywords=keywords)
        case ast.Attribute(attr=name) if name in COUNTERPARTS:
            yield _with(node, func=_with(node.func, attr=COUNTERPARTS[name]))
    for i, (first, second) in enumerate(zip(node.args, node.args[1:], strict=False)):
        starred = isinstance(first, ast.Starred) or isinstance(second, ast.Starred)
        if not starred and ast.dump(first) != ast.dump(second):
            yield _with(node, args=[*node.args[:i], second, first, *node.args[i + 2 :]])
    for i, keyword in enumerate(node.keywords):
        if keyword.arg != "strict":
            yield _with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :])


def _changed_statement(node: ast.stmt, parent: ast.AST | None) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield ast.Pass()
        case ast.Assign() if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            yield ast.Pass()
        case ast.Return(value=None | ast.Constant(value=None)):
            if not isinstance(parent, ast.FunctionDef) or node is not parent.body[-1]:
                yield ast.Pass()
        case ast.Return(value=ast.Constant(value=value)) if not value:
            return  # None is as false; the value itself is changed
        case ast.Return():
            yield ast.Return(ast.Constant(None))
        case ast.stmt() if isinstance(node, REMOVED):
            yield ast.Pass()
            if isinstance(node, ast.Continue):
                yield ast.Break()


def _values(value: object) -> list[object]:
    """What can stand in the place of a literal."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1] if value else [1]
        case str():
            return ["", f"{value}~"] if value else ["~"]
        case bytes():
            return [b"", value + b"~"] if value else [b"~"]
    return []


def _is_table(node: ast.List | ast.Set | ast.Tuple, parent: ast.AST | None) -> bool:
    """Whether elements may be left out: a tuple may well be a record, which has as many as it has."""
    if not isinstance(node.ctx if not isinstance(node, ast.Set) else ast.Load(), ast.Load):
        return False
    match parent:
        case ast.Compare() | ast.Assign(targets=[ast.Name()]):
            return True
        case ast.For() | ast.comprehension():
            return True
    return not isinstance(node, ast.Tuple)


def _one_less(values: list[Any]) -> list[list[Any]]:
    return [values[:i] + values[i + 1 :] for i in range(len(values))]


def _call(name: str) -> ast.Call:
    return ast.Call(ast.Name(name), [], [])


def _with(node: ast.AST, **changed: object) -> ast.AST:
    """A node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **changed})


COMPOUND = ast.BinOp | ast.BoolOp | ast.Compare | ast.UnaryOp | ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Tuple


def changed(source: bytes, site: Site, change: ast.AST) -> bytes:
    """The text of the module after a change."""
    # Where the copy comes to the node, it takes the change instead.
    new = copy.deepcopy(site.anchor, {id(site.node): change})
    ast.fix_missing_locations(new)
    text = ast.unparse(new)
    if isinstance(new, COMPOUND) and not text.startswith("("):
        text = f"({text})"
    lines = source.splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: line - 1])) + column
        for line, column in (
            (site.anchor.lineno, site.anchor.col_offset),
            (site.anchor.end_lineno, site.anchor.end_col_offset),
        )
    )
    return source[:start] + text.encode() + source[end:]
