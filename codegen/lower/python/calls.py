"""The view of what check_calls has to know of each operator: generated/<namespace>/_contracts.py."""

from __future__ import annotations

from codegen.frozen import dataclass
from codegen.lower.python.names import call
from codegen.lower.schema import dispatched
from codegen.lower.tests.axes import strings
from codegen.lower.tests.derived import broken, derived_lines, dict_of
from codegen.messages.python import python_string
from codegen.model import Library, Operator
from codegen.tolerance import per_term, rounding
from codegen.types import DTYPES


@dataclass(frozen=True)
class Tolerance:
    """How near a result of this dtype must be."""

    dtype: str
    rounding: str
    per_term: str


@dataclass(frozen=True)
class CallsView:
    """The files of the package that are about check_calls and differ from library to library."""

    namespace: str
    calls: tuple[str, ...]
    derives: bool
    tolerances: tuple[Tolerance, ...]


def calls_view(library: Library) -> CallsView:
    """Of all operators, in the order of the spec."""
    return CallsView(
        namespace=library.namespace,
        calls=tuple(line for op in library.operators for line in _call(library, op)),
        derives=any(op.derived_from for op in library.operators),
        tolerances=tuple(Tolerance(name, repr(rounding(name)), repr(per_term(name))) for name in DTYPES),
    )


def _call(library: Library, op: Operator) -> list[str]:
    outputs = [output.name for output in op.public_outputs]
    written = strings(argument.name for argument in op.written)
    parts: list[str | list[str]] = [
        python_string(op.name),
        python_string(op.reference),
        broken("", [python_string(argument.name) for argument in op.arguments]),
        strings(outputs),
        written,
        ["{", *(f"    {python_string(name)}: {strings(given)}," for name, given in _entries(op, outputs)), "}"],
    ]
    parts += [f"tolerance={dict_of((name, repr(value)) for name, value in op.tolerance)}"] if op.tolerance else []
    if op.derived_from:
        first, *rest = derived_lines(library, op, 8 + len("derived="))
        parts.append([f"derived={first}", *rest])
    parts += ["random=True"] if op.random else []
    unread = [argument.name for argument in op.written if argument.has_word("out")]
    parts += [f"unread={strings(unread)}"] if unread else []
    return call("Call", parts, ",", indent=4)


def _entries(op: Operator, outputs: list[str]) -> list[tuple[str, list[str]]]:
    """Its names in the dispatcher; what a variant writes to, in the order of the outputs."""
    found = []
    for entry in dispatched(op):
        writes = dict(entry.variant.writes) if entry.variant is not None else {}
        found.append((entry.name, [writes[output] for output in outputs if output in writes]))
    return found
