"""The binding analysis: which argument binds which name, and what a call must compare, in which order.

Done once per operator. Plain names bind first, over all inputs in order; then expressions are compared. The result is
`Operator.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from codegen.assignments import BindDim, BindDynamic, BindStar, Decide, Derive
from codegen.bind.arguments import argument_rules, sizes_rules
from codegen.bind.dtypes import dtype_rules
from codegen.bind.shapes import Stars, dims_rules, expand_rule, never_negative, shape_rule, size_rules
from codegen.contract import (
    Argument,
    DimEntry,
    Output,
    Scratch,
    TensorType,
    TypeVariable,
    names_of,
)
from codegen.expr.text import print_text
from codegen.expr.tree import Compare, Constant, Expr, Logic, Query, Type, Unary, integer, names
from codegen.model import Check, DerivedDim, Dim, DynamicDim, Place
from codegen.positions import Span, each_of, first_given_of, first_of, list_of
from codegen.rules import (
    CheckRule,
    ContiguousRule,
    CountRule,
    DeviceRule,
    HostRule,
    OverlapRule,
    PlainRule,
    RankRule,
    Rule,
    SizeRule,
    SupportedDeviceRule,
    ValueRule,
    When,
    plain,
    when,
    where_given,
)


def rules(
    types: Sequence[TypeVariable],
    arguments: Sequence[Argument],
    outputs: Sequence[Output],
    scratch: Sequence[Scratch],
    dims: Sequence[Dim],
    derived: Sequence[DerivedDim],
    dynamic: Sequence[DynamicDim],
    checks: Sequence[Check],
    values: Sequence[ValueRule],
    devices: Sequence[str],
) -> tuple[Rule, ...]:
    """Everything that a call checks and binds, in order."""
    tensors = [(argument.name, argument.type) for argument in arguments if isinstance(argument.type, TensorType)]
    optional = _optional(arguments)
    unsure = {name for name, tensor in tensors if tensor.may_lack_tensors}
    on_host = {argument.name for argument in arguments if argument.has_word("cpu")}
    found: list[Rule] = [*list_rules(tensors, dims), *dtype_rules(types, arguments, optional)]
    # From here on rules on a list are rules on each of its tensors.
    lists = {name for name, tensor in tensors if tensor.is_list}
    tensors = [(each_of(name) if tensor.is_list else name, tensor) for name, tensor in tensors]
    placed = [name for name, _ in tensors if list_of(name) not in on_host]
    first = next((name for name in placed if list_of(name) not in unsure), "")
    placing = [name for name, _ in tensors if name != first or name not in lists]
    first = first.replace("[_i]", "[0]")
    if first and all(tensor.is_list for _, tensor in tensors):
        found.append(SupportedDeviceRule(first, tuple(devices)))
    found += [
        where_given(HostRule(name) if list_of(name) in on_host else DeviceRule(name, first), name, optional)
        for name in placing
        if name != first
    ]
    found += [where_given(rule, rule.argument, optional) for rule in argument_rules(arguments, first, devices)]
    expanded = {argument.name for argument in arguments if argument.has_word("expand")}
    for name, tensor in tensors:
        if list_of(name) in expanded:
            continue
        named = sum(isinstance(entry, DimEntry) for entry in tensor.shape.entries)
        exact = named == len(tensor.shape.entries)
        if named > 0 or exact:
            found.append(where_given(RankRule(name, named, exact), name, optional))
        found += _bindings(name, dims, optional)
        if list_of(name) != name:
            found += _bindings(first_of(list_of(name)), dims, optional)
            found += _bindings(first_given_of(list_of(name)), dims, optional)
    waiting = _Waiting(derived)
    by_name = {dim.name: dim for dim in dims}
    stars = Stars(by_name)
    for name, tensor in tensors:
        owner = name if tensor.optional or tensor.is_list else ""
        found += waiting.named(one for entry in tensor.shape.entries for one in names_of(entry))
        found += [where_given(rule, name, optional) for rule in stars.computed(tensor.shape, owner)]
        rule = (expand_rule if list_of(name) in expanded else shape_rule)(name, tensor.shape, by_name, stars)
        if rule is not None:
            found.append(where_given(rule, name, optional))
    worded = [argument.name for argument in arguments if argument.has_word("contiguous")]
    contiguous = [name for name, _ in tensors if list_of(name) in worded]
    found += [where_given(ContiguousRule(name), name, optional) for name in contiguous]
    for check in checks:
        found += waiting.named(name.name for name in names(check.condition))
        found.append(CheckRule(check.condition, check.text, check.message))
    found += waiting.rest()
    found += _column_checks(arguments, values)
    for size in dynamic:
        if not never_negative(size.value):
            found.append(SizeRule(size.name, size.value, print_text(size.value)))
        found.append(BindDynamic(size.name, size.value, size.bound, size.condition, size.text))
    for output in outputs:
        found += _output_rules(output, arguments, by_name, stars, optional)
    for tensor_ in scratch:
        found += sizes_rules(arguments, tensor_.name, tensor_.type.shape)
        found += stars.computed(tensor_.type.shape)
    found += [where_given(rule, rule.argument, optional) for rule in values]
    return _without_repeats((*found, *_overlaps(tensors, optional)))


class _Waiting:
    """Entries of `dims:` that are not computed yet. Each is computed before the first rule that names it, so that a
    check such as `step > 0` comes before what divides by `step`, unless it needs the quotient itself.
    """

    def __init__(self, derived: Sequence[DerivedDim]) -> None:
        self.dims = {dim.name: dim for dim in derived if not dim.launch_only}

    def named(self, used: Iterable[str]) -> Iterator[Derive]:
        """Those that are named, behind those that they name themselves."""
        for name in used:
            dim = self.dims.pop(name, None)
            if dim is not None:
                yield from self.named(one.name for one in names(dim.expr))
                yield Derive(dim.name, dim.expr)

    def rest(self) -> Iterator[Derive]:
        yield from self.named(tuple(self.dims))


def _optional(arguments: Sequence[Argument]) -> frozenset[str]:
    """What may be absent: arguments, and tensors of lists."""
    found = {argument.name for argument in arguments if argument.type.optional}
    for argument in arguments:
        if isinstance(argument.type, TensorType) and argument.type.is_list:
            found |= {first_given_of(argument.name)} if argument.type.may_lack_tensors else set()
            found |= {each_of(argument.name)} if argument.type.element_optional else set()
    return frozenset(found)


def list_rules(tensors: Sequence[tuple[str, TensorType]], dims: Sequence[Dim]) -> Iterator[Rule]:
    """A list has tensors; lists whose shapes share a name have equally many."""
    lists = {name: tensor for name, tensor in tensors if tensor.is_list}
    given = {name: (name,) if tensor.optional else () for name, tensor in lists.items()}
    for name in lists:
        yield when(CountRule(name), name, given[name])
    for name, tensor in lists.items():
        used = {one for entry in tensor.shape.entries for one in names_of(entry)}
        sharing = dict.fromkeys(tuple(map(list_of, dim.holders)) for dim in dims if dim.each and dim.name in used)
        for holders in sharing:
            before = holders[: holders.index(name)] if name in holders else holders
            for i, owner in enumerate(before):
                yield when(CountRule(name, owner), name, (*given[name], *given[owner]), before[:i])
                if not given[owner]:
                    break


def _overlaps(tensors: Sequence[tuple[str, TensorType]], optional: frozenset[str]) -> Iterator[Rule]:
    """What is written lies neither on itself nor on any other argument; a pair of written ones is looked at once."""
    written = [name for name, tensor in tensors if tensor.written]
    for i, name in enumerate(written):
        others = [other for other, _ in tensors if other not in written[i:]]
        for other in (name, *others):
            given = tuple(one for one in dict.fromkeys((name, other)) if one in optional)
            if other == name and name != list_of(name):  # each on itself, and on the others
                yield where_given(OverlapRule(name, name), name, optional)
            if name != list_of(name) or other != list_of(other):
                yield OverlapRule(name, other.replace("[_i]", "[_j]"))
                continue
            rule = OverlapRule(name, other)
            yield When(given, (), rule) if given else rule


def _output_rules(
    output: Output, arguments: Sequence[Argument], dims: Mapping[str, Dim], stars: Stars, optional: frozenset[str]
) -> list[Rule]:
    """What must hold for an output to be made, where it is made."""
    shape, name = output.type.shape, each_of(output.name) if output.type.is_list else output.name
    owner = name if output.condition is not None or output.type.is_list else ""
    found: list[PlainRule] = [*size_rules(name, shape), *stars.computed(shape, owner)]
    found += sizes_rules(arguments, output.name, shape)
    found += dims_rules(name, shape, dims, arguments, stars, owner)
    if output.type.is_list:
        source = each_of(output.counted_by)
        return [when(rule, source, (source,) if source in optional else ()) for rule in found]
    if output.condition is None:
        return list(found)
    decide = Decide(output.name, output.condition, print_text(output.condition))
    return [decide, *(When((), (), rule, output.name) for rule in found)]


def _bindings(argument: str, dims: Sequence[Dim], optional: frozenset[str]) -> Iterator[Rule]:
    """What `argument` binds: an optional one only where it was given, and those before it were not."""
    for dim in dims:
        for i, place in enumerate(dim.places):
            if place.argument == argument:
                given = (argument,) if argument in optional else ()
                yield when(_binding(dim.name, place), argument, given, dim.holders[:i])


def _binding(name: str, place: Place) -> BindStar | BindDim:
    at = place.at
    return BindStar(name, at) if isinstance(at, Span) else BindDim(name, place.argument, at)


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


def _without_repeats(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Without sizes that are known not to be negative, because a check or another output says the same before."""
    known: set[Expr] = set()
    kept: list[Rule] = []
    for rule in rules:
        bare = plain(rule)
        if isinstance(bare, SizeRule) and bare.condition in known:
            continue
        kept.append(rule)
        if isinstance(rule, CheckRule | SizeRule):
            parts = [rule.condition]
            if isinstance(rule.condition, Logic) and rule.condition.operator == "and":
                parts += rule.condition.operands
            known.update(parts, *map(_never_below_zero, parts))
    return tuple(kept)


def _never_below_zero(condition: Expr) -> Iterator[Expr]:
    """What a comparison with a constant says besides: `0 < k <= n` that k >= 0."""
    if not isinstance(condition, Compare):
        return
    for left, operator, right in zip(condition.operands, condition.operators, condition.operands[1:], strict=False):
        low, high = (left, right) if operator in ("<", "<=") else (right, left)
        if operator in ("<", "<=", ">", ">=") and isinstance(low, Constant) and never_negative(low):
            yield Compare((high, integer(0)), (">=",))
