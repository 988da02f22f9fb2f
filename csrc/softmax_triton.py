"""softmax_triton: y = exp(x - max(x)) / sum(exp(x - max(x))) over each row of x. A block has a row in its registers."""

import triton
import triton.language as tl


@triton.jit
def softmax_kernel(y, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n  # n has 64 bits, and so has the product
    at = tl.arange(0, BLOCK)
    inside = at < n
    value = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + row + at, power / tl.sum(power, axis=0), mask=inside)
