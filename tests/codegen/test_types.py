"""The table of dtypes agrees with PyTorch, and the C runtime with the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.types import DTYPES, GROUPS, is_floating, whole_range

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", list(DTYPES))
def test_agrees_with_torch(name: str) -> None:
    dtype = getattr(torch, name)
    info = DTYPES[name]
    assert str(dtype) == f"torch.{name}"
    assert dtype.itemsize == info.size
    assert is_floating(name) == (dtype.is_floating_point or dtype.is_complex)
    assert DTYPES[info.acc].size >= info.size
    if info.category in ("integral", "bool"):
        assert name == "bool" or whole_range(name) == (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
        return
    limits = torch.finfo(dtype)
    assert (info.largest, 2.0**info.exponent) == (limits.max, limits.smallest_normal)


def test_agrees_with_the_runtime() -> None:
    source = (Path(__file__).parents[2] / "csrc/runtime/dtype.c").read_text()
    rows = re.findall(r'\[DTYPE_(\w+)\] = \{"(\w+)", (\d+), DTYPE_(\w+), aoti_torch_dtype_(\w+)\}', source)
    found = {name: (int(size), acc.lower()) for _, name, size, acc, _ in rows}
    assert all(constant.lower() == name == getter for constant, name, _, _, getter in rows)
    assert set(GROUPS["all"]) <= set(found)
    known = {name: facts for name, facts in found.items() if name in DTYPES}
    assert known == {name: (DTYPES[name].size, DTYPES[name].acc) for name in known}


def test_groups() -> None:
    assert GROUPS["floating"] == ("float64", "float32", "float16", "bfloat16")
    assert GROUPS["integral"] == ("uint8", "int8", "int16", "int32", "int64")
    assert GROUPS["complex"] == ("complex64", "complex128")
    assert set(GROUPS["all"]) == {*GROUPS["floating"], *GROUPS["integral"], *GROUPS["complex"], "bool"}
    assert len(GROUPS["bits"]) == len(DTYPES)


def test_accumulation() -> None:
    acc = {name: info.acc for name, info in DTYPES.items()}
    assert acc["float16"] == acc["bfloat16"] == acc["float32"] == acc["float8_e5m2"] == "float32"
    assert acc["float64"] == "float64"
    assert acc["bool"] == acc["int8"] == acc["int64"] == "int64"
    assert acc["complex64"] == "complex64"
