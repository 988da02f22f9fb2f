"""The norm of lists of tensors of any number, length and alignment, and of numbers at the ends of their range."""

from __future__ import annotations

import random

import pytest
import torch

import my_ops

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def _near(found: torch.Tensor, exact: float, what: str) -> None:
    allowed = 1e-13 if found.dtype == torch.float64 else 2e-6
    assert abs(found.item() - exact) <= allowed * exact, f"{what}: {found.item()} instead of {exact}"


def test_every_width(device: str) -> None:
    """Twice the same bits; tensors begin at any element, and the dtypes take turns."""
    torch.manual_seed(0)
    for n in range(1, 1101):
        dtype = DTYPES[n % 4]
        memory = torch.randn(2 * n + 16).to(dtype)
        xs = [memory[n % 7 :][:n], memory[-n:], memory[:0], memory[3]]
        exact = torch.cat([x.reshape(-1) for x in xs]).double().norm().item()
        found = my_ops.global_norm([x.to(device) for x in xs])
        assert found.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
        assert torch.equal(found, my_ops.global_norm([x.to(device) for x in xs]))
        _near(found, exact, f"n = {n}, {dtype}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_list(device: str, dtype: torch.dtype) -> None:
    """Empty tensors, long ones, ones that are not aligned, more than the table of a launch holds."""
    torch.manual_seed(0)
    whole = torch.randn(300_007).to(dtype).to(device)
    exact = whole.double().norm().item()
    choose = random.Random(0)
    for count in (0, 3, 700):
        cuts = sorted([0, *(choose.randint(0, len(whole)) for _ in range(count)), len(whole)])
        parts = [whole[start:end] for start, end in zip(cuts, [*cuts[1:], len(whole)], strict=True)]
        _near(my_ops.global_norm(parts), exact, f"{count} cuts")


def test_no_elements(device: str) -> None:
    assert my_ops.global_norm([torch.ones(0, device=device), torch.ones(2, 0, device=device)]).item() == 0


@pytest.mark.parametrize("n", [5, 4096, 100_000])
def test_squares_of_half_precision_do_not_overflow(device: str, n: int) -> None:
    for dtype, number in ((torch.float16, 65504.0), (torch.float16, 6e-8), (torch.bfloat16, 2.0**50)):
        x = torch.full((n,), number, dtype=dtype, device=device)
        _near(my_ops.global_norm([x, x]), x[0].double().item() * (2 * n) ** 0.5, f"{number}")


@pytest.mark.parametrize("place", [0, 3, 70_000])
def test_what_is_no_number(device: str, place: int) -> None:
    x = torch.ones(70_001, device=device)
    x[place] = torch.inf
    assert my_ops.global_norm([x[:5], x]).item() == torch.inf
    x[place] = torch.nan
    assert my_ops.global_norm([x[1:], x]).isnan()


def test_gradients_are_clipped(device: str) -> None:
    """With the factor that clips them, a step of AdamW is one of clipped gradients."""
    torch.manual_seed(0)
    params, grads = ([torch.randn(n, device=device) for n in (3, 1000, 17)] for _ in range(2))
    others = [param.clone().requires_grad_() for param in params]
    for other, grad in zip(others, grads, strict=True):
        other.grad = grad.clone()
    norm = my_ops.global_norm(grads)
    torch.testing.assert_close(norm, torch.nn.utils.clip_grad_norm_(others, 0.5))
    torch.optim.AdamW(others, lr=0.1).step()
    states = [[torch.zeros_like(param) for param in params] for _ in range(2)]
    my_ops.adamw_step(params, grads, *states, 1, (0.5 / (norm + 1e-6)).clamp(max=1), lr=0.1)
    for param, other in zip(params, others, strict=True):
        torch.testing.assert_close(param, other.detach(), rtol=1e-5, atol=1e-5)
