"""Steps of AdamW beside torch.optim.AdamW, and lists of tensors of any number, length and alignment."""

from __future__ import annotations

import random

import pytest
import torch

import my_ops

Lists = list[list[torch.Tensor]]  # params, grads, exp_avgs, exp_avg_sqs
SIZES = [(3, 5), (0,), (), (1,), (17,), (2, 0, 4), (1000,), (64, 65), (5003,)]


def _step(lists: Lists, step: int = 3, **options: float) -> None:
    my_ops.adamw_step(*lists, step, **options)


def _lists(count: int, dtype: torch.dtype, state: torch.dtype, device: str) -> Lists:
    """Of one tensor each."""
    torch.manual_seed(0)
    kinds = ((dtype, 1), (dtype, 0.1), (state, 0.1), (state, 0.01))
    params, grads, firsts, seconds = [(scale * torch.randn(count)).to(kind).to(device) for kind, scale in kinds]
    return [[params], [grads], [firsts], [seconds.abs()]]


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_as_the_optimizer(device: str, dtype: torch.dtype, maximize: bool) -> None:
    """Twenty steps of leaves that require grad, with a rate that changes."""
    torch.manual_seed(0)
    params = [torch.randn(size, dtype=dtype, device=device, requires_grad=True) for size in SIZES]
    others = [param.detach().clone().requires_grad_() for param in params]
    firsts, seconds = [[torch.zeros_like(param) for param in params] for _ in range(2)]
    optimizer = torch.optim.AdamW(others, betas=(0.8, 0.99), weight_decay=0.1, maximize=maximize)
    for step in range(1, 21):
        grads = [torch.randn_like(param) for param in params]
        optimizer.param_groups[0]["lr"] = lr = 0.1 / step
        for other, grad in zip(others, grads, strict=True):
            other.grad = grad
        optimizer.step()
        with torch.no_grad():
            my_ops.adamw_step(
                params, grads, firsts, seconds, step, lr=lr, betas=(0.8, 0.99), weight_decay=0.1, maximize=maximize
            )
    for param, other in zip(params, others, strict=True):
        torch.testing.assert_close(param, other, rtol=1e-5, atol=1e-6 if dtype == torch.float32 else 1e-13)


@pytest.mark.parametrize(
    ("dtype", "state"),
    [
        (torch.float64, torch.float32),
        (torch.float32, torch.float32),
        (torch.float16, torch.float16),
        (torch.bfloat16, torch.float32),
    ],
)
def test_any_list_is_one_run_of_elements(device: str, dtype: torch.dtype, state: torch.dtype) -> None:
    """The same bits, however elements are distributed among tensors: empty ones, long ones, ones that are not aligned,
    more than the table of a launch holds."""
    count = 70_001
    whole = _lists(count, dtype, state, device)
    choose = random.Random(0)
    for longest in (90, 3000, count):
        cuts = sorted(choose.randint(0, count) for _ in range(2 * count // longest))
        ends = [*cuts, *cuts[:3], count]
        bounds = list(zip([0, *sorted(ends)], sorted(ends), strict=False))
        split = [[one.clone()] for [one] in whole]
        _step([[one[start:end] for start, end in bounds] for [one] in split])
        apart = [[one.clone()] for [one] in whole]
        _step(apart)
        assert all(torch.equal(one, other) for [one], [other] in zip(split, apart, strict=True))
        assert not torch.equal(split[0][0], whole[0][0])


def test_what_is_no_number_stays_where_it_is(device: str) -> None:
    whole = _lists(1000, torch.float32, torch.float32, device)
    plain = [[one.clone()] for [one] in whole]
    for place, number in ((7, torch.nan), (100, torch.inf), (999, -torch.inf)):
        whole[1][0][place] = number
    _step(plain)
    _step(whole)
    same = [(one == other).nonzero().numel() for [one], [other] in zip(plain, whole, strict=True)]
    assert same == [997, 997, 997, 997]
    assert [whole[0][0][place].isnan().item() for place in (7, 100, 999)] == [True, True, True]


def test_gradients_are_scaled(device: str) -> None:
    whole, plain = (_lists(1000, torch.float32, torch.float32, device) for _ in range(2))
    _step(whole, grad_scale=torch.tensor(0.25, device=device))
    plain[1][0] *= 0.25
    _step(plain)
    for place in (0, 2, 3):
        assert torch.equal(whole[place][0], plain[place][0])


@pytest.mark.parametrize("betas", [(1.0, 0.9), (0.9, 1.0), (-0.1, 0.9)])
def test_betas_in_range(betas: tuple[float, float]) -> None:
    whole = _lists(5, torch.float32, torch.float32, "cpu")
    with pytest.raises(RuntimeError, match=r"expected 0 <= betas\[0\] < 1 and 0 <= betas\[1\] < 1, got betas\[0\] = "):
        my_ops.adamw_step(*whole, 1, betas=betas)
