"""Several threads, and errors that travel through them and through backward."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import my_ops


def test_many_threads(device: str) -> None:
    """Each thread gets its own results."""

    def work(seed: int) -> bool:
        random = torch.Generator().manual_seed(seed)
        x = torch.randn(64, 33, generator=random).to(device).requires_grad_()
        weight = torch.randn(33, generator=random).to(device).requires_grad_()
        for _ in range(50):
            y = my_ops.rms_norm(x, weight, 1e-5)
            wanted = torch.nn.functional.rms_norm(x, (33,), weight, 1e-5)
            found = torch.autograd.grad(y.sum(), [x, weight])
            expected = torch.autograd.grad(wanted.sum(), [x, weight])
            if not all(torch.allclose(a, b, atol=1e-4) for a, b in zip((y, *found), (wanted, *expected), strict=True)):
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(16)))


def test_errors_from_threads(device: str) -> None:
    """Every thread sees its own text, right calls in between succeed."""

    def work(width: int) -> str:
        x, weight = torch.ones(2, width, device=device), torch.ones(width + 1, device=device)
        texts = set()
        for _ in range(200):
            my_ops.rms_norm(x, weight[:width])
            try:
                my_ops.rms_norm(x, weight)
            except RuntimeError as error:
                texts.add(str(error))
        assert len(texts) == 1
        return texts.pop()

    with ThreadPoolExecutor(8) as pool:
        for width, text in zip(range(3, 19), pool.map(work, range(3, 19)), strict=True):
            assert text == f"my_ops::rms_norm: weight: expected shape [n] with n = {width} (from x), got [{width + 1}]"


def test_error_from_backward(device: str) -> None:
    """An error of the backward operator, raised in autograd's thread, arrives whole."""
    x = torch.ones(3, device=device, requires_grad=True)
    y = my_ops.square(x)
    once = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
    with pytest.raises(RuntimeError, match=r"^my_ops::square_backward: no gradient is declared; give it `backward:"):
        once.sum().backward()
    assert torch.equal(torch.autograd.grad(my_ops.square(x).sum(), x)[0], 2 * x)


def test_backward_in_another_thread(device: str) -> None:
    x = torch.arange(6.0, device=device).requires_grad_()
    loss = my_ops.square(x).sum()
    thread = threading.Thread(target=loss.backward)
    thread.start()
    thread.join()
    assert torch.equal(x.grad, 2 * x.detach())


def test_grad_mode_is_restored(device: str) -> None:
    """A host function copies what is not contiguous with grad mode off; errors and right calls leave it as it was."""
    x = torch.ones(2, 4, device=device)
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled):
            my_ops.rms_norm(x.T, torch.ones(2, device=device))
            assert torch.is_grad_enabled() == enabled
            with pytest.raises(RuntimeError):
                my_ops.rms_norm(x, torch.ones(3, device=device))
            assert torch.is_grad_enabled() == enabled
