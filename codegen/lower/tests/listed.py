"""Rules on each tensor of a list, as rules on the one that a wrong call breaks."""

from __future__ import annotations

from codegen.frozen import replace
from codegen.positions import DimCompare
from codegen.rules import (
    AccDtypeRule,
    ComputeStar,
    ContiguousRule,
    DeviceRule,
    DimsRule,
    DtypeRule,
    ExpandRule,
    HostRule,
    OverlapRule,
    PlainRule,
    RankRule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
)


def of_second(rule: PlainRule) -> PlainRule:
    """A rule on each tensor of a list as one on the second of them, and one on the first that is given on the first."""
    match rule:
        case ShapeRule():
            argument = _second(rule.argument)
            compared = tuple(
                one if isinstance(one, DimCompare) else replace(one, span=replace(one.span, argument=argument))
                for one in rule.comparisons
            )
            known = tuple(replace(one, source=_second(one.source)) for one in rule.known)
            return replace(rule, argument=argument, comparisons=compared, known=known)
        case ExpandRule():
            known = tuple(replace(one, source=_second(one.source)) for one in rule.known)
            return replace(rule, argument=_second(rule.argument), known=known)
        case SameDtypeRule() | AccDtypeRule():
            return replace(rule, argument=_second(rule.argument), source=_second(rule.source))
        case DtypeRule() | DeviceRule() | HostRule() | RankRule() | ContiguousRule():
            return replace(rule, argument=_second(rule.argument))
        case ComputeStar():  # the first that breaks it, too
            return replace(rule, known=tuple(replace(one, source=_first(one.source)) for one in rule.known))
        case SizeRule() | DimsRule():  # of an output; it is said of the first that breaks it
            return replace(rule, tensor=_first(rule.tensor))
    return rule


def of_pair(rule: OverlapRule) -> OverlapRule:
    """A rule on two tensors of lists as one on the second; of one list the other is the first."""
    place = "[0]" if rule.other == rule.argument.replace("_i", "_j") else "[1]"
    return OverlapRule(_second(rule.argument), _second(rule.other.replace("[_j]", place)))


def _first(name: str) -> str:
    return name.replace("[_i]", "[0]")


def _second(name: str) -> str:
    return name.replace("[_i]", "[1]").replace("[_f]", "[0]")
