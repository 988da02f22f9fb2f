"""What the language has and the back ends do not build yet: one table, from which later work deletes lines.

A spec that uses one of these is refused with "... is not supported yet" at the place where it stands; nothing is ever
ignored.
"""

from __future__ import annotations

from codegen.errors import Diagnostics
from codegen.load import Mapping, Node, Scalar

# Keys of an operator -> how they are called.
KEYS = {
    "triton": "`triton:`",
}

# With one of these an operator needs no `launch:` or body of its own; what follows from its absence is not reported.
REPLACES_LAUNCH = ("elementwise", "triton", "kernels")


def refuse(diagnostics: Diagnostics, prefix: str, node: Node, offset: int, feature: str) -> None:
    """Says that `feature` is not built yet, at `offset` in the text of `node`."""
    position = node.at(offset) if isinstance(node, Scalar) else node.position
    diagnostics.error(position, f"{prefix}: {feature} is not supported yet")


def keys(diagnostics: Diagnostics, operator: str, node: Mapping) -> None:
    """Refuses keys of an operator."""
    for key, _ in node.entries:
        if key.text in KEYS:
            refuse(diagnostics, operator, key, 0, KEYS[key.text])
