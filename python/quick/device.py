"""The GPU part: one image for each unit of an operator, by NVRTC where it is there and by nvcc otherwise.

The options are those of cmake/cuda.cmake.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import nvrtc, programs, sources
from .failure import QuickError

COMPILERS = ("nvrtc", "nvcc")
_FLAGS = ("-std=c++17",)
_NVCC_FLAGS = ("-O3", "--expt-relaxed-constexpr", "-Xcudafe", "--error_limit=4")
_NVCC_READS = ("CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")
# By the major version of CUDA: the oldest driver that loads what was compiled.
DRIVERS = {12: "525.60.13", 13: "580.65.06"}
_NVRTC_FLAGS = ("-default-device",)  # a constexpr function may be called, as it may by nvcc


def architectures(arch: str | None) -> tuple[str, ...]:
    """`sm_` numbers, such as 90 or 90a: of what was asked for, or of the GPUs that PyTorch sees here; none without."""
    if arch is not None:
        found = re.fullmatch(r"(?:sm_)?(\d+)\.?(\d)([af]?)", arch)
        if found is None:
            raise QuickError(f'arch: expected a compute capability such as "9.0", "9.0a" or "sm_90", got "{arch}"')
        return ("".join(found.groups()),)
    import torch

    if not torch.cuda.is_available():
        return ()
    seen = {torch.cuda.get_device_capability(index) for index in range(torch.cuda.device_count())}
    return tuple(f"{major}{minor}" for major, minor in sorted(seen))


@dataclass(frozen=True)
class Device:
    """A compiler for `archs`: NVRTC if `library` is there, and nvcc if not, or for what NVRTC has no header of."""

    archs: tuple[str, ...]
    library: nvrtc.Nvrtc | None
    nvcc: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Other text, other images."""
        compilers = [self.library.identity] if self.library else []
        compilers += [programs.identity(self.nvcc)] if self.nvcc else []
        told = [os.environ.get(variable) for variable in _NVCC_READS] if self.nvcc else []
        return f"{self.archs} {compilers} {told} {_FLAGS} {_NVRTC_FLAGS} {_NVCC_FLAGS}"

    @property
    def text(self) -> str:
        """The architectures as errors of calls name them."""
        return " ".join(re.sub(r"(\d)([af]?)$", r".\1\2", arch) for arch in self.archs)

    @property
    def release(self) -> tuple[int, int]:
        """Of CUDA: (13, 0)."""
        text = nvrtc.version(self.library) if self.library else programs.version(self.nvcc)
        found = re.search(r"(?:release )?(\d+)\.(\d+)", text.partition("release ")[2] or text)
        if found is None or int(found[1]) < 12:
            raise QuickError(f"{self.nvcc or self.library} is no compiler of CUDA 12 or newer; set CUDA_HOME")
        return int(found[1]), int(found[2])

    @property
    def definitions(self) -> list[str]:
        """What the runtime is told, for errors of calls."""
        major, minor = self.release
        driver = DRIVERS.get(major, f"for CUDA {major}.0")
        return [
            f'-DCUDA_ARCHITECTURES="{self.text}"',
            f"-DCUDA_RELEASE={1000 * major + 10 * minor}",
            f'-DCUDA_OLDEST_DRIVER="{driver}"',
        ]

    @property
    def words(self) -> str:
        """What it is, for people."""
        return f"{'NVRTC' if self.library else 'nvcc'} {'.'.join(map(str, self.release))} for {self.text}"

    def image(self, op: str, unit: str, folder: Path, flags: list[str]) -> bytes:
        """A unit of an operator; empty where none of the architectures is as new as it needs."""
        kept, archs = list(flags), list(self.archs)
        if "ARCH" in kept:
            oldest = int(kept.pop(kept.index("ARCH") + 1))
            kept.remove("ARCH")
            archs = [arch for arch in archs if int(arch.rstrip("af")) >= oldest]
        if not archs:
            return b""
        kept += [*_FLAGS, f"-DCUDA_UNIT={unit}"]
        kept += [f"-I{folder / 'generated' / part}" for part in ("cuda", "c")]
        kept.append(f"-I{sources.root() / 'csrc/device'}")
        if self.library is None:
            return self._by_nvcc(op, unit, folder, kept, archs)
        # Several kinds of GPU share PTX for the oldest, which the driver compiles.
        target = f"sm_{archs[0]}" if len(archs) == 1 else f"compute_{archs[0]}"
        source = (folder / f"generated/cuda/{op}.cu").read_text(encoding="utf-8")
        options = [f"--gpu-architecture={target}", *_NVRTC_FLAGS, *kept]
        image, log = nvrtc.compiled(self.library, f"{op}.kernels.cu", source, options, ptx=len(archs) > 1)
        if image:
            return image
        missing = re.search(r'could not open source file "([^"]+)"|cannot open source file "([^"]+)"', log)
        if missing and self.nvcc:
            return self._by_nvcc(op, unit, folder, kept, archs)
        if missing:
            log += f"\nNVRTC reads no headers of the system: leave {missing[1] or missing[2]} out, or install nvcc"
            log += " or, if it is one of CUDA's, `pip install nvidia-cuda-cccl`"
        if "gpu-architecture" in log:
            log += (
                f"\nNVRTC {nvrtc.version(self.library)} does not know this GPU: install a newer one, or compiler='nvcc'"
            )
        programs.refuse(f"the cuda body of {op}", log, folder)

    def _by_nvcc(self, op: str, unit: str, folder: Path, flags: list[str], archs: list[str]) -> bytes:
        output = folder / f"{op}_{unit}.fatbin"
        named = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in archs]
        host = ["-ccbin", os.environ["CUDAHOSTCXX"]] if os.environ.get("CUDAHOSTCXX") else []
        command = [*self.nvcc, "-fatbin", *named, *_NVCC_FLAGS, *host, *flags, "-o", output.name]
        programs.run([*command, f"generated/cuda/{op}.cu"], folder, f"the cuda body of {op}")
        image = output.read_bytes()
        output.unlink()
        return image


def find(archs: tuple[str, ...], compiler: str | None) -> Device | None:
    """The compiler that was asked for, or else the fastest that is there."""
    if compiler is not None and compiler not in COMPILERS:
        raise QuickError(f'compiler: expected one of {", ".join(COMPILERS)}, got "{compiler}"')
    if compiler != "nvcc":
        library = nvrtc.find()
        if library is not None:
            nvcc = _nvcc(os.environ) if compiler is None else ""
            return Device(archs, library, (nvcc,) if nvcc else ())
    if compiler != "nvrtc":
        nvcc = _nvcc(os.environ)
        if nvcc:
            return Device(archs, None, (nvcc,))
    if compiler is not None:
        remedy = "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime" if compiler == "nvrtc" else "set CUDA_HOME"
        raise QuickError(f"there is no {compiler} here: {remedy}, or leave compiler= out")
    return None


def _nvcc(environment: Mapping[str, str]) -> str:
    if environment.get("CUDACXX"):
        named = programs.found([environment["CUDACXX"]])
        if not named:
            raise QuickError(f"CUDACXX is {environment['CUDACXX']}, and there is no such program; set it to an nvcc")
        return named
    homes = [environment.get("CUDA_HOME"), environment.get("CUDA_PATH")]
    places = [f"{home}/bin/nvcc" for home in homes if home]
    places += ["nvcc", "/usr/local/cuda/bin/nvcc"]
    places += [
        str(path) for folder in nvrtc.packages() for path in sorted(folder.glob("cu[0-9]*/bin/nvcc"), reverse=True)
    ]
    return next(filter(None, (programs.found([place]) for place in places)), "")
