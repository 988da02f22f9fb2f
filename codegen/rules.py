"""The rules of a call, as data, in the order in which every printer walks them.

bind/ derives them once from an operator's contract. The C host function, the Python fake kernel, the documentation and
the generated negative tests all walk `Operator.rules` from first to last, and take each rule's error text from
messages/sentences.py; so they agree on which rule fails first and on what it says. Order: lengths of lists of tensors,
dtypes, devices, choices and the like, ranks and bindings (over all inputs), derived dims, shape comparisons, layouts,
checks, computed output sizes, values, overlap.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.assignments import BindDim, BindDynamic, BindStar, Decide, Derive, FirstDtype
from codegen.contract import StarFunction, numbers_in
from codegen.expr.tree import Compare, Expr, integer
from codegen.frozen import dataclass
from codegen.positions import Comparison, DimCompare, list_of


@dataclass(frozen=True, slots=True)
class CountRule:
    """The list of tensors `argument` is as long as the list `source`; without a source it has at least one tensor."""

    argument: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class DtypeRule:
    """`argument` binds `variable`, or has a fixed dtype (variable is ""); its dtype must be one of `allowed`.

    An entry of `allowed` is a dtype's torch name, or the name of an earlier variable, bound by then. `scalar`: the
    argument is a dtype(Q).
    """

    argument: str
    variable: str
    allowed: tuple[str, ...]
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class SameDtypeRule:
    """`argument` has the dtype of `variable`, which the argument `source` bound."""

    argument: str
    variable: str
    source: str


@dataclass(frozen=True, slots=True)
class AccDtypeRule:
    """`argument` has the accumulation dtype of `variable`, which the argument `source` bound."""

    argument: str
    variable: str
    source: str


@dataclass(frozen=True, slots=True)
class DeviceRule:
    """`argument` is on the device of `source`, the first tensor argument; a `device` argument means it."""

    argument: str
    source: str


@dataclass(frozen=True, slots=True)
class SupportedDeviceRule:
    """`argument`, the first tensor of a list, is on one of `devices`. Elsewhere PyTorch sees to that, but not where all
    tensors may be missing. Fakes have no kernels and do not look.
    """

    argument: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostRule:
    """`argument` says `cpu`, and is there."""

    argument: str


@dataclass(frozen=True, slots=True)
class DeviceArgumentRule:
    """Where there is no tensor argument, the `device` argument says where outputs are made: one of `devices`."""

    argument: str
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChoiceRule:
    """The string `argument` is one of `choices`; bodies see its place among them."""

    argument: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextRule:
    """The string `argument` can be handed on as a C string of limited length."""

    argument: str


@dataclass(frozen=True, slots=True)
class LengthRule:
    """The list `argument` has `length` values, which are called `kind`. With `room` it has at most that many, when the
    call runs on a GPU.
    """

    argument: str
    kind: str
    length: int
    room: bool = False


@dataclass(frozen=True, slots=True)
class SizesRule:
    """The values of the list `argument`, which are sizes of the output or scratch tensor `tensor`, are not negative."""

    argument: str
    tensor: str


@dataclass(frozen=True, slots=True)
class RankRule:
    """`argument` has exactly `rank` dims, or, with a star in its shape, at least that many."""

    argument: str
    rank: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Known:
    """A value that a shape message prints: `n = 4096 (from x)`; for a star its dims; `source` is "" for scalars,
    derived dims and what one of several optionals bound. `computed`: it is function of stars number so much.
    """

    name: str
    source: str
    star: bool = False
    computed: int | None = None


@dataclass(frozen=True, slots=True)
class ComputeStar:
    """Function of stars number `index` of the operator takes its dims, which shapes behind it use.

    Sizes that do not broadcast and a dim that the star does not have are errors. `known` are the stars that it takes.
    With an `owner`, an input or output that may be absent or is a list (`xs[_i]`), it is computed for the shape of that
    one alone.
    """

    index: int
    entry: StarFunction
    known: tuple[Known, ...]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class DimsRule:
    """An output has no more than 64 dims: `named` of them beside those of `star`.

    That is the name of a star of inputs, or the number of a function of stars.
    """

    tensor: str
    named: int
    star: str | int


@dataclass(frozen=True, slots=True)
class ShapeRule:
    """`argument` agrees with its contract wherever that is not a binding: second uses of names, expressions, scalars.

    All comparisons must hold; one message covers them. `shape` is the contract as written, `[*rows, n]`.
    """

    argument: str
    shape: str
    comparisons: tuple[Comparison, ...]
    known: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class ExpandRule:
    """`argument` can be broadcast to its contract, and from here on has those sizes: dims that it lacks in front, and
    those of size 1, have stride 0.

    `sizes` are the expressions in its shape.
    """

    argument: str
    shape: str
    sizes: tuple[Expr, ...]
    known: tuple[Known, ...]


@dataclass(frozen=True, slots=True)
class ContiguousRule:
    """`argument` says `contiguous`, and is."""

    argument: str


@dataclass(frozen=True, slots=True)
class CheckRule:
    """An entry of `checks:`. `message` is the writer's own text, or ""."""

    condition: Expr
    text: str
    message: str


@dataclass(frozen=True, slots=True)
class SizeRule:
    """A computed size of an output or scratch tensor is not negative."""

    tensor: str
    expr: Expr
    text: str

    @property
    def condition(self) -> Expr:
        """What must hold."""
        return Compare((self.expr, integer(0)), (">=",))


@dataclass(frozen=True, slots=True)
class ElementsRule:
    """Every element of `argument` meets `condition`, a Compare in which the element is a Name of kind ELEMENT.

    Every comparison in it has the element on one side: `0 <= index < m`, `k != 3`. A NaN meets nothing. `besides` are
    numbers that are right as well: m in `0 <= index < n or index == m`.

    `column` is the index in the last dim for `boxes[:, 0]`, else None. Checked on the CPU; on CUDA in checking mode
    only; never in fakes.
    """

    argument: str
    column: int | None
    condition: Expr
    text: str
    besides: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class OffsetsRule:
    """`offsets(argument, total)`: the elements start at 0, never fall and end at `total`.

    `column` as in ElementsRule.
    """

    argument: str
    column: int | None
    total: Expr
    text: str


@dataclass(frozen=True, slots=True)
class SumRule:
    """`sum(argument) == n`: the sum of all elements meets `condition`, in which it is a Name of kind ELEMENT.

    `of` is what is summed, as written: `lengths` or `boxes[:, 0]`.
    """

    argument: str
    column: int | None
    condition: Expr
    text: str
    of: str


@dataclass(frozen=True, slots=True)
class OverlapRule:
    """No element of the written `argument` lies on one of `other`; on another one of its own where both are the same.

    Fakes have no memory and do not look.
    """

    argument: str
    other: str


@dataclass(frozen=True, slots=True)
class When:
    """`rule` applies where every one of `given` was given and every one of `absent` was not; with an `output`, where
    that one is there; with a list `each`, to every place in it: `given` and `absent` may then name `xs[_i]`.
    """

    given: tuple[str, ...]
    absent: tuple[str, ...]
    rule: PlainRule
    output: str = ""
    each: str = ""


ValueRule: TypeAlias = ElementsRule | OffsetsRule | SumRule

PlainRule: TypeAlias = (
    CountRule
    | DtypeRule
    | FirstDtype
    | SameDtypeRule
    | AccDtypeRule
    | DeviceRule
    | SupportedDeviceRule
    | HostRule
    | DeviceArgumentRule
    | ChoiceRule
    | TextRule
    | LengthRule
    | RankRule
    | BindDim
    | BindStar
    | Derive
    | BindDynamic
    | Decide
    | ComputeStar
    | ShapeRule
    | ExpandRule
    | ContiguousRule
    | CheckRule
    | SizeRule
    | DimsRule
    | SizesRule
    | ElementsRule
    | OffsetsRule
    | SumRule
    | OverlapRule
)

Rule: TypeAlias = PlainRule | When


def expressions(rule: PlainRule) -> tuple[Expr, ...]:
    """What a rule computes."""
    match rule:
        case Derive() | SizeRule():
            return (rule.expr,)
        case CheckRule() | Decide() | ElementsRule() | SumRule():
            return (rule.condition,)
        case OffsetsRule():
            return (rule.total,)
        case BindDynamic():
            return (rule.value,)
        case ExpandRule():
            return rule.sizes
        case ComputeStar():
            return numbers_in(rule.entry)
        case ShapeRule():
            return tuple(one.expected for one in rule.comparisons if isinstance(one, DimCompare))
    return ()


def plain(rule: Rule) -> PlainRule:
    """The rule itself, whatever it depends on."""
    return rule.rule if isinstance(rule, When) else rule


def where_given(rule: PlainRule, argument: str, optional: frozenset[str]) -> Rule:
    """A rule on an argument does not apply where the argument is absent; one on a list is about each of its tensors."""
    given = (argument,) if argument in optional else ()
    return when(rule, argument, given)


def when(rule: PlainRule, argument: str, given: tuple[str, ...] = (), absent: tuple[str, ...] = ()) -> Rule:
    """A rule on an argument, or on each tensor of a list, under conditions."""
    each = list_of(argument) if argument.endswith("[_i]") else ""
    return When(given, absent, rule, each=each) if given or absent or each else rule
