"""How tensors lie in memory, as C: how outputs are made, the copies that inputs may need, the strides that bodies read.

In these statements `f` is the frame and `e` the error record.
"""

from __future__ import annotations

from math import isinf, isnan

from codegen.contract import Argument, Output, Scratch, TensorType, Word
from codegen.expr.c import CNames, print_c
from codegen.expr.tree import Constant, Type
from codegen.layouts import layout
from codegen.lower.record import layout_fields, list_fields
from codegen.lower.written import arranged
from codegen.model import Operator


def _arranged(argument: Argument) -> str:
    """The call that makes an input lie as its body wants it; "" where it may lie as it does."""
    asked, tensor = layout(argument.words), f"&f->t.{argument.name}"
    if isinstance(argument.type, TensorType) and argument.type.is_list:
        return _arranged_list(argument, argument.type.written)
    if isinstance(argument.type, TensorType) and argument.type.written:
        return arranged(argument)
    match asked.policy:
        case "":
            return f"tensor_make_contiguous(e, {tensor})"
        case "rows":
            return f"tensor_make_rows(e, {tensor})"
        case "inner":
            return f"tensor_make_inner_contiguous(e, {tensor}, {asked.inner})"
    return ""


def _arranged_list(argument: Argument, written: bool) -> str:
    """The same for each tensor of a list."""
    asked = layout(argument.words)
    inner = "LIST_INNER_TWO" if asked.inner == 2 else "LIST_INNER"
    policy = {"": "LIST_CONTIGUOUS", "rows": "LIST_ROWS", "inner": inner}.get(asked.policy, "")
    if not policy:
        return ""
    if not written:
        return f"list_arrange(e, &f->t.{argument.name}, {policy})"
    return f"list_set_aside(e, &f->t.{argument.name}, {policy}, {'false' if argument.has_word('out') else 'true'})"


def arrange_calls(op: Operator) -> list[str]:
    """A call for each input that may have to be copied; each returns bool."""
    unresolved = [a.name for a in op.lists if isinstance(a.type, TensorType) and a.type.may_lack_tensors]
    resolved = [f"list_resolve(e, &f->t.{name})" for name in unresolved]
    return [*resolved, *(call for call in map(_arranged, op.tensors) if call)]


def pinned_calls(op: Operator) -> list[str]:
    """A call for each input on the host that kernels read there, behind the end of the call; each returns bool."""
    return [
        f'list_require_pinned(e, "{name}", &f->t.{name})'
        if argument in op.lists
        else f'cuda_require_pinned(e, "{name}", f->call.{name})'
        for name, argument in ((one.name, one) for one in op.pinned)
    ]


def stride_lines(op: Operator) -> list[str]:
    """Statements that give sizes and strides in the record their values."""
    lines = []
    for argument in op.listed:
        if list_fields(argument) and not op.elementwise:
            by_rows = layout(argument.words).policy == "rows"
            lines.append(f"list_see_{'row_' if by_rows else ''}strides(&f->t.{argument.name});")
    for field in layout_fields(op):
        tensor, place = f"f->t.{field.tensor}", f"f->call.{field.name}"
        if field.source or field.kind in ("numbers", "tables"):
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


def output_calls(output: Output, dtype: str, device: str, shape: list[str]) -> list[str]:
    """Calls that make an output, each of which returns bool; `shape` are those that put its sizes into `s`."""
    tensor = made_tensor(output)
    start, end = f'e, &{tensor}, "{output.name}", &s', f"{dtype}, {device}"
    like = output.word("like")
    if like is not None:
        other = f"f->t.{like.argument}" + (".at[i]" if output.type.is_list else "")
        made = [f"tensor_empty_like(e, &{tensor}, &{other}, {end})"]
    elif output.has_word("transposed"):
        made = [*shape, f"tensor_empty_transposed({start}, {end})"]
    else:
        made = [*shape, f"tensor_empty({start}, {end})"]
    return [*made, *fill_calls(output)]


def made_tensor(output: Output | Scratch) -> str:
    """What is made, of a list tensor number i."""
    return f"f->t.{output.name}" + (".at[i]" if output.type.is_list else "")


def fill_calls(tensor: Output | Scratch) -> list[str]:
    """The call that gives every element its first value, if the spec states one."""
    return [_fill(made_tensor(tensor), word) for word in tensor.words if word.name == "fill"]


def _fill(tensor: str, word: Word) -> str:
    value = word.argument
    if isinstance(value, int):
        return f"tensor_fill_integer(e, &{tensor}, {print_c(Constant(value, Type.INT), CNames())})"
    assert isinstance(value, float)
    if isnan(value):
        text = "NAN"
    elif isinf(value):
        text = "INFINITY" if value > 0 else "-INFINITY"
    else:
        text = repr(value)
    return f"tensor_fill_real(e, &{tensor}, {text})"
