"""Rows of any width and of any numbers in bytes: each is the nearest to what the formula gives in float64."""

from __future__ import annotations

import pytest
import torch

import my_ops
from tests import references

BYTES = (torch.int8, torch.float8_e4m3fn)
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def _assert_nearest(q: torch.Tensor, exact: torch.Tensor, what: str) -> None:
    """Off by half of the last bit at most, and by what the arithmetic of float32 adds."""
    found = q.cpu().double()
    wide = exact.abs().clamp(min=2.0**-6)  # below, float8 has steps of 2^-9
    step = torch.ones_like(exact) if q.dtype == torch.int8 else 2.0 ** (wide.log2().floor() - 3)
    assert ((found - exact).abs() <= 0.5 * step + 1e-6 * (exact.abs() + 128)).all(), what


def test_every_width(device: str) -> None:
    """Twice the same bits; rows begin at any element, and the dtypes take turns."""
    torch.manual_seed(0)
    for n in range(1, 1101):
        dtype, byte = DTYPES[n % 3], BYTES[n // 3 % 2]
        memory = torch.randn(4 * n + 8, dtype=torch.float32).to(dtype)
        x, weight = memory[n % 8 :][: 3 * n].view(3, n), memory[-n:]
        given = (x.to(device), weight.to(device), 1e-6, 1.0)
        q, scale = my_ops.rms_norm_quantize(*given, dtype=byte)
        again = my_ops.rms_norm_quantize(*given, dtype=byte)
        assert torch.equal(q.view(torch.uint8), again[0].view(torch.uint8))
        assert torch.equal(scale, again[1])
        exact, exact_scale = references.rms_norm_quantize(x.double(), weight.double(), 1e-6, 1.0, byte)
        _assert_nearest(q, exact, f"n = {n}, {dtype}")
        torch.testing.assert_close(scale.cpu().double(), exact_scale, rtol=1e-5, atol=0)


@pytest.mark.parametrize("n", [9, 64, 4097])
@pytest.mark.parametrize("byte", BYTES)
def test_rows_of_special_numbers(device: str, byte: torch.dtype, n: int) -> None:
    """A row takes nothing of its neighbours: one of zeros, of subnormal numbers, with a NaN, with an infinity."""
    torch.manual_seed(0)
    x = torch.randn(6, n)
    x[1], x[2], x[3, n // 2], x[4, n - 1] = 0, x[2] * 1e-39, torch.nan, torch.inf
    q, scale = (result.cpu() for result in my_ops.rms_norm_quantize(x.to(device), dtype=byte))
    exact, exact_scale = references.rms_norm_quantize(x.double(), None, 1e-6, 0.0, byte)
    sound = [0, 1, 2, 5]
    _assert_nearest(q[sound], exact[sound], "rows of numbers")
    torch.testing.assert_close(scale[sound].double(), exact_scale[sound], rtol=1e-5, atol=0)
    assert scale[1] == 0
    assert scale[3:5].isnan().all()
    assert (q[3:5] == 0).all() if byte == torch.int8 else q[3:5].float().isnan().all()


# A number below the smallest normal one has few bits, which is all that q can tell of it.
SMALL = (2.0**-62, 2.0**-64, 2.0**-65, 4e-37, 1e-38, 3e-40, 7e-44, 2.0**-149)


@pytest.mark.parametrize("n", [9, 64, 4097])
@pytest.mark.parametrize("byte", BYTES)
def test_rows_of_small_numbers(device: str, byte: torch.dtype, n: int) -> None:
    """127 / m is no float for the smallest of them; bytes are the nearest ones all the same."""
    torch.manual_seed(0)
    limit = 127 if byte == torch.int8 else 448
    rows = torch.rand(len(SMALL), n, dtype=torch.float64) * 2 - 1
    rows[:, n // 2] = -1
    x = (rows * torch.tensor(SMALL, dtype=torch.float64).unsqueeze(-1)).float()
    largest = x.double().abs().amax(-1)
    q, scale = (result.cpu() for result in my_ops.quantize_per_token(x.to(device), dtype=byte))
    assert (q[:, n // 2].float() == -limit).all()
    _assert_nearest(q, x.double() / largest.unsqueeze(-1) * limit, "quantize_per_token")
    torch.testing.assert_close(scale.double(), largest / limit, rtol=1e-6, atol=2.0**-149)
    y = x.double() * 1e3  # what is left of them beside the square root of eps
    q, scale = (result.cpu() for result in my_ops.rms_norm_quantize(x.to(device), dtype=byte))
    kept = y.abs().amax(-1) > 2.0**-120  # others are rounded to few bits before
    _assert_nearest(q[kept], (y / y.abs().amax(-1, keepdim=True) * limit)[kept], "rms_norm_quantize")
    assert (q[:, n // 2].float() == -limit).all()


@pytest.mark.parametrize("byte", BYTES)
def test_nothing_is_rounded_in_between(byte: torch.dtype) -> None:
    """On the CPU rows are normalised and quantised by the same arithmetic as in two calls."""
    torch.manual_seed(0)
    x, weight = torch.randn(50, 1000), torch.randn(1000)
    apart = my_ops.quantize_per_token(my_ops.rms_norm(x, weight, 1e-5, 1.0), dtype=byte)
    for one, other in zip(my_ops.rms_norm_quantize(x, weight, 1e-5, 1.0, dtype=byte), apart, strict=True):
        assert torch.equal(one.view(torch.uint8), other.view(torch.uint8))
