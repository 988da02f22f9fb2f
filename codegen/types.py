"""The dtypes of the spec language: names in PyTorch and CUDA C++, sizes, accumulation dtypes, groups.

The C runtime has the same facts in csrc/runtime/dtype.c; a test holds it to this table. What bodies see of a dtype is
in csrc/cpu/scalar.h and csrc/device/dtype.cuh.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DtypeInfo:
    """One dtype. `acc` is the torch name of its accumulation dtype, `cuda` the type in device code."""

    name: str
    cuda: str
    size: int
    acc: str
    category: str  # floating, float8, integral, complex, bool


DTYPES: dict[str, DtypeInfo] = {
    info.name: info
    for info in (
        DtypeInfo("float64", "double", 8, "float64", "floating"),
        DtypeInfo("float32", "float", 4, "float32", "floating"),
        DtypeInfo("float16", "__half", 2, "float32", "floating"),
        DtypeInfo("bfloat16", "__nv_bfloat16", 2, "float32", "floating"),
        DtypeInfo("uint8", "uint8_t", 1, "int64", "integral"),
        DtypeInfo("int8", "int8_t", 1, "int64", "integral"),
        DtypeInfo("int16", "int16_t", 2, "int64", "integral"),
        DtypeInfo("int32", "int32_t", 4, "int64", "integral"),
        DtypeInfo("int64", "int64_t", 8, "int64", "integral"),
        DtypeInfo("bool", "bool", 1, "int64", "bool"),
        DtypeInfo("complex64", "float2", 8, "complex64", "complex"),
        DtypeInfo("complex128", "double2", 16, "complex128", "complex"),
        DtypeInfo("float8_e4m3fn", "__nv_fp8_e4m3", 1, "float32", "float8"),
        DtypeInfo("float8_e5m2", "__nv_fp8_e5m2", 1, "float32", "float8"),
        DtypeInfo("float8_e4m3fnuz", "float8_e4m3fnuz", 1, "float32", "float8"),
        DtypeInfo("float8_e5m2fnuz", "float8_e5m2fnuz", 1, "float32", "float8"),
        DtypeInfo("float8_e8m0fnu", "float8_e8m0fnu", 1, "float32", "float8"),
    )
}


def _in_category(*categories: str) -> tuple[str, ...]:
    return tuple(info.name for info in DTYPES.values() if info.category in categories)


# A group of one, `bool`, is spelled like its dtype. `bits` (any dtype, one kernel per element size) holds every dtype
# of the table.
GROUPS: dict[str, tuple[str, ...]] = {
    "floating": _in_category("floating"),
    "integral": _in_category("integral"),
    "complex": _in_category("complex"),
    "bool": _in_category("bool"),
    "all": _in_category("floating", "integral", "complex", "bool"),
    "bits": tuple(DTYPES),
}


# What kernels of a `bits` variable are compiled for, and how many bytes an element of it has.
BITS = {"bits8": 1, "bits16": 2, "bits32": 4, "bits64": 8, "bits128": 16}
_BITS_CUDA = {
    "bits8": "uint8_t",
    "bits16": "uint16_t",
    "bits32": "uint32_t",
    "bits64": "uint64_t",
    "bits128": "ulonglong2",
}


def element_size(name: str) -> int | None:
    """Bytes of an element of a dtype or of `bits`; None for any other name."""
    return BITS.get(name) or (DTYPES[name].size if name in DTYPES else None)


def cuda_type(name: str) -> str:
    """The type of an element in device code."""
    return _BITS_CUDA.get(name) or DTYPES[name].cuda


def is_floating(name: str) -> bool:
    """Whether tensors of this dtype have gradients: real floating, float8 or complex."""
    return DTYPES[name].category in ("floating", "float8", "complex")
