"""softmax_triton_backward: grad_x = y * (grad_y - sum(grad_y * y)) over each row."""

import triton
import triton.language as tl


@triton.jit
def softmax_backward_kernel(grad_x, grad_y, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    at = tl.arange(0, BLOCK)
    inside = at < n
    upstream = tl.load(grad_y + row + at, mask=inside, other=0).to(tl.float32)
    value = tl.load(y + row + at, mask=inside, other=0).to(tl.float32)
    tl.store(grad_x + row + at, value * (upstream - tl.sum(upstream * value, axis=0)), mask=inside)
