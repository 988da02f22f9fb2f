"""Which operators have a derivative in forward mode: those whose gradient was derived.

Such an operator works element by element, so that its Jacobian is diagonal and equal to its transpose: the backward
operator that was derived computes the forward derivative, too, of one input at a time. With lists, and with complex
numbers, whose gradient is conjugate, it is not that simple, and forward mode is refused.
"""

from __future__ import annotations

from codegen.model import Library, Operator


def has_forward_derivative(library: Library, op: Operator) -> bool:
    """Whether forward-mode differentiation of `op` works; with complex numbers it is refused at the call."""
    if op.backward is None or op.lists or op.list_outputs or op.written:
        return False
    return library.operator(op.backward.operator).derived_from == op.name
