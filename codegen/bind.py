"""The binding analysis: which argument binds which name, and what a call must compare, in which order.

Done once per operator. Plain names bind first, over all inputs in order; then expressions are compared. The result is
`Operator.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codegen.contract import (
    Acc,
    Argument,
    DimEntry,
    FixedDtype,
    Output,
    Shape,
    ShapeEntry,
    StarEntry,
    TensorType,
    TypeVariable,
    Variable,
)
from codegen.expr import (
    Binary,
    Call,
    Compare,
    Constant,
    Expr,
    Logic,
    Name,
    NameKind,
    Query,
    Type,
    Unary,
    integer,
    names,
    uses,
)
from codegen.expr_text import print_text
from codegen.model import Check, DerivedDim, Dim
from codegen.rules import (
    AccDtypeRule,
    BindDim,
    BindStar,
    CheckRule,
    ContiguousRule,
    Derive,
    DeviceRule,
    DimCompare,
    DtypeRule,
    ExpandRule,
    Index,
    Known,
    RankRule,
    Rule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    Span,
    StarCompare,
    ValueRule,
)
from codegen.types import DTYPES


@dataclass(frozen=True, slots=True)
class PlainEntry:
    """An entry of a shape that is nothing but a name: `n`, or `*rows` with `star`; `name` is "" for an expression."""

    name: str
    star: bool


def index_of(position: int, entries: int, star: int | None) -> Index:
    """Where entry number `position` of a shape is found at run time; `star` is the number of the star's entry."""
    if star is None or position < star:
        return Index(position, False)
    return Index(entries - position, True)


def find_dims(inputs: Iterable[tuple[str, Sequence[PlainEntry]]], valued: frozenset[str]) -> tuple[Dim, ...]:
    """The names that the shapes of inputs bind, in order of first binding.

    `valued` are the names that have a value already: scalar arguments and `dims:`. A name that is a star anywhere is
    bound there; without its star it is the product, which is compared.
    """
    shapes = [(argument, list(entries)) for argument, entries in inputs]
    stars = {entry.name for _, entries in shapes for entry in entries if entry.star}
    found: dict[str, Dim] = {}
    for argument, entries in shapes:
        star = next((i for i, entry in enumerate(entries) if entry.star), None)
        for i, entry in enumerate(entries):
            if not entry.name or entry.name in valued or entry.name in found:
                continue
            if entry.star:
                found[entry.name] = Dim(entry.name, True, argument, span=Span(argument, i, len(entries) - i - 1))
            elif entry.name not in stars:
                index = index_of(i, len(entries), star)
                found[entry.name] = Dim(entry.name, False, argument, index.index, index.from_back)
    return tuple(found.values())


def rules(
    types: Sequence[TypeVariable],
    arguments: Sequence[Argument],
    outputs: Sequence[Output],
    dims: Sequence[Dim],
    derived: Sequence[DerivedDim],
    checks: Sequence[Check],
    values: Sequence[ValueRule],
) -> tuple[Rule, ...]:
    """Everything that a call checks and binds, in order."""
    tensors = [(argument.name, argument.type) for argument in arguments if isinstance(argument.type, TensorType)]
    on_host = {argument.name for argument in arguments if argument.has_word("cpu")}
    found: list[Rule] = [*_dtype_rules(types, tensors)]
    placed = [name for name, _ in tensors if name not in on_host]
    found += [DeviceRule(name, placed[0]) for name in placed[1:]]
    by_argument: dict[str, list[Rule]] = {}
    for dim in dims:
        bound = BindStar(dim.name, dim.span) if dim.span else BindDim(dim.name, dim.argument, _index(dim))
        by_argument.setdefault(dim.argument, []).append(bound)
    expanded = {argument.name for argument in arguments if argument.has_word("expand")}
    for name, tensor in tensors:
        if name in expanded:
            continue
        named = sum(isinstance(entry, DimEntry) for entry in tensor.shape.entries)
        exact = named == len(tensor.shape.entries)
        if named > 0 or exact:
            found.append(RankRule(name, named, exact))
        found += by_argument.get(name, [])
    found += [Derive(dim.name, dim.expr) for dim in derived if not dim.launch_only]
    by_name = {dim.name: dim for dim in dims}
    for name, tensor in tensors:
        rule = (_expand_rule if name in expanded else _shape_rule)(name, tensor.shape, by_name)
        if rule is not None:
            found.append(rule)
    found += [ContiguousRule(argument.name) for argument in arguments if argument.has_word("contiguous")]
    found += [CheckRule(check.condition, check.text, check.message) for check in checks]
    found += _column_checks(arguments, values)
    found += [rule for output in outputs for rule in _size_rules(output.name, output.type.shape)]
    found += values
    return tuple(found)


def _dtype_rules(types: Sequence[TypeVariable], tensors: Sequence[tuple[str, TensorType]]) -> list[Rule]:
    """Variables bind in order of the inputs; an accumulation dtype waits until its variable is bound."""
    variables = {variable.name: variable for variable in types}
    source: dict[str, str] = {}
    found: list[Rule] = []
    waiting: list[tuple[str, str]] = []
    for name, tensor in tensors:
        match tensor.dtype:
            case FixedDtype():
                found.append(DtypeRule(name, "", (tensor.dtype.name,)))
            case Variable():
                variable = variables[tensor.dtype.name]
                if variable.name in source:
                    found.append(SameDtypeRule(name, variable.name, source[variable.name]))
                else:
                    source[variable.name] = name
                    found.append(DtypeRule(name, variable.name, (*variable.earlier, *variable.dtypes)))
            case Acc():
                if tensor.dtype.variable in source:
                    found.append(AccDtypeRule(name, tensor.dtype.variable, source[tensor.dtype.variable]))
                else:
                    waiting.append((name, tensor.dtype.variable))
    for name, letter in waiting:
        if letter in source:
            found.append(AccDtypeRule(name, letter, source[letter]))
        else:
            # What no input binds takes its first dtype.
            found.append(DtypeRule(name, "", (DTYPES[variables[letter].dtypes[0]].acc,)))
    return found


def _column_checks(arguments: Sequence[Argument], values: Sequence[ValueRule]) -> list[CheckRule]:
    """A column that a rule on elements names is there, wherever the contract does not say so."""
    kinds = {argument.name: argument.type for argument in arguments}
    found: dict[str, CheckRule] = {}
    for rule in values:
        kind = kinds[rule.argument]
        if rule.column is None or not isinstance(kind, TensorType):
            continue
        entries = kind.shape.entries
        last = entries[-1]
        if isinstance(last, DimEntry) and isinstance(last.expr, Constant):
            continue
        star = not all(isinstance(entry, DimEntry) for entry in entries)
        size = Query("size", rule.argument, (integer(-1 if star else len(entries) - 1),), Type.INT)
        there: Expr = Compare((size, integer(rule.column)), (">",))
        if kind.optional:
            absent = Unary("not", Query("given", rule.argument, (), Type.BOOL), Type.BOOL)
            there = Logic("or", (absent, there))
        found.setdefault(print_text(there), CheckRule(there, print_text(there), ""))
    return list(found.values())


def _index(dim: Dim) -> Index:
    return Index(dim.index, dim.from_back)


def _shape_rule(argument: str, shape: Shape, dims: Mapping[str, Dim]) -> ShapeRule | None:
    """What `argument` must agree with, beside what it binds itself."""
    comparisons: list[DimCompare | StarCompare] = []
    known: dict[str, Known] = {}
    star = next((i for i, entry in enumerate(shape.entries) if not isinstance(entry, DimEntry)), None)
    for i, entry in enumerate(shape.entries):
        index = index_of(i, len(shape.entries), star)
        if isinstance(entry, StarEntry):
            span = Span(argument, i, len(shape.entries) - i - 1)
            source = dims[entry.name].span
            if source is not None and source != span:
                comparisons.append(StarCompare(entry.name, span, source))
                _know(known, entry, dims)
        elif isinstance(entry, DimEntry) and not _binds(argument, index, entry.expr, dims):
            comparisons.append(DimCompare(index, entry.expr))
            _know(known, entry, dims)
    return ShapeRule(argument, shape.text, tuple(comparisons), tuple(known.values())) if comparisons else None


def _expand_rule(argument: str, shape: Shape, dims: Mapping[str, Dim]) -> ExpandRule:
    """To what `argument` is broadcast; it binds nothing itself."""
    known: dict[str, Known] = {}
    for entry in shape.entries:
        _know(known, entry, dims)
    sizes = tuple(entry.expr for entry in shape.entries if isinstance(entry, DimEntry))
    return ExpandRule(argument, shape.text, sizes, tuple(known.values()))


def _know(known: dict[str, Known], entry: ShapeEntry, dims: Mapping[str, Dim]) -> None:
    """Adds the values that a message about one entry of a shape prints."""
    if isinstance(entry, StarEntry):
        span = dims[entry.name].span
        if span is not None:
            known.setdefault(entry.name, Known(entry.name, span.argument, span))
    for name in names(entry.expr) if isinstance(entry, DimEntry) else ():
        known.setdefault(name.name, Known(name.name, dims[name.name].argument if name.name in dims else "", None))


def _binds(argument: str, index: Index, expr: Expr, dims: Mapping[str, Dim]) -> bool:
    """Whether this entry is where a dim takes its value."""
    if not isinstance(expr, Name) or expr.kind is not NameKind.DIM:
        return False
    dim = dims[expr.name]
    return dim.argument == argument and _index(dim) == index


def _size_rules(tensor: str, shape: Shape) -> list[SizeRule]:
    """Computed sizes that could be negative."""
    entries = [entry for entry in shape.entries if isinstance(entry, DimEntry)]
    return [
        SizeRule(tensor, entry.expr, entry.text)
        for entry in entries
        if not never_negative(entry.expr) and not uses(entry.expr, NameKind.HARDWARE)
    ]


def never_negative(expr: Expr) -> bool:
    """Whether `expr` cannot be negative whatever the sizes of the inputs are."""
    match expr:
        case Constant():
            return not isinstance(expr.value, str) and expr.value >= 0
        case Name():
            return expr.kind in (NameKind.DIM, NameKind.STAR, NameKind.HARDWARE)
        case Binary(operator="+" | "*"):
            return never_negative(expr.left) and never_negative(expr.right)
        case Binary(operator="//"):
            return never_negative(expr.left) and never_negative(expr.right)
        case Binary(operator="%"):
            return never_negative(expr.right)
        case Call(function="min" | "ceil_div" | "round_up"):
            return all(never_negative(argument) for argument in expr.arguments)
        case Call(function="max"):
            return any(never_negative(argument) for argument in expr.arguments)
        case Call(function="abs" | "next_pow2"):
            return True
    return expr.type is Type.INT and hasattr(expr, "function") and expr.function in ("numel", "size", "dim", "len")
