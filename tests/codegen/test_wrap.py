"""Long calls of generated Python are laid out as ruff lays them out."""

from __future__ import annotations

import subprocess
import sys

from codegen.wrap import COLUMNS, wrapped

MANY = ", ".join(f"argument_{i}" for i in range(8))
MESSAGE = "a message, " * 9
STATEMENTS = f"""def f():
    value = g({MANY})
    return _op.redispatch(keyset & _after_autograd, {MANY})


def h():
    if value:
        first, second = call(lambda: (a, b)[0], {{"a": 1, "b": [2, 3]}}, "a, (", {MANY})
        return _Function.apply({MANY}, {MANY})[0]
    call({MANY}, {MANY})[:2]
    if value:
        check(
            value,
            lambda: f"{MESSAGE}{{value}}",
        )
        check(
            first.device == second.device, lambda: f"{MESSAGE[:60]}{{second.device}} (as first)"
        )
    # a comment ({MANY}, {MANY})
    return {MANY}, {MANY}
"""


def test_as_a_formatter_does() -> None:
    text = wrapped(STATEMENTS)
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={COLUMNS}", "-"]
    found = subprocess.run(command, input=STATEMENTS, capture_output=True, text=True, check=True).stdout
    unwrapped = found.index("    # a comment")
    assert text[: text.index("    # a comment")] == found[:unwrapped]
    assert wrapped(text) == text


def test_what_fits_and_what_is_no_call_stays() -> None:
    for text in (
        f"call(\n    ({MANY} or {MANY}),\n    b,\n)\n",
        f'raise RuntimeError(\n    f"{{name}}: {MESSAGE}{MESSAGE}"\n    "the other half of the text"\n)\n',
        "call(a, b)\n",
        f"x = [{MANY}, {MANY}]\n",
        f"    doc (a) of {MANY} {MANY} (b)\n",
        "",
    ):
        assert wrapped(text) == text


def test_one_argument_that_is_too_long_stays_on_its_line() -> None:
    """It ends in a comma, or it is the only one and gets one; several get a line each."""
    long = "+".join(f"argument_{i}" for i in range(12))
    assert len(long) > COLUMNS
    assert wrapped(f"call(\n    {long},\n)\n") == f"call(\n    {long},\n)\n"
    assert wrapped(f"call(\n    {long}\n)\n") == f"call(\n    {long},\n)\n"
    assert wrapped(f"call(\n    {long}, b\n)\n") == f"call(\n    {long},\n    b,\n)\n"
    assert wrapped(f"x = {long},\n") == f"x = {long},\n"
