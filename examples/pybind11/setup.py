"""Builds the classic form: pip install --no-build-isolation ./examples/pybind11, or through torch's load() as below."""

import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils import cpp_extension

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
C_FOLDERS = [str(ROOT / folder) for folder in ("generated/c", "csrc/runtime", "csrc/cpu", "csrc")]
# Without csrc/runtime, which has a cuda.h as CUDA does, for PyTorch's headers to include.
FOLDERS = [str(ROOT / folder) for folder in ("generated/c", "generated/cuda", "csrc/device", "csrc")]
NAME = "pybind11_rms_norm"


def kernels(folder: Path) -> str:
    """The kernels for the CPU, as an object: PyTorch's builds take C for C++, which it is not."""
    folder.mkdir(parents=True, exist_ok=True)
    made = str(folder / "rms_norm_cpu.o")
    compiler, *options = os.environ.get("CC", "cc").split()
    flags = ["-std=c11", "-O3", "-fPIC", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    include = [f"-I{one}" for one in C_FOLDERS]
    subprocess.run([compiler, *options, *flags, *include, "-c", str(HERE / "rms_norm_cpu.c"), "-o", made], check=True)
    return made


def parts() -> dict[str, Any]:
    """Sources and flags, as both ways to build take them; CUDA is in where PyTorch has it and there is an nvcc."""
    with_cuda = cpp_extension.CUDA_HOME is not None and torch.version.cuda is not None
    sources = ["rms_norm.cpp", *(["rms_norm_cuda.cu"] if with_cuda else [])]
    flags = ["-O3", *(["-DWITH_CUDA"] if with_cuda else [])]
    return {"sources": [str(HERE / name) for name in sources], "flags": flags, "with_cuda": with_cuda}


def load(folder: Path) -> ModuleType:
    """Compiles in `folder` what has changed there, and imports it."""
    found, made = parts(), kernels(folder)
    module: ModuleType = cpp_extension.load(
        NAME, found["sources"], extra_cflags=found["flags"], extra_ldflags=[made], extra_include_paths=FOLDERS,
        with_cuda=found["with_cuda"], build_directory=str(folder), verbose=False,
    )  # fmt: skip
    return module


if __name__ == "__main__":
    from setuptools import setup

    found = parts()
    extension = cpp_extension.CUDAExtension if found["with_cuda"] else cpp_extension.CppExtension
    arguments: Any = {"cxx": found["flags"], "nvcc": ["-O3"]} if found["with_cuda"] else found["flags"]
    made = kernels(HERE / "build")
    setup(
        name=NAME,
        ext_modules=[
            extension(NAME, found["sources"], include_dirs=FOLDERS, extra_compile_args=arguments, extra_objects=[made])
        ],
        cmdclass={"build_ext": cpp_extension.BuildExtension},
    )
