"""Launch parameters that switch over run-time values: which kernels are compiled, and which one a call takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from codegen.lower.launch import entry_points, pass_views
from codegen.model import Operator

SPEC = """
    types: {T: [float32, float16]}
    inputs: {x: "T[m, d]", causal: bool, mode: "choice(none, tanh, erf)"}
    outputs: {y: "T[m, d]"}
    launch:
      - when: m > 4
        params: {HEAD: "d in [64, 128]", CAUSAL: causal, MODE: 'mode in ["erf", "none"]', VEC: HEAD // 8 // sizeof(T)}
        grid: m
        block: HEAD
      - params: {HEAD: 1, CAUSAL: m == 2, MODE: mode, VEC: 1}
        grid: d // HEAD
        block: 32 if MODE == "tanh" else d
    parallel: m
"""


@pytest.fixture
def switched(operator: Callable[[str], Operator]) -> Operator:
    return operator(SPEC)


def test_a_kernel_for_each_combination(switched: Operator) -> None:
    """In order of dtypes, then of entries; the last switch changes fastest. A choice is the place of its word."""
    entries = entry_points(switched)["f"]
    first = [(head, causal, mode) for head, causal, mode in product((64, 128), (False, True), (2, 0))]
    for i, (dtype, size) in enumerate((("float32", 4), ("float16", 2))):
        found = entries[i * 14 : (i + 1) * 14]
        assert [entry.symbol for entry in found] == [f"f__{dtype}__{number}" for number in range(14)]
        wanted = [(*values, values[0] // (8 * size)) for values in first]
        wanted += [(1, *values, 1) for values in product((False, True), (0, 1, 2))]
        assert [entry.params for entry in found] == wanted
        # Threads are known where they follow from the values of a kernel.
        assert [entry.bounds for entry in found] == [*[64] * 4, *[128] * 4, *[1024, 32, 1024] * 2]
    assert len(entries) == 28


def test_threads_that_min_limits(operator: Callable[[str], Operator]) -> None:
    """A kernel is compiled for no more threads than the least number in `min`, which may follow from a dtype."""
    head = SPEC[: SPEC.index("    launch:")]
    for block, bounds in (
        ("'min(m, 256)'", [256, 256]),
        ("'min(m, 128 * sizeof(T), max(m, 32))'", [512, 256]),
        ("'max(m, min(m, 64))'", [1024, 1024]),
        ("['min(m, 8)', 4]", [32, 32]),
    ):
        launch = f"    launch: {{grid: m, block: {block}}}\n    parallel: m\n"
        assert [entry.bounds for entry in entry_points(operator(head + launch))["f"]] == bounds


def test_the_kernel_of_a_call(switched: Operator) -> None:
    """Places are computed from run-time values; what was not compiled is an error that says so."""
    (view,) = pass_views(switched, entry_points(switched))
    assert view.entry_count == 14
    plan = "\n".join(view.plan)
    assert "plan->kernel = &kernels[(HEAD_index * 2 + CAUSAL_index) * 2 + MODE_index][T_index];" in plan
    assert "plan->kernel = &kernels[8 + CAUSAL_index * 3 + MODE_index][T_index];" in plan
    assert 'CHECK(e, HEAD_index >= 0, "expected d in [64, 128], got d = %" PRId64, c->d);' in plan
    assert "const int CAUSAL_index = c->causal;" in plan
    assert "const int CAUSAL_index = c->m == 2;" in plan
    assert plan.count("MODE_index >= 0") == 1  # the second entry has a kernel for every word
    assert ".block = {c->d, 1, 1}," in plan
    assert ".block = {c->mode == f_mode_tanh ? 32 : c->d, 1, 1}," in plan
