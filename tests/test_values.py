"""Rules on elements at the ends of 64 bits, in long and in strided tensors, as the host functions look at them."""

from __future__ import annotations

import os
import subprocess
import sys

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


def is_checking() -> bool:
    """Whether checking mode is on."""
    before = my_ops._runtime._set_checking(False)
    my_ops._runtime._set_checking(before)
    return before


def test_checking_mode_ends_with_its_block() -> None:
    assert not is_checking()
    with my_ops.check_values():
        assert is_checking()
        with my_ops.check_values(False):
            assert not is_checking()
        assert is_checking()
    assert not is_checking()
    my_ops.check_values(True)
    assert is_checking()
    my_ops.check_values(False)
    assert not is_checking()


@pytest.mark.parametrize(("value", "on"), [("1", True), ("0", False), ("", False)])
def test_checking_mode_of_the_environment(value: str, on: bool) -> None:
    program = f"import my_ops; assert my_ops._runtime._set_checking(False) is {on}"
    environment = {**os.environ, "MY_OPS_CHECK_VALUES": value, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.cuda
def test_checking_mode_on_a_gpu(device: str) -> None:
    """The same texts as on the CPU, for every layout; outside of it nothing waits for the GPU."""
    table = torch.randn(10, 2, device=device)
    wide = torch.zeros(1500, 3, dtype=torch.int64, device=device)
    wide[700, 1] = 10
    text = "my_ops::gather_rows: index: expected 0 <= index < m with m = 10, got index[700] = 10"
    compiled = torch.compile(my_ops.gather_rows, fullgraph=True, backend="aot_eager")
    for index in (wide[:, 1], wide[:, 1].contiguous()):
        for function in (my_ops.gather_rows, torch.ops.my_ops.gather_rows, compiled):
            with my_ops.check_values(), pytest.raises(RuntimeError) as caught:
                function(table, index)
            assert str(caught.value) == text
    right = torch.zeros(5, dtype=torch.int64, device=device)
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = my_ops.gather_rows(table, right)
    finally:
        torch.cuda.set_sync_debug_mode(before)
    with my_ops.check_values():
        assert torch.equal(found, my_ops.gather_rows(table, right))
        assert torch.equal(found, table[right])


@pytest.mark.cuda
def test_checking_mode_in_a_graph(device: str) -> None:
    table, index = torch.randn(10, 2, device=device), torch.zeros(5, dtype=torch.int64, device=device)
    my_ops.gather_rows(table, index)
    text = "index: its values are being checked, and the capture of a CUDA graph cannot wait for them"
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with my_ops.check_values(), pytest.raises(RuntimeError, match=text):
            my_ops.gather_rows(table, index)
        found = my_ops.gather_rows(table, index)
    graph.replay()
    assert torch.equal(found, table[index])
