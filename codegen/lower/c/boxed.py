"""The functions that PyTorch and the direct module call: they take arguments off the stack, put results back and
release everything. Those of PyTorch raise besides.
"""

from __future__ import annotations

from codegen.contract import TensorType
from codegen.frozen import dataclass
from codegen.lower.c.arguments import can_fail, release_lines, take_lines
from codegen.lower.host import mask_is_list, mask_places
from codegen.lower.lists import can_fail as list_can_fail
from codegen.lower.lists import take_list_lines
from codegen.lower.schema import DispatchedOperator, boxed_symbol, direct_symbol, dispatched, only_direct
from codegen.lower.statements import indented
from codegen.lower.values import looked_at
from codegen.lower.variants import given_outputs, release_output
from codegen.lower.written import set_aside
from codegen.model import SEED, Operator


@dataclass(frozen=True)
class BoxedKernelView:
    """A function on the stack of arguments, and that around it which PyTorch calls; "" where none is registered."""

    direct: str
    boxed: str
    take: tuple[str, ...]
    run: tuple[str, ...]
    give: tuple[str, ...]


def _boxed(op: Operator, entry: DispatchedOperator, registered: bool) -> BoxedKernelView:
    direct, boxed = direct_symbol(entry), boxed_symbol(entry) if registered else ""
    take: list[str] = []
    for i, argument in enumerate(op.arguments):
        if argument in op.lists:
            taken = take_list_lines(op, argument, f"stack[{i}]")
            take += [f"if (take_optional(&stack[{i}])) {{", *indented(taken), "}"] if argument.type.optional else taken
        elif isinstance(argument.type, TensorType):
            taken = [f"tensor_take(&f.t.{argument.name}, stack[{i}]);"]
            take += [f"if (take_optional(&stack[{i}])) {{", *indented(taken), "}"] if argument.type.optional else taken
        else:
            take += take_lines(argument, f"stack[{i}]")
    take += given_outputs(op, entry.variant)
    saved = "" if not op.for_backward else ", true" if entry.saved else ", false"
    run = [f"{op.name}_run(e, &f{saved});"]
    if mask_is_list(op):
        start = f'take_long_mask(e, stack[{len(op.arguments)}], "grad_mask", &f.a.grad_mask, '
        take.append(f"{start}{mask_places(op).replace('f->', 'f.')});")
    elif op.grad_mask:  # taken whatever failed before, since taking it releases the list
        take.append(f'take_mask(e, stack[{len(op.arguments)}], "grad_mask", f.mask, {len(op.outputs)});')
    if (
        op.grad_mask
        or can_fail(op)
        or list_can_fail(op)
        or (entry.variant is not None and entry.variant.kind == "inplace")
    ):
        run = ["if (!e->set) {", *indented(run), "}"]
    run += [f"list_release_tensors(e, &f.t.{argument.name});" for argument in op.lists]
    released = [argument.name for argument in op.tensors if argument not in op.lists]
    released += [scratch.name for scratch in op.scratch] + [size.name for size in op.dynamic]
    released += [SEED] if op.random and op.saved_outputs and not entry.saved else []
    run += [f"tensor_release(e, &f.t.{name});" for name in released]
    run += [f"tensor_release(e, &f.h.{argument.name});" for argument in looked_at(op)]
    run += [f"tensor_release(e, &f.w.{name});" for name in set_aside(op)] + release_lines(op)
    run += ["list_release(&f.a.grad_mask);"] if mask_is_list(op) else []
    if entry.variant is not None:
        run += [line for name, _ in entry.variant.writes for line in release_output(op, name)]
        return BoxedKernelView(direct, boxed, tuple(take), tuple(run), ())
    returned = [output.name for output in (op.outputs if entry.saved else op.public_outputs)]
    lists = [name for name in returned if op.is_listed(name)]
    give = [f"tensor_define(e, &f.t.{name});" for name in returned if name not in lists] if op.grad_mask else []
    give += [f"list_pack(e, &f.t.{name});" for name in lists]
    for i, name in enumerate(returned):
        if name in lists:
            give.append(f"list_give(e, &f.t.{name}, &stack[{i}]);")
            continue
        optional = "_optional" if op.output(name).condition is not None else ""
        give.append(f"tensor_give{optional}(e, &f.t.{name}, &stack[{i}]);")
    return BoxedKernelView(direct, boxed, tuple(take), tuple(run), tuple(give))


def boxed_views(op: Operator) -> tuple[BoxedKernelView, ...]:
    """One for each operator of the dispatcher; the overload without autograd shares the public one's."""
    entries = {boxed_symbol(entry): entry for entry in reversed(dispatched(op))}
    registered = [_boxed(op, entry, True) for entry in reversed(entries.values())]
    return (*registered, *(_boxed(op, entry, False) for entry in only_direct(op)))
