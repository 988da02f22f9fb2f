"""Rules on elements at the ends of 64 bits, in long and in strided tensors, as the host functions look at them."""

from __future__ import annotations

import pytest
import torch

import my_ops

ENDS = [-(2**63), -(2**63) + 1, -(2**62), -1, 10, 2**62, 2**63 - 2, 2**63 - 1]


@pytest.mark.parametrize("wrong", ENDS)
def test_far_outside(wrong: int) -> None:
    table, index = torch.randn(10, 2), torch.full((2000,), 9)
    index[1999] = wrong
    with pytest.raises(RuntimeError) as caught:
        my_ops.gather_rows(table, index)
    text = f"my_ops::gather_rows: index: expected 0 <= index < m with m = 10, got index[1999] = {wrong}"
    assert str(caught.value) == text


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("place", [0, 511, 512, 1000, 1499])
def test_first_one_is_named(dtype: torch.dtype, place: int) -> None:
    table, wide = torch.randn(10, 2), torch.zeros(1500, 3, dtype=dtype)
    wide[place:, 1] = -7
    wide[:, [0, 2]] = 99
    for index in (wide[:, 1], wide[:, 1].contiguous()):
        with pytest.raises(RuntimeError, match=rf"got index\[{place}\] = -7"):
            my_ops.gather_rows(table, index)


def test_expanded_index() -> None:
    table = torch.randn(10, 2)
    assert torch.equal(my_ops.gather_rows(table, torch.tensor([9]).expand(700)), table[9].expand(700, 2))
    with pytest.raises(RuntimeError, match=r"got index\[0\] = 10"):
        my_ops.gather_rows(table, torch.tensor([10]).expand(700))
