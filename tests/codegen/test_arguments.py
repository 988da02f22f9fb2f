"""Arguments that are no tensors: the generator and the C runtime agree on their limits, and on what bodies see."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from codegen.lower.c.arguments import choice_lines
from codegen.lower.record import fields, record_declarations
from codegen.messages.sentences import MAX_LIST, MAX_TEXT
from codegen.model import Operator

HEADER = (Path(__file__).parents[2] / "csrc" / "runtime" / "argument.h").read_text()

SPEC = """
    types: {T: [float32], Q: [int8, int32]}
    devices: [%s]
    inputs: {x: "T[n]", mode: "choice(none, tanh)", label: str, xs: "int[]", fs: "float[]?", k: "bool?"}
    keywords: {kind: dtype, out: "dtype(Q)", where: "device?"}
    outputs: {y: "Q[n]"}
    launch: {grid: n, block: 32}
"""


def test_limits_are_those_of_the_runtime() -> None:
    constants = dict(re.findall(r"enum { (\w+) = (\d+) };", HEADER))
    assert int(constants["TEXT_ROOM"]) == MAX_TEXT + 1  # and a zero
    assert int(constants["LIST_ROOM"]) == MAX_LIST


def test_record(operator: Callable[[str], Operator]) -> None:
    """A dtype(Q) and a device are no fields. The values of lists travel with a launch, where there is one."""
    declared = [line for field in fields(operator(SPEC % "cpu")) for line in record_declarations(field)]
    assert declared == [
        "const void *x",
        "void *y",
        "int64_t n",
        "int32_t mode",
        "char label[256]",
        "const int64_t *xs",
        "int64_t xs_count",
        "const double *fs",
        "int64_t fs_count",
        "bool fs_given",
        "bool k",
        "bool k_given",
        "int32_t kind",
        "bool where_given",
    ]
    both = [line for field in fields(operator(SPEC % "cpu, cuda")) for line in record_declarations(field)]
    assert [line for line in both if line not in declared] == ["int64_t xs_values[64]", "double fs_values[64]"]


def test_constants_of_a_choice(operator: Callable[[str], Operator]) -> None:
    assert [line.strip(" ,") for line in choice_lines(operator(SPEC % "cpu")) if line.startswith("    ")] == [
        "f_mode_none",
        "f_mode_tanh",
    ]
