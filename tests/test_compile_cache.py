"""The caches of torch.compile see an edit of the package's Python code."""

from __future__ import annotations

from pathlib import Path

from tests.process import copy_package, output

GRADIENT = """
    import torch, my_ops
    from torch._dynamo.utils import counters
    @torch.compile
    def step(x):
        return my_ops.square(x)
    x = torch.full((4,), 3.0, requires_grad=True)
    step(x).sum().backward()
    print(x.grad[0].item(), counters["aot_autograd"]["autograd_cache_hit"])
"""


def test_stale_gradients(tmp_path: Path) -> None:
    """Two processes, two gradients, one cache: without the tag the second process runs the first one's backward."""
    package = copy_package(tmp_path / "packages")
    cache = str(tmp_path / "cache")

    def gradient() -> str:
        return output(GRADIENT, packages=tmp_path / "packages", TORCHINDUCTOR_CACHE_DIR=cache)

    assert gradient() == "6.0 0"
    assert gradient() == "6.0 1", "the cache works at all"
    module = package / "ops" / "square.py"
    source = module.read_text()
    assert source.count("return grad_x\n") == 1
    module.write_text(source.replace("return grad_x\n", "return 10 * grad_x\n"))
    assert gradient() == "60.0 0"


def test_tag() -> None:
    """One entry beside what others put there, which changes with the code alone."""
    program = """
        import torch
        torch.compiler.config.cache_key_tag = "mine"
        import my_ops
        print(torch.compiler.config.cache_key_tag)
    """
    first, second = output(program), output(program)
    assert first == second
    assert first.startswith("mine|my_ops:")
