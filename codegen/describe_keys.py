"""What keys about an operator as a whole mean, in sentences for documentation."""

from __future__ import annotations

from codegen.model import Operator


def operator_notes(op: Operator) -> tuple[str, ...]:
    """Sentences that callers should know."""
    found = []
    if op.deprecated:
        found.append(f"Deprecated: {op.deprecated.removesuffix('.')}.")
    if op.since:
        found.append(f"Since {op.since}.")
    if not op.deterministic:
        found.append("Results can differ from run to run: refused under torch.use_deterministic_algorithms(True).")
    if op.oldest_arch:
        found.append(f"On CUDA needs compute capability {op.oldest_arch // 10}.{op.oldest_arch % 10} or newer.")
    if op.batch:
        found.append(f"Results along {' and '.join(op.batch)} are independent.")
    return tuple(found)
