"""The texts of failing calls, and that C and Python say the same."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.assignments import BindDim, BindStar, Derive
from codegen.expr.c import CNames
from codegen.expr.python import PythonNames
from codegen.expr.text import print_text
from codegen.expr.tree import Query
from codegen.messages.c import c_escape, print_message_c
from codegen.messages.parts import Message, Part, StarOf, Text, Value, float_text, spelled
from codegen.messages.python import print_message_python, python_escape
from codegen.messages.sentences import message, overflow_of
from codegen.model import Operator
from codegen.rules import CheckRule

SPEC = """
    types: {T: floating, I: [int32]}
    inputs:
      x: T[*rows, n]
      weight: T[n]
      rstd: acc(T)[*rows]
      index: I[k, n]
      eps: float = 1e-6
      flag: bool = True
    outputs: {y: "T[k - 1]"}
    dims: {b: n * 2}
    checks:
      - n > 0
      - eps >= 0
      - flag or n + k > b
      - {that: n <= 65536, message: "rows are too wide: 100 %, {n}, \\"quoted\\", ??/"}
      - numel(x) > 0
    values:
      - 0 <= index < b
    launch: {grid: n, block: 32}
"""

TEXTS = [
    "x: expected dtype float64, float32, float16 or bfloat16, got DtypeOf(x)",
    "weight: expected dtype DtypeOf(x) (as x), got DtypeOf(weight)",
    "rstd: expected dtype AccDtypeOf(x) (accumulation dtype of x), got DtypeOf(rstd)",
    "index: expected dtype int32, got DtypeOf(index)",
    "weight: expected device DeviceOf(x) (as x), got DeviceOf(weight)",
    "rstd: expected device DeviceOf(x) (as x), got DeviceOf(rstd)",
    "index: expected device DeviceOf(x) (as x), got DeviceOf(index)",
    "x: expected at least 1 dimension, got RankOf(x)",
    "weight: expected 1 dimension, got RankOf(weight)",
    "index: expected 2 dimensions, got RankOf(index)",
    "weight: expected shape [n] with n = n (from x), got ShapeOf(weight)",
    "rstd: expected shape [*rows] with rows = StarOf(rows) (from x), got ShapeOf(rstd)",
    "index: expected shape [k, n] with n = n (from x), got ShapeOf(index)",
    "expected n > 0, got n = n",
    "expected eps >= 0, got eps = eps",
    "expected flag or n + k > b, got flag = flag, n = n, k = k, b = b",
    'rows are too wide: 100 %, {n}, "quoted", ??/ (expected n <= 65536, got n = n)',
    "expected numel(x) > 0, got numel(x) = numel(x)",
    "y: expected k - 1 >= 0, got k = k",
    "index: expected 0 <= index < b with b = b, got indexElementIndex(index) = ElementValue(index)",
]


def shown(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Value):
        return print_text(part.expr)
    name = part.name if isinstance(part, StarOf) else part.argument
    return f"{type(part).__name__}({name})"


def test_texts(operator: Callable[[str], Operator]) -> None:
    rules = [rule for rule in operator(SPEC).rules if not isinstance(rule, BindDim | BindStar | Derive)]
    assert ["".join(map(shown, message(rule).parts)) for rule in rules] == TEXTS
    assert max(spelled(message(rule)) for rule in rules) <= 4


def test_overflow_texts(operator: Callable[[str], Operator]) -> None:
    rules = operator(SPEC).rules
    found = [overflow_of(rule) for rule in rules if isinstance(rule, BindStar | Derive | CheckRule)]
    texts = ["".join(map(shown, text.parts)) for text in found]
    assert texts[0] == "x: the product of rows does not fit 64-bit integers"
    assert texts[3] == "b = n * 2 does not fit 64-bit integers"
    assert texts[4] == "flag or n + k > b does not fit 64-bit integers"


@pytest.mark.parametrize(
    ("check", "divides"),
    [
        ("n // k > 1", True),
        ("n % k > 1", True),
        ("ceil_div(n, k) > 1", True),
        ("round_up(n, k) > 1", True),
        ("k + n_round_up > 1", False),
        ("k + 1 < n / n", False),
    ],
)
def test_what_divides_integers_says_so(operator: Callable[[str], Operator], check: str, divides: bool) -> None:
    op = operator(f"""
        inputs: {{x: "float32[n]", k: int, n_round_up: int}}
        outputs: {{y: "float32[n]"}}
        checks: ["{check}"]
        launch: {{grid: n, block: 32}}
    """)
    (rule,) = [rule for rule in op.rules if isinstance(rule, CheckRule)]
    (text,) = overflow_of(rule).parts
    assert text == Text(f"{check} does not fit 64-bit integers{' or divides by zero' if divides else ''}")


FLOATS = [
    (-1.0, "-1"), (1e-6, "1e-06"), (0.1, "0.1"), (100.0, "100"), (1e30, "1e+30"), (0.1 + 0.2, "0.30000000000000004"),
     (1 / 3, "0.3333333333333333"), (float("inf"), "inf"), (float("-inf"), "-inf"), (float("nan"), "nan"), (-0.0, "-0"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), FLOATS)
def test_floats(value: float, text: str) -> None:
    assert float_text(value) == text


C_PROGRAM = """
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "error.h"
void aoti_torch_check(bool cond, const char *func, const char *file, uint32_t line, const char *msg);
void aoti_torch_check(bool cond, const char *func, const char *file, uint32_t line, const char *msg)
{{
    (void)cond; (void)func; (void)file; (void)line; (void)msg;
}}
int main(void)
{{
    static error record;
    error *const e = &record;
    const int64_t n = -9223372036854775807, k = 4, b = 5;
    const double eps = -0.30000000000000004;
    const bool flag = false;
    (void)k; (void)b; (void)flag; (void)eps;
    const double floats[] = {{
        -1.0, 1e-6, 0.1, 100.0, 1e30, 0.30000000000000004, 1.0 / 3.0, INFINITY, -INFINITY, -NAN, -0.0
    }};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {{
        e->values = 0;
        puts(float_text(e, floats[i]));
    }}
{lines}
    return 0;
}}
"""


def c_part(part: Part) -> str:
    return (
        "INT64_C(2)" if type(part).__name__ == "RankOf" else '"' + shown(part).replace("(", "<").replace(")", ">") + '"'
    )


def python_part(part: Part) -> str:
    return "2" if type(part).__name__ == "RankOf" else "'" + shown(part).replace("(", "<").replace(")", ">") + "'"


def test_c_and_python_say_the_same(operator: Callable[[str], Operator], tmp_path: Path) -> None:
    rules = [rule for rule in operator(SPEC).rules if not isinstance(rule, BindDim | BindStar | Derive)]

    def query(question: Query, operands: tuple[str, ...]) -> str:
        return "n"

    lines, wanted = [], []
    scope = {"n": -9223372036854775807, "k": 4, "b": 5, "eps": -0.30000000000000004, "flag": False}
    for rule in rules:
        text = message(rule)
        c = print_message_c(text, CNames(query=query), c_part)
        lines.append(f'    error_begin(e, "demo::f"); fail(e, {c.text}); puts(e->text);')
        python = print_message_python(text, PythonNames(query=query, helper="h_"), python_part, "demo::f: ")
        wanted.append(eval(python, {"h_float_text": float_text}, scope))
    source = tmp_path / "program.c"
    source.write_text(C_PROGRAM.format(lines="\n".join(lines)))
    runtime = Path(__file__).parents[2] / "csrc" / "runtime"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wformat=2", "-Werror", "-I", str(runtime)]
    files = [str(source), str(runtime / "error.c")]
    weak = ["-Wl,--unresolved-symbols=ignore-all", "-no-pie", "-lm"]
    subprocess.run(["gcc", *flags, *files, *weak, "-o", str(tmp_path / "program")], check=True)
    printed = subprocess.run([tmp_path / "program"], check=True, capture_output=True, text=True).stdout.splitlines()
    assert printed[: len(FLOATS)] == [text for _, text in FLOATS]
    assert printed[len(FLOATS) :] == wanted
    assert "demo::f: expected eps >= 0, got eps = -0.30000000000000004" in wanted


HOSTILE = 'a"b\\c{d}e%f%n??/\ng\u00e9\u4e2d\U0001f600 */ """ \'\'\' {{x}}'


def test_escapes(tmp_path: Path) -> None:
    assert eval(f'"{python_escape(HOSTILE)}"') == HOSTILE
    source = tmp_path / "program.c"
    source.write_text(f'#include <stdio.h>\nint main(void) {{ puts("{c_escape(HOSTILE)}"); return 0; }}\n')
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(tmp_path / "program")], check=True)
    printed = subprocess.run([tmp_path / "program"], check=True, capture_output=True).stdout.decode()
    assert printed == HOSTILE + "\n"


def test_plain_text_is_no_f_string() -> None:
    assert print_message_python(Message((Text("{a}"),)), PythonNames(), shown, "p: ") == '"p: {a}"'
    assert print_message_c(Message((Text("100%"),)), CNames(), shown).text == '"100%%"'
