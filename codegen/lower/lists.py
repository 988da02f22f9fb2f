"""Lists of tensors as C: how they come off the stack, and what is done with all of their tensors at once.

In these statements `f` is the frame and `e` the error record. What is done with each tensor on its own are rules, in
checks.py.
"""

from __future__ import annotations

from codegen.contract import Argument, Output, TensorType
from codegen.layouts import layout
from codegen.lower.host import mask_places, wanted_at
from codegen.lower.record import list_fields
from codegen.lower.statements import all_or_return, indented
from codegen.model import Operator
from codegen.positions import list_of


def can_fail(op: Operator) -> bool:
    """Whether taking the arguments can fail."""
    return bool(op.lists)


def take_list_lines(op: Operator, argument: Argument, slot: str) -> list[str]:
    """Takes a list off the stack; the record points to what bodies see of each tensor."""
    assert isinstance(argument.type, TensorType)
    name, call = argument.name, "list_take_optionals" if argument.type.element_optional else "list_take"
    tables, numbers = _tables(op, argument), _numbers(op, argument)
    rows = len(numbers) + (layout(argument.words).policy == "rows" and not op.elementwise)
    lines = [f"{call}(e, {slot}, &f.t.{name}, {rows}, {len(tables)});"]
    if op.elementwise:  # the record has one tensor at a time
        return lines + [f"f.each.{number} = f.t.{name}.numbers{place};" for number, place in numbers.items()]
    lines += [f"f.call.{name} = f.t.{name}.data;"]
    lines += [f"f.call.{table} = f.t.{name}.{what};" for table, what in tables.items()]
    for number, place in numbers.items():
        points = f"f.call.{number} = f.t.{name}.numbers{place};"
        shared = f"if (f.call.{number} == NULL) {{"
        lines += [shared, f"    {points}", "}"] if _is_later(op, number, argument) else [points]
    return [*lines, f"f.call.{name}_count = f.t.{name}.count;"]


def _numbers(op: Operator, argument: Argument | Output) -> dict[str, str]:
    """The fields with a number for each tensor of the list, dims that bind for each of them above all, and where these
    begin behind those of the first one.
    """
    names = [
        dim.name
        for dim in op.dims
        if dim.each == argument.name
        or (dim.each and _shared(op, dim.name) and argument.name in map(list_of, dim.holders))
    ]
    names += [field.name for field in list_fields(argument) if field.kind == "numbers" and not op.elementwise]
    count = f"f.t.{argument.name}.count"
    places = ["", f" + {count}", *(f" + {i} * {count}" for i in range(2, len(names)))]
    return dict(zip(names, places, strict=False))


def _tables(op: Operator, argument: Argument | Output) -> dict[str, str]:
    """The fields with sizes or strides of each tensor, and what the list calls them."""
    fields = () if op.elementwise else list_fields(argument)
    return {field.name: field.fact for field in fields if field.kind == "tables"}


def _shared(op: Operator, name: str) -> bool:
    """Whether each of several lists has room for the numbers of a dim, since the one that binds it may be absent."""
    dim = next((dim for dim in op.dims if dim.name == name), None)
    return dim is not None and len(dim.places) > 1 and op.argument(dim.each).type.optional


def _is_later(op: Operator, name: str, argument: Argument | Output) -> bool:
    """Whether a list that is taken before this one may have given the numbers of a dim already."""
    dim = next((dim for dim in op.dims if dim.name == name), None)
    if dim is None or not _shared(op, name):
        return False
    holders = set(map(list_of, dim.holders))
    return argument.name != next(one.name for one in op.lists if one.name in holders)


def make_list(op: Operator, output: Output, made: list[str]) -> list[str]:
    """Makes an output: `made` makes tensor number i of it, where it is wanted and that of the inputs is there."""
    listed, source = f"f->t.{output.name}", op.argument(output.counted_by).type
    before = mask_places(op, output.name)
    wanted = [wanted_at("i" if before == "0" else f"{before} + i")] if op.grad_mask else []
    assert isinstance(source, TensorType)
    wanted += [f"list_has(&f->t.{output.counted_by}, i)"] if source.element_optional else []
    body = [f"if ({' && '.join(wanted)}) {{", *indented(made), "}"] if wanted else made
    numbers, tables = _numbers(op, output), _tables(op, output)
    room = f"f->t.{output.counted_by}.count, {len(numbers)}, {len(tables)}"
    seen = [
        f"f->call.{output.name} = {listed}.data;",
        *(f"f->call.{table} = {listed}.{what};" for table, what in tables.items()),
        *(f"f->call.{number} = {listed}.numbers{place};" for number, place in numbers.items()),
        f"f->call.{output.name}_count = {listed}.count;",
    ]
    return [
        *all_or_return([f'list_make(e, &{listed}, "{output.name}", {room})']),
        *(seen if not op.elementwise else ()),
        f"for (int64_t i = 0; i < {listed}.count; i++) {{",
        *indented(body),
        "}",
    ]


def record_lines(op: Operator, argument: Argument | Output, record: str, frame: str, where: str) -> list[str]:
    """Points a call record to what bodies see of a list: in memory of the host (`where` is ""), or of the GPU
    (device_).
    """
    listed = f"{frame}t.{argument.name}"
    lines = [f"{record}{argument.name} = {listed}.{where}data;"]
    lines += [f"{record}{table} = {listed}.{where}{what};" for table, what in _tables(op, argument).items()]
    for number, place in _numbers(op, argument).items():
        place = place.replace("f.t.", f"{frame}t.")
        points = f"{record}{number} = {listed}.{where}numbers{place};"
        own = f"if ({record}{number} == {listed}.numbers{place}) {{"
        lines += [own, f"    {points}", "}"] if _is_later(op, number, argument) else [points]
    return [f"if (list_given(&{listed})) {{", *indented(lines), "}"] if argument.type.optional else lines


def each_call(op: Operator, tensor: str, call: str) -> str:
    """`tensor_bytes(&f->t.x)`, or `list_bytes(&f->t.xs)` for all tensors of a list."""
    listed = op.is_listed(tensor)
    error = ["e"] if call in ("zero", "clear") else []
    if listed and call == "zero":
        return f"zero_list(e, &f->t.{tensor})"  # list_zero would be a function of an operator called list
    return f"{'list' if listed else 'tensor'}_{call}({', '.join([*error, f'&f->t.{tensor}'])})"


def data_call(op: Operator, tensor: str, access: str) -> str:
    """The call that puts the address of a tensor, or those of a list, where bodies find them; `access` is const or
    mutable.
    """
    if op.is_listed(tensor) and op.elementwise:
        return f"tensor_{access}_data(e, &f->t.{tensor}.at[i], &f->call.{tensor})"
    if op.is_listed(tensor):
        return f"list_{access}_data(e, &f->t.{tensor})"
    return f"tensor_{access}_data(e, &f->t.{tensor}, &f->call.{tensor})"


def store_kernel(op: Operator) -> str:
    """The kernel that stores what bodies see of lists; no kernel of a spec has `__` in its name."""
    return f"{op.name}__store_list"


def device_lines(op: Operator, device: str) -> list[str]:
    """Puts what bodies see of lists into memory of `device`. The record then points there, but where the operator
    launches itself: that code sees memory of the host.
    """
    if not op.lists or op.full_cuda:
        return []
    lines = [f'static cuda_kernel store = {{.name = "{store_kernel(op)}", .module = &modules[0]}};']
    listed = op.listed
    lines += all_or_return([f"list_to_device(e, scope, &store, {device}, &f->t.{one.name})" for one in listed])
    for argument in listed if not op.custom else ():
        lines += record_lines(op, argument, "f->call.", "f->", "device_")
    return lines
