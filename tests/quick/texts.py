"""Specs and bodies of these tests."""

SCALED = """
{name}:
  doc: x times {factor}, by a body.
  types: {{T: [float32, float64]}}
  inputs:
    x: T[*shape]
  outputs:
    y: T[*shape]
  parallel: numel(x)
  launch:
    grid: ceil_div(numel(x), 256)
    block: 256
  backward: {name}_backward

{name}_backward:
  doc: Gradient of {name}.
  types: {{T: [float32, float64]}}
  inputs:
    grad_y: T[*shape]
  outputs:
    grad_x: T[*shape]
  parallel: numel(grad_y)
  launch:
    grid: ceil_div(numel(grad_y), 256)
    block: 256
"""
CPU = """
static void {op}(const {op}_args *a, int64_t begin, int64_t end) {{
    for (int64_t i = begin; i < end; i++) {{
        store(a->{to} + i, {factor} * load(a->{of} + i));
    }}
}}
"""
CUDA = """
#include "{op}.cuh"

template <typename T> __device__ void {op}(const {op}_args<T> &a) {{
    const int64_t i = int64_t{{blockIdx.x}} * blockDim.x + threadIdx.x;
    if (i < a.shape) {{
        a.{to}[i] = from_acc<T>({factor} * to_acc(a.{of}[i]));
    }}
}}
"""


def scaled(name: str, factor: int) -> str:
    """The spec of x times a factor, and of its gradient."""
    return SCALED.format(name=name, factor=factor)


def bodies(text: str, name: str, factor: int) -> dict[str, str]:
    """Their bodies."""
    return {
        name: text.format(op=name, to="y", of="x", factor=factor),
        f"{name}_backward": text.format(op=f"{name}_backward", to="grad_x", of="grad_y", factor=factor),
    }


SHIFTED = """
shifted:
  doc: x plus a number.
  types: {T: float32}
  inputs:
    x: T[*shape]
    by: float = 1.0
  outputs:
    y: T[*shape]
  elementwise:
    y: x + by
  differentiable: false
"""
