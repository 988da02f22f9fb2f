"""my_ops.nn.CrossEntropyLoss in the place of PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import my_ops
from my_ops import nn
from tests.nn.accuracy import assert_as_near
from tests.nn.calls import DTYPES, operators, outcome

ARGUMENTS = [{}, {"reduction": "sum"}, {"reduction": "none"}, {"label_smoothing": 0.3}, {"ignore_index": 2},
             {"ignore_index": 2, "label_smoothing": 0.3, "reduction": "none"}, {"size_average": False}]  # fmt: skip


def gradients(module: torch.nn.Module, logits: Tensor, target: Tensor) -> list[Tensor]:
    leaf = logits.clone().requires_grad_()
    loss = module(leaf, target)
    (
        loss * torch.linspace(1, 2, max(1, loss.numel()), device=loss.device, dtype=loss.dtype).view(loss.shape)
    ).sum().backward()
    return [loss.detach(), leaf.grad]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("keywords", ARGUMENTS, ids=str)
@pytest.mark.filterwarnings("ignore:size_average and reduce")
def test_as_pytorch(keywords: dict[str, Any], dtype: torch.dtype, device: str) -> None:
    torch.manual_seed(0)
    ours, theirs = nn.CrossEntropyLoss(**keywords), torch.nn.CrossEntropyLoss(**keywords)
    assert isinstance(ours, torch.nn.CrossEntropyLoss)
    assert repr(ours) == repr(theirs)
    logits = 3 * torch.randn(6, 5, device=device, dtype=dtype)
    target = torch.tensor([1, 2, 4, 2, 0, 3], device=device)
    for x, t in ((logits, target), (logits[0], target[0]), (logits.T.contiguous().T[::2], target[::2])):
        runs = ((ours, x), (theirs, x), (theirs, x.double()))
        assert_as_near(*(gradients(module, given, t) for module, given in runs))
        assert operators(lambda x=x, t=t: ours(x, t)) == {"my_ops::cross_entropy"}


def test_nothing_that_counts(device: str) -> None:
    """No rows, and rows that are ignored: NaN as the mean, as PyTorch has it, and 0 as the sum."""
    for rows in (0, 3):
        logits, target = torch.randn(rows, 5, device=device), torch.full((rows,), -100, device=device)
        for reduction in ("mean", "sum", "none"):
            ours, theirs = nn.CrossEntropyLoss(reduction=reduction), torch.nn.CrossEntropyLoss(reduction=reduction)
            torch.testing.assert_close(ours(logits, target), theirs(logits, target), equal_nan=True)


def test_what_is_left_to_pytorch(device: str) -> None:
    """Results and errors are PyTorch's."""
    x, target = torch.randn(6, 5, device=device), torch.tensor([1, 2, 4, 2, 0, 3], device=device)
    weight = torch.rand(5, device=device)
    calls: list[tuple[dict[str, Any], Tensor, Tensor]] = [
        ({"weight": weight}, x, target),
        ({}, x, torch.softmax(x, 1)),
        ({}, x.view(3, 5, 2), target.view(3, 2)),
        ({}, x[:5].expand(2, 5, 5), target[:5].expand(2, 5)),
        ({}, x, target[:5]),
        ({}, x, target.int()),
        ({}, x.to(torch.complex64), target),
        ({"label_smoothing": 2.0}, x, target),
        ({"reduction": "median"}, x, target),
    ]
    if device == "cpu":  # where this is an error; on a GPU an assertion ends the process's use of it
        calls.append(({}, x[:, :0], target))
    for keywords, logits, t in calls:
        ours, theirs = nn.CrossEntropyLoss(**keywords), torch.nn.CrossEntropyLoss(**keywords)
        found = outcome(lambda ours=ours, logits=logits, t=t: ours(logits, t))
        expected = outcome(lambda theirs=theirs, logits=logits, t=t: theirs(logits, t))
        assert torch.equal(found, expected) if isinstance(expected, Tensor) else found == expected
        assert operators(lambda ours=ours, logits=logits, t=t: outcome(lambda: ours(logits, t))) == set()
    with torch.autocast(device, torch.bfloat16):
        found, expected = nn.CrossEntropyLoss()(x.bfloat16(), target), torch.nn.CrossEntropyLoss()(x.bfloat16(), target)
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected)


def test_out_of_range(device: str) -> None:
    """The errors that the docstring names."""
    logits, target = torch.randn(2, 5, device=device), torch.tensor([1, 9], device=device)
    text = r"my_ops::cross_entropy: target: expected .* got target\[1\] = 9"
    with my_ops.check_values(), pytest.raises(RuntimeError, match=text):
        nn.CrossEntropyLoss()(logits, target)
    if device == "cpu":
        with pytest.raises(RuntimeError, match=text):
            nn.CrossEntropyLoss()(logits, target)
    else:
        assert nn.CrossEntropyLoss()(logits, target).isnan()


def test_compiled(device: str) -> None:
    logits = torch.randn(6, 5, device=device, requires_grad=True)
    target = torch.tensor([1, 2, -100, 2, 0, 3], device=device)
    module = nn.CrossEntropyLoss()
    loss = torch.compile(module, fullgraph=True, backend="aot_eager")(logits, target)
    torch.testing.assert_close(loss, module(logits, target))
    (found,), (expected,) = (torch.autograd.grad(one, logits) for one in (loss, module(logits, target)))
    torch.testing.assert_close(found, expected)
    torch._dynamo.reset()
