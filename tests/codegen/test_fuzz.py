"""Whatever the file holds: a report with a place in every message, no traceback, no long wait, and no text of it is
ever code. A few thousand specs; python -m tests.fuzz examines as many as one likes.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import keys
from tests.fuzz.__main__ import case
from tests.fuzz.examine import examine, examine_command, examine_output, examine_texts
from tests.fuzz.specs import HOSTILE, SOURCES, quoted


@pytest.mark.parametrize("start", range(0, 2000, 100))
def test_random_specs(start: int) -> None:
    for seed in range(start, start + 100):
        case(seed)


@pytest.mark.parametrize("seed", range(3))
def test_made_up_specs_compile(seed: int) -> None:
    """Most of what the grammar makes up is right, or this would test little."""
    right = [examine_texts(100 * seed + i, compiled=i == 0) for i in range(10)]
    assert sum(right) > 5


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    examine(data)


FIELD = "namespace: demo\ndevices: [cpu]\nops:\n  f:\n    inputs: {x: 'float32[n]'}\n    outputs: {y: 'float32[n]'}\n"


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(keys.OPERATOR.names), st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_in_any_field(field: str, text: str) -> None:
    examine(f"{FIELD}    {field}: {quoted(text)}\n".encode())


# Where else a text can stand: in place of a type, a name, a condition.
PLACES = {
    "namespace": "namespace: @\nops: {f: {inputs: {x: 'float32[n]'}}}\n",
    "operator": "namespace: demo\nops: {@: {inputs: {x: 'float32[n]'}}}\n",
    "type": "namespace: demo\nops: {f: {inputs: {x: @}}}\n",
    "name": "namespace: demo\nops: {f: {inputs: {@: 'float32[n]'}}}\n",
    "key": f"{FIELD}    @: 1\n",
    "check": f"{FIELD}    checks: [@]\n",
    "value": f"{FIELD}    values: [@]\n",
    "dim": f"{FIELD}    dims: {{d: @}}\n",
    "variable": f"{FIELD}    types: {{@: floating}}\n",
    "dtype": f"{FIELD}    types: {{T: [@]}}\n",
    "kernel": f"{FIELD}    passes: [{{kernel: @, parallel: n}}]\n",
    "parameter": f"{FIELD}    launch: {{params: {{@: 1}}, grid: n, block: 32}}\n",
    "sample": f"{FIELD}    samples: {{n: [@]}}\n",
}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("place", PLACES)
def test_hostile_texts_are_refused_where_they_are_no_texts(place: str, text: str) -> None:
    assert examine(PLACES[place].replace("@", quoted(text)).encode()) is None


@pytest.mark.parametrize("source", random.Random(0).sample(SOURCES, 10))
def test_right_specs_can_be_generated(source: bytes) -> None:
    library = examine(source)
    if library is None:
        examine_command(source)
    else:
        examine_output(library)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"{a: " * 100_000,
        b"- " * 100_000,
        b"a: &a [x]\n" + b"".join(b"b%d: [*a, *a]\n" % i for i in range(2000)),
        b"namespace: demo\nops:\n  f:\n    checks:\n" + b"    - n\n" * 20_000,
        b"namespace: demo\nops: {f: {inputs: {" + b", ".join(b"x%d: 'T[n]'" % i for i in range(3000)) + b"}}}\n",
        b"namespace: demo\nops: {f: {inputs: {x: 'T[" + b"(" * 300 + b"'}}}\n",
        b"namespace: demo\nops: {f: {inputs: {x: 'T[" + b"n, " * 120 + b"n]'}}}\n",
        b"namespace: demo\nops: {f: {checks: ['" + b"n < " * 90 + b"n'], inputs: {x: 'float32[n]'}}}\n",
        b"'" + b"\n" * 100_000,
        b"a: " + b"x" * 1_000_000 + b"\n",
        b"? " * 5000,
        b"#" * 4_000_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_large_and_deep(data: bytes) -> None:
    examine(data)
