"""Calls that nobody means: an error that says so, never a crash and never what happened to be in memory."""

from __future__ import annotations

from typing import Any

import conformance
import pytest
import torch

ENTRY_POINTS = pytest.mark.parametrize("packet", [conformance, torch.ops.conformance], ids=["wrapper", "torch.ops"])


@ENTRY_POINTS
def test_fewer_than_no_units(packet: Any) -> None:
    """The output of a kernel that runs on less than nothing would be what the allocator left."""
    y = torch.ones(3, 2)
    with pytest.raises(RuntimeError, match=r"^conformance::fill_view: expected parallel >= 0, got parallel = -3$"):
        packet.fill_view(y, -1)


@ENTRY_POINTS
def test_freed_storage(packet: Any) -> None:
    """Sharding frees the memory of parameters behind tensors that stay."""
    text = r"^conformance::\w+: a tensor of 6 elements has no memory; its storage was freed$"
    for name, others in (("tripled", ()), ("add_into", (torch.ones(3),)), ("alike", ())):
        x = torch.ones(2, 3)
        x.untyped_storage().resize_(0)
        with pytest.raises(RuntimeError, match=text):
            getattr(packet, name)(x, *others)


@ENTRY_POINTS
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70, 1.5, "1", None, 1j])
def test_numbers_that_are_no_int(packet: Any, number: Any) -> None:
    """PyTorch's schema sees them first, and names the operator."""
    with pytest.raises((RuntimeError, TypeError), match="add_into"):
        packet.add_into(torch.ones(2, 3), torch.ones(3), number)
    with pytest.raises((RuntimeError, TypeError), match="ramp"):
        packet.ramp(number, device="cpu")


@ENTRY_POINTS
@pytest.mark.parametrize("sizes", [[2**62], [2**32, 2**32], [2**63 - 1, 1], [0, 2**63 - 1, 2**63 - 1]], ids=str)
def test_sizes_beyond_memory(packet: Any, sizes: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"^conformance::grid: y: has more elements than can be addressed$"):
        packet.grid(sizes)


@ENTRY_POINTS
def test_whole_range_of_an_int(packet: Any) -> None:
    """All 64 bits arrive at the body."""
    for s in (2**31, 2**32 + 1, 2**53, 2**62, -(2**31) - 1, -(2**63)):
        x = torch.zeros(2, 3, dtype=torch.float64)
        packet.add_into(x, torch.ones(3, dtype=torch.float64), s)
        assert x.unique().tolist() == [float(s)]


@ENTRY_POINTS
def test_views_of_other_dtypes(packet: Any) -> None:
    """What autograd does not follow requires no grad; a mask may have any bits in it."""
    leaf = torch.randn(2, 4, requires_grad=True)
    y = packet.crossed(leaf.view(torch.int32), torch.ones(2, 4, dtype=torch.int32))[0]
    assert not y.requires_grad
    mask = torch.tensor([[2, 0, 255]], dtype=torch.uint8).view(torch.bool)
    total, found = packet.masked_sum(torch.ones(1, 3), mask)
    assert (total.tolist(), found.tolist()) == ([2], [True])


def test_what_lies_between_written_elements_is_left_alone() -> None:
    """Also where the kernel has no work, and zeros are written in its place."""
    memory = torch.full((3, 8), 7.0)
    assert conformance.fill_view(memory[:, ::2], 0).eq(0).all()
    assert memory[:, 1::2].eq(7).all()


@ENTRY_POINTS
@pytest.mark.parametrize("threads", [1, 4])
def test_bad_data_that_a_body_finds(packet: Any, threads: int) -> None:
    """Of many errors that of the lowest unit, however the units are split; the next call is a right one."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for dtype in (torch.float64, torch.float16):
            x = torch.ones(400_000, dtype=dtype)
            x[123_456::1000] = -1234
            for _ in range(3):
                with pytest.raises(RuntimeError) as caught:
                    packet.no_gaps(x)
                assert str(caught.value) == "conformance::no_gaps: x[123456]: expected no gap, got -1234"
            assert torch.equal(packet.no_gaps(x[:123_456]), x[:123_456])
    finally:
        torch.set_num_threads(before)
