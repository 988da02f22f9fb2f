"""The alternatives that my_ops is measured against, compiled into build/benchmarks/ and kept there.

`call_peers` gives RMSNorm through every candidate that PyTorch offers for a custom operator, all around the same C++
function (rms_norm.h); `load_memcpy` the split memcpy of the CPU figures.
"""

import ctypes
import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import torch
from torch.utils import cpp_extension

from ..options import CACHE

HERE = Path(__file__).resolve().parent
Call = Callable[[torch.Tensor, torch.Tensor, float], torch.Tensor]


def load_cpp() -> ModuleType:
    """The pybind11 module of rms_norm.cpp; importing it registers its TORCH_LIBRARY operators too. Takes half a minute
    the first time."""
    folder = CACHE / f"rms_norm-{torch.__version__}-python{platform.python_version()}"
    folder.mkdir(parents=True, exist_ok=True)
    sources = [str(HERE / "rms_norm.cpp")]
    flags = ["-O3"]
    return cast(
        ModuleType,
        cpp_extension.load("my_ops_peer", sources, extra_cflags=flags, build_directory=str(folder), verbose=False),
    )


def call_peers() -> tuple[dict[str, Call], dict[str, Call]]:
    """RMSNorm by name: those to call without grad, and those that record it."""
    module = load_cpp()
    library = torch.ops.my_ops_peer

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        x, weight, ctx.eps = inputs[:3]
        ctx.save_for_backward(x, weight)

    def library_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        return (*library.rms_norm_backward.default(grad, *ctx.saved_tensors, ctx.eps), None, None)

    def module_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
        return (*module.rms_norm_backward(grad, *ctx.saved_tensors, ctx.eps), None)

    torch.library.register_autograd("my_ops_peer::rms_norm_trained", library_backward, setup_context=setup_context)

    @torch.library.custom_op("my_ops_peer::rms_norm_python", mutates_args=())
    def python_op(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return cast(torch.Tensor, module.rms_norm(x, weight, eps))

    python_op.register_autograd(module_backward, setup_context=setup_context)

    class Function(torch.autograd.Function):
        """The shortest form: a Function around the pybind11 module."""

        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
            ctx.save_for_backward(x, weight)
            ctx.eps = eps
            return cast(torch.Tensor, module.rms_norm(x, weight, eps))

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
            return module_backward(ctx, grad)

    without_grad: dict[str, Call] = {
        "C++ TORCH_LIBRARY": library.rms_norm.default,
        "C++ TORCH_LIBRARY, register_autograd": library.rms_norm_trained.default,
        "pybind11": module.rms_norm,
        "torch.library.custom_op": python_op,
    }
    with_grad: dict[str, Call] = {
        "C++ TORCH_LIBRARY, register_autograd": library.rms_norm_trained.default,
        "pybind11 in autograd.Function": Function.apply,
        "torch.library.custom_op": python_op,
    }
    return without_grad, with_grad


def load_memcpy() -> Callable[[torch.Tensor, torch.Tensor, int], None]:
    """copy(to, from, threads) for two tensors of equal size."""
    CACHE.mkdir(parents=True, exist_ok=True)
    library = CACHE / f"memcpy_split-{platform.machine()}.so"
    source = HERE / "memcpy_split.c"
    if not library.exists() or library.stat().st_mtime < source.stat().st_mtime:
        compiler = os.environ.get("CC", "cc").split()
        flags = ["-std=c11", "-O2", "-fPIC", "-shared", "-pthread"]
        subprocess.run([*compiler, *flags, "-o", str(library), str(source)], check=True)
    function = ctypes.CDLL(str(library)).memcpy_split
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def copy(to: torch.Tensor, source: torch.Tensor, threads: int) -> None:
        error = function(to.data_ptr(), source.data_ptr(), source.nbytes, threads)
        if error:
            raise OSError(error, os.strerror(error))

    return copy
