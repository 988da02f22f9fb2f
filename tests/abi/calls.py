"""Which calls a script for driver.c makes: the sample calls and the wrong calls of operators, as their generated tests
have them, and others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from math import prod

from codegen.contract import Argument
from codegen.lower.sample import Sample, Size
from codegen.lower.schema import DispatchedOperator, dispatched, only_direct
from codegen.lower.tests.refused import Wrong, wrong_calls
from codegen.lower.tests.samples import absences, base, samples
from codegen.lower.tests.scalars import Scalar, candidates, kind_of, sampled
from codegen.model import Library, Operator
from tests.abi.call import ANY, LAYOUTS, MOST, Call, possible

WILD = (2**62, 2**40, -(2**63), 2**63 - 1, 0)  # sizes and numbers that leave 64 bits in some expression
WIDE = (16, 120, 300, 500, 4096, 9000, 20_000, 40_000, 100_000, 300_000)  # sizes between which launches switch
LARGEST = 2**20  # elements of a tensor of a wide call


def _devices(op: Operator) -> tuple[str, ...]:
    return ("cpu", "cuda") if "cuda" in op.devices else ("cpu",)


def _masks(op: Operator) -> list[tuple[bool, ...]]:
    places = [base(op).length if output.type.is_list else 1 for output in op.outputs]
    count = sum(places) if op.grad_mask else 0
    alone = [tuple(i == one for i in range(count)) for one in range(count)]
    return [(), *alone, (False,) * count] if count else [()]


def right_calls(op: Operator) -> Iterator[Call]:
    """Of every kernel: each sample, each choice of dtypes, each set of absent arguments, each layout and mask."""
    usual = base(op)
    with_dtypes = [replace(usual, dtypes=dict(choice)) for choice in op.dtype_choices]
    with_dtypes = [sample for sample in with_dtypes if sample.valid()]
    without = [usual.without(absent) for absent in absences(usual)]
    entries = [entry for entry in dispatched(op) if entry.public or entry.saved]
    for entry in (*entries, *only_direct(op)):
        for device in _devices(op):
            # The usual call with faults: before anything is loaded, then in each layout and mask.
            for sample in without:
                for layout in LAYOUTS:
                    yield Call(entry, sample, device, layout, faults=True)
            if entry not in entries:  # what it makes of other samples, the form that makes its outputs does too
                yield from _other_scalars(entry, usual, device)
                continue
            for mask in _masks(op):
                yield Call(entry, usual, device, mask=mask, faults=True)
            if any(kind_of(one).kind == "device" for one in op.scalars):
                yield Call(entry, usual, device, faults=True, no_device=True)
            for sample in (*with_dtypes, *samples(usual)):
                if any(prod(sample.shapes()[name]) > MOST for name in sample.elements):
                    continue  # a script would have to spell them
                yield Call(entry, sample, device, faults=True)
                if _small(sample, MOST):
                    yield Call(entry, sample, device, "misaligned")


def _other_scalars(entry: DispatchedOperator, usual: Sample, device: str) -> Iterator[Call]:
    """Scalars that are given and not, and sizes that follow from them."""
    for sample in samples(usual):
        if sample.dims == usual.dims and _small(sample, MOST):
            yield Call(entry, sample, device, "sliced", faults=True)
    if any(kind_of(one).kind == "device" and kind_of(one).optional for one in usual.op.scalars):
        yield Call(entry, usual, device, no_device=True)


def launch_calls(op: Operator) -> Iterator[Call]:
    """Calls that go another way through the launches: wide ones, and those in which one tensor lies otherwise."""
    usual, entries = base(op), [entry for entry in dispatched(op) if entry.public or entry.saved]
    names = [name for name, size in usual.dims.items() if isinstance(size, int)]
    stars = [name for name, size in usual.dims.items() if not isinstance(size, int)]
    changes: list[dict[str, Size]] = [{name: size} for name in names for size in WIDE]
    for star in stars:
        changes += [{star: (size,), **change} for change in (*changes, {}) for size in (1, 3, 600, 5000)]
    for entry in entries:
        for argument in op.tensors:
            yield Call(entry, usual, _devices(op)[-1], odd=argument.name)
        for made in range(1, len(op.outputs) + len(op.scratch) + 1):
            for size in (7, 16, 4096) if names else (7,):
                narrow = usual.resized(dict.fromkeys(names[-1:], size))
                for dtypes in op.dtype_choices[:3]:
                    sample = replace(narrow, dtypes=dict(dtypes))
                    if sample.valid():
                        yield Call(entry, sample, _devices(op)[-1], misaligned=made)
        for dtypes in op.dtype_choices[:3] if "cuda" in op.devices else ():
            for change in changes:
                sample = replace(usual.resized(change), dtypes=dict(dtypes))
                if _small(sample, LARGEST) and sample.valid():
                    yield Call(entry, sample, "cuda")


def bad_data_calls(op: Operator) -> Iterator[Call]:
    """Calls whose bodies report that data is bad, where they run."""
    for entry in dispatched(op) if "cpu" in op.devices else ():
        if entry.variant is None:
            yield Call(entry, base(op), text=ANY, bad_data=True)


def dynamic_calls(library: Library, op: Operator) -> Iterator[Call]:
    """Calls whose body finds nothing, a little, or more or less than there can be."""
    entry = dispatched(op)[0]
    for device in _devices(op) if op.dynamic else ():
        for found in (0, 1):
            yield Call(entry, base(op), device, faults=True, reports=found)
        for found in (-1, 8, 10**9):
            yield Call(entry, base(op), device, text=ANY, reports=found)
        if device == "cuda":
            text = "is known only after the kernel ran, and the capture of a CUDA graph cannot wait for it"
            text = f"{library.namespace}::{op.name}: {op.dynamic[0].name} {text}"
            yield Call(entry, base(op), device, text=text, capturing=True)


def wild_calls(op: Operator) -> Iterator[Call]:
    """Calls that may be wrong in any way, as long as their tensors can exist: huge sizes beside sizes of 0, and numbers
    at the end of what an int holds.
    """
    for dtypes in dict.fromkeys((op.dtype_choices[0], op.dtype_choices[-1])):
        yield from _wild(op, replace(base(op), dtypes=dict(dtypes)))


def _wild(op: Operator, usual: Sample) -> Iterator[Call]:
    entry = dispatched(op)[0]
    dims = [(name, not isinstance(size, int)) for name, size in usual.dims.items()]
    changes: list[dict[str, Size]] = []
    for name, star in dims:
        changes += [{name: (size,) if star else size} for size in (0, 1, 1000, 100_000)]
        changes += [{name: (1,) * count} for count in (0, 4, 63, 64) if star]
        for size in WILD[:2]:
            wild: dict[str, Size] = {name: (size, size, 0) if star else size}
            changes += [wild, {name: (size, size)} if star else {name: 2 * size - 1}]
            for other, other_star in dims:
                if other != name:
                    changes += [{**wild, other: (0,) if other_star else 0, name: (size, size) if star else size}]
                    changes += [{**wild, other: (0, size) if other_star else size}]
    found = [usual.resized(change) for change in changes]
    found += [replace(usual, length=length) for length in (1, 3, 41) if op.lists]
    changed = [(argument.name, value) for argument in sampled(op) for value in _values(argument)]
    found += [usual.with_scalars({name: value}) for name, value in changed]
    few = [(argument.name, value) for argument in sampled(op) for value in candidates(argument)]
    found += [usual.with_scalars(dict(pair)) for pair in combinations(few, 2)]
    for sample in found:
        if all(_exists(possible(shape)) for shape in sample.inputs()):
            for device in _devices(op):
                yield Call(entry, sample, device, text=ANY)


def _values(argument: Argument) -> Iterator[Scalar]:
    """Values of a scalar argument that may be wrong."""
    kind = kind_of(argument)
    yield from candidates(argument)
    if kind.is_list:
        number = candidates(replace(argument, type=replace(kind, is_list=False, length=None, optional=False)))[0]
        assert isinstance(number, int | float)
        yield from ((number,) * count for count in (6, 64, 65, 70))
        yield from ((wild, wild) for wild in WILD if kind.kind in ("int", "size"))
    elif kind.kind in ("int", "size"):
        yield from WILD


def _exists(shape: tuple[int, ...]) -> bool:
    """Whether a call can have a tensor of this shape: huge ones have no elements."""
    return all(0 <= size < 2**63 for size in shape) and prod(shape) < LARGEST


def _small(sample: Sample, most: int) -> bool:
    return all(prod(shape) < most for shape in sample.shapes().values())


def refused_calls(library: Library, op: Operator) -> Iterator[Call]:
    """Every wrong call, of each kernel that checks it; on the GPU those about elements in checking mode."""
    usual = base(op)
    for wrong in wrong_calls(usual):
        for device in _devices(op):
            for entry in dispatched(op):
                if entry.variant is None:
                    yield _refused(library, entry, usual, wrong, device)
    for entry in (*dispatched(op), *only_direct(op)):
        writes = entry.variant.writes if entry.variant is not None and entry.variant.kind == "out" else ()
        for output, given in writes if entry.public else ():
            source = op.output(output).counted_by
            text = f"{given}: expected {usual.length} tensors (as {source}), got {usual.length + 1}"
            if source:
                yield Call(entry, usual, _devices(op)[0], text=f"{library.namespace}::{op.name}: {text}", longer=output)


def _refused(library: Library, entry: DispatchedOperator, usual: Sample, wrong: Wrong, device: str) -> Call:
    op = usual.op
    moved = [op.argument(name) for name, tensor in wrong.tensors if tensor.other_device]
    to_gpu = any(argument.has_word("cpu") for argument in moved) or device == "cpu"
    names = {"cpu": "cpu", "cuda": "cuda:0"}
    text = wrong.text.replace("{device}", names[device]).replace("{other}", names["cuda" if to_gpu else "cpu"])
    return Call(
        entry,
        usual.without(frozenset(wrong.absent)),
        device,
        mask=(True,) * wrong.mask,
        text=f"{library.namespace}::{op.name}: {text}",
        tensors=dict(wrong.tensors),
        scalars=dict(wrong.scalars),
        lists=dict(wrong.lists),
        alias=wrong.alias,
        checking=wrong.elements and device == "cuda",
    )


def checking_calls(library: Library, op: Operator) -> Iterator[Call]:
    """Right calls whose elements are looked at on the GPU, and such a call while a graph is captured."""
    entry, ruled = dispatched(op)[0], [a.name for a in op.tensors if a.name in {rule.argument for rule in op.values}]
    for layout in LAYOUTS if "cuda" in op.devices and ruled else ():
        yield Call(entry, base(op), "cuda", layout, faults=True, checking=True)
        text = "its values are being checked, and the capture of a CUDA graph cannot wait for them"
        looked = [name for name in ruled if not op.argument(name).has_word("cpu")]
        text = f"{library.namespace}::{op.name}: {looked[0]}: {text}" if looked else ""
        yield Call(entry, base(op), "cuda", layout, text=text, checking=True, capturing=True)


def script(library: Library, operators: Iterable[str] = (), *, launches: bool = False) -> str:
    """All calls of some operators, of all where none is named; of these only those about launches, if so wanted."""
    wanted = set(operators) or {op.name for op in library.operators}
    lines: list[str] = []
    for op in library.operators:
        if op.name in wanted:
            calls = launch_calls(op) if launches else _all_calls(library, op)
            lines += [line for call in calls for line in call.lines()]
    return "\n".join(lines) + "\n"


def _all_calls(library: Library, op: Operator) -> Iterator[Call]:
    if base(op).valid():  # else only a function of the project knows right calls
        yield from right_calls(op)
        yield from refused_calls(library, op)
        yield from launch_calls(op)
        yield from dynamic_calls(library, op)
        yield from checking_calls(library, op)
        yield from bad_data_calls(op)
    yield from wild_calls(op)
