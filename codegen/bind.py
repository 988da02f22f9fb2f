"""The binding analysis: which argument binds which name, and what a call must compare, in which order.

Done once per operator. Plain names bind first, over all inputs in order; then expressions are compared. The result is
`Operator.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codegen.bind_arguments import argument_rules, scalars, sizes_rules
from codegen.contract import (
    Acc,
    Argument,
    DimEntry,
    Dtype,
    FixedDtype,
    Output,
    ReplaceEntry,
    Scratch,
    Shape,
    ShapeEntry,
    StarEntry,
    StarFunction,
    TensorType,
    TypeVariable,
    Variable,
    named_stars,
)
from codegen.expr import (
    Binary,
    Call,
    Compare,
    Conditional,
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
from codegen.model import Check, DerivedDim, Dim, DynamicDim, Place
from codegen.rules import (
    AccDtypeRule,
    BindDim,
    BindDynamic,
    BindStar,
    CheckRule,
    Comparison,
    ComputedCompare,
    ComputeStar,
    ContiguousRule,
    CountRule,
    Decide,
    Derive,
    DeviceRule,
    DimCompare,
    DimsRule,
    DtypeRule,
    ExpandRule,
    FirstDtype,
    HostRule,
    Index,
    Known,
    OverlapRule,
    PlaceRule,
    PlainRule,
    RankRule,
    Rule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    Span,
    StarCompare,
    ValueRule,
    When,
    each_of,
    first_of,
    list_of,
    plain,
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


@dataclass(frozen=True, slots=True)
class PlainShape:
    """The shape of an input as far as it binds names."""

    argument: str
    entries: tuple[PlainEntry, ...]
    optional: bool = False
    is_list: bool = False  # it is that of each of its tensors


def find_dims(shapes: Sequence[PlainShape], valued: frozenset[str]) -> tuple[Dim, ...]:
    """The names that the shapes of inputs bind, in order of first binding; what is always given binds first.

    `valued` are the names that have a value already: scalar arguments and `dims:`. A name that is a star anywhere is
    bound there; without its star it is the product, which is compared.
    """
    stars = {entry.name for shape in shapes for entry in shape.entries if entry.star and entry.name}
    found: dict[str, Dim] = {}
    for optional in (False, True):
        for shape in shapes:
            if shape.optional is not optional or shape.is_list:
                continue
            for name, place in _places(shape, stars):
                known = found.get(name)
                if name in valued or (known is not None and not (optional and known.optional)):
                    continue
                places = known.places if known is not None else ()
                if all(earlier.argument != place.argument for earlier in places):
                    found[name] = Dim(name, name in stars, (*places, place), optional)
    for shape in shapes:
        for name, place in _places(replace(shape, argument=each_of(shape.argument)), stars) if shape.is_list else ():
            if name not in valued:
                found.setdefault(name, Dim(name, name in stars, (place,), each=shape.argument))
    return tuple(found.values())


def _places(shape: PlainShape, stars: set[str]) -> Iterator[tuple[str, Place]]:
    """Where a shape can bind which names."""
    count = len(shape.entries)
    star = next((i for i, entry in enumerate(shape.entries) if entry.star), None)
    for i, entry in enumerate(shape.entries):
        if entry.star and entry.name:
            yield entry.name, Place(shape.argument, Span(shape.argument, i, count - i - 1))
        elif not entry.star and entry.name and entry.name not in stars:
            yield entry.name, Place(shape.argument, index_of(i, count, star))


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
    optional = frozenset(argument.name for argument in arguments if argument.type.optional)
    on_host = {argument.name for argument in arguments if argument.has_word("cpu")}
    found: list[Rule] = [*list_rules(tensors, dims), *_dtype_rules(types, arguments, optional)]
    # From here on rules on a list are rules on each of its tensors.
    lists = {name for name, tensor in tensors if tensor.is_list}
    tensors = [(each_of(name) if tensor.is_list else name, tensor) for name, tensor in tensors]
    placed = [name for name, _ in tensors if list_of(name) not in on_host]
    first = next((name for name in placed if name not in optional), "")
    placing = [name for name, _ in tensors if name != first or name not in lists]
    first = first.replace("[_i]", "[0]")
    if first and all(tensor.is_list for _, tensor in tensors):
        found.append(PlaceRule(first, tuple(devices)))
    found += [
        _given(HostRule(name) if list_of(name) in on_host else DeviceRule(name, first), name, optional)
        for name in placing
        if name != first
    ]
    found += [_given(rule, rule.argument, optional) for rule in argument_rules(arguments, first, devices)]
    expanded = {argument.name for argument in arguments if argument.has_word("expand")}
    for name, tensor in tensors:
        if name in expanded:
            continue
        named = sum(isinstance(entry, DimEntry) for entry in tensor.shape.entries)
        exact = named == len(tensor.shape.entries)
        if named > 0 or exact:
            found.append(_given(RankRule(name, named, exact), name, optional))
        found += _bindings(name, dims)
    waiting = _Waiting(derived)
    by_name = {dim.name: dim for dim in dims}
    stars = _Stars(by_name)
    for name, tensor in tensors:
        owner = name if tensor.optional else ""
        found += waiting.named(one for entry in tensor.shape.entries for one in _named(entry))
        found += [_given(rule, name, optional) for rule in stars.computed(tensor.shape, owner)]
        rule = (_expand_rule if name in expanded else _shape_rule)(name, tensor.shape, by_name, stars)
        if rule is not None:
            found.append(_given(rule, name, optional))
    worded = [argument.name for argument in arguments if argument.has_word("contiguous")]
    contiguous = [name for name, _ in tensors if list_of(name) in worded]
    found += [_given(ContiguousRule(name), name, optional) for name in contiguous]
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
        found += _output_rules(output, arguments, by_name, stars)
    for tensor_ in scratch:
        found += sizes_rules(arguments, tensor_.name, tensor_.type.shape)
        found += stars.computed(tensor_.type.shape)
    found += [_given(rule, rule.argument, optional) for rule in values]
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


def list_rules(tensors: Sequence[tuple[str, TensorType]], dims: Sequence[Dim]) -> Iterator[CountRule]:
    """A list has tensors; lists whose shapes share a name have equally many."""
    for name, tensor in tensors:
        if tensor.is_list:
            yield CountRule(name)
            used = {one for entry in tensor.shape.entries for one in _named(entry)}
            owners = dict.fromkeys(dim.each for dim in dims if dim.name in used and dim.each not in ("", name))
            yield from (CountRule(name, owner) for owner in owners)


def _named(entry: ShapeEntry) -> Iterator[str]:
    """The names in one entry of a shape."""
    if isinstance(entry, StarEntry):
        yield entry.name
    elif isinstance(entry, DimEntry):
        yield from (name.name for name in names(entry.expr))
    else:
        yield from named_stars(entry)


def _overlaps(tensors: Sequence[tuple[str, TensorType]], optional: frozenset[str]) -> Iterator[Rule]:
    """What is written lies neither on itself nor on any other argument; a pair of written ones is looked at once."""
    written = [name for name, tensor in tensors if tensor.written]
    for i, name in enumerate(written):
        others = [other for other, _ in tensors if other not in written[i:]]
        for other in (name, *others):
            given = tuple(one for one in dict.fromkeys((name, other)) if one in optional)
            if other == name and name != list_of(name):  # each on itself, and on the others
                yield _given(OverlapRule(name, name), name, optional)
            if name != list_of(name) or other != list_of(other):
                yield OverlapRule(name, other.replace("[_i]", "[_j]"))
                continue
            rule = OverlapRule(name, other)
            yield When(given, (), rule) if given else rule


def _output_rules(output: Output, arguments: Sequence[Argument], dims: Mapping[str, Dim], stars: _Stars) -> list[Rule]:
    """What must hold for an output to be made, where it is made."""
    shape, owner = output.type.shape, output.name if output.condition is not None else ""
    found: list[PlainRule] = [*_size_rules(output.name, shape), *stars.computed(shape, owner)]
    found += sizes_rules(arguments, output.name, shape)
    found += _dims_rules(output.name, shape, dims, stars, owner)
    if output.condition is None:
        return list(found)
    decide = Decide(output.name, output.condition, print_text(output.condition))
    return [decide, *(When((), (), rule, output.name) for rule in found)]


def _given(rule: PlainRule, argument: str, optional: frozenset[str]) -> Rule:
    """A rule on an argument does not apply where the argument is absent; one on a list is about each of its tensors."""
    if argument.endswith("[_i]"):
        return When((), (), rule, each=list_of(argument))
    return When((argument,), (), rule) if argument in optional else rule


def _bindings(argument: str, dims: Sequence[Dim]) -> Iterator[Rule]:
    """What `argument` binds: an optional one only where it was given, and those before it were not."""
    for dim in dims:
        for i, place in enumerate(dim.places):
            if place.argument == argument:
                bound = _binding(dim.name, place)
                yield (
                    When((argument,), dim.holders[:i], bound) if dim.optional else _given(bound, argument, frozenset())
                )


def _binding(name: str, place: Place) -> BindStar | BindDim:
    at = place.at
    return BindStar(name, at) if isinstance(at, Span) else BindDim(name, place.argument, at)


def _dtype_rules(types: Sequence[TypeVariable], arguments: Sequence[Argument], optional: frozenset[str]) -> list[Rule]:
    """Variables bind in order of the inputs, what is always given first; an accumulation dtype waits until its variable
    is bound.
    """
    variables = {variable.name: variable for variable in types}
    holders: dict[str, list[str]] = {name: [] for name in variables}
    named = {name for name, kind in scalars(arguments) if kind.variable}
    found: list[Rule] = []
    waiting: list[tuple[str, str]] = []
    order = {variable.name: place for place, variable in enumerate(types) if variable.listed}
    unbound_yet = [variable for variable in types if variable.allowed[0] in variables]
    for name, dtype in sorted(_dtypes(arguments), key=lambda item: _rank(item, order, optional)):
        place = _rank((name, dtype), order, optional)[0]
        while unbound_yet and order[unbound_yet[0].name] < place:
            found += _first_dtype(unbound_yet.pop(0), holders, optional)
        match dtype:
            case FixedDtype():
                found.append(_given(DtypeRule(name, "", (dtype.name,)), name, optional))
            case Variable() if name.endswith("[_i]"):
                source = holders[dtype.name][0]  # its first tensor, if nothing before it
                found.append(_given(SameDtypeRule(name, dtype.name, source), name, optional))
            case Variable():
                variable = variables[dtype.name]
                bound = holders[variable.name]
                if name.endswith("[0]") and bound and bound[0] not in optional:
                    continue  # each of the list is compared
                same = [SameDtypeRule(name, variable.name, source) for source in bound]
                first = DtypeRule(name, variable.name, variable.allowed, name in named)
                found += _by_holder(name, bound, [*same, first], optional)
                if not bound or bound[0] in optional:
                    bound.append(name)
            case Acc():
                bound = holders[dtype.variable]
                if bound and bound[0] not in optional:
                    found.append(_given(AccDtypeRule(name, dtype.variable, bound[0]), name, optional))
                else:
                    waiting.append((name, dtype.variable))
    for variable in unbound_yet:
        found += _first_dtype(variable, holders, optional)
    for name, letter in waiting:
        # What no input binds takes its first dtype.
        unbound = DtypeRule(name, "", (DTYPES[variables[letter].dtypes[0]].acc,))
        bound = holders[letter]
        found += _by_holder(name, bound, [*(AccDtypeRule(name, letter, source) for source in bound), unbound], optional)
    return found


def _first_dtype(
    variable: TypeVariable, holders: Mapping[str, Sequence[str]], optional: frozenset[str]
) -> Iterator[Rule]:
    """What a variable is that no given argument binds, where its list begins with an earlier variable."""
    bound = holders[variable.name]
    if not bound or bound[0] in optional:
        yield When((), tuple(bound), FirstDtype(variable.name, variable.allowed[0]))


def _rank(item: tuple[str, Dtype], order: Mapping[str, int], optional: frozenset[str]) -> tuple[int, bool]:
    """Where an argument stands among those that bind dtypes: behind what its list of dtypes names, then as given."""
    name, dtype = item
    return order.get(dtype.name, -1) if isinstance(dtype, Variable) else -1, name in optional


def _dtypes(arguments: Sequence[Argument]) -> Iterator[tuple[str, Dtype]]:
    """The arguments that have a dtype, or name the one that a variable stands for."""
    for argument in arguments:
        if isinstance(argument.type, TensorType) and argument.type.is_list:
            if isinstance(argument.type.dtype, Variable):
                yield first_of(argument.name), argument.type.dtype
            yield each_of(argument.name), argument.type.dtype
        elif isinstance(argument.type, TensorType):
            yield argument.name, argument.type.dtype
        elif argument.type.variable:
            yield argument.name, Variable(argument.type.variable)


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


def _by_holder(
    argument: str, holders: Sequence[str], rules: Sequence[PlainRule], optional: frozenset[str]
) -> Iterator[Rule]:
    """One rule for each argument that can have bound the variable, and a last one for where none did. An argument that
    is always given leaves no other case.
    """
    own = (argument,) if argument in optional else ()
    for i, rule in enumerate(rules):
        source = holders[i] if i < len(holders) else ""
        given = own if not source or source not in optional else (*own, source)
        absent = tuple(holders[:i])
        yield When(given, absent, rule) if given or absent else rule
        if source and source not in optional:
            return


class _Stars:
    """The functions of stars of one operator: each is computed once, before the first shape that uses it, and once more
    for each optional input, and each output with a condition, that states it.
    """

    def __init__(self, dims: Mapping[str, Dim]) -> None:
        self.dims = dims
        self.found: dict[tuple[str, str], int] = {}

    def computed(self, shape: Shape, owner: str = "") -> list[ComputeStar]:
        """The rules that compute what this shape uses and no shape before it did; `owner` is what states it and may
        be absent.
        """
        rules = []
        for entry in shape.entries:
            if isinstance(entry, DimEntry | StarEntry) or {("", entry.text), (owner, entry.text)} & self.found.keys():
                continue
            known: dict[str, Known] = {}
            for name in named_stars(entry):
                _know(known, "", StarEntry(name, name), self.dims)
            number = self.found[owner, entry.text] = len(self.found)
            rules.append(ComputeStar(number, entry, tuple(known.values())))
        return rules

    def number(self, entry: StarFunction, owner: str = "") -> int:
        """The number of a function that was computed."""
        return self.found.get(("", entry.text), self.found.get((owner, entry.text), -1))


def _dims_rules(tensor: str, shape: Shape, dims: Mapping[str, Dim], stars: _Stars, owner: str) -> list[DimsRule]:
    """A star has as many dims as fit beside the other entries of its inputs; an output may name more of them."""
    named = sum(isinstance(entry, DimEntry) for entry in shape.entries)
    for entry in shape.entries:
        if isinstance(entry, StarEntry) and entry.name not in dims:  # a list, of any length
            return [DimsRule(tensor, named, entry.name)]
        if isinstance(entry, StarEntry):
            places = dims[entry.name].places if entry.name in dims else ()  # else it is an argument
            spans = [place.at for place in places if isinstance(place.at, Span)]
            if spans and named > min(span.front + span.back for span in spans):
                return [DimsRule(tensor, named, entry.name)]
        elif not isinstance(entry, DimEntry) and named > 0:
            return [DimsRule(tensor, named, stars.number(entry, owner))]
    return []


def _shape_rule(argument: str, shape: Shape, dims: Mapping[str, Dim], stars: _Stars) -> ShapeRule | None:
    """What `argument` must agree with, beside what it binds itself."""
    comparisons: list[Comparison] = []
    known: dict[str, Known] = {}
    star = next((i for i, entry in enumerate(shape.entries) if not isinstance(entry, DimEntry)), None)
    for i, entry in enumerate(shape.entries):
        index = index_of(i, len(shape.entries), star)
        if isinstance(entry, StarEntry):
            span = Span(argument, i, len(shape.entries) - i - 1)
            if entry.name not in dims or not _binds(Place(argument, span), dims[entry.name]):
                comparisons.append(StarCompare(entry.name, span))
                _know(known, argument, entry, dims)
        elif not isinstance(entry, DimEntry):
            number = stars.number(entry, argument)
            comparisons.append(ComputedCompare(number, Span(argument, i, len(shape.entries) - i - 1)))
            known[entry.text] = Known(entry.text.removeprefix("*"), "", computed=number)
        elif not _binds_expr(Place(argument, index), entry.expr, dims):
            comparisons.append(DimCompare(index, entry.expr))
            _know(known, argument, entry, dims)
    return ShapeRule(argument, shape.text, tuple(comparisons), tuple(known.values())) if comparisons else None


def _expand_rule(argument: str, shape: Shape, dims: Mapping[str, Dim], stars: _Stars) -> ExpandRule:
    """To what `argument` is broadcast; it binds nothing itself."""
    known: dict[str, Known] = {}
    for entry in shape.entries:
        _know(known, argument, entry, dims)
        if not isinstance(entry, DimEntry | StarEntry):
            known[entry.text] = Known(entry.text.removeprefix("*"), "", computed=stars.number(entry, argument))
    sizes = tuple(entry.expr for entry in shape.entries if isinstance(entry, DimEntry))
    return ExpandRule(argument, shape.text, sizes, tuple(known.values()))


def _know(known: dict[str, Known], argument: str, entry: ShapeEntry, dims: Mapping[str, Dim]) -> None:
    """Adds the values that a message about one entry of the shape of `argument` prints."""
    if isinstance(entry, StarEntry):
        # A list is an argument of that name itself.
        source = _source(argument, dims[entry.name]) if entry.name in dims else ""
        known.setdefault(entry.name, Known(entry.name, source, star=True))
    for name in names(entry.expr) if isinstance(entry, DimEntry) else ():
        source = _source(argument, dims[name.name]) if name.name in dims else ""
        known.setdefault(name.name, Known(name.name, source))


def _source(argument: str, dim: Dim) -> str:
    """The argument that a message names as the one that a value is from, if it is always the same one."""
    earlier = dim.holders[: dim.holders.index(argument)] if argument in dim.holders else dim.holders
    return earlier[0] if len(earlier) == 1 else ""


def _binds(place: Place, dim: Dim) -> bool:
    """Whether the dim takes its value here, whenever this argument is given."""
    return dim.places[0] == place


def _binds_expr(place: Place, expr: Expr, dims: Mapping[str, Dim]) -> bool:
    return isinstance(expr, Name) and expr.kind is NameKind.DIM and _binds(place, dims[expr.name])


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
            known.add(rule.condition)
            if isinstance(rule.condition, Logic) and rule.condition.operator == "and":
                known.update(rule.condition.operands)
    return tuple(kept)


def _size_rules(tensor: str, shape: Shape) -> list[SizeRule]:
    """Computed sizes that could be negative."""
    sizes = [(entry.expr, entry.text) for entry in shape.entries if isinstance(entry, DimEntry)]
    sizes += [(entry.size, print_text(entry.size)) for entry in shape.entries if isinstance(entry, ReplaceEntry)]
    return [
        SizeRule(tensor, expr, text)
        for expr, text in sizes
        if not never_negative(expr) and not uses(expr, NameKind.HARDWARE)
    ]


def never_negative(expr: Expr) -> bool:
    """Whether `expr` cannot be negative whatever the sizes of the inputs are."""
    match expr:
        case Constant():
            return not isinstance(expr.value, str) and expr.value >= 0
        case Name():
            return expr.kind in (NameKind.DIM, NameKind.STAR, NameKind.DYNAMIC, NameKind.HARDWARE)
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
        case Conditional():
            return never_negative(expr.then) and never_negative(expr.otherwise)
    return expr.type is Type.INT and hasattr(expr, "function") and expr.function in ("numel", "size", "dim", "len")
