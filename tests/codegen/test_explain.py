"""explain: exact text, and the same for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.assignments import BindDim, BindStar, Derive
from codegen.describe.keys import operator_notes
from codegen.messages.sentences import message
from codegen.messages.text import print_message_text
from codegen.model import Operator

SPEC = """\
namespace: demo
ops:
  scale:
    doc: |
      x, scaled.
      Second line.
    types: {T: [float32, float16], I: [int64]}
    inputs:
      x: {type: "T[*rows, n]", doc: what is scaled}
      index: I[k]
      factor: {type: float = 1e-6, doc: by how much}
    keywords:
      twice: bool = False
    outputs:
      y: {type: "T[*rows, n]", doc: scaled}
      where: I[k]
      sum: acc(T)[*rows] saved
    scratch:
      partial: acc(T)[min(k, sm_count)]
    dims:
      wide: n // 2
    checks:
      - factor > 0
      - {that: n <= 65536, message: too wide}
    values:
      - 0 <= index < n
    launch:
      - when: n <= 1024
        params: {VEC: 16 // sizeof(T), FAST: true}
        grid: [rows, 2]
        block: 128
      - params: {VEC: 1, FAST: false}
        grid: rows
        block: 256
        shared: 4 * n
    backward: scale_backward
    tolerance: {float16: 2e-3}
    flops: n * rows
  scale_backward:
    types: {T: [float32, float16]}
    inputs: {grad_y: "T[*rows, n]", sum: "acc(T)[*rows]", factor: float, k: size}
    outputs: {grad_x: "T[*rows, n]"}
    passes:
      - {kernel: scale_first, when: k > 0, grid: rows, block: 32, cluster: 2}
      - {kernel: scale_second, grid: rows, block: 32}
    devices: [cuda]
"""

SCALE = """\
demo::scale(Tensor x, Tensor index, float factor=1e-06, *, bool twice=False) -> (Tensor, Tensor)

x, scaled.
Second line.

dtypes
  T  float32, float16
  I  int64

arguments
  x       T[*rows, n]    what is scaled
  index   I[k]
  factor  float = 1e-06  by how much
  twice   bool = False   (keyword only)

outputs
  y      T[*rows, n]          scaled
  where  I[k]
  sum    acc(T)[*rows] saved

scratch
  partial  acc(T)[min(k, sm_count)]

dims
  wide  n // 2

a wrong call says, in this order
  dtypes   x: expected dtype float32 or float16, got <dtype of x>
  dtypes   index: expected dtype int64, got <dtype of index>
  devices  index: expected device <device of x> (as x), got <device of index>
  shapes   x: expected at least 1 dimension, got <dim(x)>
  shapes   index: expected 1 dimension, got <dim(index)>
  checks   expected factor > 0, got factor = <factor>
  checks   too wide (expected n <= 65536, got n = <n>)
  values   index: expected 0 <= index < n with n = <n>, got index[<place>] = <element of index>

kernel scale
  CPU: [begin, end) counts rows
  CUDA, when n <= 1024:
    params   VEC = 16 // sizeof(T), FAST = True
    grid     rows, 2
    block    128
  CUDA:
    params   VEC = 1, FAST = False
    grid     rows
    block    256
    shared   4 * n

gradient
  computed by scale_backward
  grad_y  <-  gradient of y
  sum     <-  the output sum
  factor  <-  the input factor
  k       <-  the size k
  grad_x  ->  gradient of x

relative error that tests allow
  float32  1.19e-07 + 9.54e-07 * sqrt(terms)
  float16  0.002
  int64    exact

flops
  n * rows

files
  csrc/scale.c                   body, cpu
  csrc/scale.cu                  body, cuda
  tests/references.py            scale, what is right
  generated/c/scale_call.h       generated
  generated/c/scale.c            generated
  generated/c/scale.cpu.c        generated
  generated/cuda/scale.cuh       generated
  generated/cuda/scale.cu        generated
  generated/demo/ops/scale.py    generated
  generated/tests/test_scale.py  generated
  docs/ops/scale.md              generated
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("ops.yaml")
    path.write_text(SPEC)
    return path


def test_exact_text(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "scale"]) == 0
    assert capsys.readouterr() == (SCALE, "")


def test_passes(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "scale_backward"]) == 0
    text = capsys.readouterr().out
    assert (
        "\nkernel scale_first\n  only when k > 0\n  CUDA:\n    grid     rows\n    block    32\n    cluster  2\n" in text
    )
    assert "\ngradient\n  none: backward raises an error that names this operator\n" in text
    assert "  csrc/scale_backward.cu  " in text
    assert "csrc/scale_backward.c " not in text


def test_lines_stand_where_others_have_a_body(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "{types: {T: floating}, inputs: {x: 'T[n]'}, outputs: {y: 'T[n]'}, elementwise: {y: x  * exp(x)}}"
    spec.write_text(f"namespace: demo\nops:\n  grown: {lines}\n")
    for name, runs in (("grown", "y: x * exp(x)"), ("grown_backward", "derived from grown")):
        assert main(["explain", name]) == 0
        assert f"\nkernel {name}\n  {runs}\n\n" in capsys.readouterr().out


def test_json(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "scale", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"].startswith("demo::scale(")
    assert found["arguments"][2] == {
        "name": "factor",
        "kind": "float",
        "doc": "by how much",
        "default": "1e-06",
        "keyword_only": False,
        "saved": False,
    }
    assert found["checks"][-1]["step"] == "values"
    assert found["takes"][1] == {"name": "sum", "text": "the output sum"}
    assert found["files"][0] == {"path": "csrc/scale.c", "what": "body, cpu"}


def test_notes(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text("""namespace: demo
ops:
  f:
    types: {T: floating}
    inputs: {x: "T[m, n]", w: "T[n]"}
    outputs: {y: "T[m, n]"}
    launch: {grid: m, block: 32}
    deprecated: use g.
    since: 1.2
    deterministic: false
    random: true
    requires: arch >= 89
    autocast: lower
    batch: m
    tags: [pointwise]
""")
    assert main(["explain", "f"]) == 0
    notes, tags = capsys.readouterr().out.split("\n\n")[1:3]
    assert notes.splitlines() == [
        "notes",
        "  Deprecated: use g.",
        "  Since 1.2.",
        "  Results can differ from run to run: refused under torch.use_deterministic_algorithms(True).",
        "  Draws two numbers from PyTorch's generator in every call.",
        "  On CUDA needs compute capability 8.9 or newer.",
        "  torch.autocast casts x and w to its own dtype.",
        "  Results along m are independent.",
    ]
    assert tags == "tags\n  pointwise, nondeterministic_bitwise, nondeterministic_seeded"


def test_notes_on_variants(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: floating}
        inputs: {xs: "T[*s][]", x: "T[n]"}
        outputs: {ys: "T[*s][]", y: "T[n]"}
        variants: {inplace: {y: x, ys: xs}, out: true}
        devices: [cpu]
    """)
    assert operator_notes(op) == (
        "With ys= and y= it writes to tensors and lists of tensors of the caller.",
        "f_ writes ys to xs and y to x.",
    )


def test_no_such_operator(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "scales"]) == 1
    assert capsys.readouterr() == ("", 'ops.yaml: error: there is no operator "scales"\nhint: did you mean "scale"?\n')
    assert main(["explain", "xyz", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            "file": "ops.yaml",
            "line": 1,
            "column": 1,
            "severity": "error",
            "message": 'there is no operator "xyz"',
            "hint": "operators are scale, scale_backward",
        }
    ]


def test_a_wrong_spec(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec.write_text(SPEC.replace("I[k]", "J[k]", 1))
    assert main(["explain", "scale"]) == 1
    assert capsys.readouterr().err.startswith('ops.yaml:10:14: error: scale: input index: unknown dtype "J"\n')


def test_every_rule_has_a_text(operator: Callable[[str], Operator]) -> None:
    op = operator("""
devices: [cpu]
types: {T: floating, I: [int64], U: [int32, int64]}
inputs: {x: "T[*s, n]", z: "T[*s, 2 * n]", r: "acc(T)[*s]", i: "I[n]", k: size, u: "U[k]"}
outputs: {y: "T[*s, n - k]"}
checks: [k > 0, "sizeof(T) > 1"]
values: [0 <= i < n]
""")
    texts = [print_message_text(message(r)) for r in op.rules if not isinstance(r, BindDim | BindStar | Derive)]
    assert "r: expected dtype <accumulation dtype of x> (accumulation dtype of x), got <dtype of r>" in texts
    assert "z: expected shape [*s, 2 * n] with s = <sizes of s> (from x), n = <n> (from x), got <shape of z>" in texts
    assert "y: expected n - k >= 0, got n = <n>, k = <k>" in texts
    assert "expected sizeof(T) > 1, got T = <T>" in texts
