"""Whatever the file holds: a report with a position in every message, no traceback, no long wait."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.check import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.messages import message
from codegen.rules import BindDim, BindStar, Derive

ROOT = Path(__file__).parents[2]
SOURCES = [
    (ROOT / "ops.yaml").read_bytes(),
    *(path.read_bytes() for path in sorted((ROOT / "tests" / "errors").glob("*.yaml"))),
    (ROOT / "tests" / "specs" / "whole_file.yaml").read_bytes(),
]
PIECES = [
    b"", b" ", b"\n", b"  ", b": ", b"- ", b"[", b"]", b"{", b"}", b"*", b"&a ", b"*a", b"!t ", b"'", b'"', b"#",
    b"?", b"!", b"= ",
    b",", b"(", b")", b"T", b"n", b"rows", b"0", b"-1", b"9" * 30, b"1e999", b"// 0", b" ** 99", b"None", b"\t",
    b"\xff", b"\x00",
    b"\xe2\x80\xae", b"\xc3\xa9", b"|\n", b">\n", b"---\n", b"%YAML 1.2\n", b"<<: ", b"given(", b"sizeof(",
    b"if ", b"else ", b" and ",
    b"acc(", b"saved", b"no_grad", b"? ", b"sm_count", b"grad_", b"\r\n", b"\\", b"`", b"$", b"T[n]? = None",
    b"choice(a, b)",
]  # fmt: skip
PLACE = re.compile(r"^ops\.yaml:[1-9][0-9]*:[1-9][0-9]*: (error|warning): \S", re.MULTILINE)
SECONDS = 2.0


def examine(data: bytes) -> None:
    """Loads and checks, and looks at what is said."""
    start = time.process_time()
    diagnostics = Diagnostics()
    checked = check(load(data, diagnostics), diagnostics)
    report = diagnostics.report("ops.yaml", data.decode("utf-8-sig", "replace"))
    assert time.process_time() - start < SECONDS
    assert diagnostics.failed == (checked is None)
    assert len(PLACE.findall(report)) == min(diagnostics.count, 200)
    if checked is not None:
        for operator in checked.library.operators:
            for rule in operator.rules:
                if not isinstance(rule, BindDim | BindStar | Derive):
                    message(rule)


def mutated(data: bytes, random_source: random.Random) -> bytes:
    """A few cuts, copies and insertions."""
    result = bytearray(data)
    for _ in range(random_source.randint(1, 4)):
        at = random_source.randint(0, len(result))
        match random_source.randint(0, 3):
            case 0:
                result[at : at + random_source.randint(0, 12)] = random_source.choice(PIECES)
            case 1:
                other = random_source.choice(SOURCES)
                start = random_source.randint(0, len(other))
                result[at:at] = other[start : start + random_source.randint(1, 60)]
            case 2:
                del result[at : at + random_source.randint(1, 40)]
            case 3:
                lines = result.split(b"\n")
                line = random_source.randrange(len(lines))
                lines.insert(random_source.randrange(len(lines)), lines[line])
                result = bytearray(b"\n".join(lines))
    return bytes(result)


@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(range(len(SOURCES))), st.randoms(use_true_random=False))
def test_mutated_specs(source: int, random_source: random.Random) -> None:
    examine(mutated(SOURCES[source], random_source))


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    examine(data)


FIELDS = [
    "doc",
    "reference",
    "samples",
    "backward",
    "flops",
    "parallel",
    "devices",
    "fast_math",
    "tolerance",
    "checks",
    "values",
]


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(FIELDS), st.text(max_size=60))
def test_any_text_in_any_field(field: str, text: str) -> None:
    quoted = (
        '"' + "".join(f"\\U{ord(character):08x}" for character in text if not 0xD800 <= ord(character) < 0xE000) + '"'
    )
    examine(f"namespace: demo\nops:\n  f:\n    inputs: {{x: 'float32[n]'}}\n    {field}: {quoted}\n".encode())


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
