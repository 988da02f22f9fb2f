"""Short ways for tests to get from a spec's text to the model."""

from __future__ import annotations

import textwrap

from codegen.check import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.model import Library, Operator


def report(text: str) -> str:
    """What the generator says about a spec; "" when it is right."""
    diagnostics = Diagnostics()
    check(load(text.encode(), diagnostics), diagnostics)
    return diagnostics.report("ops.yaml", text)


def library(text: str) -> Library:
    """The model of a right spec."""
    diagnostics = Diagnostics()
    checked = check(load(text.encode(), diagnostics), diagnostics)
    assert checked is not None, diagnostics.report("ops.yaml", text)
    return checked.library


def operator_text(body: str, name: str = "f") -> str:
    """A spec with one operator, whose keys `body` holds."""
    return f"namespace: demo\nops:\n  {name}:\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def operator(body: str) -> Operator:
    """The model of one operator."""
    return library(operator_text(body)).operators[0]
