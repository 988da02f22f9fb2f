"""One call of a kernel, as lines of a script for driver.c."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

import torch

from codegen.contract import Argument, Output, ScalarType, TensorType, dtype_of
from codegen.lower.sample import Sample
from codegen.lower.schema import DispatchedOperator
from codegen.lower.tests.scalars import Scalar, kind_of
from codegen.lower.tests.texts import WrongTensor
from codegen.model import Operator
from codegen.positions import list_of
from codegen.types import DTYPES

LAYOUTS = ("contiguous", "sliced", "transposed", "misaligned")
MOST = 20_000  # elements that a script spells; larger tensors hold what memory holds
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
    longer: str = ""  # the output for which the caller gives a list with one tensor more

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
                yield from self._given(self.op.output(output))
        yield from ["checking 1"] if self.checking else []
        yield from ["bad_data 1"] if self.bad_data else []
        yield f"run {self.text if self.text == ANY else self.text.encode().hex() or '-'}"
        yield from ["checking 0", "capturing 0"] if self.checking else []
        yield from ["bad_data 0"] if self.bad_data else []

    def _given(self, output: Output) -> Iterator[str]:
        """What the caller gives for an output."""
        dtype, shapes = dtype_of(output.type.dtype, self.sample.dtypes), self.sample.shapes()
        names = [name for name in shapes if list_of(name) == output.name]
        names += names[-1:] if output.name == self.longer else []
        if output.type.is_list:
            yield f"tensors {len(names)}"
        for name in names:
            # One that starts at a value is given it before anything else can fail.
            kept = output.word("fill") is None
            yield self._tensor(dtype, shapes[name], self.device, self.layout, written=True, kept=kept)

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
            written = written or argument.name in [given for _, given in variant.writes]
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
        shape = possible(self.sample.shapes()[name])
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


def possible(shape: tuple[int, ...]) -> tuple[int, ...]:
    """With a size where none can be computed."""
    return tuple(1 if size == -1 else size for size in shape)
