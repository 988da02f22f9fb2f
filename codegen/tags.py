"""Tags of PyTorch that a library can give its operators through the C ABI (2.12 and newer; the package gives them where
PyTorch is older), and those that follow from other keys.
"""

from __future__ import annotations

from codegen.model import Operator

TAGS = (
    "core",
    "cudagraph_unsafe",
    "data_dependent_output",
    "dynamic_output_shape",
    "flexible_layout",
    "generated",
    "inplace_view",
    "maybe_aliasing_or_mutating",
    "needs_contiguous_strides",
    "needs_exact_strides",
    "needs_fixed_stride_order",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "out_variant",
    "pointwise",
    "pt2_compliant_tag",
    "reduction",
    "view_copy",
)

# Tags that say what another key says: that key is to be written.
SAID_BY_KEY = {"nondeterministic_bitwise": "deterministic: false", "nondeterministic_seeded": "random: true"}


def tags_of(op: Operator) -> tuple[str, ...]:
    """The tags of an operator and its internal overloads: those it names, and what its other keys mean to PyTorch."""
    implied = [] if op.deterministic else ["nondeterministic_bitwise"]
    implied += ["nondeterministic_seeded"] if op.random else []
    return (*op.tags, *implied)
