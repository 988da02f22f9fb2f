"""Rules on the sizes and scalars of a call, and what only tests, benchmarks and counters read: checks, samples,
tolerance, flops.
"""

from __future__ import annotations

import keyword
import re

from codegen import keys, load
from codegen.check.contract import Contract
from codegen.errors import nearest, shown
from codegen.expr.tree import Expr, Name, Query, Type, walk
from codegen.frozen import replace
from codegen.load import Mapping, Node, Scalar
from codegen.messages.parts import MAX_SPELLED, spelled
from codegen.messages.sentences import message
from codegen.model import Check, Samples
from codegen.presence import Condition
from codegen.reader import Reader
from codegen.rules import CheckRule
from codegen.types import DTYPES

DEVICES = ("cpu", "cuda")
MAX_MESSAGE = 300
_CHECK_EXAMPLE = "- n > 0"


def check_checks(read: Reader, node: Mapping, contract: Contract) -> tuple[Check, ...]:
    """The entries of `checks:`."""
    listed = node.get("checks")
    read = read.within("checks")
    scope = contract.checks
    found: list[Check] = []
    for item in read.items(listed, _CHECK_EXAMPLE) if listed is not None else ():
        that, text = item, ""
        if isinstance(item, Mapping):
            item = read.keys(item, keys.CHECK.names)
            inner = item.get("that")
            if inner is None:
                read.error(item, "`that:` is missing", "for instance {that: n > 0, message: rows must not be empty}")
                continue
            that, text = inner, read.line(item.get("message"), "a text", MAX_MESSAGE)
        condition = read.expression(that, scope, Type.BOOL, "a condition")
        if condition is None or not isinstance(that, Scalar):
            continue
        scope = replace(scope, met=(*scope.met, Condition(condition)))
        if not any(isinstance(part, Name | Query) for part in walk(condition)):
            read.error(that, "this condition names nothing that a call could change")
            continue
        written = " ".join(that.text.split())
        if spelled(message(CheckRule(condition, written, text))) > MAX_SPELLED:
            read.error(that, f"a check names at most {MAX_SPELLED} floats and optionals", "split it at its `and`s")
        found.append(Check(condition, written, text))
    return tuple(found)


def check_samples(read: Reader, node: Mapping, contract: Contract) -> Samples:
    """`samples:`: sizes, scalars and elements of tensors by name, or the name of a function."""
    value = node.get("samples")
    read = read.within("samples")
    if value is None:
        return Samples()
    if isinstance(value, Scalar):
        if _is_function(value.text):
            return Samples(function=value.text)
        read.error(value, f'"{shown(value.text)}" is not the name of a function in tests/samples.py')
        return Samples()
    section = read.mapping(value, "samples: {n: [1, 7, 64, 4096]}")
    found: list[tuple[str, tuple[int | float | bool | str, ...]]] = []
    for key, listed in section.entries if section else ():
        known = [*(dim.name for dim in contract.dims), *(argument.name for argument in contract.arguments)]
        if key.text not in known:
            close = nearest(key.text, known)
            hint = f'did you mean "{close}"?' if close else f"names here are {', '.join(known)}"
            read.error(key, f'"{shown(key.text)}" is neither a dim nor an argument', hint)
            continue
        sizes = key.text in {dim.name for dim in contract.dims}
        elements = key.text in {argument.name for argument in contract.arguments if argument.is_tensor}
        items = read.items(listed, f"{key.text}: [1, 7, 64]")
        if isinstance(listed, load.Sequence) and not items:
            read.error(listed, "the list is empty")
        numbers = [_sample(read, item, sizes, elements) for item in items]
        found.append((key.text, tuple(number for number in numbers if number is not None)))
    return Samples(tuple(found))


def _sample(read: Reader, node: Node, size: bool, element: bool) -> int | float | bool | str | None:
    scalar = read.text(node, "a number")
    if scalar is None:
        return None
    text = scalar.text
    if re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", text) and not (size and text.startswith("-")):
        return int(text)
    if not size and not element and text in ("true", "false", "True", "False"):
        return text in ("true", "True")
    if not size and re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", text):
        return float(text)
    read.error(scalar, f'expected {"a size" if size else "a number"}, got "{shown(text)}"')
    return None


def check_tolerance(read: Reader, node: Mapping, contract: Contract) -> tuple[tuple[str, float], ...]:
    """`tolerance:`: dtype -> relative error that tests allow."""
    value = node.get("tolerance")
    read = read.within("tolerance")
    section = read.mapping(value, "tolerance: {bfloat16: 8e-3}") if value is not None else None
    known = [dtype for variable in contract.types for dtype in variable.dtypes] or list(DTYPES)
    found: list[tuple[str, float]] = []
    for key, number in section.entries if section else ():
        if key.text not in known:
            close = nearest(key.text, known)
            read.error(
                key, f'"{shown(key.text)}" is not a dtype of this operator', f'did you mean "{close}"?' if close else ""
            )
            continue
        scalar = read.text(number, "a number")
        if scalar is None:
            continue
        if not re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", scalar.text):
            read.error(scalar, f'expected a number, got "{shown(scalar.text)}"')
            continue
        found.append((key.text, float(scalar.text)))
    return tuple(found)


def check_flops(read: Reader, node: Mapping, contract: Contract) -> Expr | None:
    """`flops:`: a number in terms of dims and scalars."""
    value = node.get("flops")
    if value is None:
        return None
    return read.within("flops").expression(value, contract.checks, Type.INT, "a number of operations")


def check_name(read: Reader, node: Mapping, key: str, default: str) -> str:
    """A key whose value is the name of a Python function."""
    value = node.get(key)
    if value is None:
        return default
    scalar = read.within(key).text(value, "the name of a function")
    if scalar is None:
        return default
    if not _is_function(scalar.text):
        read.within(key).error(scalar, f'"{shown(scalar.text)}" is not the name of a function')
    return scalar.text


def _is_function(text: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_]{0,63}", text) is not None and not keyword.iskeyword(text)


def check_flag(read: Reader, node: Mapping, key: str) -> bool | None:
    """A key whose value is true or false; None when it is absent."""
    value = node.get(key)
    return read.within(key).boolean(value) if value is not None else None


def check_devices(read: Reader, node: Mapping, default: tuple[str, ...]) -> tuple[str, ...]:
    """`devices:`, in the order cpu, cuda."""
    value = node.get("devices")
    read = read.within("devices")
    if value is None:
        return default
    found: set[str] = set()
    items = read.items(value, "devices: [cpu, cuda]")
    for item in items:
        scalar = read.text(item, "cpu or cuda")
        if scalar is None:
            continue
        close = nearest(scalar.text, DEVICES)
        if scalar.text not in DEVICES:
            read.error(
                scalar,
                f'expected cpu or cuda, got "{shown(scalar.text)}"',
                f'did you mean "{close}"?' if close else "",
            )
        elif scalar.text in found:
            read.error(scalar, f"{scalar.text} is there twice")
        found.add(close)
    if isinstance(value, load.Sequence) and not items:
        read.error(value, "an operator has at least one device")
    return tuple(device for device in DEVICES if device in found) or default
