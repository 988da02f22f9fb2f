"""The steps of a call's checks, as generated code, `explain` and the pages of operators head them."""

from __future__ import annotations

from codegen.assignments import BindDynamic, Derive, FirstDtype
from codegen.rules import (
    AccDtypeRule,
    CheckRule,
    ChoiceRule,
    ContiguousRule,
    CountRule,
    DeviceArgumentRule,
    DeviceRule,
    DimsRule,
    DtypeRule,
    ElementsRule,
    HostRule,
    LengthRule,
    OffsetsRule,
    OverlapRule,
    PlainRule,
    SameDtypeRule,
    SizeRule,
    SizesRule,
    SumRule,
    SupportedDeviceRule,
    TextRule,
)

_STEPS: dict[type[PlainRule], str] = {
    CountRule: "lists",
    **dict.fromkeys((DtypeRule, FirstDtype, SameDtypeRule, AccDtypeRule), "dtypes"),
    **dict.fromkeys((DeviceRule, HostRule, SupportedDeviceRule, DeviceArgumentRule), "devices"),
    **dict.fromkeys((ChoiceRule, TextRule, LengthRule), "arguments"),
    Derive: "dims",
    ContiguousRule: "layouts",
    CheckRule: "checks",
    **dict.fromkeys((SizeRule, SizesRule, DimsRule, BindDynamic), "sizes of outputs"),
    **dict.fromkeys((ElementsRule, OffsetsRule, SumRule), "values"),
    OverlapRule: "overlap",
}


def step(rule: PlainRule) -> str:
    """The step that a rule belongs to; what binds and compares sizes is one of "shapes"."""
    return _STEPS.get(type(rule), "shapes")
