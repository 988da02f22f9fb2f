"""Whether there is a call that generated tests can make of each operator."""

from __future__ import annotations

from codegen.check.library import Checked
from codegen.errors import Diagnostics
from codegen.lower.tests.samples import base


def check_samples(checked: Checked, diagnostics: Diagnostics) -> None:
    """Asks for `samples:` where none of the sizes and scalars that are tried passes the checks and values."""
    for operator in checked.library.operators:
        if not operator.samples.function and not base(operator).valid():
            text = f"{operator.name}: none of the sizes and scalars that tests try is a right call"
            hint = "give some that are: samples: {n: [64]}, or name a function in tests/samples.py"
            diagnostics.error(checked.places[operator.name], text, hint)
