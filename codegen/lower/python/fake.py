"""The fake kernel of an operator as Python statements: its rules in their order, then its outputs, empty."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby
from typing import TypeAlias

from codegen.assignments import BindDim, BindDynamic, BindStar, Decide, Derive, FirstDtype
from codegen.contract import MAX_DIMS, BroadcastEntry, DropEntry, Output, StarEntry, TensorType, numbers_in
from codegen.expr.c import can_overflow
from codegen.expr.tree import Conditional, Expr
from codegen.expr.tree import names as used_names
from codegen.lower.elementwise.host import alike
from codegen.lower.host import first_given, mask_is_list
from codegen.lower.python.arguments import condition as argument_condition
from codegen.lower.python.names import HELPER, Names, call
from codegen.messages.parts import Message
from codegen.messages.sentences import mask_length, message, overflow_of
from codegen.positions import ComputedCompare, DimCompare, each_of
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
    SupportedDeviceRule,
    TextRule,
    ValueRule,
    When,
    expressions,
    plain,
)
from codegen.types import DTYPES

Computing: TypeAlias = Derive | BindDynamic | Decide | CheckRule | SizeRule | ShapeRule | ComputeStar


def _check(names: Names, condition: str, text: Message) -> list[str]:
    return call("_check", [condition, names.message(text)])


def _computed(
    names: Names,
    expr: Expr,
    rule: Derive | CheckRule | SizeRule | ShapeRule | ComputeStar | Decide | BindDynamic,
    target: str = "",
) -> tuple[list[str], str]:
    """Statements that must come first, and the expression itself; leaving 64 bits is an error of its own."""
    if not can_overflow(expr):
        return [], names.expr(expr)
    value = target or names.fresh("value")
    arguments: list[str | list[str]] = [f"lambda: {names.checked(expr)}", names.message(overflow_of(rule))]
    return call(f"{value} = _check.computed", arguments), value


def _shape(names: Names, rule: ShapeRule) -> list[str]:
    lines: list[str] = []
    for comparison in rule.comparisons:
        if isinstance(comparison, DimCompare):
            first, expected = _computed(names, comparison.expected, rule)
            condition = f"{names.size(rule.argument, comparison.index)} == {expected}"
            lines += [*first, *_check(names, condition, message(rule))]
        else:
            if isinstance(comparison, ComputedCompare):
                expected = names.stars[comparison.index]
            else:
                expected = names.star_sizes(comparison.name)
            lines += call("_check.sizes", [names.span(comparison.span), expected, names.message(message(rule))])
    return lines


def _dynamic(names: Names, rule: BindDynamic) -> list[str]:
    """A size that PyTorch is told nothing about but its bound, or the one that was given."""
    first, bound = _computed(names, rule.bound, rule)
    unknown = f"{HELPER}dynamic({bound})"
    if rule.given is None or not isinstance(rule.value, Conditional):
        return [*first, f"{rule.name} = {unknown}"]
    condition, known = names.expr(rule.given), names.expr(rule.value.then)
    return [*first, f"{rule.name} = {known} if {condition} else {unknown}"]


def _star(names: Names, rule: ComputeStar) -> list[str]:
    """A function of stars, into a local of its own."""
    entry, text = rule.entry, names.message(message(rule))
    target = names.stars[rule.index]
    if isinstance(entry, BroadcastEntry):
        return call(f"{target} = _check.broadcast", [text, *map(names.star_sizes, entry.names)])
    lines, dim = _computed(names, entry.dim, rule)
    if isinstance(entry, DropEntry):
        return [*lines, *call(f"{target} = _check.drop", [text, names.star_sizes(entry.name), dim])]
    first, size = _computed(names, entry.size, rule)
    return [*lines, *first, *call(f"{target} = _check.replace", [text, names.star_sizes(entry.name), dim, size])]


def _expand(names: Names, rule: ExpandRule) -> list[str]:
    """The name of the argument stands for the view from here on."""
    kind = names.op.argument(rule.argument).type
    assert isinstance(kind, TensorType)
    first: list[str] = []
    sizes = names.shape(kind.shape, owner=rule.argument)
    if any(can_overflow(size) for size in rule.sizes):
        sizes = names.fresh("sizes")
        checked = f"lambda: {names.shape(kind.shape, True, rule.argument)}"
        computed: list[str | list[str]] = [checked, names.message(overflow_of(rule))]
        first = call(f"{sizes} = _check.computed", computed)
    arguments: list[str | list[str]] = [rule.argument, sizes, names.message(message(rule))]
    return [*first, *call(f"{rule.argument} = _check.expand", arguments)]


def rule_lines(names: Names, rule: PlainRule, read: Collection[str]) -> list[str]:
    """The statements of one rule; rules on the elements of tensors have none. `read` are the names that others use."""
    match rule:
        case CountRule():
            count, least = f"{HELPER}count({rule.argument})", f"{HELPER}count({rule.source})"
            return _check(names, f"{count} == {least}" if rule.source else f"{count} > 0", message(rule))
        case DtypeRule():
            allowed = f"in _{rule.variable}" if rule.variable else f"== torch.{rule.allowed[0]}"
            if any(name not in DTYPES for name in rule.allowed):
                allowed = f"in ({', '.join(map(names.dtype_name, rule.allowed))})"
            return _check(names, f"{names.dtype_of(rule.argument)} {allowed}", message(rule))
        case FirstDtype():
            return []
        case SameDtypeRule():
            same = f"{names.dtype_of(rule.argument)} == {names.dtype_of(rule.source)}"
            return _check(names, same, message(rule))
        case AccDtypeRule():
            return _check(
                names, f"{rule.argument}.dtype == {HELPER}acc({names.variable(rule.variable)})", message(rule)
            )
        case DeviceRule() if names.op.argument(rule.argument).is_tensor:
            return _check(names, f"{rule.argument}.device == {rule.source}.device", message(rule))
        case HostRule():
            return _check(names, f"{rule.argument}.is_cpu", message(rule))
        case ChoiceRule() | TextRule() | LengthRule() | SizesRule() | DeviceRule() | DeviceArgumentRule():
            return _check(names, argument_condition(names, rule), message(rule))
        case RankRule():
            comparison = "==" if rule.exact else ">="
            trivial = rule.rank == 0 and not rule.exact
            return [] if trivial else _check(names, f"{rule.argument}.dim() {comparison} {rule.rank}", message(rule))
        case BindDim() if rule.argument.endswith("[_i]"):
            return [f"{rule.name}[_i] = {names.size(rule.argument, rule.index)}"]
        case BindDim():
            return [f"{rule.name} = {names.size(rule.argument, rule.index)}"]
        case BindStar():
            text = names.message(overflow_of(rule))
            target = f"{rule.name} = " if rule.name in read else ""
            if rule.span.argument.endswith("[_i]"):
                target = f"{rule.name}[_i] = "
            return call(f"{target}_check.star", [names.span(rule.span), text])
        case Derive():
            first, value = _computed(names, rule.expr, rule, rule.name)
            return first or [f"{rule.name} = {value}"]
        case ShapeRule():
            return _shape(names, rule)
        case ExpandRule():
            return _expand(names, rule)
        case ContiguousRule():
            return _check(names, f"{rule.argument}.is_contiguous()", message(rule))
        case CheckRule() | SizeRule():
            first, condition = _computed(names, rule.condition, rule)
            return [*first, *_check(names, condition, message(rule))]
        case BindDynamic():
            return _dynamic(names, rule)
        case Decide():
            first, value = _computed(names, rule.condition, rule, names.wanted(rule.output))
            return first or [f"{names.wanted(rule.output)} = {value}"]
        case ComputeStar():
            return _star(names, rule)
        case DimsRule():
            return _check(names, f"{names.dim_count(rule.star, rule.named)} <= {MAX_DIMS}", message(rule))
        case ElementsRule() | OffsetsRule() | SumRule() | OverlapRule() | SupportedDeviceRule():
            return []


def _output(names: Names, output: Output, index: int) -> str:
    dtype = names.dtype(output.type.dtype)
    owner = each_of(output.name) if output.type.is_list else output.name
    sizes, like = names.shape(output.type.shape, owner=owner), output.word("like")
    arguments, made = [sizes], "empty"
    if like is not None or output.has_word("transposed"):
        other = f"{like.argument}[_i]" if like is not None and output.type.is_list else like and like.argument
        strides = f"like_strides({other})" if like is not None else f"transposed_strides({sizes})"
        arguments, made = [sizes, f"{HELPER}{strides}"], "empty_strided"
    if names.op.tensors:
        first = first_given(names.op)
        arguments += [f"dtype={dtype}"] if dtype != f"{first}.dtype" else []
        made = f"{first}.new_{made}({', '.join(arguments)})"
    else:
        made = f"torch.{made}({', '.join(arguments)}, dtype={dtype}, device={names.device()})"
    like_first = alike(names.op, output)
    if like_first:
        listed = [f"{name}[_i]" if names.op.is_listed(name) else name for name in like_first]
        made = f"{HELPER}empty_like(({', '.join(listed)},), {sizes}, {dtype})"
    if output.condition is not None:
        return f"{made} if {names.wanted(output.name)} else None"
    if output.type.is_list:
        return f"[{made} for _i in {names.places(output)}]"
    if mask_is_list(names.op):
        return f"{made} if {HELPER}wanted(grad_mask, {names.mask_places(output.name)}) else None"
    return f"{made} if grad_mask[{index}] else None" if names.op.grad_mask else made


def _applies(names: Names, rule: Rule) -> tuple[str, ...]:
    """The heads of blocks, one inside the other, in which a rule applies; none where it always does."""
    if not isinstance(rule, When):
        return ()
    heads = [f"for _i in range({HELPER}count({rule.each})):"] if rule.each else []
    if rule.each and names.op.argument(rule.each).type.optional:
        heads.insert(0, f"if {rule.each} is not None:")
    conditions = [*map(names.given, rule.given), *map(names.absent, rule.absent)]
    conditions += [names.wanted(rule.output)] if rule.output else []
    return (*heads, *([f"if {' and '.join(conditions)}:"] if conditions else []))


def _nested(heads: Sequence[str], lines: list[str]) -> list[str]:
    """Statements under their heads."""
    return [heads[0], *(f"    {line}" for line in _nested(heads[1:], lines))] if heads else lines


def _gives(rule: PlainRule) -> str:
    """The name that a rule only gives a value, "" for others: stars are checked, and lists are filled one by one."""
    if isinstance(rule, BindDim) and rule.argument.endswith("[_i]"):
        return ""
    return rule.name if isinstance(rule, Derive | BindDim) else ""


def _reads(rule: PlainRule) -> set[str]:
    """The names that a rule uses, in what it computes or in its text."""
    found = {name.name for expr in expressions(rule) for name in used_names(expr)}
    if isinstance(rule, ShapeRule | ExpandRule | ComputeStar):
        found |= {known.name for known in rule.known}
    return found | ({str(rule.star)} if isinstance(rule, DimsRule) else set())


def _relevant(names: Names) -> tuple[list[Rule], set[str]]:
    """The rules without dims that nothing reads, and without names of `dims:` that only kernels need: computing those
    would tie a compiled graph to the sizes that it was traced with. And all names that are read.
    """
    entries = [entry for output in names.op.outputs for entry in output.type.shape.entries]
    needed = {entry.name for entry in entries if isinstance(entry, StarEntry)}
    needed |= {name.name for entry in entries for expr in numbers_in(entry) for name in used_names(expr)}
    kept: list[Rule] = []
    for rule in reversed(names.op.rules):
        bare = plain(rule)
        if isinstance(bare, ValueRule) or _gives(bare) not in (*needed, ""):
            continue
        kept.append(rule)
        needed |= _reads(bare)
    return kept[::-1], needed


def binding_lines(names: Names, expr: Expr) -> list[str]:
    """Statements that give the names in an expression their values, in a function of the arguments that checks nothing
    else.
    """
    needed = {name.name for name in used_names(expr)}
    kept: list[Rule] = []
    for rule in reversed(names.op.rules):
        bare = plain(rule)
        if isinstance(bare, BindDim | BindStar | Derive) and bare.name in needed:
            kept.append(rule)
            needed |= _reads(bare)
    lines: list[str] = []
    for heads, rules in groupby(kept[::-1], partial(_applies, names)):
        lines += _nested(heads, [line for rule in rules for line in rule_lines(names, plain(rule), needed)])
    return lines


def fake_lines(names: Names) -> list[str]:
    """The body of the fake kernel that returns all outputs, saved ones too."""
    lines: list[str] = []
    outputs = names.op.outputs
    if mask_is_list(names.op):
        total = names.mask_places()
        text = f'lambda: f"{mask_length("{" + total + "}")}{{{HELPER}count(grad_mask)}}"'
        lines += call("_check", [f"{HELPER}count(grad_mask) in (0, {total})", text])
    elif names.op.grad_mask:
        text = f'lambda: f"{mask_length(len(outputs))}{{{HELPER}count(grad_mask)}}"'
        lines += call("_check", [f"{HELPER}count(grad_mask) == {len(outputs)}", text])
    if names.op.tensors:
        lines += call("_check.dims", [f"{argument.name}={argument.name}" for argument in names.op.tensors])
    for argument in names.op.lists:
        if argument.has_word("expand"):  # its tensors are replaced, and the caller keeps the list
            absent = f"None if {argument.name} is None else " if argument.type.optional else ""
            lines.append(f"{argument.name} = {absent}list({argument.name})")
    filled = [dim.name for dim in names.op.dims if dim.each]
    filled += [star.removesuffix("[_i]") for star in names.stars if star.endswith("[_i]")]
    lines += [f"{name}: dict[int, Any] = {{}}" for name in filled]
    relevant, read = _relevant(names)
    for heads, rules in groupby(relevant, partial(_applies, names)):
        body = [line for rule in rules for line in rule_lines(names, plain(rule), read)]
        lines += _nested(heads, body) if body else []
    lines += [f"{output.name} = {_output(names, output, i)}" for i, output in enumerate(outputs)]
    return [*lines, *([f"return {', '.join(output.name for output in outputs)}"] if outputs else [])]
