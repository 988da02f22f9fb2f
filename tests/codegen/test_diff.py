"""diff: every kind of change, and whether it breaks callers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.compare.libraries import compare_libraries
from codegen.compare.operators import FOLLOWS, LOOKED_AT, PLAIN
from codegen.contract import Argument, Output, ScalarType, TensorType
from codegen.model import Library, Operator

FOLDER = Path(__file__).parents[1] / "diff"
SPEC = """\
namespace: demo
devices: [cpu]
ops:
  f:
    doc: F.
    types: {T: floating, U: [float32, float16]}
    inputs:
      x: T[*rows, n]
      weight: T[n]
      other: U[m, 3]
      eps: float = 1e-6
      k: int = 2
    keywords:
      flag: bool = True
    outputs:
      y: T[*rows, n]
      z: U[m]
    dims:
      twice: 2 * m
    checks:
      - n <= 1024
      - twice > 0
    backward: f_backward
    flops: n
  f_backward:
    types: {T: floating, U: [float32, float16]}
    inputs: {grad_y: "T[*rows, n]", x: "T[*rows, n]", weight: "T[n]", other: "U[m, 3]"}
    outputs: {grad_x: "T[*rows, n]", grad_weight: "T[n]", grad_other: "U[m, 3]"}
  g:
    types: {I: [int32, int64]}
    inputs: {index: "I[k]", size: size}
    outputs: {y: "float32[k]"}
    values: [0 <= index < size]
    differentiable: false
"""


def changed(library: Callable[[str], Library], *edits: tuple[str, str], spec: str = SPEC) -> list[str]:
    """What `diff` says after replacing texts of the spec: `-` in front of breaking changes, `+` of others."""
    edited = spec
    for old, new in edits:
        assert edited.count(old) == 1, old
        edited = edited.replace(old, new)
    found = compare_libraries(library(spec), library(edited))
    return [f"{'-' if one.change.breaking else '+'} {one.operator}: {one.change.what}" for one in found]


F = "    inputs:\n      x: T[*rows, n]\n"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        # the operator as a whole
        (
            [("    flops: n\n", "    flops: n\n    tags: [pointwise]\n    since: 1.0\n    deprecated: use g\n")],
            ["+ f: since changed", "+ f: deprecated changed", "+ f: tags changed"],
        ),
        ([("    flops: n\n", "    flops: n\n    autocast: lower\n")], ["- f: autocast changed"]),
        ([("    flops: n\n", "    flops: n\n    random: true\n")], ["- f: random changed"]),
        ([("    flops: n\n", "    flops: n\n    deterministic: false\n")], ["- f: no longer deterministic"]),
        ([("    values: [0", "    batch: k\n    values: [0")], ["+ g: batch: also k"]),
        # arguments
        ([("      k: int = 2\n", "")], ["- f: k: removed"]),
        ([("    keywords:\n", "      j: int = 1\n    keywords:\n")], ["+ f: j: added, with a default"]),
        (
            [("      eps: float = 1e-6\n", "      j: int = 1\n      eps: float = 1e-6\n")],
            ["- f: j: added in front of eps"],
        ),
        (
            [("      flag: bool = True\n", "      flag: bool = True\n      must: int\n")],
            ["- f: must: added, without a default"],
        ),
        ([("eps: float", "epsilon: float")], ["- f: eps: now called epsilon"]),
        (
            [("      eps: float = 1e-6\n      k: int = 2\n", "      k: int = 2\n      eps: float = 1e-6\n")],
            ["- f: order of arguments: x, weight, other, k, eps, was x, weight, other, eps, k"],
        ),
        ([("      k: int = 2\n    keywords:\n", "    keywords:\n      k: int = 2\n")], ["- f: k: now keyword-only"]),
        ([("    keywords:\n      flag", "      flag")], ["+ f: flag: now also by position"]),
        # kinds and defaults
        ([("k: int = 2", "k: size = 2")], ["+ f: k: size, was int"]),
        ([("k: int = 2", "k: float = 2")], ["+ f: k: float, was int"]),
        ([("eps: float = 1e-6", "eps: int = 1")], ["- f: eps: int, was float", "- f: eps: default 1, was 1e-06"]),
        ([("1e-6", "1e-5")], ["- f: eps: default 1e-05, was 1e-06"]),
        (
            [("k: int = 2", "k: int"), ("eps: float = 1e-6", "eps: float")],
            ["- f: eps: no longer has a default", "- f: k: no longer has a default"],
        ),
        ([("size: size}", "size: size = 3}")], ["+ g: size: default 3"]),
        # dtypes
        ([("I: [int32, int64]", "I: [int64]")], ["- g: index: no longer takes int32"]),
        ([("I: [int32, int64]", "I: [int64, int32, int16]")], ["+ g: index: also takes int16"]),
        (
            [
                ('index: "I[k]"', 'index: "I[k]", more: "J[k]"'),
                ("{I: [int32, int64]}", "{I: [int32, int64], J: [int64]}"),
            ],
            ["- g: more: added, without a default"],
        ),
        # shapes
        ([('    inputs: {index: "I[k]"', '    inputs: {index: "I[length]"'), ("float32[k]", "float32[length]")], []),
        ([("size: size}\n", "size: size}\n    checks: [size > 0]\n")], ["- g: check size > 0 added"]),
        (
            [("I[k]", "I[*s]"), ("float32[k]", "float32[*s]")],
            ["+ g: index: shape [*s], was [k]", "- g: output y: shape [*s], was [k]"],
        ),
        ([("I[k]", "I[k, 2]")], ["- g: index: shape [k, 2], was [k]"]),
        (
            [("I[k]", "I[size]"), ("float32[k]", "float32[size]")],
            ["- g: index: shape [size], was [k]", "- g: output y: shape [size], was [k]"],
        ),
        (
            [("      weight: T[n]", "      weight: T[m]")],
            ["+ f: weight: shape [m], was [n]", "- f: other: shape [m, 3], with sizes that must now equal weight[0]"],
        ),
        # outputs
        ([("      z: U[m]\n", "")], ["- f: outputs: z removed"]),
        ([("      z: U[m]\n", "      z: U[m]\n      more: T[n]\n")], ["- f: outputs: more added"]),
        (
            [("      y: T[*rows, n]\n      z: U[m]\n", "      z: U[m]\n      y: T[*rows, n]\n")],
            ["- f: order of outputs: z, y, was y, z", "+ f: launches changed"],
        ),
        ([("z: U[m]", "zz: U[m]")], ["+ f: output z: now called zz"]),
        (
            [("z: U[m]", "z: acc(U)[m]")],
            ["- f: output z: its dtype is the accumulation dtype of other, was that of other"],
        ),
        ([("float32[k]", "float64[k]")], ["- g: output y: its dtype is float64, was float32"]),
        ([("z: U[m]", "z: U[2 * m]")], ["- f: output z: shape [2 * m], was [m]"]),
        # conditions
        ([("n <= 1024", "n <= 2048")], ["+ f: check n <= 2048, was n <= 1024"]),
        ([("n <= 1024", "n <= 512")], ["- f: check n <= 512, was n <= 1024"]),
        ([("      - n <= 1024\n", "")], ["+ f: check n <= 1024 removed"]),
        ([("- n <= 1024", "- {that: n <= 1024, message: wide}")], ["+ f: message of check n <= 1024 changed"]),
        ([("twice: 2 * m", "twice: 3 * m")], ["- f: check 3 * m > 0 added", "+ f: check 2 * m > 0 removed"]),
        ([("      twice: 2 * m", "      two: 2 * m"), ("- twice > 0", "- two > 0")], ["+ f: dims changed"]),
        (
            [("0 <= index < size", "0 <= index <= size")],
            ["- g: check 0 <= index <= size added", "+ g: check 0 <= index < size removed"],
        ),
        # gradients
        ([("    backward: f_backward\n", "")], ["- f: no longer has a gradient"]),
        ([("    differentiable: false\n", "")], ["- g: no longer `differentiable: false`"]),
        (
            [("weight: T[n]\n      other", "weight: T[n] no_grad\n      other"), (', grad_weight: "T[n]"', "")],
            [
                "+ f: weight: now `no_grad`",
                "- f: weight: no gradient any more",
                "- f_backward: outputs: grad_weight removed",
            ],
        ),
        # the rest
        (
            [
                (
                    "    differentiable: false\n",
                    "    differentiable: false\n    devices: [cpu, cuda]\n    launch: {grid: k, block: 32}\n",
                )
            ],
            ["+ g: devices: also cuda", "+ g: launches changed"],
        ),
        (
            [
                ("doc: F.", "doc: F, better."),
                ("flops: n", "flops: 2 * n"),
                ("    flops", "    samples: {n: [1]}\n    flops"),
            ],
            ["+ f: doc changed", "+ f: samples changed", "+ f: flops changed"],
        ),
        ([("  g:\n", "  h:\n")], ["+ h: operator added", "- g: operator removed"]),
        ([("namespace: demo", "namespace: demo2")], ["- : namespace demo2, was demo"]),
        ([("doc: F.", "doc:   F.")], []),
    ],
)
def test_changes(library: Callable[[str], Library], edits: list[tuple[str, str]], expected: list[str]) -> None:
    assert changed(library, *edits) == expected


EQUAL = """\
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: [float32, float64], U: [float32, float64]}
    inputs: {x: "T[m]", y: "T[m]"}
    outputs: {z: "T[m]", w: "T[m]"}
"""


@pytest.mark.parametrize(
    ("old", "new", "there", "back"),
    [
        ('y: "T[m]"', 'y: "U[m]"', "+ f: y: its dtype is free of that of x", "- f: y: its dtype now follows that of x"),
        ('y: "T[m]"', 'y: "T[n]"', "+ f: y: shape [n], was [m]", "- f: y: shape [m], was [n]"),
        ('y: "T[m]"', 'y: "T[3]"', "- f: y: shape [3], was [m]", "- f: y: shape [m], was [3]"),
        ('x: "T[m]", y', 'x: "T[*m]", y', "+ f: x: shape [*m], was [m]", "- f: x: shape [m], was [*m]"),
    ],
)
def test_there_and_back(library: Callable[[str], Library], old: str, new: str, there: str, back: str) -> None:
    """What is looser in one direction is stricter in the other."""
    assert changed(library, (old, new), spec=EQUAL)[0] == there
    assert changed(library, (new, old), spec=EQUAL.replace(old, new))[0] == back


LISTS = """\
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: floating}
    inputs: {xs: "T[3, 2][]", ys: "T[n, 2][]", zs: "T[m, 2][]"}
    outputs: {a: "T[n, 2][]", b: "T[2, 2]"}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("T[2, 2]", "T[2, n][]", ["- f: output b: shape [2, n], was [2, 2]", "- f: output b: a list, was one tensor"]),
        ("ys: ", "more: ", ["- f: ys: now called more", "+ f: launches changed"]),
        (
            'a: "T[n, 2][]"',
            'a: "T[m, 2][]"',
            [
                "- f: output a: shape [m, 2], was [n, 2]",
                "- f: output a: as long as zs, was as long as ys",
                "+ f: launches changed",
            ],
        ),
    ],
)
def test_output_lists(library: Callable[[str], Library], old: str, new: str, expected: list[str]) -> None:
    assert changed(library, (old, new), spec=LISTS) == expected


def test_an_argument_that_moved_up_is_no_new_name_of_another(library: Callable[[str], Library]) -> None:
    edits = [('x: "T[m]", y: "T[m]"', 'y: "T[m]", v: "T[m]"')]
    assert changed(library, *edits, spec=EQUAL) == [
        "- f: x: removed",
        "- f: v: added, without a default",
    ]


def test_every_field_is_looked_at() -> None:
    """A new field of an operator must be classed before this passes."""
    names = {field.name for field in fields(Operator)}
    assert names == set(PLAIN) | LOOKED_AT | FOLLOWS
    assert not set(PLAIN) & (LOOKED_AT | FOLLOWS)
    assert {f.name for f in fields(Argument)} == {*("name", "type", "keyword_only", "default", "words", "doc", "text")}
    assert {f.name for f in fields(Output)} == {"name", "type", "words", "condition", "doc", "text", "counted_by"}
    assert {f.name for f in fields(TensorType)} == {
        *("dtype", "shape", "optional", "is_list", "element_optional", "written")
    }
    assert {f.name for f in fields(ScalarType)} == {"kind", "optional", "is_list", "length", "choices", "variable"}


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.yaml").write_text(SPEC)
    Path("new.yaml").write_text(SPEC.replace("1e-6", "1e-5").replace("doc: F.", "doc: G.").replace("  g:\n", "  h:\n"))


def test_exact_text(pair: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "old.yaml", "new.yaml"]) == 1
    assert capsys.readouterr() == (
        """\
breaking
  f: eps: default 1e-05, was 1e-06
      calls that leave it out mean something else
  g: operator removed
      calls of it fail
compatible
  f: doc changed
      documentation only
  h: operator added
      nothing called it
2 breaking, 2 compatible
""",
        "",
    )
    assert main(["diff", "old.yaml", "old.yaml"]) == 0
    assert capsys.readouterr() == ("no changes\n", "")


@pytest.mark.parametrize(("name", "old", "new"), [("there", "old.yaml", "new.yaml"), ("back", "new.yaml", "old.yaml")])
def test_everything(name: str, old: str, new: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The two specs of tests/diff differ in all that can be told; REWRITE=1 rewrites the texts."""
    assert main(["diff", str(FOLDER / old), str(FOLDER / new)]) == 1
    (text, _), golden = capsys.readouterr(), FOLDER / f"{name}.txt"
    if os.environ.get("REWRITE"):
        golden.write_text(text)
    assert text.startswith("breaking\n")
    assert text == golden.read_text()


def test_json(pair: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "old.yaml", "new.yaml", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(one["file"], one["line"], one["column"], one["severity"]) for one in found] == [
        ("new.yaml", 4, 3, "breaking"),
        ("new.yaml", 4, 3, "compatible"),
        ("new.yaml", 29, 3, "compatible"),
        ("old.yaml", 29, 3, "breaking"),
    ]
    assert found[0]["message"] == "f: eps: default 1e-05, was 1e-06"
    assert found[0]["hint"] == "calls that leave it out mean something else"
    assert main(["diff", "old.yaml", "old.yaml", "--json"]) == 0
    assert capsys.readouterr().out == "[]\n"


def test_a_wrong_spec(pair: None, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.yaml").write_text("namespace: demo\n")
    assert main(["diff", "old.yaml", "new.yaml"]) == 1
    assert capsys.readouterr().err.startswith("new.yaml:1:1: error: `ops:` is missing\n")


def test_another_namespace(library: Callable[[str], Library]) -> None:
    [found] = compare_libraries(library(EQUAL), library(EQUAL.replace("namespace: demo", "namespace: other")))
    assert (found.operator, found.change.breaking) == ("", True)
    assert found.change.what == "namespace other, was demo"
    assert found.change.why == "torch.ops.demo and `import demo` fail"


def test_an_argument_in_front_of_others_moves_them(library: Callable[[str], Library]) -> None:
    """One with a default behind all others breaks nobody."""
    old = EQUAL.replace('y: "T[m]"}\n    outputs', 'y: "T[m]", k: int = 1}\n    outputs')
    front = old.replace("k: int = 1", "j: int = 2, k: int = 1")
    behind = old.replace("k: int = 1", "k: int = 1, j: int = 2")
    new = [compare_libraries(library(old), library(text))[0].change for text in (front, behind)]
    assert [change.breaking for change in new] == [True, False]
    assert all("j" in change.what for change in new)
    two = library(old.replace("k: int = 1", "k: int = 1, j: int = 2, i: int = 3"))
    assert not any(one.change.breaking for one in compare_libraries(library(old), two))
