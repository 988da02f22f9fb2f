"""What `autocast:` casts: tensor inputs by their dtype variables."""

from __future__ import annotations

from codegen.contract import TensorType, Variable
from codegen.model import Operator

# The dtypes that autocast casts from and to.
CAST = ("float32", "float16", "bfloat16")


def cast_inputs(op: Operator) -> dict[str, list[str]]:
    """Dtype variable -> the inputs of that dtype, for variables that stand for several of the dtypes that are cast. An
    input that stays on the host is left as it is.
    """
    found: dict[str, list[str]] = {}
    for variable in op.types if op.autocast else ():
        if len(set(variable.dtypes) & set(CAST)) < 2:
            continue
        for argument in op.tensors:
            kind = argument.type
            if isinstance(kind, TensorType) and kind.dtype == Variable(variable.name) and not argument.has_word("cpu"):
                found.setdefault(variable.name, []).append(argument.name)
    return found
