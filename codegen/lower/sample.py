"""One concrete call of an operator: a size for every dim, a value for every scalar, and what follows from them.

It answers what a call would: the value of an expression, the shape of every tensor, whether a check holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from codegen.contract import (
    BroadcastEntry,
    DimEntry,
    DropEntry,
    Output,
    Shape,
    StarEntry,
    StarFunction,
    TensorType,
    dtype_of,
    named_stars,
)
from codegen.expr.fold import FoldError
from codegen.expr.tree import Constant, Expr, Name, Query
from codegen.expr.value import Value, value
from codegen.frozen import cached_property, dataclass, replace
from codegen.lower.tests.scalars import Scalar
from codegen.lower.tests.values import Elements, elements
from codegen.model import Operator
from codegen.positions import list_of
from codegen.types import DTYPES

Size = int | tuple[int, ...]
# Tensors of a list differ in size: its second one, its third one and so on.
OTHER_STARS: tuple[tuple[int, ...], ...] = ((5,), (), (2, 0), (3, 1, 2))
OTHER_DIMS = (4, 1, 0, 12)
USUAL_LENGTH = 2


@dataclass(frozen=True)
class Sample:
    """A value for every dim and every scalar argument, and the dtypes of one call.

    `narrowed` makes the shapes of inputs that are broadcast from those that they are broadcast to.
    """

    op: Operator
    dims: Mapping[str, Size]
    scalars: Mapping[str, Scalar]
    dtypes: Mapping[str, str]
    narrowed: Callable[[tuple[int, ...]], tuple[int, ...]] | None = None
    absent: frozenset[str] = frozenset()  # optional arguments that are not given
    length: int = USUAL_LENGTH  # of every list of tensors
    holes: bool = False  # every other place is empty in lists in which some may be absent
    missing: tuple[int, ...] = (-1,)  # what stands in a shape for a function of stars that has no value
    at: int = 0  # the tensor of a list whose dims are meant, where they bind per tensor

    def size(self, name: str) -> Size:
        """A dim or a star; where each tensor of a list has its own, that of tensor number `at`."""
        size = self.dims[name]
        if self.at == 0 or not any(dim.name == name and dim.each for dim in self.op.dims):
            return size
        given = dict(self.op.samples.sizes).get(name)
        if isinstance(size, tuple):
            return (int(given[self.at % len(given)]),) if given else OTHER_STARS[(self.at - 1) % len(OTHER_STARS)]
        return int(given[self.at % len(given)]) if given else OTHER_DIMS[(self.at - 1) % len(OTHER_DIMS)]

    def value(self, expr: Expr, known: Mapping[str, Value] | None = None) -> Value | None:
        """What an expression is in this call, with some names `known` beforehand; None where that is an error."""
        if isinstance(expr, Name) and not known and expr.name in self._names:  # the commonest expression by far
            return self._names[expr.name]
        name = self._name if not known else lambda name: known[name] if name in known else self._name(name)
        try:
            return value(expr, name, self._query)
        except FoldError:
            return None

    def _name(self, name: str) -> Value:
        """A dim as a number, a scalar argument, a dtype variable, or an entry of `dims:`, computed when first used."""
        if name not in self._names:
            computed = {derived.name: derived.expr for derived in self.op.derived}
            computed |= {size.name: size.value for size in self.op.dynamic}
            self._names[name] = value(computed[name], self._name, self._query)
        return self._names[name]

    @cached_property
    def _names(self) -> dict[str, Value]:
        chosen = {name: self.size(name) for name in self.dims}
        sizes = {name: size if isinstance(size, int) else prod(size) for name, size in chosen.items()}
        given = {name: prod(map(int, one)) if isinstance(one, tuple) else one for name, one in self.scalars.items()}
        unbound = {dim.name: 0 for dim in self.op.dims if self.absent.issuperset(dim.holders)}
        return {**sizes, **unbound, **{name: one for name, one in given.items() if one is not None}, **self.dtypes}

    def _query(self, query: Query) -> Value:
        """A question about a tensor, answered from its contract, or about a scalar argument."""
        if query.function == "given":
            return query.subject not in self.absent and self.scalars.get(query.subject, True) is not None
        if query.function == "len" and query.subject in [argument.name for argument in self.op.lists]:
            return self.length
        if query.function in ("len", "entry"):
            values = self.scalars[query.subject]
            assert isinstance(values, tuple)
            return len(values) if query.function == "len" else values[int(self.value(query.operands[0]) or 0)]
        if query.function == "sizeof":
            return DTYPES[self.dtypes.get(query.subject, query.subject)].size
        if query in self.op.free_sizes:
            free = self.dims.get(self.op.free_sizes[query])
            if isinstance(free, int):
                return free
        if query.function == "numel_of_list":
            places = [i for i in range(self.length) if not self.is_hole(query.subject, i)]
            return sum(prod(replace(self, at=i).shape(self.op.shapes[query.subject])) for i in places)
        shape = self.shape(self.op.shapes[query.subject])
        if query.function == "size":
            index = self.value(query.operands[0])
            if not isinstance(index, int) or not -len(shape) <= index < len(shape):
                raise FoldError("no such dimension")
            return shape[index]
        return prod(shape) if query.function == "numel" else len(shape)

    def dtype_of(self, tensor: str) -> str:
        """The dtype of a tensor argument."""
        kind = self.op.argument(tensor).type
        assert isinstance(kind, TensorType)
        return dtype_of(kind.dtype, self.dtypes)

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """The sizes of a tensor."""
        sizes: list[int] = []
        for entry in shape.entries:
            if isinstance(entry, StarEntry):
                sizes += self.named_star(entry.name)
            elif isinstance(entry, DimEntry):
                size = self.value(entry.expr)
                sizes.append(size if isinstance(size, int) else -1)
            else:
                computed = self.star(entry)
                sizes += computed if computed is not None else self.missing
        return tuple(sizes)

    def named_star(self, name: str) -> tuple[int, ...]:
        """The sizes of a star, or the values of a list that is one."""
        sizes = self.size(name) if name in self.dims else None
        if isinstance(sizes, tuple):
            return sizes
        values = self.scalars[name]
        assert isinstance(values, tuple)
        return tuple(map(int, values))

    def star(self, entry: StarFunction) -> tuple[int, ...] | None:
        """The sizes of a function of stars; None where it has none."""
        stars = [self.named_star(name) for name in named_stars(entry)]
        if isinstance(entry, BroadcastEntry):
            return broadcast(stars)
        dim = self.value(entry.dim)
        if not isinstance(dim, int) or not -len(stars[0]) <= dim < len(stars[0]):
            return None
        place = dim % len(stars[0])
        if isinstance(entry, DropEntry):
            return (*stars[0][:place], *stars[0][place + 1 :])
        other = self.value(entry.size)
        return (*stars[0][:place], other if isinstance(other, int) else -1, *stars[0][place + 1 :])

    def makes(self, output: Output) -> bool:
        """Whether an output is there."""
        return output.condition is None or bool(self.value(output.condition))

    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The sizes of every tensor argument that is given, `xs[0]` and so on for lists, and of every output."""
        return self._shapes

    def inputs(self) -> list[tuple[int, ...]]:
        """The sizes of every tensor that goes in."""
        made = {output.name for output in self.op.outputs}
        return [shape for name, shape in self._shapes.items() if list_of(name) not in made]

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        missing = {output.name for output in self.op.outputs if not self.makes(output)} | self.absent
        lists = {argument.name: argument.name for argument in self.op.lists}
        lists |= {output.name: output.counted_by for output in self.op.list_outputs}
        found: dict[str, tuple[int, ...]] = {}
        for name, shape in self.op.shapes.items():
            if name in lists and lists[name] not in self.absent:
                places = [i for i in range(self.length) if not self.is_hole(lists[name], i)]
                found |= {f"{name}[{i}]": replace(self, at=i).shape(shape) for i in places}
            elif name not in {*missing, *lists}:
                found[name] = self.shape(shape)
        if self.narrowed is not None:
            for argument in self.op.tensors:
                if argument.has_word("expand"):
                    own = {name: shape for name, shape in found.items() if list_of(name) == argument.name}
                    found |= {name: self.narrowed(shape) for name, shape in own.items()}
        return found

    def is_hole(self, name: str, place: int) -> bool:
        """Whether a list has no tensor at this place. Where several have holes, theirs are not the same."""
        if f"{name}[{place}]" in self.absent:
            return True
        some = [
            argument.name
            for argument in self.op.lists
            if isinstance(argument.type, TensorType) and argument.type.element_optional
        ]
        return self.holes and name in some and (place + some.index(name)) % 2 == 0

    @cached_property
    def elements(self) -> Mapping[str, Elements | None]:
        """How the arguments that `values:` names are filled; None where nothing obeys its rules."""
        shapes, ruled = self.shapes(), {rule.argument for rule in self.op.values}
        return {
            argument.name: elements(argument, self.op.types, self.op.values, shapes[argument.name], self.value)
            for argument in self.op.tensors
            if argument.name in ruled and argument.name not in self.absent
        }

    def resized(self, dims: Mapping[str, Size]) -> Sample:
        """The same call with some dims of other sizes."""
        return replace(self, dims={**self.dims, **dims})

    def with_scalars(self, scalars: Mapping[str, Scalar]) -> Sample:
        """The same call with other values of some scalar arguments."""
        return replace(self, scalars={**self.scalars, **scalars})

    def without(self, absent: frozenset[str]) -> Sample:
        """The same call without some optional arguments."""
        return self if absent == self.absent else replace(self, absent=absent)

    def valid(self) -> bool:
        """Whether a call with these sizes is right."""
        return self._valid

    @cached_property
    def _valid(self) -> bool:
        shapes = self.shapes()
        if any(size < 0 for shape in shapes.values() for size in shape):
            return False
        for query, text in self.op.free_sizes.items():
            index = query.operands[0]
            if query.subject in self.absent or not isinstance(index, Constant):
                continue
            if shapes[query.subject][int(index.value)] != self.dims[text]:
                return False
        return all(bool(self.value(check.condition)) for check in self.op.checks) and None not in self.elements.values()


def broadcast(stars: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """NumPy broadcasting; None where sizes disagree."""
    count = max(map(len, stars))
    columns = zip(*((1,) * (count - len(star)) + star for star in stars), strict=True)
    wide = [{size for size in column if size != 1} or {1} for column in columns]
    return tuple(next(iter(sizes)) for sizes in wide) if all(len(sizes) == 1 for sizes in wide) else None
