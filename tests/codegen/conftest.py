"""Short ways from the text of a spec to what the generator makes of it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.model import Library, Operator


def _report(text: str) -> str:
    diagnostics = Diagnostics()
    check(load(text.encode(), diagnostics), diagnostics)
    return diagnostics.report("ops.yaml", text)


def _library(text: str) -> Library:
    diagnostics = Diagnostics()
    checked = check(load(text.encode(), diagnostics), diagnostics)
    assert checked is not None, diagnostics.report("ops.yaml", text)
    return checked.library


def _wrapped(body: str) -> str:
    return f"namespace: demo\nops:\n  f:\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


@pytest.fixture
def report() -> Callable[[str], str]:
    """What is said about a spec; "" when it is right."""
    return _report


@pytest.fixture
def library() -> Callable[[str], Library]:
    """The model of a right spec."""
    return _library


@pytest.fixture
def operator() -> Callable[[str], Operator]:
    """The model of one operator, of which the keys are given."""
    return lambda body: _library(_wrapped(body)).operators[0]


@pytest.fixture
def wrong() -> Callable[[str], str]:
    """What is said about one operator, of which the keys are given."""
    return lambda body: _report(_wrapped(body))
