"""Wrong calls for generated tests: for each rule, arguments that break it alone, and the exact text of the error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import TypeAlias

from codegen.contract import MAX_DIMS, StarFunction
from codegen.expr.tree import Expr, Logic, Query, Type, Unary, integer
from codegen.frozen import dataclass, replace
from codegen.lower.sample import USUAL_LENGTH, Sample
from codegen.lower.tests.listed import of_pair, of_second
from codegen.lower.tests.samples import with_dims
from codegen.lower.tests.scalars import Scalar, breaking
from codegen.lower.tests.search import Calls
from codegen.lower.tests.texts import Broken, WrongCall, WrongTensor
from codegen.lower.tests.values import Filling, Number, wrong_numbers
from codegen.lower.tests.variations import failing, without_star
from codegen.messages.parts import Message
from codegen.messages.sentences import mask_length, message, offsets_messages
from codegen.model import Operator
from codegen.positions import Comparison, DimCompare, Index, list_of
from codegen.rules import (
    AccDtypeRule,
    CheckRule,
    ChoiceRule,
    ComputeStar,
    ContiguousRule,
    CountRule,
    DeviceArgumentRule,
    DeviceRule,
    DimsRule,
    DtypeRule,
    ElementsRule,
    ExpandRule,
    HostRule,
    LengthRule,
    OffsetsRule,
    OverlapRule,
    PlainRule,
    RankRule,
    Rule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    SizesRule,
    SumRule,
    TextRule,
    ValueRule,
    When,
    plain,
)

MOST_ELEMENTS = 65536  # of a tensor that a test writes down one by one
OTHER_DTYPES = ("int32", "float32", "float64", "float8_e5m2")


@dataclass(frozen=True)
class Wrong:
    """A wrong call: what differs from the usual one. `elements`: the rule is about elements, `memory`: about addresses;
    fakes have neither.
    """

    tensors: tuple[tuple[str, WrongTensor], ...]
    scalars: tuple[tuple[str, Scalar], ...]
    text: str
    elements: bool = False
    memory: bool = False
    device: bool = False
    absent: tuple[str, ...] = ()
    lists: tuple[tuple[str, tuple[WrongTensor, ...]], ...] = ()  # in the place of whole lists
    alias: tuple[str, str] | None = None  # an argument, and the one at whose address it begins
    mask: int = 0  # length of a grad_mask


def _position(index: Index, rank: int) -> int:
    return rank - index.index if index.from_back else index.index


def _differently(shape: tuple[int, ...], comparison: Comparison) -> Iterator[tuple[int, ...]]:
    """Shapes that fail one comparison: a size that is one too many, and for stars also a dim too many."""
    if isinstance(comparison, DimCompare):
        at = _position(comparison.index, len(shape))
        yield (*shape[:at], shape[at] + 1, *shape[at + 1 :])
        return
    front, covered = comparison.span.front, comparison.span.covered(shape)
    rest = shape[front + len(covered) :]
    if covered:
        yield (*shape[:front], *covered[:-1], covered[-1] + 1, *rest)
    yield (*shape[:front], 1, *covered, *rest)


def wrong_calls(first: Sample) -> list[Wrong]:
    """A wrong call for each rule that can be broken alone; `first` is a right one, with all arguments."""
    op = first.op
    found = [_many_dims(first, argument.name) for argument in op.tensors]
    earlier: list[Expr] = []
    stars: list[StarFunction] = []
    calls, starless = Calls(first), Calls(replace(first, missing=(1,)))
    for conditional in op.rules:
        rule, absent, made = plain(conditional), _absent(op, conditional), _made(first, conditional)
        usual = first.without(absent)
        before = len(found)
        rule = of_second(rule)
        if first.length < USUAL_LENGTH and getattr(rule, "argument", "").endswith(("[1]", "[_i]")):
            continue  # no list of a right call has a second tensor
        if isinstance(conditional, When) and conditional.each and not isinstance(rule, SizeRule | DimsRule):
            usual = replace(usual, at=1)
        match rule:
            case CheckRule() | SizeRule():
                found += _condition(calls, rule, [*earlier, *made])
                otherwise = tuple(Unary("not", one, Type.BOOL) for one in made)
                earlier.append(Logic("or", (*otherwise, rule.condition)) if made else rule.condition)
            case ComputeStar():
                sample = without_star(starless, rule.entry, [*earlier, *made, *stars])
                stars += [] if made else [rule.entry]
                found += [_other(first, sample, rule)] if sample is not None else []
            case DimsRule():
                sample = with_dims(usual, rule)
                found += [_other(first, sample, rule)] if sample is not None else []
            case LengthRule(room=True):
                pass  # GPUs only
            case SizesRule() if any(_is_spliced(rule.argument, other) for other in op.rules):
                pass  # the shape of an input is wrong then, which is said first
            case ElementsRule() | OffsetsRule() | SumRule():
                found += _elements(usual, rule)
            case OverlapRule():
                found += _overlap(usual, of_pair(rule))
            case CountRule():
                found.append(_count(usual, rule))
            case ContiguousRule():
                found += _not_contiguous(usual, rule)
            case _:
                found += _scalar(usual, rule) if _is_of_scalar(op, rule) else _other_tensors(usual, rule)
        if absent:
            found[before:] = [replace(wrong, absent=tuple(sorted(absent))) for wrong in found[before:]]
    if op.grad_mask:
        count = sum(first.length if output.type.is_list else 1 for output in op.outputs)
        found.append(Wrong((), (), f"{mask_length(count)}{count + 1}", mask=count + 1))
    return found


def _is_of_scalar(op: Operator, rule: PlainRule) -> bool:
    match rule:
        case ChoiceRule() | TextRule() | LengthRule() | SizesRule() | DeviceArgumentRule():
            return True
        case DtypeRule() | SameDtypeRule() | DeviceRule():
            return not op.argument(rule.argument).is_tensor
    return False


def _scalar(usual: Sample, rule: PlainRule) -> list[Wrong]:
    """Other values of the scalar that the rule is about."""
    match rule:
        case DtypeRule():
            known = {usual.dtypes.get(name, name) for name in rule.allowed}
            return _argument(usual, rule, [name for name in OTHER_DTYPES if name not in known][:1])
        case SameDtypeRule():
            same = usual.dtypes[rule.variable]
            return _argument(usual, rule, [name for name in OTHER_DTYPES if name != same][:1])
        case DeviceArgumentRule() | DeviceRule():
            return _argument(usual, rule, ["meta"])
        case ChoiceRule() | TextRule() | LengthRule() | SizesRule():
            return _argument(usual, rule, breaking(rule))
    return []


def _other_tensors(usual: Sample, rule: PlainRule) -> list[Wrong]:
    """Tensors of another dtype, device or shape in the place of the one that the rule is about."""
    found: list[WrongTensor] = []
    match rule:
        case DtypeRule() | SameDtypeRule() | AccDtypeRule():
            named = rule.allowed if isinstance(rule, DtypeRule) else (usual.dtype_of(rule.argument),)
            wanted = {usual.dtypes.get(name, name) for name in named}
            others = [name for name in OTHER_DTYPES if name not in wanted]
            found += [WrongTensor(dtype, usual.shapes()[rule.argument]) for dtype in others[:1]]
        case DeviceRule() | HostRule():
            same = usual.shapes()[rule.argument]
            found.append(WrongTensor(usual.dtype_of(rule.argument), same, other_device=True))
        case RankRule() | ShapeRule() | ExpandRule():
            found += [WrongTensor(usual.dtype_of(rule.argument), shape) for shape in _other_shapes(usual, rule)]
        case _:
            return []
    return [_tensor(usual, rule, rule.argument, tensor) for tensor in found]


def _other_shapes(usual: Sample, rule: RankRule | ShapeRule | ExpandRule) -> list[tuple[int, ...]]:
    shape = usual.shapes()[rule.argument]
    match rule:
        case RankRule():
            fewer = [(2,) * (rule.rank - 1)] if rule.rank > 0 else []
            return [(*shape, 1)] if rule.exact else fewer
        case ShapeRule():
            compared = [one for one in rule.comparisons if not _follows(usual, rule, one)]
            return [other for one in compared for other in _differently(shape, one)]
        case ExpandRule():
            return [(*shape[:-1], shape[-1] + 1) if shape else (2,), (1, *shape)]


def _count(usual: Sample, rule: CountRule) -> Wrong:
    """No tensors, or one more than the other list has."""
    if not rule.source:
        return Wrong((), (), WrongCall(usual, {}).text(message(rule)), lists=((rule.argument, ()),))
    longer = replace(usual, length=usual.length + 1).shapes()
    shapes = [longer[f"{rule.argument}[{i}]"] for i in range(usual.length + 1)]
    tensors = tuple(WrongTensor(usual.dtype_of(rule.argument), shape) for shape in shapes)
    first, wanted, middle, _ = message(rule).parts
    text = WrongCall(usual, {}).text(Message((first, wanted, middle))) + str(len(tensors))
    return Wrong((), (), text, lists=((rule.argument, tensors),))


def _made(sample: Sample, rule: Rule) -> list[Expr]:
    """What must hold for the output to be there that a rule is about."""
    condition = sample.op.output(rule.output).condition if isinstance(rule, When) and rule.output else None
    return [condition] if condition is not None else []


def _many_dims(usual: Sample, name: str) -> Wrong:
    """A tensor of more dims than PyTorch's own operators take."""
    name = f"{name}[{min(usual.length, USUAL_LENGTH) - 1}]" if usual.op.argument(name) in usual.op.lists else name
    tensor = WrongTensor(usual.dtype_of(name), (1,) * (MAX_DIMS + 1))
    return Wrong(((name, tensor),), (), f"{name}: expected at most {MAX_DIMS} dimensions, got {MAX_DIMS + 1}")


def _follows(usual: Sample, rule: ShapeRule, comparison: Comparison) -> bool:
    """Whether what a size is compared with is derived from that size itself."""
    if not isinstance(comparison, DimCompare) or comparison.index.from_back:
        return False
    own = Query("size", rule.argument, (integer(comparison.index.index),), Type.INT)
    return own in usual.op.free_sizes


def _absent(op: Operator, rule: Rule) -> frozenset[str]:
    """The optionals that are left out so that the rule applies: arguments, or the tensors of a usual list."""
    found: set[str] = set()
    for name in rule.absent if isinstance(rule, When) else ():
        listed = list_of(name)
        if name == listed or op.argument(listed).type.optional:
            found.add(listed)
        else:
            found |= {f"{listed}[{place}]" for place in range(USUAL_LENGTH)}
    return frozenset(found)


ArgumentRule: TypeAlias = (
    DtypeRule | SameDtypeRule | DeviceRule | DeviceArgumentRule | ChoiceRule | TextRule | LengthRule | SizesRule
)


def _is_spliced(name: str, rule: Rule) -> bool:
    """Whether a rule compares the shape of an input with the values of this list."""
    compared = plain(rule)
    return isinstance(compared, ShapeRule) and any(known.name == name and known.star for known in compared.known)


def _argument(usual: Sample, rule: ArgumentRule, values: Iterable[Scalar]) -> list[Wrong]:
    """A scalar argument that breaks its rule, for each of these values."""
    name = rule.argument
    calls = [(value, WrongCall(usual, {}, scalars={name: value})) for value in values]
    return [Wrong((), ((name, value),), call.text(message(rule))) for value, call in calls]


def _tensor(
    usual: Sample,
    rule: DtypeRule
    | SameDtypeRule
    | AccDtypeRule
    | DeviceRule
    | HostRule
    | RankRule
    | ShapeRule
    | ExpandRule
    | ContiguousRule
    | OverlapRule,
    name: str,
    tensor: WrongTensor,
) -> Wrong:
    text = WrongCall(usual, {name: tensor}).text(message(rule))
    return Wrong(((name, tensor),), (), text, device=tensor.other_device)


def _overlap(usual: Sample, rule: OverlapRule) -> list[Wrong]:
    """All elements at one address, or both arguments at one; where no other rule would be broken by that."""
    steered = {values.argument for values in usual.op.values}
    shape, names = usual.shapes()[rule.argument], (rule.argument, rule.other)
    if rule.other != rule.argument:
        if any(prod(usual.shapes()[name]) == 0 or usual.op.argument(name).has_word("cpu") for name in names):
            return []
        if rule.argument in steered:  # it is the other one that keeps its elements
            return []
        return [Wrong((), (), WrongCall(usual, {}).text(message(rule)), memory=True, alias=names)]
    if prod(shape) < 2 or rule.argument in steered or usual.op.argument(rule.argument).has_word("contiguous"):
        return []
    tensor = WrongTensor(usual.dtype_of(rule.argument), shape, strides=(0,) * len(shape))
    return [replace(_tensor(usual, rule, rule.argument, tensor), memory=True)]


def _not_contiguous(usual: Sample, rule: ContiguousRule) -> list[Wrong]:
    """Every other element of what would be contiguous."""
    shape, strides = usual.shapes()[rule.argument], [2]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    if not shape:
        return []
    tensor = WrongTensor(usual.dtype_of(rule.argument), shape, strides=tuple(reversed(strides)))
    return [_tensor(usual, rule, rule.argument, tensor)]


def _condition(calls: Calls, rule: CheckRule | SizeRule, earlier: list[Expr]) -> list[Wrong]:
    """A call in which a check fails, with every tensor whose shape is then another."""
    sample = failing(calls, rule.condition, earlier)
    return [_other(calls.usual, sample, rule)] if sample is not None else []


def _other(usual: Sample, sample: Sample, rule: CheckRule | SizeRule | ComputeStar | DimsRule) -> Wrong:
    """A call with other sizes and scalars than usual, and all tensors whose shape is then another."""
    shapes, before = sample.shapes(), usual.shapes()
    tensors = tuple(
        (argument.name, WrongTensor(sample.dtype_of(argument.name), shapes[argument.name]))
        for argument in usual.op.tensors
        if argument not in usual.op.lists and shapes[argument.name] != before[argument.name]
    )
    scalars = tuple((name, value) for name, value in sample.scalars.items() if value != usual.scalars[name])
    lists = []
    for argument in usual.op.lists if sample.length != usual.length or sample.dims != usual.dims else ():
        of = [shapes[f"{argument.name}[{i}]"] for i in range(sample.length)]
        lists.append((argument.name, tuple(WrongTensor(sample.dtype_of(argument.name), shape) for shape in of)))
    return Wrong(tensors, scalars, WrongCall(sample, {}).text(message(rule)), lists=tuple(lists))


def _elements(usual: Sample, rule: ValueRule) -> list[Wrong]:
    """Calls in which one element breaks a rule, and everything before that rule holds."""
    filled, shape = usual.elements[rule.argument], usual.shapes()[rule.argument]
    if filled is None or not 0 < prod(shape) <= MOST_ELEMENTS:
        return []
    right, dtype = filled.listed(shape), usual.dtype_of(rule.argument)
    own = [one for one in usual.op.values if one.argument == rule.argument]
    if not all(isinstance(one, ElementsRule) for one in own[: own.index(rule)]):
        return []  # one element more or less would break the rule before as well
    first, step = (0, 1) if rule.column is None else (rule.column, shape[-1])
    places = range(first, len(right), step)
    before = [one for one in own[: own.index(rule)] if one.column is None or rule.column in (None, one.column)]
    filling = Filling([dtype], before, usual.value, len(places))
    found: list[tuple[Message, Broken, dict[int, Number]]] = []
    match rule:
        case ElementsRule():
            for bad in wrong_numbers(filling, rule, dtype):
                found.append((message(rule), Broken(places[-1], bad), {places[-1]: bad}))
        case SumRule():
            for change in (1, -1):
                total = sum(right[place] for place in places) + change
                if usual.value(rule.condition, {rule.argument: total}) is False:
                    changed = {places[-1]: right[places[-1]] + change}
                    found.append((message(rule), Broken(other=total), changed))
        case OffsetsRule():
            found += _wrong_offsets(rule, right, list(places))
    wrong = []
    for text, broken, changed in found:
        if all(map(filling.allows, changed.values())):
            values = tuple(changed.get(place, number) for place, number in enumerate(right))
            tensor = WrongTensor(dtype, shape, elements=values)
            call = WrongCall(usual, {rule.argument: tensor}, broken)
            wrong.append(Wrong(((rule.argument, tensor),), (), call.text(text), elements=True))
    return wrong


def _wrong_offsets(
    rule: OffsetsRule, right: list[Number], places: list[int]
) -> list[tuple[Message, Broken, dict[int, Number]]]:
    """A first element that is not 0, one that falls, a last one that is not the total."""
    texts, last = offsets_messages(rule), places[-1]
    total = right[last]
    found: list[tuple[Message, Broken, dict[int, Number]]]
    found = [(texts["start"], Broken(places[0], 1), {places[0]: 1})]
    if len(places) > 2:
        falls = Broken(last, total, total + 1)
        found.append((texts["fall"], falls, {places[-2]: total + 1}))
    if len(places) > 1:
        found.append((texts["end"], Broken(last, total + 1), {last: total + 1}))
    return found
