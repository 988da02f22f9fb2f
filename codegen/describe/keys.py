"""What keys about an operator as a whole mean, in sentences for documentation."""

from __future__ import annotations

from codegen.autocast import cast_inputs
from codegen.model import Operator, Variant

_CAST = {
    "float32": "float32",
    "lower": "its own dtype",
    "promote": "the widest dtype among them",
}


def operator_notes(op: Operator) -> tuple[str, ...]:
    """Sentences that callers should know."""
    found = []
    if op.deprecated:
        found.append(f"Deprecated: {op.deprecated.removesuffix('.')}.")
    if op.since:
        found.append(f"Since {op.since}.")
    if not op.deterministic:
        found.append("Results can differ from run to run: refused under torch.use_deterministic_algorithms(True).")
    if op.random:
        found.append("Draws two numbers from PyTorch's generator in every call.")
    if op.oldest_arch:
        found.append(f"On CUDA needs compute capability {op.oldest_arch // 10}.{op.oldest_arch % 10} or newer.")
    if op.autocast:
        inputs = [name for names in cast_inputs(op).values() for name in names]
        found.append(f"torch.autocast casts {' and '.join(inputs)} to {_CAST[op.autocast]}.")
    found += [_variant(op, variant) for variant in op.variants]
    if op.batch:
        found.append(f"Results along {' and '.join(op.batch)} are independent.")
    return tuple(found)


def _variant(op: Operator, variant: Variant) -> str:
    """`rope_ writes q_out to q and k_out to k.`"""
    if variant.kind == "inplace":
        return f"{op.name}_ writes {' and '.join(f'{output} to {given}' for output, given in variant.writes)}."
    given = " and ".join(f"{name}=" for _, name in variant.writes)
    kinds = {"lists of tensors" if op.is_listed(output) else "tensors" for output, _ in variant.writes}
    return f"With {given} it writes to {' and '.join(sorted(kinds, reverse=True))} of the caller."
