"""Kernels in Triton: which numbers a param can be, and what the build is told to compile."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from codegen.lower import operator_files
from codegen.lower.c.host import host_view
from codegen.lower.launch import entry_points
from codegen.lower.triton import divisible
from codegen.model import Library, Operator
from codegen.render import Renderer
from tests.abi.project import ROOT

KEYS = """
    types: {{T: [float64, float32]}}
    inputs: {{x: "T[*rows, n]", m: size, k: int, flag: bool, mode: "choice(none, tanh)"}}
    outputs: {{y: "T[*rows, n]"}}
    checks: [{checks}]
    dims: {{part: n // 2, padded: "round_up(n, 8)", wide: n * sizeof(T)}}
    parallel: rows
    triton: {{kernel: k1, args: [y, x, n], params: {{P: "{param}"}}, grid: rows}}
"""
POWERS = [1 << i for i in range(13)]


def choices(op: Operator) -> list[object]:
    assert op.triton is not None
    return list(op.triton.launch.params[0].choices)


@pytest.mark.parametrize(
    ("checks", "param", "expected"),
    [
        ("n <= 4096", "next_pow2(n)", POWERS),
        ("n < 4097", "next_pow2(n)", POWERS),
        ("4096 >= n", "next_pow2(n)", POWERS),
        ("0 < n <= 4096 and m > 3", "next_pow2(n)", POWERS),
        ("n == 96", "next_pow2(n)", [128]),
        ('"n in [3, 5, 9]"', "next_pow2(n)", [4, 8, 16]),
        ('"m in [3, 5]", n < 6', "min(n, m)", [0, 1, 2, 3, 4, 5]),
        ("100 < n <= 1000", "next_pow2(n)", [128, 256, 512, 1024]),
        ("n <= 1000", "max(256, next_pow2(n))", [256, 512, 1024]),
        ("n >= 0", "min(1024, max(256, next_pow2(n)))", [256, 512, 1024]),
        ("n <= 1000000", "min(64, n) // 16", [0, 1, 2, 3, 4]),
        ("n <= 256", "ceil_div(n, 64)", [0, 1, 2, 3, 4]),
        ("n <= 100000", "ceil_div(n, 50000)", [0, 1, 2]),
        ("n <= 100000", "next_pow2(ceil_div(n, 20000))", [1, 2, 4, 8]),
        ("n <= 20", "next_pow2(part)", [1, 2, 4, 8, 16]),
        ("n <= 20", "padded", [0, 8, 16, 24]),
        ("n <= 4", "next_pow2(n * sizeof(T))", [1, 4, 8, 16, 32]),
        ("-2 <= k <= 2", "k * k", [-4, -2, -1, 0, 1, 2, 4]),
        ("n <= 100", "32 if n <= 32 else 128", [32, 128]),
        ("n <= 100", "n % 3", [0, 1, 2]),
        ("n <= 100000", "n % 3", [0, 1, 2]),
        ("n > 0", "flag", [False, True]),
        ("n > 0", "mode", ["none", "tanh"]),
        ("n > 0", "n in [64, 128]", [64, 128]),
    ],
)
def test_what_a_param_can_be(operator: Callable[[str], Operator], checks: str, param: str, expected: list[int]) -> None:
    assert choices(operator(KEYS.format(checks=checks, param=param))) == expected


@pytest.mark.parametrize(
    ("checks", "param"),
    [
        ("n > 0", "next_pow2(n)"),
        ("n >= 4096", "next_pow2(n)"),
        ("n != 7", "n"),
        ("n <= m", "next_pow2(n)"),
        ("n <= 4 or m <= 4", "next_pow2(n)"),
        ("k <= 4", "k"),
        ("n <= 65536", "wide"),
        ("n <= 65536", "n"),
    ],
)
def test_what_nothing_bounds(wrong: Callable[[str], str], checks: str, param: str) -> None:
    assert "of too many numbers" in wrong(KEYS.format(checks=checks, param=param))


PASSED = """
    types: {T: [float64, bfloat16], I: [int32, int64]}
    devices: [cuda]
    inputs: {x: "T[rows, n] strided", i: "I[rows]", w: "T[n]? = None", eps: "float = 1e-6", k: "int = 3",
             causal: "bool = True", mode: "choice(none, tanh) = none"}
    outputs: {y: "T[rows, n]", sums: "acc(T)[rows]"}
    dims: {step: "stride(x, 0)"}
    scratch: {partial: "float32[rows]"}
    checks: [n <= 64]
    triton:
      kernel: k1
      args: [y, sums, x, w, i, eps, k, causal, mode, n, rows, step, partial]
      params: {BLOCK: "max(32, next_pow2(n))", HAS_W: given(w), TANH: mode, WIDE: sizeof(T) == 8}
      num_warps: BLOCK // 32
      grid: [rows, 2]
"""


@pytest.mark.parametrize(
    ("x", "y", "args", "expected"),
    [
        ("T[*s]", "T[*s]", "y, x, s", ("y", "x", "s")),
        ("T[*s]", "T[*s]", "y, x", ("y", "x")),
        ("T[m, n]", "T[m]", "y, x, m, n", ("y", "x", "n")),
        ("T[m, 2 * n]", "T[n]", "y, x, m, n", ("y", "x")),
        ("T[m]", "T[m]", "x, m, y", ("x", "m", "y")),
    ],
)
def test_what_half_of_the_kernels_rely_on(
    operator: Callable[[str], Operator], x: str, y: str, args: str, expected: tuple[str, ...]
) -> None:
    inputs = f'{{x: "{x}"}}' if "2" not in x else f'{{x: "{x}", w: "T[n]"}}'
    keys = f'types: {{T: floating}}\ndevices: [cuda]\ninputs: {inputs}\noutputs: {{y: "{y}"}}\n'
    assert divisible(operator(f"{keys}triton: {{kernel: k1, args: [{args}], grid: 1}}")) == expected


def manifest(library: Library, op: Operator) -> dict[str, Any]:
    (file,) = [file for file in operator_files(library, op) if file.path.endswith(".json")]
    found: dict[str, Any] = json.loads(Renderer(ROOT / "templates").render(file.template, file.view))
    return found


def test_what_is_compiled(library: Callable[[str], Library]) -> None:
    """Each choice of dtypes, each combination of values, and both alignments have a place."""
    made = library("namespace: demo\nops:\n  f:\n" + PASSED)
    found = manifest(made, made.operators[0])
    assert [one["row"] for one in found["kernels"]] == list(range(found["rows"])) == list(range(4 * 8 * 2))
    first, last = found["kernels"][0], found["kernels"][-1]
    assert first["types"] == [
        *("*fp64", "*fp64", "*fp64", "*fp64", "*i32", "fp64", "i64", "i1", "i32", "i64", "i64", "i64", "*fp32"),
    ]
    assert last["types"][:6] == ["*bf16", "*fp32", "*bf16", "*bf16", "*i64", "fp32"]
    assert first["params"] == {"BLOCK": 32, "HAS_W": False, "TANH": "none", "WIDE": True}
    assert last["params"] == {"BLOCK": 64, "HAS_W": True, "TANH": "tanh", "WIDE": False}
    assert (first["num_warps"], last["num_warps"], first["num_stages"]) == (1, 2, 3)
    assert first["divisible"] == []
    assert last["divisible"] == ["y", "sums", "x", "w", "i", "n", "partial"]


def test_what_launches(library: Callable[[str], Library]) -> None:
    made = library("namespace: demo\nops:\n  f:\n" + PASSED)
    op = made.operators[0]
    view = host_view(made, op, entry_points(op)).triton
    assert view is not None
    text = "\n".join(view.lines)
    assert "int64_t row = index_of_T(f->d.T);\nrow = row * 2 + index_of_I(f->d.I);\n" in text
    assert "static const int64_t BLOCK_values[] = {32, 64};" in text
    assert 'cuda_param(e, "k1", "HAS_W", given(&f->t.w), HAS_W_values, 2, &row)' in text
    assert "WIDE" not in text
    assert "const int64_t grid[3] = {c->rows, 2, 1};" in text
    assert view.parameters[5] == (
        "(f->d.T == DTYPE_FLOAT64 || dtype_acc(f->d.T) == DTYPE_FLOAT64) ? (void *)&c->eps : (void *)&eps_single"
    )
    assert view.count == 13
