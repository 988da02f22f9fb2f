"""Element-wise lines in which dtypes of several kinds meet, or that need fewer operands for some dtypes than they name:
each form of the loops computes what the line says.
"""

from __future__ import annotations

import torch

from my_ops import quick

SPEC = """
ops:
  counted:
    types: {T: [float32], M: bool}
    inputs: {x: "T[*s]", m: "M[*s]", n: "M[*s]"}
    outputs: {z: "T[*s]", w: "T[*s]"}
    elementwise: {z: x if m == 1 else 0, w: 2 * x if m < n else x}
    differentiable: false
  told_apart:
    types: {T: [float32], M: bool}
    inputs: {m: "M[*s]", k: int}
    outputs: {z: "T[*s]"}
    elementwise: {z: 1 if m == k else 0}
    differentiable: false
  of_one_dtype:
    types: {T: [float32, float64]}
    inputs: {x: "T[*s]", y: "T[*s]"}
    outputs: {z: "T[*s]"}
    elementwise: {z: x * y if T == float32 else x}
    differentiable: false
  in_whole_numbers:
    types: {T: [int32, float32]}
    inputs: {x: "T[*s]!"}
    elementwise: {x: -floor(1.5 * 1.5)}
    differentiable: false
"""
ELEMENTS = 1000


def test_lines_of_several_kinds() -> None:
    ops = quick.load(SPEC, namespace="test_lines")
    m, n, x = torch.rand(ELEMENTS) < 0.5, torch.rand(ELEMENTS) < 0.5, torch.rand(ELEMENTS)
    z, w = ops.counted(x, m, n)
    assert torch.equal(z, torch.where(m, x, 0.0))
    assert torch.equal(w, torch.where(~m & n, 2 * x, x))
    assert [torch.equal(ops.told_apart(m, k), (m == k).float()) for k in (0, 1, 2)] == [True] * 3
    for dtype in (torch.float32, torch.float64):
        one, other = x.to(dtype), x.flip(0).to(dtype)
        assert torch.equal(ops.of_one_dtype(one, other), one * other if dtype == torch.float32 else one)
    for dtype in (torch.int32, torch.float32):
        assert ops.in_whole_numbers(x.to(dtype)).tolist() == [-2] * ELEMENTS
