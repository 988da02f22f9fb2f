"""Rows whose mean is a thousand times their spread: a variance out of sums of squares would be lost to cancellation."""

import pytest
import torch
import torch.nn.functional as F

import my_ops


@pytest.mark.parametrize("n", [64, 513, 4096, 4097, 20000, 65536])
def test_layer_norm_of_rows_with_a_large_mean(n: int, device: str) -> None:
    """Out of sums of squares, results would be off by 4e-3 at n = 64, and by more than 1 from 4,096 on.

    Float32 has a mean of 1,000 to 3e-5, and sums on the way to it are a few times further off.
    """
    torch.manual_seed(0)
    x = (torch.randn(20, n, dtype=torch.float64) + 1000).float()
    x[:, 0] = 900  # what distances are taken to need not be typical
    found = my_ops.layer_norm(x.to(device), None, None, 1e-5).cpu()
    expected = F.layer_norm(x.double(), (n,), None, None, 1e-5)
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-3)
