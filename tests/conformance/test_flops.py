"""`flops:`: what PyTorch's counter says of calls, of their gradients, and of the forms that an operator has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import conformance
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode


def counted(call: Callable[[], Any]) -> int:
    """The operations of a call."""
    with FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


@pytest.mark.parametrize("operators", [conformance, torch.ops.conformance])
def test_calls_and_their_gradients(operators: Any) -> None:
    x, w = torch.ones(5, 3, requires_grad=True), torch.ones(3)
    with torch.no_grad():
        assert counted(lambda: operators.product_rows(x, w)) == 15
    assert counted(lambda: operators.product_rows(x, w)) == 15
    assert counted(lambda: operators.product_rows(x, w).sum().backward()) == 15 + 3 * 15
    assert counted(lambda: operators.product_rows_backward(x, x, w=w)) == 45
    assert counted(lambda: operators.kept(x)) == 2 * 15  # it becomes the operator with saved outputs
    assert counted(lambda: operators.kept(x.detach())) == 2 * 15
    assert counted(lambda: operators.kept(torch.ones(()))) == 2


@pytest.mark.parametrize("operators", [conformance, torch.ops.conformance])
def test_lists_and_forms(operators: Any) -> None:
    x, k = torch.ones(4, dtype=torch.float64), torch.ones(2, dtype=torch.int64)
    assert counted(lambda: operators.counted_list(x, [k, k, k], None)) == 4 * 3
    assert counted(lambda: operators.counted_list(x, ks=[k], more=[x, x])) == 4 * 3
    assert counted(lambda: operators.counted_list_backward(x, [k, k], [x])) == 4 * 3
    y, out = torch.ones(6), torch.ones(6)
    assert counted(lambda: operators.list_sum(y, [y, None])) == 12
    assert counted(lambda: operators.list_sum_(out, [y, None, y])) == 18


def test_without_data() -> None:
    """What a model would compute is counted on fake tensors."""
    with FakeTensorMode():
        x, w = torch.empty(2**20, 2**12, requires_grad=True), torch.empty(2**12)
        assert counted(lambda: conformance.product_rows(x, w).sum().backward()) == 4 * 2**32


def test_without_the_key_nothing_is_counted() -> None:
    assert counted(lambda: conformance.curved(torch.ones(3))) == 0
