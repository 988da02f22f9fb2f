"""How near to its reference a result must be, by dtype of the output.

Kernels round once, to the dtype of the output, what they computed in the accumulation dtype. So the tolerance is one
epsilon of the output, plus eight of the accumulation dtype for every square root of the number of terms in a sum.
tests/harness/numbers.py compares by it, documentation prints it.
"""

from __future__ import annotations

from codegen.types import DTYPES

EPSILON = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float8_e4m3fn": 2.0**-3,
    "float8_e5m2": 2.0**-2,
    "float8_e4m3fnuz": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-2,
    "float8_e8m0fnu": 1.0,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}


def rounding(dtype: str) -> float:
    """What storing an element of this dtype may change, relative to it; 0 for integers and bools."""
    return EPSILON.get(dtype, 0.0)


def per_term(dtype: str) -> float:
    """What is added for the square root of the number of terms."""
    return 8 * EPSILON.get(DTYPES[dtype].acc, 0.0) if dtype in EPSILON else 0.0
