"""Compiles a model with operators of my_ops into a package, which package.cpp runs:
python examples/cpp/compile.py model.pt2 [cuda]
"""

import sys

import torch

import my_ops


class Gated(torch.nn.Module):
    """A norm and a gate: the operators are called as C functions, the product in between is PyTorch's."""

    def __init__(self, device: str) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 256, device=device))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = my_ops.rms_norm(x, self.weight, 1e-6)
        return my_ops.silu_mul(y, 2 * x)


def main(path: str, device: str = "cpu") -> None:
    rows = torch.export.Dim("rows", min=2, max=4096)
    example = (torch.randn(8, 256, device=device),)
    program = torch.export.export(Gated(device), example, dynamic_shapes=({0: rows},))
    shims = {"aot_inductor.custom_ops_to_c_shims": my_ops.aoti.c_shims()}
    torch._inductor.aoti_compile_and_package(program, package_path=path, inductor_configs=shims)


if __name__ == "__main__":
    main(*sys.argv[1:])
