"""Sizes that are known only after the kernel ran."""

from __future__ import annotations

import conformance
import pytest
import torch


def _x(device: str) -> torch.Tensor:
    return torch.tensor([[1.0, 2.0], [-1.0, 3.0], [4.0, 5.0]], device=device)


def test_cut_to_what_was_found(device: str) -> None:
    index, rows, sums = conformance.positive_rows(_x(device))
    assert index.tolist() == [0, 2]
    assert rows.shape == (2, 2)
    assert rows.is_contiguous()
    assert sums.shape == (3,)


@pytest.mark.parametrize("total", [0, 1, 2, 5])
def test_given(device: str, total: int) -> None:
    index, rows, _ = conformance.positive_rows(_x(device), extra=100, total=total)
    assert index.tolist() == [0, 2, -1, -1, -1][:total]
    assert rows.shape == (total, 2)


@pytest.mark.parametrize("extra", [2, -3, 2**40])
def test_wrong_count(device: str, extra: int) -> None:
    with pytest.raises(RuntimeError) as caught:
        conformance.positive_rows(_x(device), extra=extra)
    text = f"conformance::positive_rows: k: expected 0 <= k <= m with m = 3, got {2 + extra} from the kernel"
    assert str(caught.value) == text


def test_negative_total(device: str) -> None:
    with pytest.raises(RuntimeError, match=r"conformance::positive_rows: k: expected .* >= 0, got total = -1"):
        conformance.positive_rows(_x(device), total=-1)


def test_used_in_a_graph(device: str) -> None:
    """The size goes on as a symbol: what is computed from it needs no second graph."""

    def call(x: torch.Tensor) -> torch.Tensor:
        index, rows, _ = conformance.positive_rows(x)
        return rows.sum(1) + index

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
        for x in (_x(device), -_x(device), torch.ones(3, 2, device=device)):
            assert torch.equal(compiled(x), call(x))


@pytest.mark.cuda
def test_capture_is_refused(device: str) -> None:
    x = _x(device)
    conformance.positive_rows(x)
    text = "k is known only after the kernel ran, and the capture of a CUDA graph cannot wait for it"
    with pytest.raises(RuntimeError, match=text), torch.cuda.graph(torch.cuda.CUDAGraph()):
        conformance.positive_rows(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        index, _, _ = conformance.positive_rows(x, total=2)
    graph.replay()
    assert index.tolist() == [0, 2]
