"""`values:`: rules on the elements of inputs."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.check.contract import Contract
from codegen.contract import DimEntry, TensorType, dtypes_of
from codegen.expr.text import print_text
from codegen.expr.tree import Compare, Constant, Expr, Logic, Name, NameKind, Query, Type, walk
from codegen.frozen import replace
from codegen.load import Mapping, Scalar
from codegen.reader import Reader
from codegen.rules import ElementsRule, OffsetsRule, SumRule, ValueRule
from codegen.types import DTYPES

MOST_BESIDES = 4  # csrc/runtime/values.h

_OF_ELEMENTS = ("column", "sum", "offsets")


def check_values(read: Reader, node: Mapping, contract: Contract) -> tuple[ValueRule, ...]:
    """The entries of `values:`."""
    listed = node.get("values")
    read = read.within("values")
    found: list[ValueRule] = []
    for item in read.items(listed, "- 0 <= index < m") if listed is not None else ():
        scalar = read.text(item, "a rule on elements")
        expr = read.expression(scalar, contract.values, Type.BOOL, "a comparison") if scalar is not None else None
        if scalar is None or expr is None:
            continue
        rule = _rule(read, scalar, expr, contract)
        if rule is not None and _fits(read, scalar, rule, contract):
            found.append(rule)
    return tuple(found)


def _rule(read: Reader, scalar: Scalar, expr: Expr, contract: Contract) -> ValueRule | None:
    text = " ".join(scalar.text.split())
    anywhere = [part for part in walk(expr) if _of_elements(part)]
    if isinstance(expr, Query) and expr.function == "offsets" and len(anywhere) == 1:
        total, *column = expr.operands
        return OffsetsRule(expr.subject, _column(column), total, text)
    if isinstance(expr, Logic) and expr.operator == "or":
        return _alternatives(read, scalar, expr, contract)
    if not isinstance(expr, Compare):
        read.error(scalar, "expected a chain of comparisons", "for instance 0 <= index < m")
        return None
    compared = [i for i, operand in enumerate(expr.operands) if _of_elements(operand) and operand.type is not Type.BOOL]
    if len(compared) != 1 or len(anywhere) != 1:
        tensors = ", ".join(argument.name for argument in contract.arguments if argument.is_tensor)
        read.error(scalar, "expected one input among the compared values, on its own", f"inputs here are {tensors}")
        return None
    place = compared[0]
    asked = expr.operands[place]
    for i, operator in enumerate(expr.operators):
        if place not in (i, i + 1):
            link = f"{print_text(expr.operands[i])} {operator} {print_text(expr.operands[i + 1])}"
            read.error(scalar, f"{link} does not look at an element", "it belongs under checks:")
            return None
    if isinstance(asked, Name):
        return ElementsRule(asked.name, None, expr, text)
    assert isinstance(asked, Query)
    element = Name(asked.subject, NameKind.ELEMENT, asked.type)
    operands = tuple(element if i == place else operand for i, operand in enumerate(expr.operands))
    condition = Compare(operands, expr.operators)
    if asked.function == "column":
        return ElementsRule(asked.subject, _column(asked.operands), condition, text)
    of = print_text(asked).removeprefix("sum(").removesuffix(")")
    return SumRule(asked.subject, _column(asked.operands), condition, text, of)


def _alternatives(read: Reader, scalar: Scalar, expr: Logic, contract: Contract) -> ElementsRule | None:
    """`0 <= index < m or index == skip`: a chain, and numbers that are right as well."""
    parts = [_rule(read, scalar, operand, contract) for operand in expr.operands]
    if None in parts:
        return None
    first, *others = parts
    besides = [number for one in others for number in _equal_to(one, first)]
    if not isinstance(first, ElementsRule) or len(besides) < len(others) or len(others) > MOST_BESIDES:
        text = f"behind `or` the same elements are compared with ==, {MOST_BESIDES} times at most"
        read.error(scalar, text, "for instance 0 <= index < m or index == skip")
        return None
    return replace(first, besides=tuple(besides), text=" ".join(scalar.text.split()))


def _equal_to(rule: ValueRule | None, first: ValueRule | None) -> list[Expr]:
    """What a rule compares elements with by == alone, if they are the elements that `first` is about."""
    if not isinstance(rule, ElementsRule) or not isinstance(first, ElementsRule):
        return []
    condition, same = rule.condition, (rule.argument, rule.column) == (first.argument, first.column)
    if not same or not isinstance(condition, Compare) or condition.operators != ("==",):
        return []
    return [operand for operand in condition.operands if not _of_elements(operand)]


def _of_elements(expr: Expr) -> bool:
    """Whether this stands for elements of an input."""
    return (isinstance(expr, Name) and expr.kind is NameKind.ELEMENT) or (
        isinstance(expr, Query) and expr.function in _OF_ELEMENTS
    )


def _column(operands: Sequence[Expr]) -> int | None:
    column = operands[0] if operands else None
    return column.value if isinstance(column, Constant) and isinstance(column.value, int) else None


def _fits(read: Reader, scalar: Scalar, rule: ValueRule, contract: Contract) -> bool:
    """Complex numbers have no order; a column must be there."""
    kind = next((a.type for a in contract.arguments if a.name == rule.argument), None)
    if not isinstance(kind, TensorType):
        return False
    if any(DTYPES[dtype].category == "complex" for dtype in dtypes_of(kind.dtype, contract.types)):
        read.error(scalar, f"the elements of {rule.argument} can be complex, which have no order")
        return False
    last = kind.shape.entries[-1] if kind.shape.entries else None
    columns = last.expr.value if isinstance(last, DimEntry) and isinstance(last.expr, Constant) else None
    if rule.column is not None and isinstance(columns, int) and rule.column >= columns:
        read.error(scalar, f"{rule.argument} has no column {rule.column}: its contract is {kind.shape.text}")
        return False
    return True
