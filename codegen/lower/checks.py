"""The rules of an operator as C statements, in their order.

The statements of one function: `f` is the frame, `c` its call record, `e` the error record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from codegen.assignments import BindDim, BindDynamic, BindStar, Decide, Derive, FirstDtype
from codegen.contract import TensorType
from codegen.expr.c import print_real
from codegen.expr.tree import Expr, Name, Type
from codegen.lower.c.arguments import words_table
from codegen.lower.c.layout import COLUMNS, fitted
from codegen.lower.host import HostNames, dtype_constant, place, tensor, wanted
from codegen.lower.statements import all_or_return, indented, mentions, overflows
from codegen.messages.c import print_message_c
from codegen.messages.parts import (
    AccDtypeOf,
    ComputedDims,
    DeviceOf,
    DimCount,
    DtypeOf,
    ElementBefore,
    ElementIndex,
    ElementSum,
    ElementValue,
    ListIndex,
    Message,
    Part,
    RankOf,
    ShapeOf,
    StarOf,
    StridesOf,
    TextOf,
    Value,
)
from codegen.messages.sentences import Computing, message, overflow_of
from codegen.model import Operator
from codegen.positions import ComputedCompare, DimCompare, Index, StarCompare, list_of
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
    ExpandRule,
    HostRule,
    LengthRule,
    OverlapRule,
    PlainRule,
    RankRule,
    Rule,
    SameDtypeRule,
    ShapeRule,
    SizeRule,
    SizesRule,
    SupportedDeviceRule,
    TextRule,
    ValueRule,
    When,
    plain,
)
from codegen.steps import step
from codegen.types import DTYPES


class Checks:
    """Prints the rules of one operator as statements that stand `indent` columns in."""

    def __init__(self, op: Operator, indent: int = 4) -> None:
        self.op = op
        self.indent = indent
        self.names = HostNames(op)

    def renamed(self, names: Mapping[str, str]) -> Checks:
        """The same with some names called otherwise."""
        other = Checks(self.op, self.indent)
        other.names = self.names.renamed(names)
        return other

    def part(self, part: Part) -> str:
        """A spelled-out value of a message."""
        match part:
            case ShapeOf():
                return f"shape_text(e, &{tensor(part.argument)})"
            case StridesOf():
                return f"strides_text(e, &{tensor(part.argument)})"
            case StarOf():
                start, count = self.names.star(part.name)
                return f"sizes_text(e, {start}, {count})"
            case ComputedDims():
                return f"sizes_text(e, {', '.join(self.names.computed(part.index))})"
            case DimCount():
                return self.dim_count(part.star, part.named)
            case DtypeOf():
                return f"dtype_name({self.dtype_of(part.argument)})"
            case AccDtypeOf():
                return f"dtype_name(dtype_acc({self.dtype_of(part.argument)}))"
            case ListIndex():
                return f"f->t.{part.of}.first" if part.index == "_f" else part.index[1:]
            case DeviceOf() if self.op.argument(part.argument).is_tensor:
                return f"device_text(e, &{tensor(part.argument)})"
            case DeviceOf():
                return f"device_quoted(e, &f->a.{part.argument})"
            case TextOf():
                return f"text_quoted(e, &f->a.{part.argument})"
            case RankOf():
                return f"{tensor(part.argument)}.dim"
            case ElementIndex():
                return f"index_text(e, &{tensor(part.argument)}, i)"
            case ElementValue():
                return "element_text(e, seen, data, i)"
            case ElementBefore():
                return "int_text(e, found.before)"
            case ElementSum():
                return f"{'float' if part.type is Type.FLOAT else 'int'}_text(e, sum)"
            case Value(expr=Name(type=Type.STR) as choice):
                return f"word_quoted(e, {words_table(self.op, choice.name)}[c->{choice.name}])"
            case Value():
                return f"dtype_name({self.names.expr(part.expr)})"
        raise ValueError(f"{part} is not built yet")

    def counted(self, rule: CountRule) -> str:
        """What holds in a right call."""
        count = self.names.count(rule.argument)
        return f"{count} == {self.names.count(rule.source)}" if rule.source else f"{count} > 0"

    def check(self, condition: str, text: Message) -> list[str]:
        """CHECK(e, condition, format, arguments); as few lines as fit."""
        form = print_message_c(text, self.names.c, self.part)
        return _check(condition, [form.format, *form.arguments], self.indent)

    def computed(self, lines: list[str], rule: Computing) -> list[str]:
        """`lines` compute; the flag is looked at before anything is done with the number."""
        return lines + (self.check("!overflow", overflow_of(rule)) if overflows(lines) else [])

    def number(self, expr: Expr, real: bool) -> str:
        """An expression, as a double where a real number is wanted."""
        return print_real(expr, self.names.c) if real else self.names.expr(expr)

    def size(self, argument: str, index: Index) -> str:
        """One size of a tensor."""
        of = tensor(argument)
        return f"{of}.sizes[{f'{of}.dim - {index.index}' if index.from_back else index.index}]"

    def rule(self, rule: PlainRule) -> list[str]:
        """The statements of one rule."""
        match rule:
            case CountRule():
                return self.check(self.counted(rule), message(rule))
            case DtypeRule():
                return self.dtype(rule)
            case FirstDtype():
                return [f"f->d.{rule.variable} = f->d.{rule.first};"]
            case SameDtypeRule():
                return self.check(f"{self.dtype_of(rule.argument)} == f->d.{rule.variable}", message(rule))
            case AccDtypeRule():
                return self.check(f"{tensor(rule.argument)}.dtype == dtype_acc(f->d.{rule.variable})", message(rule))
            case DeviceRule() if not self.op.argument(rule.argument).is_tensor:
                return self.check(f"device_means(&f->a.{rule.argument}, &{tensor(rule.source)}.device)", message(rule))
            case DeviceRule():
                return self.check(f"same_device(&{tensor(rule.argument)}, &{tensor(rule.source)})", message(rule))
            case SupportedDeviceRule():
                known = " || ".join(f"device_is_{device}(&{tensor(rule.argument)}.device)" for device in rule.devices)
                return self.check(known, message(rule))
            case HostRule():
                return self.check(f"!on_cuda(&{tensor(rule.argument)})", message(rule))
            case DeviceArgumentRule():
                return self.device(rule)
            case ChoiceRule() | TextRule():
                return self.text(rule)
            case LengthRule():
                return self.length(rule)
            case RankRule():
                comparison = "==" if rule.exact else ">="
                return self.check(f"{tensor(rule.argument)}.dim {comparison} {rule.rank}", message(rule))
            case BindDim():
                return [f"{self.names.c.names[rule.name]} = {self.size(rule.argument, rule.index)};"]
            case BindStar():
                start, count = self.names.span(rule.span)
                product = [f"{self.names.c.names[rule.name]} = product_i64(&overflow, {start}, {count});"]
                kept = self.names.star(rule.name)
                alone = kept == (start, count) or rule.span.argument.endswith("[_i]")
                remember = [] if alone else [f"{kept[0]} = {start};", f"{kept[1]} = {count};"]
                return [*remember, *self.computed(product, rule)]
            case Derive():
                return self.computed(fitted(f"c->{rule.name} = ", self.names.expr(rule.expr), ";"), rule)
            case ShapeRule():
                return self.shape(rule)
            case ExpandRule():
                return self.expand(rule)
            case ContiguousRule():
                return self.check(f"tensor_is_contiguous(&{tensor(rule.argument)})", message(rule))
            case CheckRule() | SizeRule():
                return self.condition(self.names.expr(rule.condition), rule)
            case BindDynamic():
                lines = fitted(f"f->n.{rule.name}.bound = ", self.names.expr(rule.value), ";")
                if rule.given is not None:
                    lines += fitted(f"f->n.{rule.name}.given = ", self.names.expr(rule.given), ";")
                return self.computed(lines, rule)
            case Decide():
                assign = fitted(f"{wanted(self.op, rule.output)} = ", self.names.expr(rule.condition), ";")
                return self.computed(assign, rule)
            case ComputeStar():
                return self.condition(self.names.star_call(rule), rule)
            case DimsRule():
                return self.check(f"{self.dim_count(rule.star, rule.named)} <= MAX_DIMS", message(rule))
            case SizesRule():
                start, count = self.names.star(rule.argument)
                return self.check(f"all_at_least_zero({start}, {count})", message(rule))
        raise ValueError(f"{type(rule).__name__} is not built yet")

    def dtype_of(self, argument: str) -> str:
        """The dtype of a tensor, or that a dtype argument names."""
        return f"{tensor(argument)}.dtype" if self.op.argument(argument).is_tensor else f"f->a.{argument}"

    def device(self, rule: DeviceArgumentRule) -> list[str]:
        """Where outputs are made."""
        where = f"f->a.{rule.argument}"
        known = " || ".join(f"device_is_{device}(&{where})" for device in rule.devices)
        complete = all_or_return([f"device_complete(e, &{where})"]) if "cuda" in rule.devices else []
        return [*self.check(known, message(rule)), *complete]

    def text(self, rule: ChoiceRule | TextRule) -> list[str]:
        """A choice becomes its place among the words; another string goes into the record."""
        name = rule.argument
        if isinstance(rule, TextRule):
            copied = f"memcpy(c->{name}, f->a.{name}.data, sizeof c->{name});"
            return [*self.check(f"text_fits(&f->a.{name})", message(rule)), copied]
        found = f"text_choice(&f->a.{name}, {words_table(self.op, name)}, {len(rule.choices)})"
        return [*fitted(f"c->{name} = ", found, ";"), *self.check(f"c->{name} >= 0", message(rule))]

    def length(self, rule: LengthRule) -> list[str]:
        """The number of values of a list."""
        elsewhere = f"!{place(self.op)[1]} || " if rule.room else ""
        comparison = "<=" if rule.room else "=="
        return self.check(f"{elsewhere}c->{rule.argument}_count {comparison} {rule.length}", message(rule))

    def condition(self, condition: str, rule: CheckRule | SizeRule | ComputeStar) -> list[str]:
        """A condition that may compute: an overflow is reported as such, not as a failed check."""
        if not overflows([condition]):
            return self.check(condition, message(rule))
        assign = fitted("holds = ", condition, ";")
        return [*self.computed(assign, rule), *self.check("holds", message(rule))]

    def dim_count(self, star: str | int, named: int) -> str:
        """How many dims a star and so many more are."""
        count = self.names.star(star)[1] if isinstance(star, str) else self.names.computed(star)[1]
        return f"{count} + {named}"

    def dtype(self, rule: DtypeRule) -> list[str]:
        """Binds a dtype variable, or compares with a fixed dtype."""
        actual = self.dtype_of(rule.argument)
        if not rule.variable:
            allowed = " || ".join(f"{actual} == {dtype_constant(name)}" for name in rule.allowed)
            return self.check(allowed, message(rule))
        lines = [f"f->d.{rule.variable} = {actual};"]
        if any(name not in DTYPES for name in rule.allowed):
            named = (dtype_constant(name) if name in DTYPES else f"f->d.{name}" for name in rule.allowed)
            return lines + self.check(" || ".join(f"f->d.{rule.variable} == {one}" for one in named), message(rule))
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
                    here, there = self.names.span(comparison.span), self.names.star(comparison.name)
                    conditions.append(f"same_sizes({', '.join((*here, *there))})")
                case ComputedCompare():
                    here, there = self.names.span(comparison.span), self.names.computed(comparison.index)
                    conditions.append(f"same_sizes({', '.join((*here, *there))})")
        if not overflows(conditions):
            return self.check(" && ".join(conditions), message(rule))
        assign = fitted("holds = ", " && ".join(conditions), ";")
        return [*self.computed(assign, rule), *self.check("holds", message(rule))]

    def expand(self, rule: ExpandRule) -> list[str]:
        """The sizes of the contract, and the view that has them."""
        kind = self.op.argument(rule.argument).type
        assert isinstance(kind, TensorType)
        calls = self.names.shape_calls(kind.shape, rule.argument)
        sizes = self.computed(["s.dim = 0;", *all_or_return(calls)], rule)
        storage = f"&f->v.{rule.argument}"
        if kind.is_list:
            listed = f"f->t.{list_of(rule.argument)}"
            sizes = [*all_or_return([f'list_hold_views(e, &{listed}, "{list_of(rule.argument)}")']), *sizes]
            storage = f"&{listed}.views[i]"
        expanded = f"tensor_expand(&{tensor(rule.argument)}, &s, {storage})"
        return [*sizes, *self.check(expanded, message(rule))]


def _check(condition: str, arguments: list[str], indent: int) -> list[str]:
    """CHECK(e, condition, arguments): what the condition continues on stands behind the other arguments."""
    lines = fitted("CHECK(e, ", condition, ",", indent)
    for i, argument in enumerate(arguments):
        piece = argument + (");" if i == len(arguments) - 1 else ",")
        fits = indent + len(lines[-1]) + 1 + len(piece) <= COLUMNS
        lines[-1:] = [f"{lines[-1]} {piece}"] if fits else [lines[-1], f"      {piece}"]
    return lines


def _headed(op: Operator, checks: Checks) -> Iterator[str]:
    """The statements, with a heading wherever the kind of rule changes."""
    heading = ""
    for (kind, heads), rules in groupby(
        (rule for rule in op.rules if not isinstance(plain(rule), ValueRule | OverlapRule)),
        lambda rule: (step(plain(rule)), applies(rule, checks.names)),
    ):
        if kind != heading:
            heading = kind
            yield f"/* {heading} */"
        inner = Checks(op, checks.indent + 4 * max(len(heads) - 1, 0))
        inner.names = checks.names
        yield from nested(heads, [line for rule in rules for line in inner.rule(plain(rule))])


def applies(rule: Rule, names: HostNames) -> tuple[str, ...]:
    """The heads of statements in C, one inside the other, under which a rule applies; none where it always does."""
    if not isinstance(rule, When):
        return ()
    heads = [f"for (int64_t i = 0; i < f->t.{rule.each}.count; i++)"] if rule.each else []
    conditions = [*map(names.given, rule.given), *(f"!{names.given(name)}" for name in rule.absent)]
    conditions += [wanted(names.op, rule.output)] if rule.output else []
    return (*heads, *([f"if ({' && '.join(conditions)})"] if conditions else []))


def nested(heads: Sequence[str], lines: list[str]) -> list[str]:
    """Statements under their heads."""
    if not heads:
        return lines
    return [f"{heads[0]} {{".lstrip(), *indented(nested(heads[1:], lines)), "}"]


def check_lines(op: Operator) -> list[str]:
    """The body of <op>_check: everything that can be checked without looking at the elements of a tensor."""
    lines = list(_headed(op, Checks(op)))
    start = declared(f"{op.name}_call *const c = &f->call;", lines)
    bound = {rule.variable for rule in op.rules if isinstance(rule, DtypeRule)}  # in every call
    unbound = [
        f"f->d.{variable.name} = {dtype_constant(variable.dtypes[0])};"
        for variable in op.types
        if variable.name not in bound
    ]
    reads = [
        f'{"list" if argument in op.lists else "tensor"}_read(e, &f->t.{argument.name}, "{argument.name}")'
        for argument in op.tensors
    ]
    return [*start, *all_or_return(reads), *unbound, *lines]


def declared(record: str, lines: list[str]) -> list[str]:
    """Declarations of what `lines` use: the record, the overflow flag, the outcome of a condition that computes."""
    found = [record] if mentions(lines, "c->") else []
    if overflows(lines):
        found.append("bool overflow = false;")
    if any(line.lstrip().startswith("holds = ") for line in lines):
        found.append("bool holds;")
    if any(line.lstrip() == "s.dim = 0;" for line in lines):
        found.append("shape s;")
    return found
