"""What the spec says of each argument, output and scratch tensor: dtype, shape, default, words, doc.

Like the rest of the model (model.py) this knows no YAML, no C, no files and no templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from codegen.expr.tree import Expr, names
from codegen.frozen import dataclass
from codegen.types import BITS, DTYPES

# Dims of a tensor: what PyTorch's own operators take, and what csrc/runtime/tensor.h has room for.
MAX_DIMS = 64

# ---------------------------------------------------------------- dtypes and shapes


@dataclass(frozen=True)
class TypeVariable:
    """A dtype variable. `dtypes` are the torch names of all that it can be, in spec order.

    `listed` is its list as written, where that names earlier variables, to whose dtypes it may also be equal.
    """

    name: str
    dtypes: tuple[str, ...]
    group: str  # "floating", "all", "bits", ... when written so, else ""
    listed: tuple[str, ...] = ()

    @property
    def allowed(self) -> tuple[str, ...]:
        """Dtypes and earlier variables, as written."""
        return self.listed or self.dtypes

    @property
    def places(self) -> tuple[str, ...]:
        """What kernels are compiled for: a dtype each, or for `bits` an element size."""
        return tuple(BITS) if self.group == "bits" else self.dtypes

    def place(self, dtype: str) -> str:
        """The one of them that a dtype goes to."""
        sizes = {bits: name for name, bits in BITS.items()}
        return sizes[DTYPES[dtype].size] if self.group == "bits" else dtype


def fits(types: Sequence[TypeVariable], choice: Mapping[str, str]) -> bool:
    """Whether the variables can have these dtypes together: a list that names an earlier variable means its dtype."""
    return all(choice[v.name] in [choice.get(name, name) for name in v.allowed] for v in types)


@dataclass(frozen=True)
class FixedDtype:
    """`float32[...]`."""

    name: str


@dataclass(frozen=True)
class Variable:
    """`T[...]`."""

    name: str


@dataclass(frozen=True)
class Acc:
    """`acc(T)[...]`: the accumulation dtype of a variable."""

    variable: str


Dtype: TypeAlias = FixedDtype | Variable | Acc


@dataclass(frozen=True)
class DimEntry:
    """One dim of a shape. A plain dim name is a Name of kind DIM; anything else is computed (outputs) or compared
    (inputs).
    """

    expr: Expr
    text: str


@dataclass(frozen=True)
class StarEntry:
    """`*name`: any number of dims."""

    name: str
    text: str


@dataclass(frozen=True)
class BroadcastEntry:
    """`*broadcast(a, b)`: NumPy broadcasting of stars."""

    names: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class DropEntry:
    """`*drop(s, dim)`: the star without one dim."""

    name: str
    dim: Expr
    text: str


@dataclass(frozen=True)
class ReplaceEntry:
    """`*replace(s, dim, k)`: the star with one dim replaced."""

    name: str
    dim: Expr
    size: Expr
    text: str


StarFunction: TypeAlias = BroadcastEntry | DropEntry | ReplaceEntry
ShapeEntry: TypeAlias = DimEntry | StarEntry | StarFunction


def named_stars(entry: StarFunction) -> tuple[str, ...]:
    """The stars that a function of stars takes."""
    return entry.names if isinstance(entry, BroadcastEntry) else (entry.name,)


def numbers_in(entry: ShapeEntry) -> tuple[Expr, ...]:
    """The expressions that an entry is made of, beside stars."""
    match entry:
        case DimEntry():
            return (entry.expr,)
        case DropEntry():
            return (entry.dim,)
        case ReplaceEntry():
            return (entry.dim, entry.size)
    return ()


def names_of(entry: ShapeEntry) -> Iterator[str]:
    """The names in an entry."""
    if isinstance(entry, StarEntry):
        yield entry.name
    elif not isinstance(entry, DimEntry):
        yield from named_stars(entry)
    for expr in numbers_in(entry):
        yield from (name.name for name in names(expr))


@dataclass(frozen=True)
class Shape:
    """The entries of `[*rows, n]`; at most one of them is not a DimEntry."""

    entries: tuple[ShapeEntry, ...]

    @property
    def text(self) -> str:
        """The contract as written, spaces normalised: `[*rows, n]`."""
        return "[" + ", ".join(entry.text for entry in self.entries) + "]"


def dtypes_of(dtype: Dtype, variables: Iterable[TypeVariable]) -> tuple[str, ...]:
    """The dtypes that a tensor can have."""
    if isinstance(dtype, FixedDtype):
        return (dtype.name,)
    name = dtype.name if isinstance(dtype, Variable) else dtype.variable
    found = next(variable.dtypes for variable in variables if variable.name == name)
    return tuple(dict.fromkeys(DTYPES[one].acc for one in found)) if isinstance(dtype, Acc) else found


def dtype_of(dtype: Dtype, choice: Mapping[str, str]) -> str:
    """The dtype of a tensor for one choice of dtypes, by variable."""
    if isinstance(dtype, FixedDtype):
        return dtype.name
    return DTYPES[choice[dtype.variable]].acc if isinstance(dtype, Acc) else choice[dtype.name]


# ---------------------------------------------------------------- arguments, outputs, scratch


@dataclass(frozen=True)
class TensorType:
    """`dtype[dims]`, then `?` (element_optional inside a list, optional outside), `[]`, `?`, `!`."""

    dtype: Dtype
    shape: Shape
    optional: bool = False
    is_list: bool = False
    element_optional: bool = False
    written: bool = False

    @property
    def may_lack_tensors(self) -> bool:
        """Whether there are calls without a tensor in it."""
        return self.optional or self.element_optional


@dataclass(frozen=True)
class ScalarType:
    """A scalar: float int size bool str dtype device choice.

    `choices` for choice(...); `variable` for dtype(Q); `length` for int[2] (None with is_list: any length).
    """

    kind: str
    optional: bool = False
    is_list: bool = False
    length: int | None = None
    choices: tuple[str, ...] = ()
    variable: str = ""


ScalarValue: TypeAlias = int | float | bool | str | None


@dataclass(frozen=True)
class Default:
    """The default of an argument; a tuple for lists."""

    value: ScalarValue | tuple[ScalarValue, ...]


@dataclass(frozen=True)
class Word:
    """A word after a type: `contiguous`, `inner(2)`, `like(x)`, `fill(0)`; `argument` is the text or number inside."""

    name: str
    argument: int | float | str | None = None


@dataclass(frozen=True)
class Argument:
    """An input, positional or keyword-only."""

    name: str
    type: TensorType | ScalarType
    keyword_only: bool = False
    default: Default | None = None
    words: tuple[Word, ...] = ()
    doc: str = ""
    text: str = ""  # the type as written, for docs and comments: "T[*rows, n]"

    @property
    def is_tensor(self) -> bool:
        """Whether this is a tensor (or a list of tensors)."""
        return isinstance(self.type, TensorType)

    def has_word(self, name: str) -> bool:
        """Whether `name` stands after the type."""
        return any(word.name == name for word in self.words)

    @property
    def shares_gradient(self) -> str:
        """The input whose gradient is that of this one, too: `grad(x)`; "" otherwise."""
        return next((str(word.argument) for word in self.words if word.name == "grad"), "")


@dataclass(frozen=True)
class Output:
    """An output tensor. `condition` for `T[*rows] if return_lse`, which is None where it does not hold. A list of
    tensors is as long as the list of inputs `counted_by`.
    """

    name: str
    type: TensorType
    words: tuple[Word, ...] = ()
    condition: Expr | None = None
    doc: str = ""
    text: str = ""
    counted_by: str = ""

    @property
    def saved(self) -> bool:
        """Kept for backward, not returned, not computed in inference."""
        return self.has_word("saved")

    def has_word(self, name: str) -> bool:
        """Whether `name` stands after the type."""
        return any(word.name == name for word in self.words)

    def word(self, name: str) -> Word | None:
        """The word `name` with what stands in its parentheses, if it is there."""
        return next((word for word in self.words if word.name == name), None)


@dataclass(frozen=True)
class Scratch:
    """A tensor that lives as long as the call. Its shape may use sm_count."""

    name: str
    type: TensorType
    words: tuple[Word, ...] = ()
    text: str = ""
