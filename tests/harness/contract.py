"""An operator as its generated test describes it, and how to call it in every way there is."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import torch

from tests.harness.derived import Derived as Derived
from tests.harness.project import reference

Shape = tuple[int, ...]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Elements:
    """A tensor filled as `values:` asks for: with whole numbers from `low` up to but without `high`, but for those in
    `without`, or with numbers of the list `among`; every third one may be one of `also` instead.

    `total`: they sum to it; `offsets`: they rise from 0 to it. `columns`, by their index in the last dim, are filled in
    ways of their own.
    """

    shape: Shape
    low: int = 0
    high: int = 100
    without: tuple[int, ...] = ()
    among: tuple[float, ...] = ()
    also: tuple[float, ...] = ()
    total: int | None = None
    offsets: int | None = None
    columns: Mapping[int, Elements] = field(default_factory=dict)

    @property
    def depends(self) -> bool:
        """Whether elements depend on one another, so that none can be put in the place of another."""
        return self.total is not None or self.offsets is not None or any(c.depends for c in self.columns.values())


@dataclass(frozen=True)
class Tensor:
    """A tensor of a wrong call. `other`: on another device than the rest; `elements`: its data, in row-major order;
    `strides`: other than those of a contiguous tensor.
    """

    dtype: str
    shape: Shape
    other: bool = False
    elements: tuple[float, ...] = ()
    strides: tuple[int, ...] = ()


@dataclass(frozen=True)
class Dtype:
    """A dtype as the value of an argument."""

    name: str


@dataclass(frozen=True)
class Alias:
    """A tensor of a wrong call that begins where the argument `of` begins."""

    of: str


Sample = Mapping[str, Any]
"""The tensors of one call by argument, as a Shape or Elements, and those scalars that are not as usual."""


@dataclass(frozen=True)
class Wrong:
    """What differs from the usual call, and the text of the error. `elements`: the rule looks at elements; `memory`: at
    addresses. Fakes have neither.
    """

    changes: Mapping[str, Any]
    text: str
    elements: bool = False
    memory: bool = False


def _unknown() -> frozenset[str]:
    """Dtypes that this PyTorch has, and its C interface does not: operators refuse them there."""
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    newer = ("float8_e8m0fnu",)
    return frozenset(name for name in newer if not hasattr(library, f"aoti_torch_dtype_{name}"))


_missing = _unknown()


@dataclass(frozen=True)
class Contract:
    """Dtypes are written as in ops.yaml: a variable, acc(variable), or a torch name."""

    namespace: str
    name: str
    arguments: tuple[str, ...]  # in order, without the mask
    keywords: tuple[str, ...]  # those that are keyword-only
    types: Mapping[str, tuple[str, ...]]
    tensors: Mapping[str, str]
    scalars: Mapping[str, Any]  # usual values, but of those whose value follows from the call
    absences: tuple[tuple[str, ...], ...]  # sets of optional arguments that a call can leave out
    defaults: tuple[str, ...]  # arguments with a default, which is the usual value of a scalar and None for a tensor
    written: tuple[str, ...]  # arguments that are written in place
    variants: Mapping[str, tuple[tuple[str, str], ...]]  # inplace, out -> which output is written to which argument
    outputs: Mapping[str, str]
    saved: Mapping[str, str]
    mask: bool  # takes grad_mask
    autograd: str  # declared: a backward; missing: an error; never: outputs do not require grad
    second: str  # the same of the backward operator; saved: its gradients need one of a saved output, which has none
    backward: str
    gradients: tuple[str, ...]  # inputs with a gradient, or that could have one where none is declared
    kept: tuple[str, ...]  # inputs that backward reads
    reference: str
    tolerance: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # after the types of tensors, where there are any
    dtypes: Mapping[str, str] = field(default_factory=dict)  # arguments that name the dtype of a variable
    devices: tuple[str, ...] = ()  # arguments that name the device of the call
    runs_on: tuple[str, ...] = ("cpu", "cuda")  # `devices:`
    tags: tuple[str, ...] = ()
    random: bool = False  # draws a seed; every call through `call` and `results` draws the same
    autocast: str = ""
    cast: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # dtype variable -> inputs that autocast casts

    alike: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # of outputs that are broadcast: the inputs of which the first with the same sizes gives it its strides
    is_elementwise: bool = False
    forward_mode: bool = False  # its forward derivative is derived
    pinned: tuple[str, ...] = ()  # inputs on the host that kernels of a GPU read: in pinned memory, never a copy
    lists: tuple[str, ...] = ()  # arguments that are lists of tensors
    list_outputs: Mapping[str, str] = field(default_factory=dict)  # outputs that are: the list that each is as long as
    dynamic: tuple[str, ...] = ()  # outputs whose first size is known only after the kernel ran
    among: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # what elements of a tensor are drawn from
    mixed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # lists of dtypes that name earlier variables
    derived: Derived | None = None  # of a gradient operator that was derived: `reference` is that of the first operator

    def choices(self) -> list[tuple[str, ...]]:
        """Every combination of dtypes that a call can have, variables in order."""
        return [
            choice for choice in product(*self.types.values()) if self._together(choice) and _missing.isdisjoint(choice)
        ]

    def _together(self, choice: tuple[str, ...]) -> bool:
        chosen = dict(zip(self.types, choice, strict=True))
        return all(chosen[name] in [chosen.get(one, one) for one in listed] for name, listed in self.mixed.items())

    def bound(self, dtypes: tuple[str, ...], absent: tuple[str, ...]) -> tuple[str, ...]:
        """The choice that a call without the `absent` arguments makes: what nothing binds takes its first dtype."""
        given = {written for name, written in {**self.tensors, **self.dtypes}.items() if name not in absent}
        found: dict[str, str] = {}
        for variable, dtype in zip(self.types, dtypes, strict=True):
            first = self.mixed.get(variable, self.types[variable])[0]
            found[variable] = dtype if variable in given else found.get(first, first)
        return tuple(found.values())

    @property
    def callable_here(self) -> bool:
        """Whether this PyTorch's C interface has the dtype of every tensor that has one dtype."""
        return _missing.isdisjoint(self.tensors.values())

    def dtype(self, written: str, dtypes: tuple[str, ...]) -> torch.dtype:
        """The dtype of a tensor for one choice."""
        chosen = dict(zip(self.types, dtypes, strict=True))
        if written.startswith("acc("):
            return accumulation(getattr(torch, chosen[written[4:-1]]))
        found = getattr(torch, chosen.get(written, written))
        assert isinstance(found, torch.dtype)
        return found

    def place(self, name: str, device: str) -> str:
        """Where a tensor argument of a call on `device` is."""
        return "cpu" if "cpu" in self.words.get(list_of(name), ()) else device

    def gathered(self, arguments: Arguments) -> Arguments:
        """The arguments of a call: tensors `xs[0]`, `xs[1]` and so on as the list `xs`, in the order of the schema."""
        if not self.lists:
            return arguments
        found = {name: value for name, value in arguments.items() if "[" not in name}
        for name in self.lists:
            places = sorted(int(key[len(name) + 1 : -1]) for key in arguments if key.startswith(f"{name}["))
            if places:  # else None or an empty list stands there itself, or nothing
                found[name] = [arguments[f"{name}[{place}]"] for place in places]
        return {name: found.pop(name) for name in self.arguments if name in found} | found

    def spread(self, names: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
        """The names of tensors as they stand in `arguments`, where each tensor of a list has its own."""
        return tuple(
            key for name in names for key in arguments if key == name or (name in self.lists and list_of(key) == name)
        )

    def output_names(self, arguments: Arguments) -> list[str]:
        """The public outputs of a call, each tensor of a list by its own name."""
        found = []
        for name in self.outputs:
            source = self.list_outputs.get(name)
            there = [key for key, value in arguments.items() if key.startswith(f"{source}[") and value is not None]
            found += [key.replace(source, name, 1) for key in there] if source else [name]
        return found

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the package."""
        found: Callable[..., Any] = getattr(importlib.import_module(self.namespace), name)
        return found

    def namespaced(self, name: str) -> Any:
        """All overloads of an operator in torch.ops."""
        return getattr(self._ops(), name)

    @property
    def wrapper(self) -> Callable[..., Any]:
        """The typed Python function."""
        return getattr(importlib.import_module(self.namespace), self.name)

    @property
    def overload(self) -> Any:
        """The operator in torch.ops."""
        return self.packet.default

    @property
    def packet(self) -> Any:
        """All overloads of the operator, of which there is one."""
        return getattr(self._ops(), self.name)

    def _ops(self) -> Any:
        importlib.import_module(self.namespace)
        return getattr(torch.ops, self.namespace)

    def entry_points(self) -> list[Callable[..., Any]]:
        """Both ways in which users call the operator."""
        return [self.wrapper, self.overload]

    def dispatched(self) -> list[Any]:
        """The operator and its internal overloads."""
        names = [self.name, f"_{self.name}_no_grad"] + ([f"_{self.name}_saved"] if self.saved else [])
        return [getattr(self._ops(), name).default for name in names]

    def call(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """Calls with arguments positional where possible."""
        self.seed()
        return self._apply(function, arguments)

    def _apply(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        positional, keyword = self.split(arguments)
        return function(*positional, **keyword)

    def short(self, arguments: Arguments) -> Arguments:
        """The arguments without those that equal their defaults."""
        return {
            name: value
            for name, value in arguments.items()
            if name not in self.defaults or (name in self.tensors and value is not None)
        }

    @property
    def recordable(self) -> tuple[str, ...]:
        """The inputs that may require grad in a right call: not what is written."""
        return tuple(name for name in self.gradients if name not in self.written)

    def results(
        self,
        function: Callable[..., Any],
        arguments: Arguments,
        *,
        named: bool = False,
        every_output: bool = False,
        seeded: bool = True,
    ) -> tuple[Any, ...]:
        """What a call returns, and then what it has written; what is written are copies, so that arguments stay. With
        `named` every argument goes by its name; with `every_output` there is None for outputs that are not there.
        Unless `seeded`, random numbers go on.
        """
        given = self.unwritten(arguments)
        if seeded:
            self.seed()
        returned = function(**self.gathered(given)) if named else self._apply(function, given)
        outputs = (every if every_output else as_tuple)(returned) if self.outputs else ()
        written = self.spread(self.written, given)
        return (*outputs, *(given[name] for name in written if given[name] is not None))

    def unwritten(self, arguments: Arguments) -> Arguments:
        """The arguments, with copies that lie alike of those that a call writes."""
        return {name: alike(value) if list_of(name) in self.written else value for name, value in arguments.items()}

    def split(self, arguments: Arguments) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional arguments, up to the first one that is left out, and keyword arguments."""
        arguments = self.gathered(arguments)
        order = [name for name in self.arguments if name not in self.keywords]
        count = next((i for i, name in enumerate(order) if name not in arguments), len(order))
        positional = tuple(arguments[name] for name in order[:count])
        return positional, {name: value for name, value in arguments.items() if name not in order[:count]}

    def expected(self, arguments: Arguments) -> tuple[torch.Tensor | None, ...]:
        """The public outputs by the reference, in float64 on the CPU."""
        exact = {name: wide(value) for name, value in arguments.items() if name != "grad_mask"}
        return every(self.exact(exact, arguments))

    def exact(self, exact: Arguments, arguments: Arguments) -> Any:
        """What the reference makes of exact arguments, and of what a call of `arguments` draws."""
        drawn = {"seed": self.drawn(arguments)} if self.random else {}
        given = {**self.gathered(exact), **drawn}
        if self.derived is None:
            function = reference(self.reference, list(given), [*self.outputs, *self.written])
        else:
            first = self.derived.first
            function = reference(self.reference, [*first.tensors, *first.scalars], first.outputs)
            function = self.derived.function(function)
        return function(**given)

    def seed(self) -> None:
        """Makes the next call draw what every other one draws, but where a graph is traced."""
        if self.random and not torch.compiler.is_compiling():
            torch.manual_seed(0)

    def drawn(self, arguments: Arguments) -> torch.Tensor:
        """What a call draws that follows torch.manual_seed(0)."""
        device = next((value.device for value in arguments.values() if isinstance(value, torch.Tensor)), "cpu")
        torch.manual_seed(0)
        return torch.empty(2, dtype=torch.int64, device=device).random_().cpu()

    def text(self, rest: str) -> str:
        """The whole text of an error."""
        return f"{self.namespace}::{self.name}: {rest}"


def plain(value: Any) -> Any:
    """The value of an argument that is no tensor, as calls take it."""
    return getattr(torch, value.name) if isinstance(value, Dtype) else value


def accumulation(dtype: torch.dtype) -> torch.dtype:
    """What kernels compute in."""
    if dtype.is_complex:
        return dtype
    if dtype.is_floating_point:
        return torch.float64 if dtype == torch.float64 else torch.float32
    return torch.int64


def wide(value: Any) -> Any:
    """A tensor in float64 or complex128 on the CPU; whole numbers and other values as they are."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.cpu()
    if value.is_floating_point():
        return value.double()
    return value.to(torch.complex128) if value.is_complex() else value


def every(result: Any) -> tuple[torch.Tensor | None, ...]:
    """The outputs of a call, None for those that are not there; those of a list one by one."""
    if result is None or isinstance(result, torch.Tensor):
        return (result,)
    return tuple(one for part in result for one in (part if isinstance(part, list) else [part]))


def list_of(name: str) -> str:
    """The argument that a tensor is, or, for `xs[0]`, is in."""
    return name.partition("[")[0]


def alike(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """A copy with the same offset and strides, in memory of its own."""
    if tensor is None:
        return None
    copy = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    with torch.no_grad():
        copy.set_(tensor.untyped_storage().clone(), tensor.storage_offset(), tensor.shape, tensor.stride())
    return copy.requires_grad_(tensor.requires_grad)


def as_tuple(result: Any) -> tuple[torch.Tensor, ...]:
    """The outputs of a call that are there."""
    return tuple(output for output in every(result) if output is not None)
