"""Scripts for driver.c: the sample calls and the wrong calls of operators, as their generated tests have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod

import torch

from codegen.contract import Argument, ScalarType, TensorType, dtype_of
from codegen.lower.sample import USUAL_LENGTH, Sample, Size
from codegen.lower.schema import DispatchedOperator, dispatched
from codegen.lower.tests.refused import Wrong, mask_count, wrong_calls
from codegen.lower.tests.samples import absences, base, samples
from codegen.lower.tests.scalars import Scalar, candidates, kind_of, sampled
from codegen.lower.tests.texts import WrongTensor
from codegen.model import Library, Operator
from codegen.types import DTYPES

LAYOUTS = ("contiguous", "sliced", "transposed", "misaligned")
MOST = 20_000  # elements that a script spells; larger tensors hold what memory holds
WILD = (2**62, 2**40, -(2**63), 2**63 - 1, 0)  # sizes and numbers that leave 64 bits in some expression
WIDE = (16, 120, 300, 500, 4096, 9000, 20_000, 40_000, 100_000, 300_000)  # sizes between which launches switch
LARGEST = 2**20  # elements of a tensor of a wide call
ANY = "*"  # in the place of a text: an error or none
LISTS = {"int": "ints", "size": "ints", "float": "floats", "bool": "bools"}


@dataclass(frozen=True)
class Call:
    """One call of one kernel; `changes` are what is wrong in it, `text` the error that this makes."""

    entry: DispatchedOperator
    sample: Sample
    device: str = "cpu"
    layout: str = "contiguous"
    mask: tuple[bool, ...] = ()
    text: str = ""
    faults: bool = False
    tensors: Mapping[str, WrongTensor] = field(default_factory=dict)
    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    lists: Mapping[str, tuple[WrongTensor, ...]] = field(default_factory=dict)
    alias: tuple[str, str] | None = None
    odd: str = ""  # the one tensor that is an element off
    misaligned: int = 0  # which of the tensors that the call makes does not begin at a multiple of 16 bytes
    reports: int | None = None  # what kernels say of how much they found
    capturing: bool = False  # a CUDA graph
    checking: bool = False  # of elements on the GPU
    bad_data: bool = False  # bodies find some
    no_device: bool = False  # device arguments that may be left out are

    @property
    def op(self) -> Operator:
        """Whose it is."""
        return self.sample.op

    def key(self) -> str:
        """Where the kernel is registered."""
        if not self.op.tensors:
            return "CompositeExplicitAutograd"
        if all(argument in self.op.lists for argument in self.op.tensors) and () in self.lists.values():
            return "CompositeExplicitAutograd"
        return "CUDA" if self.device == "cuda" else "CPU"

    def lines(self) -> Iterator[str]:
        """The call in a script."""
        mode = "faults" if self.faults else "once"
        yield f"misaligned {self.misaligned}"
        if self.op.dynamic:
            yield f"reports {-(2**31) if self.reports is None else self.reports}"
        if self.op.dynamic or self.checking:
            yield f"capturing {int(self.capturing)}"
        yield f"call {self.entry.name} {self.key()} {self._outputs() or '-'} {mode}"
        for argument in self.op.arguments:
            yield from self._argument(argument)
        if self.op.grad_mask:
            every = () if self.op.list_outputs else (True,) * len(self.op.outputs)
            mask = self.mask or every
            yield f"bools {len(mask)} {' '.join(str(int(one)) for one in mask)}".rstrip()
        if self.entry.variant is not None and self.entry.variant.kind == "out":
            for output, _ in self.entry.variant.writes:
                dtype = dtype_of(self.op.output(output).type.dtype, self.sample.dtypes)
                # One that starts at a value is given it before anything else can fail.
                shape, starts = self.sample.shapes()[output], self.op.output(output).word("fill") is not None
                yield self._tensor(dtype, shape, self.device, self.layout, written=True, kept=not starts)
        yield from ["checking 1"] if self.checking else []
        yield from ["bad_data 1"] if self.bad_data else []
        yield f"run {self.text if self.text == ANY else self.text.encode().hex() or '-'}"
        yield from ["checking 0", "capturing 0"] if self.checking else []
        yield from ["bad_data 0"] if self.bad_data else []

    def _outputs(self) -> str:
        if self.entry.variant is not None:
            return ""
        outputs = self.op.outputs if self.entry.saved else self.op.public_outputs
        return "".join("l" if o.type.is_list else "o" if o.condition is not None else "t" for o in outputs)

    def _argument(self, argument: Argument) -> Iterator[str]:
        name = argument.name
        if isinstance(argument.type, TensorType) and argument.type.is_list:
            yield from self._list(argument, argument.type)
            return
        if argument.is_tensor:
            if name in self.sample.absent:
                yield "none"
                return
            if argument.type.optional:
                yield "some"
            yield self._input(argument, name)
            return
        kind = kind_of(argument)
        value = self._scalar(argument, kind)
        if value is None:
            yield "none"
            return
        if kind.optional:
            yield "some"
        yield value

    def _list(self, argument: Argument, kind: TensorType) -> Iterator[str]:
        if argument.name in self.sample.absent:
            yield "none"
            return
        yield from ["some"] if kind.optional else []
        names = self._listed(argument)
        yield f"{'optionals' if kind.element_optional else 'tensors'} {len(names)}"
        for place, one in enumerate(names):
            if argument.name not in self.lists and self.sample.is_hole(argument.name, place):
                yield "none"
                continue
            yield from ["some"] if kind.element_optional else []
            yield self._input(argument, one)

    def _listed(self, argument: Argument) -> list[str]:
        """The tensors of a list: xs[0], xs[1]."""
        wrong = self.lists.get(argument.name)
        if argument.name in self.sample.absent:
            return []
        return [f"{argument.name}[{i}]" for i in range(self.sample.length if wrong is None else len(wrong))]

    def _wrong(self, argument: Argument, name: str) -> WrongTensor | None:
        wrong = self.lists.get(argument.name)
        if wrong is None:
            return self.tensors.get(name)
        return wrong[self._listed(argument).index(name)]

    def _order(self) -> list[str]:
        """The lines of arguments."""
        order = []
        for argument in self.op.arguments:
            order += [argument.name, *(self._listed(argument) if argument in self.op.lists else ())]
        return order

    def _scalar(self, argument: Argument, kind: ScalarType) -> str | None:
        name = argument.name
        if kind.kind == "device":
            if self.no_device and kind.optional:
                return None
            wrong = self.scalars.get(name)
            return f"device {wrong if wrong is not None else self.device} -1"
        if kind.variable:
            if name in self.sample.absent:
                return None
            return f"dtype {self.scalars.get(name, self.sample.dtypes[kind.variable])}"
        value = self.scalars[name] if name in self.scalars else self.sample.scalars[name]
        if value is None:
            return None
        if isinstance(value, tuple):
            return " ".join([LISTS[kind.kind], str(len(value)), *(_number(kind, one) for one in value)])
        if kind.kind in ("str", "choice"):
            return f"string {str(value).encode().hex() or '-'}"
        if kind.kind == "dtype":
            return f"dtype {value}"
        return f"{'int' if kind.kind == 'size' else kind.kind} {_number(kind, value)}"

    def _input(self, argument: Argument, name: str) -> str:
        written = argument in self.op.written
        variant = self.entry.variant
        if variant is not None and variant.kind == "inplace":
            written = written or name in [given for _, given in variant.writes]
        device = "cpu" if argument.has_word("cpu") else self.device
        wrong = self._wrong(argument, name)
        if wrong is not None:
            if wrong.other_device:
                device = "cpu" if device == "cuda" else "cuda"
            return self._tensor(
                wrong.dtype, wrong.shape, device, "contiguous", written, wrong.elements, strides=wrong.strides
            )
        shared, bytes_ = -1, 0
        if self.alias is not None and name in self.alias:
            sizes = {one: prod(self.sample.shapes()[one]) * DTYPES[self.sample.dtype_of(one)].size
                     for one in self.alias}  # fmt: skip
            bytes_ = max(sizes.values())
            order = self._order()
            first = min(self.alias, key=order.index)
            shared = -1 if name == first else order.index(first)
        filled = self.sample.elements.get(name) if self.text != ANY else None
        shape = _possible(self.sample.shapes()[name])
        elements = tuple(filled.listed(shape)) if filled is not None else ()
        layout = "contiguous" if argument.has_word("contiguous") or self.alias else self.layout
        layout = "misaligned" if name == self.odd else layout
        return self._tensor(
            self.sample.dtype_of(name),
            shape,
            device,
            layout,
            written,
            elements,
            shared=shared,
            least=bytes_,
            kept=self.text != ANY,
        )

    def _tensor(
        self,
        dtype: str,
        shape: tuple[int, ...],
        device: str,
        layout: str,
        written: bool,
        elements: tuple[int | float, ...] = (),
        *,
        strides: tuple[int, ...] = (),
        shared: int = -1,
        least: int = 0,
        kept: bool = True,
    ) -> str:
        strides, offset = (strides, 0) if strides else _strides(shape, layout)
        span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        size, count = DTYPES[dtype].size, offset + span
        data = "-"
        if kept and (0 < count <= MOST or elements):
            storage = torch.zeros(count, dtype=getattr(torch, dtype))
            if elements:
                values = torch.tensor(elements).to(storage.dtype).reshape(shape)
                if 0 not in strides:
                    storage.as_strided(shape, strides, offset).copy_(values)
            data = bytes(storage.view(torch.uint8).tolist()).hex() if count else "-"
            data += "00" * max(0, least - count * size)
        index = 0 if device == "cuda" else -1
        total = max(count * size, least)
        words = ["tensor", dtype, device, index, int(written), shared, total, offset, len(shape), *shape, *strides]
        return " ".join([*map(str, words), data or "-"])


def _number(kind: ScalarType, value: object) -> str:
    if kind.kind == "float":
        assert isinstance(value, int | float)
        return float(value).hex() if value == value and abs(value) != float("inf") else str(value)
    assert isinstance(value, int)
    return str(int(value))


def _strides(shape: tuple[int, ...], layout: str) -> tuple[tuple[int, ...], int]:
    order = range(len(shape)) if layout == "transposed" else reversed(range(len(shape)))
    strides, stride = [0] * len(shape), 2 if layout == "sliced" else 1
    if 0 in shape:
        return tuple(strides), 0
    for dim in order:
        strides[dim] = stride
        stride *= max(shape[dim], 1)
    return tuple(strides), 1 if layout == "misaligned" and 0 not in shape else 0


def _devices(op: Operator) -> tuple[str, ...]:
    return ("cpu", "cuda") if "cuda" in op.devices else ("cpu",)


def _masks(op: Operator) -> list[tuple[bool, ...]]:
    count = mask_count(op, USUAL_LENGTH) if op.grad_mask else 0
    alone = [tuple(i == one for i in range(count)) for one in range(count)]
    return [(), *alone, (False,) * count] if count else [()]


def right_calls(op: Operator) -> Iterator[Call]:
    """Of every kernel: each sample, each choice of dtypes, each set of absent arguments, each layout and mask."""
    usual = base(op)
    with_dtypes = [replace(usual, dtypes=dict(choice)) for choice in op.dtype_choices]
    with_dtypes = [sample for sample in with_dtypes if sample.valid()]
    without = [usual.without(absent) for absent in absences(usual)]
    entries = [entry for entry in dispatched(op) if entry.public or entry.saved]
    for entry in entries:
        for device in _devices(op):
            # The usual call with faults: before anything is loaded, then in each layout and mask.
            for sample in without:
                for layout in LAYOUTS:
                    yield Call(entry, sample, device, layout, faults=True)
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
        if all(_exists(_possible(shape)) for shape in sample.inputs()):
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


def _possible(shape: tuple[int, ...]) -> tuple[int, ...]:
    """With a size where none can be computed."""
    return tuple(1 if size == -1 else size for size in shape)


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


def _refused(library: Library, entry: DispatchedOperator, usual: Sample, wrong: Wrong, device: str) -> Call:
    op = usual.op
    moved = [op.argument(name) for name, tensor in wrong.tensors if tensor.other_device]
    to_gpu = any(argument.has_word("cpu") for argument in moved) or device == "cpu"
    names = {"cpu": "cpu", "cuda": "cuda:0"}
    text = wrong.text.replace("{device}", names[device]).replace("{other}", names["cuda" if to_gpu else "cpu"])
    mask: tuple[bool, ...] = ()
    if not (wrong.tensors or wrong.scalars or wrong.lists or wrong.absent or wrong.alias):
        mask = (True,) * (mask_count(op, USUAL_LENGTH) + 1)
    return Call(
        entry,
        usual.without(frozenset(wrong.absent)),
        device,
        mask=mask,
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
