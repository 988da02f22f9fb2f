"""The table of epsilons is that of the numbers themselves."""

from __future__ import annotations

import pytest
import torch

from codegen.tolerance import per_term, rounding
from codegen.types import DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_epsilon(dtype: str) -> None:
    found = getattr(torch, dtype)
    if not found.is_floating_point and not found.is_complex:
        assert rounding(dtype) == per_term(dtype) == 0.0
        return
    if found.itemsize == 1:  # torch.finfo is wrong about float8_e5m2fnuz: from 1 to the next number
        after = (torch.ones(1).to(found).view(torch.uint8) + 1).view(found)
        assert rounding(dtype) == after.float().item() - 1
    else:
        assert rounding(dtype) == torch.finfo(found).eps
    assert per_term(dtype) == 8 * torch.finfo(getattr(torch, DTYPES[dtype].acc)).eps
