"""From the tree to the model: what a right spec becomes. Wrong ones are in test_wrong_specs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.contract import Default, Word
from codegen.expr.text import print_text
from codegen.expr.tree import integer
from codegen.model import Backward, Binding, Gradient, Library, Operator, Samples

ROOT = Path(__file__).parents[2]
WHOLE_FILE = (ROOT / "tests" / "specs" / "whole_file.yaml").read_text()


def split(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the operators, and the text of each."""
    head, body = text.split("ops:\n", 1)
    found: dict[str, str] = {}
    name = ""
    for line in body.splitlines(keepends=True):
        if line.startswith("  ") and line[2] not in " #\n":
            name = line.strip().rstrip(":")
        found[name] = found.get(name, "") + line
    return head + "ops:\n", found


HEAD, ENTRIES = split(WHOLE_FILE)
DERIVED = ["silu_mul_backward", "silu_mul_backward_backward"]
LIBRARY = ["square", "square_backward", "rms_norm", "rms_norm_backward", "silu_mul", *DERIVED, "gather_rows"]


def test_the_language_page_is_accepted_as_written(library: Callable[[str], Library]) -> None:
    found = library(WHOLE_FILE)
    assert found.namespace == "my_ops"
    assert [operator.name for operator in found.operators] == [*LIBRARY[:-1], "add_scalar_", LIBRARY[-1]]


def test_the_library_of_this_repository(library: Callable[[str], Library]) -> None:
    found = library((ROOT / "ops.yaml").read_text())
    assert {operator.name for operator in found.operators} >= set(LIBRARY)


def test_a_size_may_be_zero(report: Callable[[str], str]) -> None:
    spec = 'namespace: demo\nops:\n  f:\n    inputs: {x: "T[n, 0]"}\n    outputs: {y: "T[0]"}\n    devices: [cpu]\n'
    assert report(spec.replace("    inputs", "    types: {T: floating}\n    inputs")) == ""


def test_scratch_without_a_star_leaves_a_name_free(report: Callable[[str], str]) -> None:
    assert (
        report("""namespace: demo
ops:
  f:
    inputs: {x: "float32[n]", t_dim: int}
    outputs: {y: "float32[n]"}
    scratch: {t: "float32[n]"}
    launch: {grid: 1, block: 32}
""")
        == ""
    )


def test_rms_norm(library: Callable[[str], Library]) -> None:
    op = library(WHOLE_FILE).operator("rms_norm")
    assert op.doc.startswith("Root-mean-square")
    assert op.argument("eps").default == Default(1e-6)
    assert op.argument("x").text == "T[*rows, n]"
    assert [output.name for output in op.public_outputs] == ["y"]
    assert [output.name for output in op.saved_outputs] == ["rstd"]
    assert op.backward == Backward(
        "rms_norm_backward",
        (
            Binding("grad_y", "gradient", "y"),
            Binding("x", "input", "x"),
            Binding("weight", "input", "weight"),
            Binding("rstd", "output", "rstd"),
        ),
        (Gradient("grad_x", "x"), Gradient("grad_weight", "weight")),
        mask=True,
    )
    (single,) = op.passes
    assert (single.kernel, print_text(single.units), op.several_passes) == ("rms_norm", "rows", False)
    assert [param.name for param in single.launches[0].params] == ["VEC", "THREADS"]
    assert op.reference == "rms_norm"
    assert op.devices == ("cpu", "cuda")
    assert len(op.dtype_choices) == 4


def test_passes_run_over_their_grid(library: Callable[[str], Library]) -> None:
    op = library(HEAD + ENTRIES["rms_norm_backward"]).operators[0]
    assert op.several_passes
    assert op.grad_mask
    assert [(item.kernel, print_text(item.units)) for item in op.passes] == [
        ("rms_norm_backward_rows", "min(rows, 2 * sm_count)"),
        ("rms_norm_backward_columns", "ceil_div(n, 32)"),
    ]
    assert op.passes[1].when is not None
    assert op.scratch[0].text == "acc(T)[min(rows, 2 * sm_count), n]"


@pytest.mark.parametrize(
    ("shape", "units"),
    [
        ("*rows, n", "rows"),
        ("n", "1"),
        ("", "1"),
        ("*rows", "1"),
        ("n, *rows, n", "n * rows"),
        ("n + 1, 2, n", "(n + 1) * 2"),
    ],
)
def test_default_units(operator: Callable[[str], Operator], shape: str, units: str) -> None:
    op = operator(f"""
        types: {{T: [float32]}}
        inputs: {{x: "T[*rows, n]"}}
        outputs: {{y: "T[{shape}]"}}
        launch: {{grid: n, block: 32}}
    """)
    assert print_text(op.passes[0].units) == units


@pytest.mark.parametrize(
    ("inputs", "units"),
    [
        ('{x: "T[m, n]", ys: "T[*s][]!", z: "T[]!"}', "len(ys)"),
        ('{xs: "T[*s][]", total: "T[k, 2]!"}', "k"),
    ],
)
def test_default_units_of_what_is_written(operator: Callable[[str], Operator], inputs: str, units: str) -> None:
    """The first written argument counts, whatever stands before it."""
    op = operator(f"""
        types: {{T: [float32]}}
        inputs: {inputs}
        devices: [cpu]
        differentiable: false
    """)
    assert print_text(op.passes[0].units) == units


def test_every_other_key(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        doc: >
          Two
          lines.
        types: {T: floating}
        inputs:
          x: {type: "T[*rows, n]", doc: activations}
          table: T[m] no_grad
          k: int
        keywords:
          scale: float = 2
          causal: bool = False
        outputs: {y: "T[*rows, n, b]"}
        dims:
          b: k + 1
          blocks: min(rows, 2 * sm_count)
        scratch:
          partial: acc(T)[blocks, n]
        checks:
          - {that: n <= 65536, message: rows are too wide}
        launch:
          - when: T in [float16, bfloat16] and aligned(x, 16)
            params: {VEC: 16 // sizeof(T), WIDE: true}
            grid: blocks
            block: [VEC * 4, 2]
          - {params: {VEC: 1, WIDE: false}, grid: [rows, 2], block: 64, shared: 4 * VEC * n, cluster: 2}
        parallel: rows * n
        devices: [cuda, cpu]
        reference: other
        samples: {rows: [1, 2], n: [1, 7], k: [-1], scale: [0.5], causal: [true]}
        tolerance: {bfloat16: 8e-3}
        flops: 4 * rows * n
        fast_math: true
    """)
    assert op.doc == "Two lines."
    assert op.argument("x").doc == "activations"
    assert op.argument("table").words == (Word("no_grad"),)
    assert [(a.name, a.keyword_only) for a in op.arguments][2:] == [("k", False), ("scale", True), ("causal", True)]
    assert op.argument("scale").default == Default(2.0)
    assert [(dim.name, dim.launch_only) for dim in op.derived] == [("b", False), ("blocks", True)]
    assert op.checks[0].message == "rows are too wide"
    first, second = op.passes[0].launches
    assert (len(first.grid), len(second.grid), second.shared is not None, second.cluster) == (1, 2, True, (integer(2),))
    assert print_text(op.passes[0].units) == "rows * n"
    assert op.devices == ("cpu", "cuda")
    assert op.reference == "other"
    assert op.samples == Samples(
        (("rows", (1, 2)), ("n", (1, 7)), ("k", (-1,)), ("scale", (0.5,)), ("causal", (True,)))
    )
    assert op.tolerance == (("bfloat16", 8e-3),)
    assert op.flops is not None
    assert op.fast_math


def test_devices_may_stand_at_the_top(library: Callable[[str], Library]) -> None:
    found = library("""
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
  g:
    devices: [cuda]
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    launch: {grid: n, block: 32}
""")
    assert [(op.devices, len(op.passes[0].launches)) for op in found.operators] == [(("cpu",), 0), (("cuda",), 1)]


def test_a_pass_with_entries(operator: Callable[[str], Operator]) -> None:
    op = operator("""
        types: {T: floating}
        inputs: {x: "T[m, n]"}
        outputs: {y: "T[m, n]"}
        passes:
          - kernel: first
            when: n > 3
            parallel: m
            launch:
              - {when: aligned(16), params: {VEC: 4}, grid: "ceil_div(m, VEC)", block: 32}
              - {params: {VEC: 1}, grid: m, block: 32}
          - {kernel: second, grid: [m, 2], block: [32, 4, 1]}
    """)
    assert [print_text(item.units) for item in op.passes] == ["m", "m * 2"]
    assert len(op.passes[0].launches) == 2


def test_a_backward_may_bind_dims_and_saved_outputs(library: Callable[[str], Library]) -> None:
    found = library("""
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: floating, I: [int32, int64]}
    inputs: {x: "T[*rows, n]", index: "I[n]", s: float}
    outputs: {y: "T[*rows, n]", seen: "I[n] saved"}
    backward: f_backward
  f_backward:
    types: {U: floating, J: [int32, int64]}
    inputs: {grad_y: "U[*a, b]", seen: "J[b]", index: "J[b]", rows: size, n: size, s: float}
    outputs: {grad_x: "U[*a, b]"}
    backward: f_twice
  f_twice:
    types: {U: floating, J: [int32, int64]}
    inputs: {grad_grad_x: "U[*a, b]", grad_y: "U[*a, b]"}
    outputs: {grad_grad_y: "U[*a, b]"}
""")
    first, second, _ = found.operators
    assert first.backward is not None
    assert [(b.source, b.name) for b in first.backward.bindings] == [
        *(("gradient", "y"), ("output", "seen"), ("input", "index"), ("dim", "rows"), ("dim", "n"), ("input", "s"))
    ]
    assert not first.backward.mask
    assert second.backward is not None
    assert second.backward.gradients == (Gradient("grad_grad_y", "grad_y"),)


def test_a_dtype_variable_that_is_not_used_is_a_warning(report: Callable[[str], str]) -> None:
    text = report("""
namespace: demo
devices: [cpu]
ops:
  f:
    types: {T: floating, U: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
""")
    assert text.startswith('ops.yaml:6:26: warning: f: types: the dtype variable "U" is not used')


def test_many_problems_in_one_run(report: Callable[[str], str]) -> None:
    """Problems of each part are found although others have problems."""
    text = report("""
namespace: demo
ops:
  f:
    types: {T: floatin}
    inputs: {x: "T[n"}
    outputs: {y: "T[m]"}
    checks: [q > 0]
    launch: {grid: z, block: 0}
    backward: h
  g:
    inputs: {x: "float32[n]"}
    outputs: {y: "float32[n]"}
    backward: i
""")
    places = [line.split(": error:")[0] for line in text.splitlines() if ": error:" in line]
    wanted = ("5:16", "6:19", "7:21", "8:14", "9:20", "9:30", "10:15", "11:3", "14:15")
    assert places == [f"ops.yaml:{place}" for place in wanted]


def test_a_check_in_its_long_form_says_what_is_given(report: Callable[[str], str]) -> None:
    """A dim that only an optional binds is known where a check has asked for it."""
    spec = """\
namespace: demo
devices: [cpu]
ops:
  f:
    inputs: {x: "float32[n]", w: "float32[m]?"}
    outputs: {y: "float32[m]"}
    checks: [%s]
    differentiable: false
"""
    assert report(spec % "given(w)") == ""
    assert report(spec % "{that: given(w), message: there is no weight}") == ""
    assert "may be absent here" in report(spec % "{that: n > 0, message: given(w)}")


def test_defaults_reach_the_ends_of_64_bits(operator: Callable[[str], Operator], wrong: Callable[[str], str]) -> None:
    keys = """
        inputs: {x: "float32[n]", k: "int = %s"}
        outputs: {y: "float32[n]"}
        devices: [cpu]
    """
    for number in (-(2**63), 2**63 - 1):
        assert operator(keys % number).argument("k").default == Default(number)
    for number in (-(2**63) - 1, 2**63, 10**20):
        assert f"{number} is not an int of 64 bits" in wrong(keys % number)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 1000])
def test_numbers_that_fill(operator: Callable[[str], Operator], number: int) -> None:
    made = operator(f"""
        devices: [cpu]
        inputs: {{x: "float32[n]"}}
        outputs: {{y: "int64[n] fill({number})"}}
    """)
    assert [word.argument for word in made.outputs[0].words] == [number]


def test_an_argument_called_like_the_mask_of_gradients(operator: Callable[[str], Operator]) -> None:
    """Where no gradients are computed it is any other: outputs may depend on it."""
    op = operator("""
        devices: [cpu]
        inputs: {x: "float32[n]", grad_mask: bool}
        outputs: {y: "float32[n]", z: "float32[n] if grad_mask"}
    """)
    assert op.output("z").condition is not None
    assert not op.grad_mask
