"""Which calls autograd records, and which a wrapper leaves to PyTorch: conditions in the generated Python."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.contract import Argument, Output
from codegen.lower.python.names import COLUMNS, Names, call
from codegen.model import Operator


def _with_gradient(op: Operator) -> list[Argument]:
    """The inputs that may make outputs require grad."""
    if op.backward is not None:
        inputs = {gradient.input for gradient in op.backward.gradients}
        return [argument for argument in op.tensors if argument.name in inputs]
    return list(op.may_need_gradient)


def spread(op: Operator, arguments: Sequence[Argument | Output]) -> list[str]:
    """Tensors as the arguments of a function that looks into no list."""
    found = []
    for argument in arguments:
        listed = f"({argument.name} or ())" if argument.type.optional else argument.name
        found.append(f"*{listed}" if op.is_listed(argument.name) else argument.name)
    return found


def recorded(
    names: Names, or_else: str, extra: Sequence[str] = (), only: Sequence[str] | None = None, *, wrapper: bool = False
) -> list[str]:
    """The condition under which a call is recorded, up to its colon; `extra` are tensors beside the inputs, and `only`
    are those in their place. Under torch.func an input may require grad without saying so. In a wrapper what is no
    tensor ends in an AttributeError, which the wrapper explains; what the dispatcher calls may be given None.
    """
    op = names.op
    inputs = spread(op, _with_gradient(op)) if only is None else only
    indent, given = 8 if wrapper else 4, [*inputs, *extra]
    requires = _requires_grad(op, given) if wrapper else [f"_any_requires_grad({', '.join(given)})"]
    asked = [*requires, *filter(None, [or_else])]
    if not asked:
        return ["if _forward_ad._current_level >= 0:"]
    together = f"({' or '.join(asked)})" if len(asked) > 1 else asked[0]
    condition = f"_is_grad_enabled() and {together}"
    line = f"if ({condition}) or _forward_ad._current_level >= 0:"
    if len(line) + indent <= COLUMNS:
        return [line]
    recorded = names.fresh("recorded")
    lines = [f"{recorded} = {condition}"]
    if len(lines[0]) + indent > COLUMNS:
        lines = [f"{recorded} = _is_grad_enabled() and (", *indented(_alternatives(asked, indent + 4)), ")"]
    return [*lines, f"if {recorded} or _forward_ad._current_level >= 0:"]


def _requires_grad(op: Operator, names: Sequence[str]) -> list[str]:
    """Conditions, of which one holds where a tensor requires grad. Attributes are asked one by one, which takes two
    thirds of the time of a function that looks at all of them; with lists it is the other way round.
    """
    if any(name.startswith("*") for name in names):
        return [f"_any_requires_grad({', '.join(names)})"]
    optional = {argument.name for argument in op.tensors if getattr(argument.type, "optional", False)}
    return [
        f"({name} is not None and {name}.requires_grad)" if name in optional else f"{name}.requires_grad"
        for name in names
    ]


def _alternatives(asked: Sequence[str], indent: int) -> list[str]:
    """What is joined by `or`, in one line if it fits."""
    line = " or ".join(asked)
    return [line] if len(line) + indent <= COLUMNS else [asked[0], *(f"or {one}" for one in asked[1:])]


def handed_over(op: Operator, values: Sequence[str], lists: Sequence[str] = ()) -> list[str]:
    """The condition under which a wrapper leaves a call to PyTorch, up to its colon: something traces it, or is shown
    what is called, and has to see the public operator, which has a gradient. `lists` are such beside the inputs.
    """
    looked_into = {*lists, *(one.name for one in op.lists)}
    looked_at = [f"*_runtime.several({name})" if name in looked_into else name for name in values]
    conditions = ["_is_dynamo_compiling()", "_compiler._is_compiling_flag", "_count_modes()"]
    asked = f"_has_torch_function({', '.join(looked_at)})"
    line = f"if {' or '.join([*conditions, asked])}:"
    if len(line) + 4 <= COLUMNS:
        return [line]
    last = call("or _has_torch_function", looked_at, indent=8)
    return ["if (", f"    {conditions[0]}", *(f"    or {one}" for one in conditions[1:]), *indented(last), "):"]


def indented(lines: list[str]) -> list[str]:
    """The lines of a block."""
    return [f"    {line}" for line in lines]
