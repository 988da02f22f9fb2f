"""Outputs that are tensors of the caller, as C: op_ writes them to inputs, op.out to keywords.

In these statements `f` is the frame and `e` the error record; `f->o.y` is what the caller gave for the output y.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.contract import Output
from codegen.lower.memory import fill_calls
from codegen.lower.statements import all_or_return, indented
from codegen.messages.c import c_escape
from codegen.model import Operator, Variant


def givable(op: Operator) -> list[Output]:
    """The outputs that a caller may give."""
    return list(op.public_outputs) if op.outputs_can_be_given else []


def given_kind(output: Output) -> str:
    """The type in the frame of an output that the caller gives."""
    return "given_list" if output.type.is_list else "given_output"


def given_outputs(op: Operator, variant: Variant | None) -> list[str]:
    """Takes what the caller gave for the outputs. An input that is written is there twice: as such and as an output."""
    lines = []
    for i, (output, given) in enumerate(variant.writes if variant else ()):
        take, place = "output_take_list" if op.is_listed(output) else "output_take", f"&f.o.{output}"
        if variant is not None and variant.kind == "inplace":
            lines.append(f'{take}_input(e, {place}, &f.t.{given}, "{given}");')
        else:
            error = "e, " if op.is_listed(output) else ""
            lines.append(f'{take}({error}{place}, stack[{len(op.arguments) + i}], "{given}");')
    return lines


def release_output(op: Operator, name: str) -> list[str]:
    """Releases an output that the caller gave, and what stood in for it."""
    if op.is_listed(name):
        return [f"list_release_tensors(e, &f.{part});" for part in (f"t.{name}", f"o.{name}.list")]
    return [f"tensor_release(e, &f.{part});" for part in (f"t.{name}", f"o.{name}.tensor")]


def _is_given(output: Output) -> str:
    """Whether the caller gave an output."""
    place = f"&f->o.{output.name}"
    return f"list_given({place}.list)" if output.type.is_list else f"given({place}.tensor)"


def allocated(op: Operator, output: Output, shape: list[str], dtype: str, device: str, made: list[str]) -> list[str]:
    """Makes an output, of a list tensor number i, with the lines `made`, unless the caller gave it: then it is looked
    at.
    """
    if output not in givable(op):
        return made
    place = f"e, &f->o.{output.name}, "
    check = f"output_check_at({place}i, " if output.type.is_list else f"output_check({place}"
    given = ["s.dim = 0;", *all_or_return([*shape, f"{check}&s, {dtype}, {device})"])]
    return [f"if ({_is_given(output)}) {{", *indented(given), "} else {", *indented(made), "}"]


def counted(op: Operator, output: Output) -> list[str]:
    """Looks at how long a list is that the caller gave."""
    if output not in givable(op):
        return []
    source = output.counted_by
    return all_or_return([f'output_check_count(e, &f->o.{output.name}, "{source}", f->t.{source}.count)'])


def place_lines(op: Operator, made: Mapping[str, list[str]]) -> list[str]:
    """Given outputs keep apart from everything else, and bodies write to them, or where they lie otherwise, to what the
    lines `made` make in their stead.
    """
    outputs = givable(op)
    if not outputs:
        return []
    inputs = sorted(op.tensors, key=lambda argument: argument in op.lists)
    named = [
        f'named_{"list" if one in op.lists else "tensor"}("{c_escape(one.name)}", &f->t.{one.name})' for one in inputs
    ]
    named += [f"named_output{'s' if one.type.is_list else ''}(&f->o.{one.name})" for one in outputs]
    lines = [
        "const named_tensors all[] = {",
        *(f"    {one}," for one in named),
        "};",
        *all_or_return([f"outputs_keep_apart(e, all, {len(inputs)}, {len(named)})"]),
    ]
    for output in outputs:
        lines += _place(op, output, made[output.name])
    return [f"if ({_is_given(outputs[0])}) {{", *indented(lines), "}"]


def _stands_in(output: Output) -> bool:
    """Whether bodies see strides that callers do not give."""
    return output.word("like") is not None or output.has_word("transposed")


def _place(op: Operator, output: Output, made: list[str]) -> list[str]:
    listed = output.type.is_list
    place = f"&f->t.{output.name}, &f->o.{output.name}{', i' if listed else ''}"
    block = [*([f"output_set_aside_at({place});"] if listed else []), *made]
    if not _stands_in(output):
        fill, placed = all_or_return(fill_calls(output)), f"output_place{'_at' if listed else ''}({place})"
        if fill and any(variant.kind == "inplace" for variant in op.variants):
            # A first value must not overwrite what the body has yet to read.
            placed = f"(f->o.{output.name}.input == NULL && {placed})"
        block = [f"if (!{placed}) {{", *indented(block), *(["} else {", *indented(fill)] if fill else []), "}"]
    return [f"for (int64_t i = 0; i < f->t.{output.name}.count; i++) {{", *indented(block), "}"] if listed else block


def returned_outputs(op: Operator) -> list[str]:
    """Calls that copy what stood in for given outputs into them."""
    return [
        f"list_return(e, &f->t.{one.name})"
        if one.type.is_list
        else f"output_return(e, &f->t.{one.name}, &f->o.{one.name})"
        for one in givable(op)
    ]
