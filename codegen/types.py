"""The dtypes of the spec language: names in PyTorch and CUDA C++, sizes, accumulation dtypes, numbers, groups.

The C runtime has the same facts in csrc/runtime/dtype.c; a test holds it to this table. What bodies see of a dtype is
in csrc/cpu/scalar.h and csrc/device/dtype.cuh.
"""

from __future__ import annotations

from codegen.frozen import dataclass


@dataclass(frozen=True, slots=True)
class DtypeInfo:
    """One dtype. `acc` is the torch name of its accumulation dtype, `cuda` the type in device code.

    `largest` is the largest finite number. Floats have `fraction` bits of fraction, and 2**`exponent` is the smallest
    positive one that has all of them. Of complex numbers the three describe each part.
    """

    name: str
    cuda: str
    size: int
    acc: str
    category: str  # floating, float8, integral, complex, bool
    largest: int | float
    fraction: int = 0
    exponent: int = 0

    @property
    def epsilon(self) -> float:
        """From 1 to the next number; 0 for integers and bools."""
        return 0.0 if self.category in ("integral", "bool") else 2.0**-self.fraction


DTYPES: dict[str, DtypeInfo] = {
    info.name: info
    for info in (
        DtypeInfo("float64", "double", 8, "float64", "floating", (2 - 2.0**-52) * 2.0**1023, 52, -1022),
        DtypeInfo("float32", "float", 4, "float32", "floating", (2 - 2.0**-23) * 2.0**127, 23, -126),
        DtypeInfo("float16", "__half", 2, "float32", "floating", 65504.0, 10, -14),
        DtypeInfo("bfloat16", "__nv_bfloat16", 2, "float32", "floating", (2 - 2.0**-7) * 2.0**127, 7, -126),
        DtypeInfo("uint8", "uint8_t", 1, "int64", "integral", 2**8 - 1),
        DtypeInfo("int8", "int8_t", 1, "int64", "integral", 2**7 - 1),
        DtypeInfo("int16", "int16_t", 2, "int64", "integral", 2**15 - 1),
        DtypeInfo("int32", "int32_t", 4, "int64", "integral", 2**31 - 1),
        DtypeInfo("int64", "int64_t", 8, "int64", "integral", 2**63 - 1),
        DtypeInfo("bool", "bool", 1, "int64", "bool", 1),
        DtypeInfo("complex64", "float2", 8, "complex64", "complex", (2 - 2.0**-23) * 2.0**127, 23, -126),
        DtypeInfo("complex128", "double2", 16, "complex128", "complex", (2 - 2.0**-52) * 2.0**1023, 52, -1022),
        DtypeInfo("float8_e4m3fn", "__nv_fp8_e4m3", 1, "float32", "float8", 448.0, 3, -6),
        DtypeInfo("float8_e5m2", "__nv_fp8_e5m2", 1, "float32", "float8", 57344.0, 2, -14),
        DtypeInfo("float8_e4m3fnuz", "float8_e4m3fnuz", 1, "float32", "float8", 240.0, 3, -7),
        DtypeInfo("float8_e5m2fnuz", "float8_e5m2fnuz", 1, "float32", "float8", 57344.0, 2, -15),
        DtypeInfo("float8_e8m0fnu", "float8_e8m0fnu", 1, "float32", "float8", 2.0**127, 0, -127),
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


# What Triton calls elements of a dtype, or of `bits`. It does not know the others.
TRITON = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "uint8": "u8",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "bool": "i1",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "bits8": "i8",
    "bits16": "i16",
    "bits32": "i32",
    "bits64": "i64",
}


def element_size(name: str) -> int | None:
    """Bytes of an element of a dtype or of `bits`; None for any other name."""
    return BITS.get(name) or (DTYPES[name].size if name in DTYPES else None)


def cuda_type(name: str) -> str:
    """The type of an element in device code."""
    return _BITS_CUDA.get(name) or DTYPES[name].cuda


def whole_range(name: str) -> tuple[int, int]:
    """The lowest and the largest number of an integral dtype; 0 and 1 for bool."""
    largest = int(DTYPES[name].largest)
    return 0 if name == "bool" or name.startswith("u") else -largest - 1, largest


def is_floating(name: str) -> bool:
    """Whether tensors of this dtype have gradients: real floating, float8 or complex."""
    return DTYPES[name].category in ("floating", "float8", "complex")
