"""Conversions of the float8 dtypes in C bodies, against PyTorch's own, bit by bit."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[1]
DTYPES = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
FUNCTIONS = """
void load_{dtype}(const cpu_{dtype}_t *from, float *to, int64_t count) {{
    for (int64_t i = 0; i < count; i++)
        to[i] = cpu_load_{dtype}(from + i);
}}
void store_{dtype}(const float *from, cpu_{dtype}_t *to, int64_t count) {{
    for (int64_t i = 0; i < count; i++)
        cpu_store_{dtype}(to + i, from[i]);
}}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("float8")
    source = folder / "float8.c"
    source.write_text('#include "scalar.h"\n' + "".join(FUNCTIONS.format(dtype=dtype) for dtype in DTYPES))
    command = [os.environ.get("CC", "cc"), "-std=c11", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'csrc/cpu'}"]
    subprocess.run([*command, "-o", str(folder / "float8.so"), str(source)], check=True)
    return ctypes.CDLL(str(folder / "float8.so"))


@pytest.mark.parametrize("name", DTYPES)
def test_load(library: ctypes.CDLL, name: str) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    found = torch.empty(256)
    getattr(library, f"load_{name}")(ctypes.c_void_p(codes.data_ptr()), ctypes.c_void_p(found.data_ptr()), 256)
    torch.testing.assert_close(found, codes.view(getattr(torch, name)).float(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", DTYPES)
def test_store(library: ctypes.CDLL, name: str) -> None:
    # Every upper half of a float, with lower halves that round down, up, and to even.
    upper = torch.arange(2**16, dtype=torch.int64) << 16
    words = torch.cat([upper + low for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)])
    numbers = words.to(torch.int32).view(torch.float32)
    found = torch.empty(len(numbers), dtype=torch.uint8)
    store = getattr(library, f"store_{name}")
    store(ctypes.c_void_p(numbers.data_ptr()), ctypes.c_void_p(found.data_ptr()), ctypes.c_int64(len(numbers)))
    expected = numbers.to(getattr(torch, name))
    number = ~expected.float().isnan()
    if name == "float8_e4m3fn":
        number &= numbers.abs() <= 464  # what rounds to more than 448 is NaN here, and 448 in some versions of PyTorch
    assert torch.equal(found[number], expected.view(torch.uint8)[number])
    assert found.view(getattr(torch, name)).float()[~number].isnan().all()
