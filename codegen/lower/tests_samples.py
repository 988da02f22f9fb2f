"""Concrete calls for generated tests: sizes for every dim, shapes of every tensor, elements that `values:` allows.

`samples:` gives sizes; without it there are sensible ones. A sample that fails a check is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from codegen.contract import Argument, DimEntry, ScalarType, Shape, StarEntry, TensorType
from codegen.expr import Expr, Name, Query, walk
from codegen.expr_fold import FoldError
from codegen.expr_value import value
from codegen.model import Operator
from codegen.rules import ElementsRule
from codegen.types import DTYPES

Size = int | tuple[int, ...]
Scalar = int | float | bool | str

STARS: tuple[tuple[int, ...], ...] = ((), (1,), (3,), (0,), (3, 0, 2), (2, 3), (1, 5, 1))
MANY_ROWS = (70_001,)  # more than fit a grid of 65,535 blocks
DIMS = (1, 2, 7, 33, 64, 1000, 1024, 1100, 0)
USUAL_STAR, USUAL_DIM, DIM_STEP = (2, 3), 7, 2
FLOATS = (1.0, 0.5, 0.0, -1.0, 2.0)
INTEGERS = (1, 2, 0, -1, 3, 4, 8)


@dataclass(frozen=True)
class Sample:
    """A value for every dim and every scalar argument, and the dtypes of one call."""

    op: Operator
    dims: Mapping[str, Size]
    scalars: Mapping[str, Scalar]
    dtypes: Mapping[str, str]

    def value(self, expr: Expr, known: Mapping[str, Scalar] | None = None) -> Scalar | None:
        """What an expression is in this call, with some names `known` beforehand; None where that is an error."""
        try:
            return value(expr, lambda name: known[name] if known and name in known else self._name(name), self._query)
        except FoldError:
            return None

    def _name(self, name: str) -> Scalar:
        """A dim as a number, a scalar argument, a dtype variable, or an entry of `dims:`, computed when first used."""
        if name not in self._names:
            derived = next(derived for derived in self.op.derived if derived.name == name)
            self._names[name] = value(derived.expr, self._name, self._query)
        return self._names[name]

    @cached_property
    def _names(self) -> dict[str, Scalar]:
        sizes = {name: size if isinstance(size, int) else prod(size) for name, size in self.dims.items()}
        return {**sizes, **self.scalars, **self.dtypes}

    def _query(self, query: Query) -> Scalar:
        """A question about a tensor, answered from its contract."""
        if query.function == "sizeof":
            return DTYPES[self.dtypes.get(query.subject, query.subject)].size
        shape = self.shape(self._shape_of(query.subject))
        if query.function == "size":
            index = self.value(query.operands[0])
            if not isinstance(index, int) or not -len(shape) <= index < len(shape):
                raise FoldError("no such dimension")
            return shape[index]
        return prod(shape) if query.function == "numel" else len(shape)

    def _shape_of(self, tensor: str) -> Shape:
        kind = self.op.argument(tensor).type
        assert isinstance(kind, TensorType)
        return kind.shape

    def shape(self, shape: Shape) -> tuple[int, ...]:
        """The sizes of a tensor."""
        sizes: list[int] = []
        for entry in shape.entries:
            if isinstance(entry, StarEntry):
                star = self.dims[entry.name]
                assert isinstance(star, tuple)
                sizes += star
            elif isinstance(entry, DimEntry):
                size = self.value(entry.expr)
                sizes.append(size if isinstance(size, int) else -1)
        return tuple(sizes)

    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The sizes of every tensor argument and output."""
        return self._shapes

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        tensors = [(argument.name, argument.type) for argument in self.op.tensors]
        found = {name: self.shape(kind.shape) for name, kind in tensors if isinstance(kind, TensorType)}
        return found | {output.name: self.shape(output.type.shape) for output in self.op.outputs}

    def between(self, argument: str) -> tuple[int, int] | None:
        """The elements that `values:` allows for an argument: from the first up to but without the second."""
        rules = [rule for rule in self.op.values if isinstance(rule, ElementsRule) and rule.argument == argument]
        used = {node.name for rule in rules for node in walk(rule.condition) if isinstance(node, Name)}
        sizes = [size if isinstance(size, int) else prod(size) for name, size in self.dims.items() if name in used]
        largest = max([1, *sizes])
        numbers = range(-3, largest + 4) if largest < 16 else (*range(-3, 4), *range(largest - 4, largest + 4))
        good = [number for number in numbers if all(self.allows(rule, number) for rule in rules)]
        return (good[0], good[-1] + 1) if good else None

    def allows(self, rule: ElementsRule, element: int) -> bool:
        """Whether one element satisfies a rule."""
        return bool(self.value(rule.condition, {rule.argument: element}))

    def valid(self) -> bool:
        """Whether a call with these sizes is right."""
        shapes = self.shapes()
        if any(size < 0 for shape in shapes.values() for size in shape):
            return False
        for rule in self.op.values:
            if (
                isinstance(rule, ElementsRule)
                and 0 not in shapes[rule.argument]
                and self.between(rule.argument) is None
            ):
                return False
        return all(bool(self.value(check.condition)) for check in self.op.checks)


def base(op: Operator) -> Sample:
    """A small call: distinct sizes greater than one; scalars at their defaults, else the first value that passes."""
    sizes: dict[str, Size] = {}
    plain = USUAL_DIM
    for dim in op.dims:
        sizes[dim.name] = USUAL_STAR if dim.star else plain
        plain += 0 if dim.star else DIM_STEP
    dtypes = dict(op.dtype_choices[0])
    scalars: dict[str, Scalar] = {}
    for argument in op.scalars:
        scalars[argument.name] = _usual(argument)
    first = Sample(op, sizes, scalars, dtypes)
    if first.valid():
        return first
    for sample in _variations(first):
        if sample.valid():
            return sample
    return first


def _usual(argument: Argument) -> Scalar:
    assert isinstance(argument.type, ScalarType)
    if argument.default is not None and isinstance(argument.default.value, int | float | str):
        value = argument.default.value
        return float(value) if argument.type.kind == "float" else value
    return {"float": 1.0, "bool": True}.get(argument.type.kind, 1)


def candidates(op: Operator, name: str) -> tuple[Scalar, ...]:
    """Values of a scalar argument worth trying."""
    kind = op.argument(name).type
    assert isinstance(kind, ScalarType)
    return {"float": FLOATS, "bool": (True, False)}.get(kind.kind, INTEGERS)


def _variations(sample: Sample) -> Iterator[Sample]:
    """One name changed, then two."""
    once = list(_one_changed(sample))
    yield from once
    for first in once:
        yield from _one_changed(first)


def _one_changed(sample: Sample) -> Iterator[Sample]:
    given = dict(sample.op.samples.sizes)
    for dim in sample.op.dims:
        for size in given.get(dim.name, ()) or (STARS if dim.star else DIMS):
            if isinstance(size, tuple) == dim.star and isinstance(size, int | tuple):
                yield Sample(sample.op, {**sample.dims, dim.name: size}, sample.scalars, sample.dtypes)
    for argument in sample.op.scalars:
        for scalar in candidates(sample.op, argument.name):
            yield Sample(sample.op, sample.dims, {**sample.scalars, argument.name: scalar}, sample.dtypes)


def failing(op: Operator, condition: Expr, earlier: tuple[Expr, ...]) -> Sample | None:
    """A call for which `condition` is false and everything before it holds."""
    for sample in _variations(base(op)):
        fits = all(size >= 0 for shape in sample.shapes().values() for size in shape)
        if fits and sample.value(condition) is False and all(sample.value(one) is True for one in earlier):
            return sample
    return None


def samples(op: Operator) -> list[Sample]:
    """The calls that results are compared for: each size in turn, the others as usual; then many rows."""
    first = base(op)
    found = [first]
    for dim in op.dims:
        found += _sizes(first, dim.name, dim.star)
    stars = [dim.name for dim in op.dims if dim.star]
    if stars:
        found.append(Sample(op, {**first.dims, stars[0]: MANY_ROWS}, first.scalars, first.dtypes))
    unique = {tuple(sample.dims.items()): sample for sample in found if sample.valid()}
    return list(unique.values())


def _sizes(first: Sample, name: str, star: bool) -> Iterator[Sample]:
    given = dict(first.op.samples.sizes).get(name)
    sizes: tuple[Size, ...] = STARS if star else DIMS
    if star and all(dim.star for dim in first.op.dims):
        sizes = (*STARS, *((size,) for size in DIMS if size > 1))
    if given is not None:
        sizes = tuple((int(size),) if star else int(size) for size in given)
    for size in sizes:
        yield Sample(first.op, {**first.dims, name: size}, first.scalars, first.dtypes)


def growing(op: Operator) -> list[Sample]:
    """Four calls in which every size is different and at least two, for compiling with dynamic shapes."""
    attempts = [_spread(op, 2 + step) for step in range(20)]
    found = [sample for sample in attempts if sample.valid()]
    return ([sample for sample in found if _all_above_one(sample)] or found)[:4]


def _spread(op: Operator, lowest: int) -> Sample:
    first, sizes = base(op), {}
    for i, (name, size) in enumerate(first.dims.items()):
        start = lowest + 10 * i
        sizes[name] = start if isinstance(size, int) else tuple(start + 5 * k for k in range(len(size)))
    return Sample(op, sizes, first.scalars, first.dtypes)


def _all_above_one(sample: Sample) -> bool:
    return all(size > 1 for shape in sample.shapes().values() for size in shape)


def large(op: Operator) -> list[Sample]:
    """For each dim a call in which that dim makes some tensor larger than 32 bits can count."""
    first, found = base(op), []
    for dim in op.dims:
        one = Sample(op, {**first.dims, dim.name: (1,) if dim.star else 1}, first.scalars, first.dtypes).shapes()
        two = Sample(op, {**first.dims, dim.name: (2,) if dim.star else 2}, first.scalars, first.dtypes).shapes()
        growth = max(prod(two[name]) - prod(one[name]) for name in one)
        count = (2**31 + 10_000) // max(growth, 1)
        sample = Sample(op, {**first.dims, dim.name: (count,) if dim.star else count}, first.scalars, first.dtypes)
        if growth > 0 and sample.valid():
            found.append(sample)
    return found
