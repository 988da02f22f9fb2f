"""Which calls generated tests make: sizes for every dim, values for scalar arguments, what is left out.

`samples:` gives sizes; without it there are sensible ones. A sample that fails a check is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from math import prod

from codegen.contract import MAX_DIMS, BroadcastEntry, TensorType
from codegen.frozen import replace
from codegen.lower.sample import Sample, Size
from codegen.lower.tests.scalars import (
    Scalar,
    compared,
    kind_of,
    optional_dtypes,
    sampled,
    usual_scalar,
)
from codegen.lower.tests.variations import DIMS, LENGTHS, STARS, chosen, right
from codegen.model import Operator
from codegen.positions import list_of
from codegen.rules import DimsRule

MANY_ROWS = (70_001,)  # more than fit a grid of 65,535 blocks
# What an input that is to be broadcast may look like, by its full shape.
NARROWED: tuple[Callable[[tuple[int, ...]], tuple[int, ...]], ...] = (
    lambda shape: shape[-1:],
    lambda shape: (*(1 for _ in shape[:-1]), *shape[-1:]),
    lambda shape: (*shape[:-1], *(1 for _ in shape[-1:])),
    lambda shape: (),
)
USUAL_STAR, USUAL_DIM, DIM_STEP = (2, 3), 7, 2


def base(op: Operator) -> Sample:
    """A small call: distinct sizes greater than one; scalars at their defaults, else the first value that passes."""
    sizes: dict[str, Size] = {}
    plain = USUAL_DIM
    given = dict(op.samples.sizes)
    for name, star in chosen(op):
        listed = [int(size) for size in given.get(name, ())]
        size = next((size for size in listed if size > 1), listed[0] if listed else plain)
        sizes[name] = (size,) if star and listed else USUAL_STAR if star else size
        plain += 0 if star else DIM_STEP
    dtypes = dict(op.dtype_choices[0])
    scalars: dict[str, Scalar] = {}
    for argument in sampled(op):
        scalars[argument.name] = next(iter(given.get(argument.name, ())), usual_scalar(argument))
    first = Sample(op, sizes, scalars, dtypes)
    return first if first.valid() else right(first) or first


def with_dims(usual: Sample, rule: DimsRule) -> Sample | None:
    """A call in which an output would have more than MAX_DIMS dims."""
    for name, size in usual.dims.items():
        for dims in range(MAX_DIMS - 2, MAX_DIMS + 1) if isinstance(size, tuple) else ():
            sample = usual.resized({name: (1,) * dims})
            shapes = sample.shapes()
            right = all(len(shape) <= MAX_DIMS and min(shape, default=0) >= 0 for shape in sample.inputs())
            made = shapes.get(rule.tensor, ())
            if right and len(made) > MAX_DIMS and -1 not in made:
                return sample
    return None


def samples(usual: Sample) -> list[Sample]:
    """The calls that results are compared for: each size and scalar in turn, the others as usual; then many rows."""
    op, found = usual.op, [usual]
    for name, star in chosen(op):
        found += _sizes(usual, name, star)
    for argument in sampled(op):
        found += [usual.with_scalars({argument.name: scalar}) for scalar in compared(op, argument)]
    found += [replace(usual, length=length) for length in LENGTHS if op.lists]
    if any(argument.type.element_optional for argument in op.lists if isinstance(argument.type, TensorType)):
        found += [replace(usual, length=length, holes=True) for length in LENGTHS if length > 1]
    found += [usual.resized(stars) for stars in _broadcasting(op)]
    if any(argument.has_word("expand") for argument in op.tensors):
        found += [replace(usual, narrowed=narrowed) for narrowed in NARROWED]
    stars = [dim.name for dim in op.dims if dim.star]
    if stars:
        found.append(usual.resized({stars[0]: MANY_ROWS}))
    unique = {(*one.dims.items(), *one.scalars.items(), one.narrowed, one.length, one.holes): one for one in found}
    return [sample for sample in unique.values() if sample.valid()]


def _broadcasts(op: Operator) -> list[tuple[str, ...]]:
    """The stars that broadcast with one another."""
    shapes = [argument.type.shape for argument in op.tensors if isinstance(argument.type, TensorType)]
    shapes += [output.type.shape for output in op.outputs]
    entries = [entry for shape in shapes for entry in shape.entries if isinstance(entry, BroadcastEntry)]
    return list(dict.fromkeys(entry.names for entry in entries))


def _broadcasting(op: Operator) -> Iterator[dict[str, tuple[int, ...]]]:
    """Sizes of stars that broadcast without being equal: each of them in turn has fewer."""
    for stars in _broadcasts(op):
        for narrow in ((), (1,), (3,), (2, 1), (1, 1, 3), (1, 1)):
            for name in stars:
                yield {**dict.fromkeys(stars, USUAL_STAR), name: narrow}
        yield dict(zip(stars, ((2, 1), (1, 3), (3,), ()), strict=False))
        yield dict(zip(stars, ((0, 1), (1, 3), (1,), ()), strict=False))


def _sizes(usual: Sample, name: str, star: bool) -> Iterator[Sample]:
    given = dict(usual.op.samples.sizes).get(name)
    sizes: tuple[Size, ...] = STARS if star else DIMS
    if star and all(is_star for _, is_star in chosen(usual.op)):
        sizes = (*STARS, *((size,) for size in DIMS if size > 1))
    if given is not None:
        sizes = tuple((int(size),) if star else int(size) for size in given)
    for size in sizes:
        yield usual.resized({name: size})


def growing(usual: Sample) -> list[Sample]:
    """Four calls in which every size is different and at least two, `size` arguments among them, for compiling with
    dynamic shapes.
    """

    def right() -> Iterator[Sample]:
        spread = (_spread(usual, 2 + step, falling) for falling in (False, True) for step in range(20))
        return (sample for sample in chain(_together(usual), spread) if sample.valid())

    return list(islice(filter(_all_above_one, right()), 4)) or list(islice(right(), 4)) or [usual]


def _together(usual: Sample) -> Iterator[Sample]:
    """Calls with the first of all sizes that `samples:` gives, with the second of all, and so on."""
    stars = {dim.name: dim.star for dim in usual.op.dims}
    given = {name: sizes for name, sizes in usual.op.samples.sizes if name in stars}
    for sizes in zip(*given.values(), strict=False):
        named = zip(given, map(int, sizes), strict=True)
        yield usual.resized({name: (size,) if stars[name] else size for name, size in named})


def _spread(usual: Sample, lowest: int, falling: bool) -> Sample:
    """Sizes that rise from one dim to the next, or fall, as checks may want it."""
    sizes: dict[str, Size] = {}
    for i, (name, size) in enumerate(list(usual.dims.items())[:: -1 if falling else 1]):
        start = lowest + 10 * i
        sizes[name] = start if isinstance(size, int) else tuple(start + 5 * k for k in range(len(size)))
    for stars in _broadcasts(usual.op):
        sizes |= dict.fromkeys(stars, sizes[stars[0]])
    plain = usual.resized(sizes)
    found: dict[str, Scalar] = {}
    for i, argument in enumerate(sampled(usual.op)):
        scalar, start = usual.scalars[argument.name], lowest + 3 * i
        if kind_of(argument).kind == "size" and scalar is not None:
            found[argument.name] = tuple(start + k for k in range(len(scalar))) if isinstance(scalar, tuple) else start
    if not found:
        return plain
    spread = plain.with_scalars(found)
    return spread if spread.valid() else plain


def _all_above_one(sample: Sample) -> bool:
    return all(size > 1 for shape in sample.shapes().values() for size in shape)


def absences(usual: Sample) -> list[frozenset[str]]:
    """Sets of optional tensors and dtypes that a call can leave out: none, all, each alone given or alone left out."""
    optional = [argument.name for argument in usual.op.tensors if argument.type.optional]
    optional += optional_dtypes(usual.op)
    every = frozenset(optional)
    sets = [frozenset(), every, *(frozenset({name}) for name in optional), *(every - {name} for name in optional)]
    return [absent for absent in dict.fromkeys(sets) if usual.without(absent).valid()]


def large(usual: Sample) -> list[Sample]:
    """For each dim a call in which that dim makes some tensor larger than 32 bits can count: one that kernels of a GPU
    see, unlike those that stay on the host.
    """
    found = []
    on_host = {argument.name for argument in usual.op.tensors if argument.has_word("cpu")}
    for name, star in chosen(usual.op):
        one = usual.resized({name: (1,) if star else 1}).shapes()
        two = usual.resized({name: (2,) if star else 2}).shapes()
        seen = [tensor for tensor in one if list_of(tensor) not in on_host]
        growth = max((prod(two[tensor]) - prod(one[tensor]) for tensor in seen), default=0)
        count = (2**31 + 10_000) // max(growth, 1)
        sample = usual.resized({name: (count,) if star else count})
        if growth > 0 and sample.valid():
            found.append(sample)
    return found
