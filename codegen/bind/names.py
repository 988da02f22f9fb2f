"""Which names the shapes of inputs bind, and where each name takes its value."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from codegen.frozen import dataclass, replace
from codegen.model import Dim, Place
from codegen.positions import Index, Span, each_of, first_given_of, first_of


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
    element_optional: bool = False  # of which some may be absent

    @property
    def unsure(self) -> bool:
        """Whether there may be no tensor of this shape."""
        return self.optional or self.element_optional

    def of(self, tensor: str) -> PlainShape:
        """The same as the shape of a tensor of the list."""
        return replace(self, argument=tensor)


def find_dims(shapes: Sequence[PlainShape], valued: frozenset[str]) -> tuple[Dim, ...]:
    """The names that the shapes of inputs bind, in order of first binding; what is always given binds first.

    `valued` are the names that have a value already: scalar arguments and `dims:`. A name that is a star anywhere is
    bound there; without its star it is the product, which is compared. A name that only lists have binds for each of
    their tensors.
    """
    stars = {entry.name for shape in shapes for entry in shape.entries if entry.star and entry.name}
    alone = [shape for shape in shapes if not shape.is_list]
    lists = [shape for shape in shapes if shape.is_list]
    once = {entry.name for shape in alone for entry in shape.entries}
    found: dict[str, Dim] = {}

    def bind(shape: PlainShape, optional: bool, each: str = "", only: Collection[str] | None = None) -> None:
        for name, place in _places(shape, stars):
            known = found.get(name)
            if name in valued or (only is not None and name not in only):
                continue
            if known is not None and not (optional and known.optional and bool(known.each) == bool(each)):
                continue
            places = known.places if known is not None else ()
            if all(earlier.argument != place.argument for earlier in places):
                found[name] = Dim(name, name in stars, (*places, place), optional, known.each if known else each)

    for unsure in (False, True):
        for shape in alone:
            if shape.unsure is unsure:
                bind(shape, unsure)
        for shape in lists:  # what inputs that are no lists share with them is the same for all of their tensors
            if shape.unsure is unsure:
                bind(shape.of((first_given_of if unsure else first_of)(shape.argument)), unsure, only=once)
    for unsure in (False, True):
        for shape in lists:
            if shape.unsure is unsure:
                bind(shape.of(each_of(shape.argument)), unsure, shape.argument)
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
