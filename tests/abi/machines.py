"""What a host function says of a machine that cannot run it: one script for each, with the text of its error."""

from __future__ import annotations

from codegen.lower.schema import dispatched
from codegen.lower.tests.samples import base
from codegen.model import Library, Operator
from tests.abi.call import Call

NEEDED = "2.10 is needed"
OLDER_CUDA = (
    "the CUDA driver is too old: it is for CUDA 12.8, and the kernels of this library were compiled by CUDA 13.1; "
    "driver 580.65.06 or newer is needed"
)
# Instructions that make the machine so, and the text after the name of the operator.
MACHINES = {
    "no driver": (
        ("has_driver 0",),
        "no CUDA driver: libcuda.so.1 cannot be loaded; install NVIDIA's driver",
    ),
    "old driver": (
        ("driver_is_old 1",),
        "the CUDA driver is too old: it has no cuMemsetD2D32Async; a driver for CUDA 12.0 or newer is needed",
    ),
    "PyTorch without CUDA": (
        ("torch_has_cuda 0",),
        "this PyTorch has no CUDA: libtorch_cuda.so is not loaded",
    ),
    "old PyTorch": (
        ("torch_is_old 1",),
        f"this PyTorch is too old: it has no aoti_torch_get_current_cuda_stream; {NEEDED}",
    ),
    "no kernel image": (
        ("arch 70", "fails cuLibraryLoadData", "code 209"),
        "no kernel image for cuda:0 of compute capability 7.0: this library was built for 9.0; build it again with "
        'TORCH_CUDA_ARCH_LIST="7.0"',
    ),
    "PTX is too new": (
        ("arch 120", "fails cuLibraryGetKernel", "code 222"),
        "no kernel image for cuda:0 of compute capability 12.0: this library was built for 9.0; build it again with "
        'TORCH_CUDA_ARCH_LIST="12.0"',
    ),
    "a driver of an older CUDA": (
        ("driver 12080", "fails cuLibraryLoadData", "code 209"),
        OLDER_CUDA,
    ),
    "a driver of an older CUDA, with a word of its own": (
        ("driver 12080", "fails cuLibraryLoadData", "code 200"),
        OLDER_CUDA,
    ),
    "a driver of an older CUDA, and PTX": (
        ("driver 12080", "arch 120", "fails cuLibraryLoadData", "code 222"),
        OLDER_CUDA,
    ),
    "PTX of a newer release": (
        ("driver 13000", "arch 120", "fails cuLibraryGetKernel", "code 222"),
        "the CUDA driver is too old: it is for CUDA 13.0, and this GPU needs the PTX of this library, which was made "
        "by CUDA 13.1; a driver for CUDA 13.1 or newer is needed",
    ),
    "a GPU of an older release": (
        ("driver 13000", "arch 70", "fails cuLibraryGetKernel", "code 209"),
        "no kernel image for cuda:0 of compute capability 7.0: this library was built for 9.0; build it again with "
        'TORCH_CUDA_ARCH_LIST="7.0"',
    ),
    "a broken image": (
        ("fails cuLibraryLoadData", "code 999"),
        "{kernel}: CUDA error 999, CUDA_ERROR_UNKNOWN: injected",
    ),
    "a driver that does not say its version": (
        ("driver 0", "fails cuLibraryLoadData"),
        "cuDriverGetVersion: CUDA error 999, CUDA_ERROR_UNKNOWN: injected",
    ),
    "launch failure": (
        ("fails cuLaunchKernelEx",),
        "{kernel}: CUDA error 999, CUDA_ERROR_UNKNOWN: injected",
    ),
    "error without a name": (
        ("fails cuLaunchKernelEx", "code 12345"),
        "{kernel}: CUDA error 12345, unknown error: ",
    ),
    "another failure": (
        ("fails cuDeviceGet",),
        "cuDeviceGet: CUDA error 999, CUDA_ERROR_UNKNOWN: injected",
    ),
}
# The same about a kernel in Triton, of which there is code for 8.0 and 9.0, and PTX for 8.0.
TRITON = {
    "built without Triton": (
        ("triton 0",),
        "this library was built without Triton, and got a tensor on cuda:0; build it again with Triton, which pip "
        'install ".[triton]" brings',
    ),
    "older than what was compiled": (
        ("arch 75",),
        "no kernel image for cuda:0 of compute capability 7.5: this library was built for 9.0; build it again with "
        'TORCH_CUDA_ARCH_LIST="7.5"',
    ),
    "of the same major version": (("arch 86",), ""),
    "newer, for which there is PTX": (("arch 103",), ""),
    "newer than the one that its code is for": (("arch 91",), ""),
}
WITHOUT_CUDA = (
    "this library was built without CUDA, and got a tensor on cuda:0; build it again with nvcc, which pip install "
    '".[cuda]" brings'
)


def script(library: Library, op: Operator, instructions: tuple[str, ...], text: str) -> str:
    """The usual call on a machine."""
    said = f"{library.namespace}::{op.name}: {text}" if text else ""
    call = Call(dispatched(op)[0], base(op), "cuda", text=said)
    return "\n".join([*instructions, *call.lines()]) + "\n"
