"""Gated activations and torch.nn.Softmax, on my_ops.silu_mul, my_ops.gelu_mul and my_ops.softmax."""

from __future__ import annotations

from torch import Tensor, nn

from my_ops import gelu_mul, silu_mul, softmax

from .coverage import takes


class SiLUMul(nn.Module):
    """silu(gate) * up, the gated activation of SwiGLU: torch.nn.functional.silu(gate) * up in one pass.

    Shapes: gate, up and the result are of one shape, of any strides, one dtype, float64, float32, float16 or bfloat16,
    and one device. A call with others raises the RuntimeError of my_ops.silu_mul.
    """

    def forward(self, gate: Tensor, up: Tensor) -> Tensor:
        return silu_mul(gate, up)


class GELUMul(nn.Module):
    """gelu(gate) * up, the gated activation of GEGLU: torch.nn.functional.gelu(gate, approximate) * up in one pass.

    Args:
        approximate: "none" for the error function, "tanh" for its approximation, as torch.nn.GELU has it. A call with
            another word raises RuntimeError.

    Shapes: gate, up and the result are of one shape, of any strides, one dtype, float64, float32, float16 or bfloat16,
    and one device. A call with others raises the RuntimeError of my_ops.gelu_mul.
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, gate: Tensor, up: Tensor) -> Tensor:
        return gelu_mul(gate, up, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softmax(nn.Softmax):
    """torch.nn.Softmax, on my_ops.softmax where dim is the last one.

    Rows of -infinity alone, of which PyTorch makes NaN, become zeros.

    Args:
        dim: the dim along which the results sum to 1.

    Shapes: x and the result are [*], x of any strides.

    The operator runs where x is float64, float32, float16 or bfloat16 on CPU or CUDA; the rest is PyTorch's affair.
    """

    def forward(self, input: Tensor) -> Tensor:
        x = input
        if self.dim is None or x.dim() == 0 or self.dim not in (-1, x.dim() - 1) or not takes(x):
            return super().forward(x)
        return softmax(x.unsqueeze(0)).squeeze(0) if x.dim() == 1 else softmax(x)
