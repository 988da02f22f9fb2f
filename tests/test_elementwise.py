"""Element-wise operators beyond what generated tests try: layouts of many dims, accuracy over the range of float32,
and results that do not depend on the number of threads."""

from __future__ import annotations

import random

import pytest
import torch

import my_ops
from tests.conformance.build import build
from tests.process import output


def _expected(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    gate, up = gate.double(), up.double()
    return gate * torch.sigmoid(gate) * up


def _check(gate: torch.Tensor, up: torch.Tensor) -> None:
    y = my_ops.silu_mul(gate, up)
    assert y.stride() == torch.empty_like(gate).stride()
    torch.testing.assert_close(y, _expected(gate, up).to(y.dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_many_dims(device: str, dtype: torch.dtype) -> None:
    """Twelve dims of which no two merge: more than the loops take, so the host walks the others."""
    order = [0, 11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6]
    x, y = (torch.randn((2,) * 12, device=device).to(dtype) for _ in range(2))
    _check(x.permute(order), y)
    _check(x, y.permute(order))
    _check(x.permute(order), y.permute(order[::-1]))
    _check(x.permute(order), y[:, :1].expand_as(y))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_any_layout(device: str, dtype: torch.dtype) -> None:
    """Random orders of dims, steps, offsets and expanded dims: every kind of loop, tile and rest."""
    random.seed(1)

    def one(sizes: list[int]) -> torch.Tensor:
        order = random.sample(range(len(sizes)), len(sizes))
        steps = [random.choice((1, 1, 1, 2)) for _ in sizes]
        kept = [random.choice((True, True, True, False)) for _ in sizes]
        held = [size * step if keep else 1 for size, step, keep in zip(sizes, steps, kept, strict=True)]
        base = torch.randn([held[i] for i in order] + [1], device=device).to(dtype)[..., 0]
        base = base.permute([order.index(i) for i in range(len(sizes))])
        base = base[tuple(slice(None, None, step if keep else 1) for step, keep in zip(steps, kept, strict=True))]
        return base.expand(sizes)

    for _ in range(300):
        sizes = [random.choice((1, 2, 3, 5, 17, 64, 65)) for _ in range(random.randrange(1, 5))]
        _check(one(sizes), one(sizes))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("offset", [0, 1, 8])
def test_across_rows(device: str, dtype: torch.dtype, offset: int) -> None:
    """Operands that run across the rows of others, where these are whole vectors and where not, in parts too."""
    for rows, n in ((64, 8), (8, 64), (72, 40), (70, 41), (16, 4096), (2, 16)):
        whole = torch.randn(offset + 3 * rows * n, device=device).to(dtype)[offset:]
        gate = torch.randn(rows, n, device=device).to(dtype)
        across = whole[: rows * n].view(n, rows).t()
        _check(gate, across)
        _check(across, gate)
        _check(gate, across[:1].expand(rows, n))
        _check(gate.expand(3, rows, n), whole.view(3, n, rows).mT)
        _check(gate.expand(3, rows, n), whole.view(n, 3, rows).permute(1, 2, 0))
    parts = (2, 3, 2, 3, 2, 3, 2, 16, 24)  # more dims than the loops take, none of which merge
    gate = torch.randn(parts, device=device).to(dtype).permute(6, 5, 4, 3, 2, 1, 0, 7, 8)
    up = torch.randn(offset + gate.numel(), device=device).to(dtype)[offset:].view(*gate.shape[:-2], 24, 16).mT
    _check(gate, up)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_overlapping_windows(device: str, dtype: torch.dtype) -> None:
    """Windows of one long tensor: tiles of different windows begin at the same element, and some are wider."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)  # one thread goes through all tiles
        for sizes, step in (((2, 64, 130), 128), ((3, 70, 300), 128), ((5, 40, 20), 8), ((4, 3, 2, 9), 1)):
            rows, n = sizes[-2:]
            up = torch.randn(step * 8 + n, rows, device=device).to(dtype).unfold(0, n, step)[: sizes[0]]
            up = up if len(sizes) == 3 else up.unsqueeze(1).expand(sizes)
            _check(torch.randn(sizes, device=device).to(dtype), up)
    finally:
        torch.set_num_threads(before)


def test_threads_do_not_matter() -> None:
    x, y = torch.randn(1023, 517), torch.randn(517, 1023).t()
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = my_ops.silu_mul(x, y)
        torch.set_num_threads(4)
        assert torch.equal(my_ops.silu_mul(x, y), one)
    finally:
        torch.set_num_threads(before)


SHORT_ROWS = """
import ctypes
import mmap

import torch

import my_ops

memory = mmap.mmap(-1, 17 * mmap.PAGESIZE)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
last = 16 * mmap.PAGESIZE
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + last), mmap.PAGESIZE, 0) == 0
for dtype in (torch.float32, torch.bfloat16):
    whole = torch.frombuffer(memory, dtype=dtype, count=last // dtype.itemsize)
    whole.copy_(torch.randn(whole.shape))
    for n in (1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 31, 33, 47, 63, 65):
        for rows in (1, 2, 3, 4, 5, 100):
            for gap in (1, 5):
                used = (rows - 1) * (n + gap) + n
                x = whole.as_strided((rows, n), (n + gap, 1), whole.numel() - used)
                d = x.double()
                torch.testing.assert_close(my_ops.silu_mul(x, x), (d * torch.sigmoid(d) * d).to(dtype))
print("right")
"""


def test_short_rows() -> None:
    """Rows of a few elements, the last of which ends where memory ends."""
    assert output(SHORT_ROWS) == "right"


def test_gradient_of_the_other_formula(device: str) -> None:
    """What a choice leaves out passes no gradient on, where its own is no number either."""
    gate = torch.tensor([3e38, -3e38, 1e20, -1e20], device=device, requires_grad=True)
    gradient = torch.autograd.grad(my_ops.gelu_mul(gate, torch.ones_like(gate)).sum(), gate)[0]
    assert gradient.tolist() == [1.0, 0.0, 1.0, 0.0]


ACCURACY = """
import conformance
import torch

near = torch.linspace(-20, 20, 1 << 18)
tiny = torch.logspace(-44, 0, 1 << 14)
x = torch.cat([near, tiny, -tiny])
d = x.double()
found = conformance.functions(x)
expected = {
    "a": torch.exp(d) + torch.exp2(d) - torch.expm1(d),
    "b": torch.log(d * d + 0.5) + torch.log2(d * d + 0.5) - torch.log1p(d * d),
    "c": d.abs().sqrt() + torch.rsqrt(d * d + 1),
    "d": torch.sigmoid(d) + torch.tanh(d) * torch.erf(d),
    "e": torch.sin(3 * d) - torch.cos(5 * d),
}
# What float32 can lose in a sum is relative to its largest term.
scale = {
    "a": torch.exp(d) + torch.exp2(d) + 1,
    "b": 2 * torch.log1p(d * d) + 2,
    "c": expected["c"],
    "d": torch.ones_like(d),
    "e": torch.ones_like(d) + 5 * d.abs(),
}
for name, y in zip("abcde", found):
    distance = ((y.double() - expected[name]).abs() / scale[name]).max().item()
    assert distance < 5e-7, (name, distance)

wide = conformance.functions(d)
for name, y in (("a", wide[0]), ("d", wide[3])):
    distance = ((y - expected[name]).abs() / scale[name]).max().item()
    assert distance < 1e-15, (name, distance)

ends = torch.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 200.0, -200.0])
a, b, c, d, *_, i = conformance.functions(ends.repeat(9))
e = ends.repeat(9)  # in float32, where exp(200) is infinite
for y, wanted in (
    (a, torch.exp(e) + torch.exp2(e) - torch.expm1(e)),
    (d, torch.sigmoid(e) + torch.tanh(e) * torch.erf(e)),
    (c, e.abs().sqrt() + torch.rsqrt(e * e + 1)),
):
    torch.testing.assert_close(y, wanted, equal_nan=True, rtol=1e-6, atol=1e-7)
assert (torch.copysign(torch.ones_like(e), i) == torch.copysign(torch.ones_like(e), e))[~e.isnan()].all()  # -0 too
never = float("nan")
assert conformance.functions(x, never)[6].isnan().all() and conformance.functions(ends[:3], 1.0)[6][2].isnan()
print("right")
"""


def test_accuracy() -> None:
    assert output(ACCURACY, packages=build()) == "right"
