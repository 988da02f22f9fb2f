"""Memory stays flat over many calls, good and wrong ones. --full takes the whole number of calls."""

from __future__ import annotations

import pytest

from tests.process import output

PROGRAM = """
    import gc, torch, my_ops
    torch.set_num_threads(1)
    x, w = torch.randn(2, 3, 8), torch.randn(8)
    g, r = torch.randn(2, 3, 8), torch.rand(2, 3)
    table, index = torch.randn(5, 4), torch.tensor([0, 4, 2])
    leaf = x.clone().requires_grad_()

    def refused(call, *arguments, **keywords):
        try:
            call(*arguments, **keywords)
        except RuntimeError:
            return
        raise AssertionError("not refused")

    def wrong():
        refused(my_ops.rms_norm, x, w[:7])
        refused(my_ops.rms_norm, x, w, -1.0)
        refused(my_ops.rms_norm, leaf, w.double())
        refused(torch.ops.my_ops.rms_norm, leaf, w.unsqueeze(0))
        refused(my_ops.gather_rows, table, torch.tensor([0, 5]))
        refused(my_ops.rms_norm_backward, g, x, w, r, 0.0, grad_mask=[True])
        refused(my_ops.square_backward, g, x[0])
        refused(my_ops.square, torch.arange(3))

    def good():
        my_ops.rms_norm(x, w)
        torch.ops.my_ops.rms_norm(x, w, 1e-5)
        my_ops.rms_norm(x.transpose(0, 1), w)
        my_ops.gather_rows(table, index)
        my_ops.rms_norm_backward(g, x, w, r, 0.0, grad_mask=[False, True])
        my_ops.square_backward(g, x)
        my_ops.rms_norm(leaf, w).sum().backward()
        torch.ops.my_ops.square(leaf).sum().backward()

    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    for _ in range(500):
        {call}()
    before = resident()
    for _ in range({count}):
        {call}()
    print(resident() - before)
"""


@pytest.mark.parametrize(("call", "count", "full_count"), [("wrong", 2_500, 12_500), ("good", 2_500, 25_000)])
def test_flat(call: str, count: int, full_count: int, full: bool) -> None:
    """Eight calls each time. A leak of one handle per call would be a megabyte and more."""
    grown = int(output(PROGRAM.format(call=call, count=full_count if full else count)))
    assert grown < 500_000, f"{grown} bytes more"
