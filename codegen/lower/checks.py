"""The rules of an operator as C statements, in their order.

The statements of one function: `f` is the frame, `c` its call record, `e` the error record.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.expr import Name, NameKind
from codegen.lower.host import HostNames, dtype_constant
from codegen.lower.statements import COLUMNS, broken
from codegen.messages import (
    AccDtypeOf,
    DeviceOf,
    DimsOf,
    DtypeOf,
    ElementIndex,
    ElementValue,
    Message,
    Part,
    RankOf,
    ShapeOf,
    StridesOf,
    Value,
    message,
    overflow_of,
)
from codegen.messages_c import print_message_c
from codegen.model import Operator
from codegen.rules import (
    AccDtypeRule,
    BindDim,
    BindStar,
    CheckRule,
    Derive,
    DeviceRule,
    DimCompare,
    DtypeRule,
    ElementsRule,
    Index,
    RankRule,
    Rule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    StarCompare,
)


class _Checks:
    """Prints the rules of one operator."""

    def __init__(self, op: Operator) -> None:
        self.op = op
        self.names = HostNames(op)

    def part(self, part: Part) -> str:
        """A spelled-out value of a message."""
        match part:
            case ShapeOf():
                return f"shape_text(e, &f->t.{part.argument})"
            case DimsOf():
                start, count = self.names.span(part.span)
                return f"sizes_text(e, {start}, {count})"
            case DtypeOf():
                return f"dtype_name(f->t.{part.argument}.dtype)"
            case AccDtypeOf():
                return f"dtype_name(dtype_acc(f->t.{part.argument}.dtype))"
            case DeviceOf():
                return f"device_text(e, &f->t.{part.argument})"
            case RankOf():
                return f"f->t.{part.argument}.dim"
            case StridesOf():
                return f"strides_text(e, &f->t.{part.argument})"
            case ElementIndex():
                return f"index_text(e, &f->t.{part.argument}, i)"
            case ElementValue():
                return "int_text(e, element)"
            case Value():
                return f"dtype_name({self.names.expr(part.expr)})"
        raise ValueError(f"{part} is not built yet")

    def check(self, condition: str, text: Message) -> list[str]:
        """CHECK(e, condition, format, arguments); as few lines as fit."""
        form = print_message_c(text, self.names.c, self.part)
        return wrapped(f"CHECK(e, {condition},", [form.format, *form.arguments])

    def computed(self, lines: list[str], rule: Derive | BindStar | CheckRule | SizeRule | ShapeRule) -> list[str]:
        """`lines` compute; the flag is looked at before anything is done with the number."""
        return lines + (self.check("!exceeds", overflow_of(rule)) if overflows(lines) else [])

    def size(self, argument: str, index: Index) -> str:
        """One size of a tensor."""
        tensor = f"f->t.{argument}"
        return f"{tensor}.sizes[{f'{tensor}.dim - {index.index}' if index.from_back else index.index}]"

    def rule(self, rule: Rule) -> list[str]:
        """The statements of one rule."""
        match rule:
            case DtypeRule():
                return self.dtype(rule)
            case SameDtypeRule():
                return self.check(f"f->t.{rule.argument}.dtype == f->d.{rule.variable}", message(rule))
            case AccDtypeRule():
                return self.check(f"f->t.{rule.argument}.dtype == dtype_acc(f->d.{rule.variable})", message(rule))
            case DeviceRule():
                return self.check(f"same_device(&f->t.{rule.argument}, &f->t.{rule.source})", message(rule))
            case RankRule():
                comparison = "==" if rule.exact else ">="
                return self.check(f"f->t.{rule.argument}.dim {comparison} {rule.rank}", message(rule))
            case BindDim():
                return [f"c->{rule.name} = {self.size(rule.argument, rule.index)};"]
            case BindStar():
                start, count = self.names.span(rule.span)
                return self.computed([f"c->{rule.name} = product_i64(overflow, {start}, {count});"], rule)
            case Derive():
                return self.computed([f"c->{rule.name} = {self.names.expr(rule.expr)};"], rule)
            case ShapeRule():
                return self.shape(rule)
            case CheckRule():
                return self.condition(self.names.expr(rule.condition), rule)
            case SizeRule():
                return self.condition(f"{self.names.expr(rule.expr)} >= 0", rule)
        raise ValueError(f"{type(rule).__name__} is not built yet")

    def condition(self, condition: str, rule: CheckRule | SizeRule) -> list[str]:
        """A condition that may compute: an overflow is reported as such, not as a failed check."""
        if not overflows([condition]):
            return self.check(condition, message(rule))
        assign = [f"holds = {condition};"]
        return [*self.computed(assign, rule), *self.check("holds", message(rule))]

    def dtype(self, rule: DtypeRule) -> list[str]:
        """Binds a dtype variable, or compares with a fixed dtype."""
        actual = f"f->t.{rule.argument}.dtype"
        if not rule.variable:
            allowed = " || ".join(f"{actual} == {dtype_constant(name)}" for name in rule.allowed)
            return self.check(allowed, message(rule))
        lines = [f"f->d.{rule.variable} = {actual};"]
        return lines + self.check(f"index_of_{rule.variable}(f->d.{rule.variable}) >= 0", message(rule))

    def shape(self, rule: ShapeRule) -> list[str]:
        """All comparisons of one argument with its contract."""
        conditions = []
        for comparison in rule.comparisons:
            match comparison:
                case DimCompare():
                    expected = self.names.expr(comparison.expected)
                    conditions.append(f"{self.size(rule.argument, comparison.index)} == {expected}")
                case StarCompare():
                    here, there = self.names.span(comparison.span), self.names.span(comparison.source)
                    conditions.append(f"same_sizes({', '.join((*here, *there))})")
        if not overflows(conditions):
            return self.check(" && ".join(conditions), message(rule))
        assign = [f"holds = {' && '.join(conditions)};"]
        return [*self.computed(assign, rule), *self.check("holds", message(rule))]


def overflows(lines: list[str]) -> bool:
    """Whether these lines can set the overflow flag."""
    return any("overflow, " in line for line in lines)


def wrapped(start: str, arguments: list[str]) -> list[str]:
    """A call that is broken between arguments where it would get too long."""
    lines = broken(start, " && ", 9)
    for i, argument in enumerate(arguments):
        piece = argument + (");" if i == len(arguments) - 1 else ",")
        fits = len(lines[-1]) + 1 + len(piece) <= COLUMNS
        lines[-1:] = [f"{lines[-1]} {piece}"] if fits else [lines[-1], f"      {piece}"]
    return lines


def _headed(op: Operator, checks: _Checks) -> Iterator[str]:
    """The statements, with a heading wherever the kind of rule changes."""
    headings: dict[type[Rule], str] = {
        DtypeRule: "dtypes",
        SameDtypeRule: "dtypes",
        AccDtypeRule: "dtypes",
        DeviceRule: "devices",
        CheckRule: "checks",
    }
    heading = ""
    for rule in op.rules:
        if isinstance(rule, ElementsRule):
            continue
        wanted = headings.get(type(rule), "shapes")
        if wanted != heading:
            heading = wanted
            yield f"/* {heading} */"
        yield from checks.rule(rule)


def check_lines(op: Operator) -> list[str]:
    """The body of <op>_check: everything that can be checked without looking at the elements of a tensor."""
    lines = list(_headed(op, _Checks(op)))
    start = []
    if any("c->" in line for line in lines):
        start.append(f"{op.name}_call *const c = &f->call;")
    if overflows(lines):
        start += ["bool exceeds = false;", "bool *const overflow = &exceeds;"]
    if any(line.startswith("holds = ") for line in lines):
        start.append("bool holds;")
    reads = [f'!tensor_read(e, &f->t.{a.name}, "{a.name}")' for a in op.tensors]
    joined = [f"{read} ||" for read in reads[:-1]] + [f"{reads[-1]}) {{"]
    joined = [f"if ({joined[0]}", *(f"    {line}" for line in joined[1:])]
    return [*start, *joined, "    return false;", "}", *lines]


def value_lines(op: Operator) -> list[str]:
    """The body of <op>_values: rules on the elements of CPU tensors; reading those of a GPU would have to wait."""
    checks = _Checks(op)
    lines: list[str] = []
    for rule in op.rules:
        if not isinstance(rule, ElementsRule):
            continue
        tensor = f"f->t.{rule.argument}"
        element = {node.name: "element" for node in (Name(rule.argument, NameKind.ELEMENT, rule.condition.type),)}
        condition = checks.names.renamed(element).expr(rule.condition)
        lines += [
            f"/* {rule.text} */",
            f"if (!on_cuda(&{tensor})) {{",
            "    const void *data;",
            f"    if (!tensor_const_data(e, &{tensor}, &data)) {{",
            "        return false;",
            "    }",
            f"    const int64_t count = tensor_numel(&{tensor});",
            "    for (int64_t i = 0; i < count; i++) {",
            f"        const int64_t element = tensor_element(&{tensor}, data, i);",
            *(f"        {line}" for line in checks.check(condition, message(rule))),
            "    }",
            "}",
        ]
    if any("c->" in line for line in lines):
        lines.insert(0, f"const {op.name}_call *const c = &f->call;")
    return lines
