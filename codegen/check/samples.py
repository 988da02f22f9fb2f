"""Whether there is a call that generated tests can make of each operator."""

from __future__ import annotations

from codegen.check.library import Checked
from codegen.errors import Diagnostics
from codegen.lower.sample import Sample
from codegen.lower.tests.samples import base
from codegen.lower.tests.scalars import sampled
from codegen.lower.tests.search import sources
from codegen.lower.tests.variations import chosen, unmet


def check_samples(checked: Checked, diagnostics: Diagnostics) -> None:
    """Asks for `samples:` where none of the sizes and scalars that are tried passes the checks and values."""
    for operator in checked.library.operators:
        if not operator.samples.function and not base(operator).valid():
            text = f"{operator.name}: none of the sizes and scalars that tests try is a right call"
            diagnostics.error(checked.places[operator.name], text, _hint(base(operator)))


def _hint(tried: Sample) -> str:
    """What to give instead: samples of names that the check is about which no call passes, or whole calls."""
    op, check = tried.op, unmet(tried)
    given = [*(name for name, _ in chosen(op)), *(argument.name for argument in sampled(op))]
    if check is not None:
        about = sources(op, check.condition)
        given = [name for name in given if name in about]
    sizes = f"samples: {{{given[0]}: [64]}}, or " if given else ""
    reason = f"none passes {check.text}; " if check is not None else ""
    return f"{reason}give some that are right: {sizes}samples: NAME, a function of tests/samples.py"
