"""by_triton: everything that can be passed to a kernel in Triton."""

import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    y,
    sums,
    x,
    w,
    i,
    eps,
    k,
    below,
    mode,
    n,
    step,
    column,
    partial,
    BLOCK: tl.constexpr,
    HAS_W: tl.constexpr,
    TWICE: tl.constexpr,
):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < n
    acc = sums.dtype.element_ty
    value = tl.load(x + row * step + at * column, mask=inside, other=0).to(acc) * eps + (k + tl.load(i + row)).to(acc)
    if HAS_W:
        value *= tl.load(w + at, mask=inside, other=0).to(acc)
    if TWICE == "twice":
        value = 2 * value * mode  # which is its place, 1
    tl.store(partial + row, 0.5)
    tl.debug_barrier()
    value *= tl.load(partial + row).to(acc)
    if below:
        value = tl.where(at <= row, value, 0)
    value = tl.where(inside, value, 0)
    tl.store(y + row * n + at, value, mask=inside)
    tl.store(sums + row, tl.sum(value, axis=0))
