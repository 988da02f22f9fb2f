"""The kernel of an operator at PyTorch's Autocast keys: casts inputs, then calls the operator below autocast."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.autocast import cast_inputs
from codegen.lower.python.names import Names, call


def autocast_lines(names: Names, parameters: Sequence[str], passed: Sequence[str]) -> list[str]:
    """The function, or nothing where autocast does nothing."""
    op = names.op
    groups = cast_inputs(op)
    if not groups:
        return []
    lines = call("def _autocast", [f"{names.fresh('keyset')}: Any", *parameters], " -> Any:", 0)
    for variable, inputs in groups.items():
        target = ", ".join(inputs) if len(inputs) > 1 else f"({inputs[0]},)"
        given = [f'"{op.autocast}"', f"_{variable}", *inputs]
        lines += [f"    {line}" for line in call(f"{target} = _runtime.cast", given)]
    lines.append("    with _runtime.below_autocast():")
    return [*lines, *(f"        {line}" for line in call("return _op", list(passed), indent=8))]
