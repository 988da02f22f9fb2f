"""The bytes that an operator must move, worked out from ops.yaml: every input read once, every output written once.

Sizes come from the tensors of a call. What is written in place counts as read and as written; what is saved for the
gradient counts where there is one. So a body that reads its input twice moves more than is counted here, and its share
of the bandwidth shows it.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from codegen.check.library import check
from codegen.contract import Argument, DimEntry, Shape, StarEntry, TensorType, Variable, dtype_of
from codegen.errors import Diagnostics
from codegen.expr.tree import Name
from codegen.load import load
from codegen.lower.sample import Sample
from codegen.model import Library, Operator
from codegen.types import DTYPES

from ..options import ROOT

Tensor = Any  # with .shape and .dtype; or a list of them


@dataclass(frozen=True)
class Traffic:
    """Bytes of one launch."""

    read: int
    written: int

    @property
    def total(self) -> int:
        return self.read + self.written

    @property
    def ceiling(self) -> str:
        """What to hold it against: as many bytes in the nearest mix, one read to a write or two."""
        return "copy" if 4 * self.read <= 5 * self.written else "triad"


@functools.cache
def library() -> Library:
    """What ops.yaml declares."""
    found = Diagnostics()
    checked = check(load((ROOT / "ops.yaml").read_bytes(), found), found)
    if checked is None or found.failed:
        raise RuntimeError("ops.yaml has errors: python -m codegen check")
    return checked.library


def operators() -> list[str]:
    """The operators that a user calls: those of ops.yaml that are no gradient of another."""
    gradients = {op.backward.operator for op in library().operators if op.backward is not None}
    return [op.name for op in library().operators if op.name not in gradients]


def forward(name: str, tensors: Sequence[Tensor], scalars: Mapping[str, Any] | None = None) -> Traffic:
    """Of a call without gradient; `tensors` are its first tensor arguments, in the order of ops.yaml."""
    call = Call(library().operator(name), tensors, scalars or {})
    made = sum(call.size_of(output.name) for output in call.op.public_outputs)
    return Traffic(call.read, made + call.written)


def backward(name: str, tensors: Sequence[Tensor], scalars: Mapping[str, Any] | None = None) -> Traffic | None:
    """Of the gradients of all inputs that are given and have one; None where the operator has no gradient."""
    call = Call(library().operator(name), tensors, scalars or {})
    if call.op.backward is None:
        return None
    gradient = library().operator(call.op.backward.operator)
    shapes = {output.name: output.type for output in call.op.outputs}
    read = 0
    for binding in call.op.backward.bindings:
        if not gradient.argument(binding.argument).is_tensor:
            continue
        if binding.source == "input":
            read += call.given_bytes(binding.name)
        elif binding.name in shapes:  # an output, or the gradient of one
            read += call.size_of(binding.name)
    wanted = [g for g in call.op.backward.gradients if g.input in call.given]
    first = {g.output: g.input for g in reversed(wanted)}  # one gradient may serve several inputs
    return Traffic(read, sum(call.given_bytes(given) for given in first.values()))


class Call:
    """An operator and the tensors of one call."""

    def __init__(self, op: Operator, tensors: Sequence[Tensor], scalars: Mapping[str, Any]) -> None:
        self.op = op
        self.given = {a.name: tensor for a, tensor in zip(op.tensors, tensors, strict=False) if tensor is not None}
        self.length = max((len(self.tensors(a.name)) for a in op.lists), default=0)
        self.sample = self._sample(scalars)

    @property
    def read(self) -> int:
        return sum(map(self.given_bytes, self.given))

    @property
    def written(self) -> int:
        """In place."""
        return sum(self.given_bytes(a.name) for a in self.op.written if a.name in self.given)

    def given_bytes(self, name: str) -> int:
        return sum(prod(t.shape) * DTYPES[_name(t.dtype)].size for t in self.tensors(name))

    def size_of(self, output: str) -> int:
        """Bytes of an output; 0 where the call does not make it."""
        declared = self.op.output(output)
        if not self.sample.makes(declared):
            return 0
        kind = declared.type
        if kind.is_list:
            elements = sum(prod(self._at(place).shape(kind.shape)) for place in range(self.length))
        else:
            elements = prod(self.sample.shape(kind.shape))
        return elements * DTYPES[dtype_of(kind.dtype, self.sample.dtypes)].size

    def tensors(self, name: str) -> list[Tensor]:
        """Those of an argument: one, or those of a list."""
        given = self.given.get(name)
        if given is None:
            return []
        return [t for t in given if t is not None] if isinstance(given, list | tuple) else [given]

    def _sample(self, scalars: Mapping[str, Any]) -> Sample:
        dims: dict[str, int | tuple[int, ...]] = {}
        dtypes: dict[str, str] = {}
        for argument in self.op.tensors:
            kind = argument.type
            assert isinstance(kind, TensorType)
            for tensor in self.tensors(argument.name)[:1]:
                _bind(kind.shape, tuple(tensor.shape), dims)
                if isinstance(kind.dtype, Variable):
                    dtypes.setdefault(kind.dtype.name, _name(tensor.dtype))
        values = {a.name: _default(a) for a in self.op.scalars} | dict(scalars)
        dtypes |= {a.type.variable: values[a.name] for a in self.op.scalars if getattr(a.type, "variable", "")}
        absent = frozenset(a.name for a in self.op.tensors if a.name not in self.given)
        return Sample(self.op, dims, values, dtypes, absent=absent, length=self.length)

    def _at(self, place: int) -> Sample:
        """The call as tensor number `place` of its lists sees it."""
        dims: dict[str, int | tuple[int, ...]] = {}
        for argument in self.op.lists:
            assert isinstance(argument.type, TensorType)
            for tensor in self.tensors(argument.name)[place : place + 1]:
                _bind(argument.type.shape, tuple(tensor.shape), dims)
        return self.sample.resized(dims)


def _bind(shape: Shape, sizes: tuple[int, ...], dims: dict[str, int | tuple[int, ...]]) -> None:
    """The dims that a tensor gives its names to."""
    star = next((i for i, entry in enumerate(shape.entries) if not isinstance(entry, DimEntry)), None)
    behind = 0 if star is None else len(shape.entries) - star - 1
    for i, entry in enumerate(shape.entries):
        if isinstance(entry, StarEntry):
            dims.setdefault(entry.name, sizes[i : len(sizes) - behind])
        elif isinstance(entry, DimEntry) and isinstance(entry.expr, Name):
            place = i if star is None or i < star else i - len(shape.entries)
            dims.setdefault(entry.expr.name, sizes[place])


def _default(argument: Argument) -> Any:
    return argument.default.value if argument.default is not None else 0


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
