"""Conditions of host functions: what `aligned()` looks at."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codegen.commands.project import files_of
from codegen.model import Library


@pytest.mark.parametrize(
    ("kind", "tests"),
    [
        ("float32[n]", ["aligned_to(c->x, 16)"]),
        ("float32[m, n]", ["aligned_to(c->x, 16)", "c->n * dtype_size(DTYPE_FLOAT32) % 16 == 0"]),
        ("float32[*s]", ["aligned_to(c->x, 16)"]),
        ("float32[m, n] rows", ["aligned_to(c->x, 16)", "stride_aligned(&f->t.x, c->x_stride[0], 16)"]),
        ("float32[m, n] strided", ["aligned_to(c->x, 16)", "strides_aligned(&f->t.x, 16)"]),
        ("float32[k][]", ["list_aligned(&f->t.x, 16)"]),
        ("float32[*s][]", ["list_aligned(&f->t.x, 16)"]),
        ("float32[*s, n][]", ["list_aligned(&f->t.x, 16)", "list_widths_aligned(&f->t.x, 16)"]),
        ("float32[m, n][] rows", ["list_aligned(&f->t.x, 16)", "list_strides_aligned(&f->t.x, 16)"]),
        ("float32[*s][] strided", ["list_aligned(&f->t.x, 16)", "list_strides_aligned(&f->t.x, 16)"]),
    ],
)
def test_aligned(library: Callable[[str], Library], kind: str, tests: list[str]) -> None:
    made = files_of(
        library(f"""namespace: demo
devices: [cuda]
ops:
  f:
    inputs: {{x: "{kind}", w: "float32[q]"}}
    outputs: {{y: "float32[q]"}}
    differentiable: false
    launch:
      - {{when: "aligned(16)", grid: 1, block: 32}}
      - {{grid: 1, block: 64}}
""")
    )
    others = ["aligned_to(c->w, 16)", "aligned_to(c->y, 16)"]
    assert f"({' && '.join([*tests, *others])})" in " ".join(made["c/f.c"].decode().split())
