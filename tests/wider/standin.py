"""A pytest plugin that defines the operators of ops.yaml here in Python, where a library would have them in C.

Their kernels check as the fake kernels do, and compute as the references below do. WIDER is the folder of ops.yaml.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.lower.schema import dispatched
from codegen.model import Operator
from tests import references
from tests.harness import shims


def cut(x: Tensor, s: float, k: int, flag: bool) -> tuple[Tensor, Tensor]:
    n = x.shape[-1]
    return s * x[..., : n // k], s * x[..., n // k :]


def cut_backward(grad_lo: Tensor, grad_hi: Tensor, s: float) -> Tensor:
    return s * torch.cat([grad_lo, grad_hi], -1)


def largest(x: Tensor) -> tuple[Tensor, Tensor]:
    value, index = x.max(-1)
    return value, index


def largest_backward(grad_value: Tensor, index: Tensor, n: int) -> Tensor:
    zeros = torch.zeros(*grad_value.shape, n, dtype=grad_value.dtype)
    return zeros.scatter(-1, index.unsqueeze(-1), grad_value.unsqueeze(-1))


def masked(x: Tensor, ctx: Tensor, input: Tensor) -> Tensor:
    return x * ctx * input


def masked_backward(grad_y: Tensor, x: Tensor, ctx: Tensor, input: Tensor) -> tuple[Tensor, Tensor]:
    return grad_y * ctx * input, (grad_y * ctx * x).sum()


def padded(x: Tensor, m: int, step: int) -> tuple[Tensor, Tensor, Tensor]:
    n = x.shape[0]
    wide = -(-(n + m) // step) * step
    sizes = torch.zeros(max(n // 2 - m, 0), n * 2, dtype=torch.int64)
    return torch.zeros(wide, dtype=x.dtype), sizes, torch.zeros(n - m, dtype=torch.float64)


for _function in (cut, cut_backward, largest, largest_backward, masked, masked_backward, padded):
    setattr(references, _function.__name__, _function)


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, Tensor) and value.is_floating_point() else value


def _check_elements(op: Operator, given: dict[str, Any]) -> None:
    if op.name == "largest_backward":
        index, n = given["index"], given["n"]
        for position in ((index < 0) | (index >= n)).nonzero().tolist():
            text = f"expected 0 <= index < n with n = {n}, got index{position} = {index[tuple(position)]}"
            raise RuntimeError(f"wider::largest_backward: index: {text}")


def _kernel(op: Operator) -> Callable[..., Any]:
    order = [argument.name for argument in op.arguments if not argument.keyword_only]

    def kernel(*positional: Any, grad_mask: Any = None, **keyword: Any) -> Any:
        # PyTorch leaves out arguments that equal their defaults.
        given = {a.name: a.default.value for a in op.arguments if a.default is not None}
        given |= dict(zip(order, positional, strict=False)) | keyword
        fake = importlib.import_module(f"wider.ops.{op.name}")._fake
        shapes = fake(**given, **({} if grad_mask is None else {"grad_mask": grad_mask}))
        _check_elements(op, given)
        with torch.no_grad():
            results = getattr(references, op.name)(**{name: _wide(value) for name, value in given.items()})
        if isinstance(results, Tensor):
            return shapes.copy_(results)
        return tuple(None if y is None else y.copy_(x) for y, x in zip(shapes, results, strict=True))

    return kernel


_folder = Path(os.environ["WIDER"])
sys.path.insert(0, str(_folder / "generated"))
_diagnostics = Diagnostics()
_checked = check(load((_folder / "ops.yaml").read_bytes(), _diagnostics), _diagnostics)
assert _checked is not None
assert _checked.library is not None
_library = torch.library.Library("wider", "DEF")
for _op in _checked.library.operators:
    for _entry in dispatched(_op):
        _library.define(_entry.schema)
        _library.impl(_entry.name, _kernel(_op), "CPU")


shims.of = lambda op: ()  # what is in Python has no C shims
