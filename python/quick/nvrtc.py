"""NVRTC, CUDA's compiler as a library: found, loaded and called through ctypes."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .failure import QuickError

_SUCCESS = 0

_INTEGERS = """#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t;
typedef unsigned uint32_t; typedef unsigned long uint64_t;
typedef long intptr_t; typedef unsigned long uintptr_t; typedef long ptrdiff_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define INT8_MIN (-INT8_MAX - 1)
#define INT16_MIN (-INT16_MAX - 1)
#define INT32_MIN (-INT32_MAX - 1)
#define INT64_MIN (-INT64_MAX - 1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define INT64_C(x) x##L
#define UINT64_C(x) x##UL
"""
_FLOATS = """#pragma once
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
"""
_LIMITS = """#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1)
"""
_MATH = """#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#endif
#define M_PI 3.14159265358979323846
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
"""
# NVRTC reads no headers of the system; it knows their functions itself.
_HEADERS = {
    "stdint.h": _INTEGERS, "cstdint": _INTEGERS, "float.h": _FLOATS, "cfloat": _FLOATS, "limits.h": _LIMITS,
    "climits": _LIMITS, "math.h": _MATH, "cmath": _MATH,
    **dict.fromkeys(("stdbool.h", "stddef.h", "cstddef", "string.h", "cstring", "cuda_runtime.h"), "#pragma once\n"),
}  # fmt: skip


@dataclass(frozen=True)
class Nvrtc:
    """The library, and where CUDA's headers are: cuda_fp16.h and the like."""

    library: Path
    headers: tuple[Path, ...]

    @property
    def identity(self) -> str:
        """Other text, other compiler."""
        stat = os.stat(self.library)
        return f"{self.library} {stat.st_size} {stat.st_mtime_ns} {self.headers}"


def find() -> Nvrtc | None:
    """The one that came with PyTorch, or that of a CUDA toolkit."""
    for library, include in _places():
        if (include / "cuda_fp16.h").is_file():
            nested = include / "cccl"  # since CUDA 13
            return Nvrtc(library.resolve(), (include, nested) if nested.is_dir() else (include,))
    return None


def packages() -> list[Path]:
    """Folders that hold NVIDIA's packages of PyPI."""
    package = importlib.util.find_spec("nvidia")
    return [Path(folder) for folder in package.submodule_search_locations or ()] if package else []


def _places() -> Iterator[tuple[Path, Path]]:
    for folder in packages():
        for library in _libraries(folder.glob("cu[0-9]*/lib")):  # CUDA 13 and newer
            yield library, library.parents[1] / "include"
        for library in _libraries([folder / "cuda_nvrtc/lib"]):
            yield library, folder / "cuda_runtime/include"
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            for library in _libraries([Path(home) / "lib64", Path(home) / "lib"]):
                yield library, Path(home) / "include"


def _libraries(folders: Iterator[Path] | Sequence[Path]) -> list[Path]:
    found = [path for folder in folders for path in folder.glob("libnvrtc.so.*") if re.search(r"so\.\d+$", path.name)]
    return sorted(found, key=lambda path: int(path.name.rsplit(".", 1)[1]), reverse=True)


_loaded: dict[Path, ctypes.CDLL] = {}


def _load(path: Path) -> ctypes.CDLL:
    if path not in _loaded:
        try:
            for builtins in sorted(path.parent.glob("libnvrtc-builtins.so.*")):  # looked for by name only
                ctypes.CDLL(str(builtins))
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise QuickError(f"NVRTC cannot be loaded ({error}); install it again, or compiler='nvcc'") from None
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        _loaded[path] = library
    return _loaded[path]


def version(nvrtc: Nvrtc) -> str:
    """`13.0`."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _load(nvrtc.library).nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def compiled(nvrtc: Nvrtc, name: str, source: str, options: Sequence[str], *, ptx: bool = False) -> tuple[bytes, str]:
    """The cubin or PTX of a program, and the compiler's log; without an image where the log says what is wrong."""
    library = _load(nvrtc.library)
    headers: Mapping[str, str] = _HEADERS
    program = ctypes.c_void_p()
    strings = ctypes.c_char_p * len(headers)
    _check(library, library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), name.encode(), len(headers),
        strings(*(text.encode() for text in headers.values())), strings(*(name.encode() for name in headers)),
    ))  # fmt: skip
    try:
        options = [*options, *(f"-I{folder}" for folder in nvrtc.headers)]
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        result = library.nvrtcCompileProgram(program, len(options), given)
        log = _answer(library, "ProgramLog", program).decode(errors="replace").rstrip("\0")
        if result != _SUCCESS and not log.strip():
            _check(library, result)
        if result != _SUCCESS:
            return b"", log
        return _answer(library, "PTX" if ptx else "CUBIN", program), log
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _answer(library: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw[: size.value]


def _check(library: ctypes.CDLL, result: int) -> None:
    if result != _SUCCESS:
        text = library.nvrtcGetErrorString(result).decode()
        raise QuickError(f"NVRTC failed ({text}); free memory and try again, or compiler='nvcc'")
