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
    return list(op.public_outputs) if op.variants else []


def given_outputs(op: Operator, variant: Variant | None) -> list[str]:
    """Takes what the caller gave for the outputs. An input that is written is there twice: as such and as an output."""
    lines = []
    for i, (output, given) in enumerate(variant.writes if variant else ()):
        place = f"&f.o.{output}"
        if variant is not None and variant.kind == "inplace":
            lines.append(f'output_take_input(&e, {place}, &f.t.{given}, "{given}");')
        else:
            lines.append(f'output_take({place}, stack[{len(op.arguments) + i}], "{given}");')
    return lines


def release_output(name: str) -> list[str]:
    """Releases an output that the caller gave, and what stood in for it."""
    return [f"tensor_release(&e, &f.t.{name});", f"tensor_release(&e, &f.o.{name}.tensor);"]


def allocated(op: Operator, output: Output, shape: list[str], dtype: str, device: str, made: list[str]) -> list[str]:
    """Makes an output, with the lines `made`, unless the caller gave it: then it is looked at."""
    if output not in givable(op):
        return made
    check = f"output_check(e, &f->o.{output.name}, &s, {dtype}, {device})"
    given = ["s.dim = 0;", *all_or_return([*shape, check])]
    return [f"if (given(&f->o.{output.name}.tensor)) {{", *indented(given), "} else {", *indented(made), "}"]


def place_lines(op: Operator, made: Mapping[str, list[str]]) -> list[str]:
    """Given outputs keep apart from everything else, and bodies write to them, or where they lie otherwise, to what the
    lines `made` make in their stead.
    """
    outputs = givable(op)
    if not outputs:
        return []
    tensors = [argument.name for argument in op.tensors if argument not in op.lists]
    parts = [f"&f->t.{name}" for name in tensors] + [f"&f->o.{output.name}.tensor" for output in outputs]
    texts = [f'"{c_escape(name)}"' for name in tensors + [output.name for output in outputs]]
    lines = [
        f"const tensor *const others[] = {{{', '.join(parts)}}};",
        f"static const char *const names[] = {{{', '.join(texts)}}};",
        *all_or_return(
            [
                f"outputs_keep_apart(e, &f->o.{output.name}, others, names, {len(tensors) + i})"
                for i, output in enumerate(outputs)
            ]
            + [
                f'output_keeps_apart_from(e, &f->o.{output.name}, &f->t.{argument.name}, "{argument.name}")'
                for output in outputs
                for argument in op.lists
            ]
        ),
    ]
    for output in outputs:
        lines += _place(output, made[output.name])
    return [f"if (given(&f->o.{outputs[0].name}.tensor)) {{", *indented(lines), "}"]


def _place(output: Output, made: list[str]) -> list[str]:
    if output.word("like") is not None or output.has_word("transposed"):
        return made
    fill = all_or_return(fill_calls(output))
    # A first value must not overwrite what the body has yet to read.
    kept = f" && f->o.{output.name}.input == NULL" if fill else ""
    placed = f"output_place(&f->t.{output.name}, &f->o.{output.name})"
    if not fill:
        return [f"if (!{placed}) {{", *indented(made), "}"]
    return [
        f"if (!(output_is_contiguous(&f->o.{output.name}){kept})) {{",
        *indented(made),
        "} else {",
        *indented([f"{placed};", *fill]),
        "}",
    ]


def returned_outputs(op: Operator) -> list[str]:
    """Calls that copy what stood in for given outputs into them."""
    return [f"output_return(e, &f->t.{output.name}, &f->o.{output.name})" for output in givable(op)]
