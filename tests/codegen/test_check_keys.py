"""Keys about an operator as a whole: what the model holds, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable

from codegen.autocast import cast_inputs
from codegen.frozen import replace
from codegen.lower.c.files import build_view, library_view
from codegen.model import Library, Operator
from codegen.tags import tags_of

SPEC = """\
namespace: demo
ops:
  f:
    inputs: {x: "float32[*rows, n]"}
    outputs: {y: "float32[*rows, n]"}
    launch: {grid: rows, block: 32}
    fast_math: true
    tags: [pointwise, core]
    deterministic: false
    since: 0.2
    deprecated: |
      use
      g
    requires: arch >= 90
    batch: ["*rows", n]
  g:
    inputs: {x: "float32[]"}
    outputs: {y: "float32[]"}
    devices: [cpu]
"""


def test_what_the_model_holds(library: Callable[[str], Library]) -> None:
    f, g = library(SPEC).operators
    assert (f.tags, f.deterministic, f.since, f.deprecated) == (("pointwise", "core"), False, "0.2", "use g")
    assert (f.oldest_arch, f.batch) == (90, ("rows", "n"))
    assert (g.tags, g.deterministic, g.since, g.deprecated, g.oldest_arch, g.batch) == ((), True, "", "", 0, ())


def test_keys_have_tags_of_their_own(operator: Callable[[str], Operator]) -> None:
    op = operator('devices: [cpu]\ninputs: {x: "float32[]"}\noutputs: {y: "float32[]"}\ndeterministic: false')
    assert tags_of(op) == ("nondeterministic_bitwise",)


def test_tags_are_given_at_definition(library: Callable[[str], Library]) -> None:
    entries = library_view(library(SPEC)).entries
    getters = "torch_tag_pointwise, torch_tag_core, torch_tag_nondeterministic_bitwise"
    assert {entry.tags for entry in entries if "g" not in entry.name.split("_")} == {
        f"(torch_tag *const[]){{{getters}}}, 3"
    }
    assert {entry.tags for entry in entries if entry.name == "g"} == {"NULL, 0"}


def test_the_build_leaves_out_what_is_too_old(library: Callable[[str], Library]) -> None:
    assert build_view(library(SPEC)).operators[0].cuda_flags == " ARCH 90 --use_fast_math"


def test_what_autocast_casts(operator: Callable[[str], Operator]) -> None:
    """Variables that stand for two dtypes of autocast, wherever others stand among them; tensors of the device."""
    op = operator("""
        types: {I: [int32, int64], T: [float64, float32, float16], W: [float32], U: [bfloat16, float32]}
        inputs: {i: "I[n]", x: "T[n]", w: "W[n]", u: "U[n]", v: "U[n] cpu", z: "T[n]", a: "acc(T)[n]"}
        outputs: {y: "T[n]"}
        devices: [cpu]
        autocast: lower
    """)
    assert cast_inputs(op) == {"T": ["x", "z"], "U": ["u"]}
    assert cast_inputs(replace(op, autocast="")) == {}
