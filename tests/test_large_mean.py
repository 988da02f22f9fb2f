"""Rows whose mean is a thousand times their spread, or more: a variance out of sums of squares would be lost to
cancellation, and a loss out of a rounded log(sum(exp)).
"""

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


@pytest.mark.parametrize("n", [50, 4096, 10000])
def test_cross_entropy_of_large_logits(n: int) -> None:
    """On the CPU. In float32, log(sum(exp)) of these is rounded to a multiple of 1/128."""
    torch.manual_seed(0)
    logits = (torch.randn(20, n, dtype=torch.float64) + 100_000).float()
    target = torch.randint(n, (20,))
    exact = logits.double().requires_grad_()
    expected = F.cross_entropy(exact, target, reduction="none")
    (gradient,) = torch.autograd.grad(expected.sum(), exact)
    torch.testing.assert_close(my_ops.cross_entropy(logits, target).double(), expected, rtol=1e-6, atol=0)
    loss = my_ops.cross_entropy_gradient_(logits, target)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(logits.double(), gradient, rtol=1e-5, atol=0)
