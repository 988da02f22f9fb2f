"""How near to its reference a result must be, by dtype of the output.

Kernels round once, to the dtype of the output, what they computed in the accumulation dtype. So the tolerance is one
epsilon of the output, plus eight of the accumulation dtype for every square root of the number of terms in a sum.
templates/calls_compare.py.j2 prints it: the package compares by it, in tests and in check_calls. So does documentation.
"""

from __future__ import annotations

from codegen.types import DTYPES


def rounding(dtype: str) -> float:
    """What storing an element of this dtype may change, relative to it; 0 for integers and bools."""
    return DTYPES[dtype].epsilon


def per_term(dtype: str) -> float:
    """What is added for the square root of the number of terms."""
    return 8 * DTYPES[DTYPES[dtype].acc].epsilon
