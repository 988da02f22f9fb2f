"""The rules on one shape: what an argument must agree with, and what must hold for an output to have its sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.bind.names import index_of
from codegen.contract import (
    Argument,
    DimEntry,
    ReplaceEntry,
    Shape,
    ShapeEntry,
    StarEntry,
    StarFunction,
    TensorType,
    named_stars,
)
from codegen.expr.text import print_text
from codegen.expr.tree import Binary, Call, Conditional, Constant, Expr, Name, NameKind, Query, names, uses
from codegen.model import Dim, Place
from codegen.positions import Comparison, ComputedCompare, DimCompare, Span, StarCompare
from codegen.rules import ComputeStar, DimsRule, ExpandRule, Known, ShapeRule, SizeRule


class Stars:
    """The functions of stars of one operator: each is computed once, before the first shape that uses it, and once more
    for each optional input, each output with a condition, and each list that states it.
    """

    def __init__(self, dims: Mapping[str, Dim]) -> None:
        self.dims = dims
        self.found: dict[tuple[str, str], int] = {}

    def computed(self, shape: Shape, owner: str = "") -> list[ComputeStar]:
        """The rules that compute what this shape uses and no shape before it did; `owner` is what states it, where
        that is a list or may be absent.
        """
        rules = []
        for entry in shape.entries:
            if isinstance(entry, DimEntry | StarEntry) or {("", entry.text), (owner, entry.text)} & self.found.keys():
                continue
            known: dict[str, Known] = {}
            for name in named_stars(entry):
                _know(known, "", StarEntry(name, name), self.dims)
            number = self.found[owner, entry.text] = len(self.found)
            rules.append(ComputeStar(number, entry, tuple(known.values()), owner))
        return rules

    def number(self, entry: StarFunction, owner: str = "") -> int:
        """The number of a function that was computed."""
        return self.found.get(("", entry.text), self.found.get((owner, entry.text), -1))


def _beside(star: str, arguments: Sequence[Argument], listed: bool) -> int:
    """The most sizes that stand beside a star in an input that has all of its dims in every call; one that binds for
    each tensor of a list, in a list.
    """
    shapes = [
        argument.type.shape.entries
        for argument in arguments
        if isinstance(argument.type, TensorType)
        and not (argument.type.may_lack_tensors or argument.has_word("expand"))
        and argument.type.is_list is listed
    ]
    having = [shape for shape in shapes if any(isinstance(one, StarEntry) and one.name == star for one in shape)]
    return max((sum(isinstance(one, DimEntry) for one in shape) for shape in having), default=0)


def dims_rules(
    tensor: str, shape: Shape, dims: Mapping[str, Dim], arguments: Sequence[Argument], stars: Stars, owner: str
) -> list[DimsRule]:
    """A star has as many dims as fit beside the other entries of its inputs; an output may name more of them."""
    named = sum(isinstance(entry, DimEntry) for entry in shape.entries)
    for entry in shape.entries:
        if isinstance(entry, StarEntry) and entry.name not in dims:  # a list, of any length
            return [DimsRule(tensor, named, entry.name)]
        if isinstance(entry, StarEntry):
            places = dims[entry.name].places if entry.name in dims else ()  # else it is an argument
            spans = [place.at for place in places if isinstance(place.at, Span)]
            beside = min((span.front + span.back for span in spans), default=named)
            if named > max(beside, _beside(entry.name, arguments, bool(dims[entry.name].each))):
                return [DimsRule(tensor, named, entry.name)]
        elif not isinstance(entry, DimEntry) and named > 0:
            return [DimsRule(tensor, named, stars.number(entry, owner))]
    return []


def shape_rule(argument: str, shape: Shape, dims: Mapping[str, Dim], stars: Stars) -> ShapeRule | None:
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


def expand_rule(argument: str, shape: Shape, dims: Mapping[str, Dim], stars: Stars) -> ExpandRule:
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


def size_rules(tensor: str, shape: Shape) -> list[SizeRule]:
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
        case Query(function="numel" | "size" | "dim" | "len" | "numel_of_list"):
            return True
    return False
