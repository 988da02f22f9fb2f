"""How tensors lie in memory, as C: the copies that inputs may need, and the strides that bodies read.

In these statements `f` is the frame and `e` the error record.
"""

from __future__ import annotations

from codegen.contract import Argument
from codegen.layouts import layout
from codegen.lower.record import layout_fields
from codegen.model import Operator


def _arranged(argument: Argument) -> str:
    """The call that makes an input lie as its body wants it; "" where it may lie as it does."""
    asked, tensor = layout(argument.words), f"&f->t.{argument.name}"
    match asked.policy:
        case "":
            return f"tensor_make_contiguous(e, {tensor})"
        case "rows":
            return f"tensor_make_rows(e, {tensor})"
        case "inner":
            return f"tensor_make_inner_contiguous(e, {tensor}, {asked.inner})"
    return ""


def arrange_calls(op: Operator) -> list[str]:
    """A call for each input that may have to be copied; each returns bool."""
    return [call for call in map(_arranged, op.tensors) if call]


def stride_lines(op: Operator) -> list[str]:
    """Statements that give sizes and strides in the record their values."""
    lines = []
    for field in layout_fields(op):
        tensor, place = f"f->t.{field.tensor}", f"f->call.{field.name}"
        if field.source:
            continue
        match field.fact:
            case "dim":
                lines.append(f"{place} = {tensor}.dim;")
            case "sizes":
                lines.append(f"tensor_copy_sizes(&{tensor}, {place});")
            case "strides":
                lines.append(f"tensor_copy_strides(&{tensor}, {place});")
            case "row stride":
                lines.append(f"{place}[0] = tensor_row_stride(&{tensor});")
    return lines
