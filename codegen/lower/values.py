"""Rules on elements as C statements: the body of <op>_values. csrc/runtime/values.h has what they call."""

from __future__ import annotations

from codegen.contract import Argument
from codegen.expr.tree import Compare, Expr, Name, NameKind, Type
from codegen.lower.c.layout import fitted
from codegen.lower.checks import Checks, declared
from codegen.lower.statements import indented
from codegen.messages.sentences import message, offsets_messages
from codegen.model import Operator
from codegen.rules import ElementsRule, OffsetsRule, SumRule, ValueRule

# How an element compares with a bound, from its own side: as written, and where it stands on the right.
_LEFT = {"<": "BELOW", "<=": "AT_MOST", ">": "ABOVE", ">=": "AT_LEAST", "==": "EQUAL_TO", "!=": "OTHER_THAN"}
_RIGHT = {"<": "ABOVE", "<=": "AT_LEAST", ">": "BELOW", ">=": "AT_MOST", "==": "EQUAL_TO", "!=": "OTHER_THAN"}


def limits(condition: Expr) -> list[tuple[str, Expr]]:
    """What an element must be: (AT_LEAST, 0), (BELOW, m)."""
    assert isinstance(condition, Compare)
    found = []
    for i, operator in enumerate(condition.operators):
        left, right = condition.operands[i], condition.operands[i + 1]
        on_left = isinstance(left, Name) and left.kind is NameKind.ELEMENT
        found.append((_LEFT[operator], right) if on_left else (_RIGHT[operator], left))
    return found


def is_real(rule: ElementsRule) -> bool:
    """Whether elements are compared as real numbers: they may be some, or a bound is one."""
    return any(operand.type is Type.FLOAT for operand in (*_operands(rule.condition), *rule.besides))


def _elements(checks: Checks, rule: ElementsRule, column: str) -> list[str]:
    real = is_real(rule)
    kind = "real" if real else "integer"
    lines = [f"{kind}_range range = {kind}_range_all();"]
    for how, bound in limits(rule.condition):
        lines += fitted(f"{kind}_range_limit(&range, {how}, ", checks.number(bound, real), ");", 8)
    for number in rule.besides:
        lines += fitted(f"{kind}_range_add(&range, ", checks.number(number, real), ");", 8)
    lines = checks.computed(lines, rule)
    lines.append(f"const int64_t i = {kind}s_outside(seen, data, {column}, &range);")
    return [*lines, *checks.check("i < 0", message(rule))]


def _offsets(checks: Checks, rule: OffsetsRule, column: str) -> list[str]:
    lines = checks.computed(fitted("const int64_t total = ", checks.names.expr(rule.total), ";", 8), rule)
    lines.append(f"const offsets_found found = offsets_check(seen, data, {column}, total);")
    lines.append("const int64_t i = found.place;")
    for fault, text in offsets_messages(rule).items():
        lines += checks.check(f"found.fault != OFFSETS_{fault.upper()}", text)
    return lines


def _sum(checks: Checks, rule: SumRule, column: str) -> list[str]:
    element = next(part for part in _operands(rule.condition) if _is_element(part))
    if element.type is Type.FLOAT:
        lines = [f"const double sum = reals_sum(seen, data, {column});"]
    else:
        lines = [f"const int64_t sum = integers_sum(&overflow, seen, data, {column});"]
    names = checks.names.renamed({rule.argument: "sum"})
    lines += fitted("const bool right = ", names.expr(rule.condition), ";", 8)
    return [*checks.computed(lines, rule), *checks.check("right", message(rule))]


def _operands(condition: Expr) -> tuple[Expr, ...]:
    assert isinstance(condition, Compare)
    return condition.operands


def _is_element(expr: Expr) -> bool:
    return isinstance(expr, Name) and expr.kind is NameKind.ELEMENT


def _rule(checks: Checks, rule: ValueRule) -> list[str]:
    column = "ALL_COLUMNS" if rule.column is None else str(rule.column)
    seen = f'values_seen(e, "{rule.argument}", &f->t.{rule.argument}, &f->h.{rule.argument})'
    copied = rule.argument in [argument.name for argument in looked_at(checks.op)]
    lines = [
        *fitted("const tensor *const seen = ", seen if copied else f"&f->t.{rule.argument}", ";", 8),
        "const void *data;",
        f"if ({'seen == NULL || ' if copied else ''}!tensor_const_data(e, seen, &data)) {{",
        "    return false;",
        "}",
    ]
    match rule:
        case ElementsRule():
            lines += _elements(checks, rule, column)
        case OffsetsRule():
            lines += _offsets(checks, rule, column)
        case SumRule():
            lines += _sum(checks, rule, column)
    return [f"/* {rule.text} */", f"if (values_visible(&f->t.{rule.argument})) {{", *indented(lines), "}"]


def looked_at(op: Operator) -> list[Argument]:
    """The inputs of whose elements a call may need a copy on the host: those on a GPU."""
    ruled = {rule.argument for rule in op.values} if "cuda" in op.devices else set()
    return [argument for argument in op.tensors if argument.name in ruled and not argument.has_word("cpu")]


def value_lines(op: Operator) -> list[str]:
    """The body of <op>_values."""
    checks = Checks(op, indent=8)
    lines = [line for rule in op.values for line in _rule(checks, rule)]
    return [*declared(f"const {op.name}_call *const c = &f->call;", lines), *lines]
