"""What an operator is: the checked contents of a spec, as frozen dataclasses.

The model knows no YAML, no C, no files and no templates. Everything that follows from the contract is already worked
out: `rules` (what a call checks and binds, in order), `dims` (every name that a body sees), `passes` (also for a single
launch), `backward` (what binds to what). Sequences keep the order of the spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TypeAlias

from codegen.contract import Argument, DimEntry, Output, Scratch, Shape, TensorType, TypeVariable, dtypes_of, fits
from codegen.expr.text import print_text
from codegen.expr.tree import Compare, Conditional, Constant, Expr, NameKind, Query, Type, names, walk
from codegen.frozen import cached_property, dataclass
from codegen.launches import CustomKernel, Pass, TritonKernel
from codegen.positions import Index, Span, list_of
from codegen.rules import Rule, ValueRule
from codegen.types import is_floating

# ---------------------------------------------------------------- dims and checks


@dataclass(frozen=True)
class Dim:
    """A name bound by shapes of inputs. A star is its product wherever one number is wanted.

    `places` are where it can take its value, a Span for a star and a position for a plain dim: one place in an input
    that is always given, or, with `optional`, one in each optional input that has the name, in order. Then the first
    of them that is given binds it, and it is 0 where none is.

    `each`: the list of tensors that binds it, once for each of its tensors; it then has a value for each of them.
    """

    name: str
    star: bool
    places: tuple[Place, ...]
    optional: bool = False
    each: str = ""

    @cached_property
    def holders(self) -> tuple[str, ...]:
        """The inputs that can bind it."""
        return tuple(place.argument for place in self.places)


@dataclass(frozen=True)
class Place:
    """Where a name of a shape stands: a position in the shape of `argument`, or the dims that its star covers."""

    argument: str
    at: Index | Span


@dataclass(frozen=True)
class DerivedDim:
    """An entry of `dims:`. `launch_only`: it uses sm_count or the like, so it is known only where kernels are
    launched.
    """

    name: str
    expr: Expr
    text: str
    launch_only: bool = False


@dataclass(frozen=True)
class DynamicDim:
    """An entry of `dynamic:`: a size known after the kernel ran, at most `bound`; `known` when given beforehand under
    `condition`.
    """

    name: str
    bound: Expr
    text: str
    known: Expr | None = None
    condition: Expr | None = None

    @property
    def value(self) -> Expr:
        """The size that outputs are made with."""
        if self.condition is None or self.known is None:
            return self.bound
        return Conditional(self.condition, self.known, self.bound, Type.INT)


@dataclass(frozen=True)
class Check:
    """An entry of `checks:`; `message` is "" unless the long form gives one."""

    condition: Expr
    text: str
    message: str = ""


# ---------------------------------------------------------------- autograd


@dataclass(frozen=True)
class Binding:
    """How an input of the backward operator gets its value.

    source: "input" or "output" (of the forward, by `name`; a saved output is an "output"), "gradient" (of output
    `name`), or "dim".
    """

    argument: str
    source: str
    name: str


@dataclass(frozen=True)
class Gradient:
    """The backward operator's output `output` is the gradient of the forward's input `input`; two inputs may have the
    same. `summed`: it has the shape that the input was broadcast to, and autograd sums it.
    """

    output: str
    input: str
    summed: bool = False


@dataclass(frozen=True)
class Backward:
    """What `backward: op` means. Without `mask` the backward operator always computes its one gradient."""

    operator: str
    bindings: tuple[Binding, ...]
    gradients: tuple[Gradient, ...]
    mask: bool


# ---------------------------------------------------------------- the rest of the language


@dataclass(frozen=True)
class ElementwiseLine:
    """`y: gate * sigmoid(gate) * up`: operands are Names of kind ELEMENT. `text` is "" where it was derived."""

    target: str
    expr: Expr
    text: str


@dataclass(frozen=True)
class Variant:
    """An entry of `variants:`, kind "inplace" or "out". `writes` pairs each public output with the argument that it is
    written to: an input, or a keyword of the variant.
    """

    kind: str
    writes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Samples:
    """`samples:`: sizes for generated tests and benchmarks by name, values of scalars, what elements of a tensor are
    drawn from; or the name of a function in tests/samples.py.
    """

    sizes: tuple[tuple[str, tuple[int | float | bool | str, ...]], ...] = ()
    function: str = ""


SEED = "seed"
"""What bodies of `random: true` know two drawn numbers as: a saved output, or scratch where there is no backward."""

DtypeChoice: TypeAlias = tuple[tuple[str, str], ...]
"""One dtype per variable, in order of `types:`: (("T", "bfloat16"), ("I", "int64"))."""


@dataclass(frozen=True)
class Operator:
    """One operator of the library."""

    name: str
    doc: str
    types: tuple[TypeVariable, ...]
    arguments: tuple[Argument, ...]  # positional first, then keyword-only; the grad_mask is not among them
    outputs: tuple[Output, ...]
    scratch: tuple[Scratch, ...]
    dims: tuple[Dim, ...]  # in order of first binding
    derived: tuple[DerivedDim, ...]  # in order of `dims:`
    checks: tuple[Check, ...]
    values: tuple[ValueRule, ...]
    rules: tuple[Rule, ...]
    passes: tuple[Pass, ...]
    devices: tuple[str, ...]
    backward: Backward | None
    differentiable: bool | None  # False for `differentiable: false`; None when the key is absent
    grad_mask: bool  # has a keyword grad_mask: several tensors as outputs, all named grad_...
    reference: str  # function in tests/references.py
    several_passes: bool = False  # `passes:` was written: C bodies are named after kernels, units are their own
    samples: Samples = Samples()
    tolerance: tuple[tuple[str, float], ...] = ()
    flops: Expr | None = None
    fast_math: bool = False
    dynamic: tuple[DynamicDim, ...] = ()
    elementwise: tuple[ElementwiseLine, ...] = ()
    iterated: Shape | None = None  # with `elementwise:`, the shape that operands broadcast to
    derived_from: str = ""  # the operator whose gradient this one is, when it was derived
    variants: tuple[Variant, ...] = ()
    custom: tuple[CustomKernel, ...] = ()  # the kernels of `launch: custom`
    full_cuda: bool = False
    triton: TritonKernel | None = None
    random: bool = False
    tags: tuple[str, ...] = ()
    deterministic: bool = True
    since: str = ""
    deprecated: str = ""
    requires: Compare | None = None  # arch >= a constant
    autocast: str = ""
    batch: tuple[str, ...] = ()

    @cached_property
    def tensors(self) -> tuple[Argument, ...]:
        """The tensor arguments."""
        return tuple(argument for argument in self.arguments if argument.is_tensor)

    @cached_property
    def device_tensors(self) -> tuple[Argument, ...]:
        """The tensor arguments that share a device, which is that of the call; if all stay on the host, all of them."""
        on_device = tuple(argument for argument in self.tensors if not argument.has_word("cpu"))
        return on_device or self.tensors

    @cached_property
    def scalars(self) -> tuple[Argument, ...]:
        """The scalar arguments."""
        return tuple(argument for argument in self.arguments if not argument.is_tensor)

    @cached_property
    def written(self) -> tuple[Argument, ...]:
        """The tensor arguments that are written in place."""
        return tuple(a for a in self.tensors if isinstance(a.type, TensorType) and a.type.written)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The tensors that the lines of `elementwise:` are about: those that are only read, in order, then those that
        are written.
        """
        read = {part.name for line in self.elementwise for part in names(line.expr) if part.kind is NameKind.ELEMENT}
        written = tuple(line.target for line in self.elementwise)
        return tuple(a.name for a in self.tensors if a.name in read and a.name not in written) + written

    @cached_property
    def lists(self) -> tuple[Argument, ...]:
        """The arguments that are lists of tensors."""
        return tuple(a for a in self.tensors if isinstance(a.type, TensorType) and a.type.is_list)

    @cached_property
    def list_outputs(self) -> tuple[Output, ...]:
        """The outputs that are lists of tensors."""
        return tuple(output for output in self.outputs if output.type.is_list)

    def is_listed(self, name: str) -> bool:
        """Whether an argument or an output is a list of tensors."""
        return any(one.name == name for one in self.listed)

    @property
    def listed(self) -> tuple[Argument | Output, ...]:
        """The arguments and the outputs that are lists of tensors."""
        return (*self.lists, *self.list_outputs)

    def mask_before(self, output: str = "") -> tuple[tuple[str, ...], int]:
        """The places of the grad_mask before those of an output, or all of them: one for each tensor of these lists,
        and so many more.
        """
        names = [one.name for one in self.outputs]
        counted = self.outputs[: names.index(output)] if output else self.outputs
        return tuple(one.counted_by for one in counted if one.counted_by), sum(not one.counted_by for one in counted)

    @cached_property
    def public_outputs(self) -> tuple[Output, ...]:
        """What a call returns."""
        return tuple(output for output in self.outputs if not output.saved)

    @cached_property
    def saved_outputs(self) -> tuple[Output, ...]:
        """What only backward sees."""
        return tuple(output for output in self.outputs if output.saved)

    @cached_property
    def outputs_can_be_given(self) -> bool:
        """Whether tensors of the caller can take the places of all public outputs."""
        alone = self.public_outputs and not (self.grad_mask or self.written or self.dynamic)
        return bool(alone) and all(output.condition is None for output in self.public_outputs)

    @property
    def launches_itself(self) -> bool:
        """Whether code of its own on the host launches on CUDA, and sees the call record."""
        return "cuda" in self.devices and (bool(self.custom) or self.full_cuda)

    @cached_property
    def pinned(self) -> tuple[Argument, ...]:
        """The inputs on the host that kernels of a GPU read."""
        if "cuda" not in self.devices or self.launches_itself or self.elementwise:
            return ()
        return tuple(argument for argument in self.tensors if argument.has_word("cpu"))

    def draws(self, name: str) -> bool:
        """Whether this is what a random operator draws."""
        return self.random and name == SEED

    @cached_property
    def for_backward(self) -> bool:
        """Whether there are outputs that inference does not compute; what is drawn is needed there, too."""
        return any(not self.draws(output.name) for output in self.saved_outputs)

    def argument(self, name: str) -> Argument:
        """The argument called `name`, or in which the tensor `xs[0]` is."""
        return next(argument for argument in self.arguments if argument.name == list_of(name))

    def output(self, name: str) -> Output:
        """The output called `name`."""
        return next(output for output in self.outputs if output.name == name)

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        """The shapes of the tensor arguments and the outputs, as the contract states them."""
        inputs = {a.name: a.type.shape for a in self.arguments if isinstance(a.type, TensorType)}
        return inputs | {output.name: output.type.shape for output in self.outputs}

    @cached_property
    def free_sizes(self) -> Mapping[Query, str]:
        """Sizes that calls choose although no dim is called after them, with their text: with
        `dims: {b: size(offsets, 0) - 1}` and `offsets: I[b + 1]` the size gives b, and not b the size.
        """
        found = {}
        for derived in self.derived:
            for query in walk(derived.expr):
                if not isinstance(query, Query) or query.function != "size" or query.subject not in self.shapes:
                    continue
                index, entries = query.operands[0], self.shapes[query.subject].entries
                entry = entries[int(index.value)] if isinstance(index, Constant) else None
                if isinstance(entry, DimEntry) and any(name.kind is NameKind.DERIVED for name in names(entry.expr)):
                    found[query] = print_text(query)
        return found

    @cached_property
    def may_need_gradient(self) -> tuple[Argument, ...]:
        """The inputs that can make outputs require grad, or could if there were a backward: floating in some call, and
        without the word `no_grad`.
        """
        found = []
        for argument in self.tensors:
            assert isinstance(argument.type, TensorType)
            dtypes = dtypes_of(argument.type.dtype, self.types)
            if any(is_floating(name) for name in dtypes) and not argument.has_word("no_grad"):
                found.append(argument)
        return tuple(found)

    @cached_property
    def never_requires_grad(self) -> bool:
        """Whether no call records a gradient: the operator says so, or each of its inputs."""
        return self.differentiable is False or (self.backward is None and not self.may_need_gradient)

    @cached_property
    def oldest_arch(self) -> int:
        """The lowest architecture that a kernel may be compiled for, 90 for compute capability 9.0; 0 for any."""
        bound = self.requires.operands[1] if self.requires is not None else None
        return int(bound.value) if isinstance(bound, Constant) else 0

    @cached_property
    def dtype_choices(self) -> tuple[DtypeChoice, ...]:
        """Every combination of dtypes that a call can have, variables in order of `types:`."""
        choices = product(*[[(variable.name, dtype) for dtype in variable.dtypes] for variable in self.types])
        return tuple(choice for choice in choices if fits(self.types, dict(choice)))

    @cached_property
    def kernel_choices(self) -> tuple[DtypeChoice, ...]:
        """Every combination that a kernel is compiled for: for a `bits` variable an element size stands for dtypes."""
        variables = {variable.name: variable for variable in self.types}
        places = (tuple((name, variables[name].place(dtype)) for name, dtype in one) for one in self.dtype_choices)
        return tuple(dict.fromkeys(places))

    @cached_property
    def kernel_places(self) -> tuple[DtypeChoice, ...]:
        """The cells of a table of kernels, one dimension for each variable; some hold no kernel."""
        return tuple(product(*[[(variable.name, place) for place in variable.places] for variable in self.types]))


@dataclass(frozen=True)
class Library:
    """A whole spec."""

    namespace: str
    operators: tuple[Operator, ...]

    def operator(self, name: str) -> Operator:
        """The operator called `name`."""
        return self._by_name[name]

    def forwards_of(self, name: str) -> tuple[Operator, ...]:
        """The operators whose gradient the one called `name` is."""
        return tuple(self._forwards.get(name, ()))

    @cached_property
    def _forwards(self) -> Mapping[str, list[Operator]]:
        found: dict[str, list[Operator]] = {}
        for operator in self.operators:
            if operator.backward is not None:
                found.setdefault(operator.backward.operator, []).append(operator)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Operator]:
        return {operator.name: operator for operator in self.operators}
