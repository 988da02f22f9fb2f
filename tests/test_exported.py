"""Exported and ahead-of-time compiled models, in a process that has the library and not the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.process import PACKAGE, output, run

MODEL = """
    import torch, my_ops

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 8, device={device!r}))

        def forward(self, x, index):
            y = my_ops.rms_norm(x, self.weight, 1e-5)
            return my_ops.gather_rows(my_ops.silu_mul(y, torch.ops.my_ops.square(x)), index)

    rows = torch.export.Dim("rows", min=2, max=64)
    call = torch.randn(5, 8, device={device!r}), torch.tensor([4, 0, 2], device={device!r})
    program = torch.export.export(Model(), call, dynamic_shapes=({{0: rows}}, None))
    other = torch.randn(7, 8, device={device!r}), torch.tensor([6, 1, 6], device={device!r})
    torch.save((other, Model()(*other).detach()), {folder!r} + "/expected.pt")
    path = {folder!r} + "/model.pt2"
    {save}
"""
RUN = """
    import sys, torch
    import torch._inductor.codecache  # PyTorch 2.10 does not do it itself when it loads a package
    torch.ops.load_library({library!r})
    call, expected = torch.load({folder!r} + "/expected.pt")
    path = {folder!r} + "/model.pt2"
    run = {load}
    assert torch.equal(run(*call), expected)
    if not call[0].is_cuda:  # where values are looked at
        try:
            run(call[0], torch.tensor([7, 1, 6]))
        except RuntimeError as error:
            print(error)
    assert "my_ops" not in sys.modules
"""

# Where a compiler links its own C++ library into what it makes, PyTorch cannot load what it has compiled.
PLAIN = """
    import tempfile, torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return x.sin()

    with tempfile.TemporaryDirectory() as folder:
        program = torch.export.export(Model(), (torch.randn(5),))
        path = torch._inductor.aoti_compile_and_package(program, package_path=folder + "/model.pt2")
        torch._inductor.aoti_load_package(path)
"""


@pytest.mark.parametrize(
    ("save", "load"),
    [
        ("torch.export.save(program, path)", "torch.export.load(path).module()"),
        (
            "torch._inductor.aoti_compile_and_package(program, package_path=path)",
            "torch._inductor.aoti_load_package(path)",
        ),
    ],
    ids=["exported", "compiled"],
)
def test_library_alone(tmp_path: Path, save: str, load: str, device: str) -> None:
    """The same numbers and the same texts, for sizes that were not there at the export."""
    folder = str(tmp_path)
    output(MODEL.format(folder=folder, save=save, device=device))
    program = RUN.format(library=str(PACKAGE / "my_ops.so"), folder=folder, load=load)
    done = run(program)
    if done.returncode < 0 and run(PLAIN).returncode < 0:
        pytest.skip("PyTorch crashes here when it loads a compiled model, also one without my_ops")
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    refused = "my_ops::gather_rows: index: expected 0 <= index < m with m = 7, got index[0] = 7"
    assert device == "cuda" or refused in done.stdout
