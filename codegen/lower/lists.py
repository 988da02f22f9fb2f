"""Lists of tensors as C: how they come off the stack, and what is done with all of their tensors at once.

In these statements `f` is the frame and `e` the error record. What is done with each tensor on its own are rules, in
checks.py.
"""

from __future__ import annotations

from codegen.contract import Argument
from codegen.model import Operator


def can_fail(op: Operator) -> bool:
    """Whether taking the arguments can fail."""
    return bool(op.lists)


def take_list_lines(op: Operator, argument: Argument, slot: str) -> list[str]:
    """Takes a list off the stack; the record points to what bodies see of each tensor."""
    name = argument.name
    numbers = [dim.name for dim in op.dims if dim.each == name]
    lines = [
        f"list_take(&e, {slot}, &f.t.{name}, {len(numbers)});",
        f"f.call.{name} = f.t.{name}.data;",
        f"f.call.{name}_count = f.t.{name}.count;",
    ]
    for i, number in enumerate(numbers):
        place = f" + {i} * f.t.{name}.count" if i > 1 else f" + f.t.{name}.count" if i else ""
        lines.append(f"f.call.{number} = f.t.{name}.numbers{place};")
    return lines


def each_call(op: Operator, tensor: str, call: str) -> str:
    """`tensor_bytes(&f->t.x)`, or `list_bytes(&f->t.xs)` for all tensors of a list."""
    listed = tensor in [argument.name for argument in op.lists]
    error = ["e"] if call in ("zero", "clear") else []
    return f"{'list' if listed else 'tensor'}_{call}({', '.join([*error, f'&f->t.{tensor}'])})"


def data_call(op: Operator, tensor: str, access: str) -> str:
    """The call that puts the address of a tensor, or those of a list, where bodies find them; `access` is const or
    mutable.
    """
    if tensor in [argument.name for argument in op.lists]:
        return f"list_{access}_data(e, &f->t.{tensor})"
    return f"tensor_{access}_data(e, &f->t.{tensor}, &f->call.{tensor})"
