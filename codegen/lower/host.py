"""How names and questions of the spec read in a generated host function.

Inside one, `f` is the frame, `c` its call record, `e` the error record; `scope` (CUDA) holds what launches know of the
hardware.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from codegen.contract import (
    Acc,
    BroadcastEntry,
    DimEntry,
    Dtype,
    FixedDtype,
    ReplaceEntry,
    Shape,
    StarEntry,
    TensorType,
    Variable,
    named_stars,
)
from codegen.expr.c import CNames, print_c
from codegen.expr.tree import Expr, Query
from codegen.frozen import replace
from codegen.layouts import Layout, layout
from codegen.lower.c.arguments import scalars
from codegen.model import Dim, Operator
from codegen.names import choice_constant
from codegen.positions import Span, first_of, list_of
from codegen.rules import ComputeStar, plain

# What launches know of the hardware, on the CPU: fixed, so that results do not depend on the machine.
CPU_HARDWARE = {"sm_count": "32", "max_shared": "0", "arch": "0"}


def dtype_constant(name: str) -> str:
    """DTYPE_FLOAT32."""
    return f"DTYPE_{name.upper()}"


def first_given(op: Operator) -> str:
    """The first tensor that is in every call, or ""; others are on its device, but for those that stay on the host."""
    for argument in op.device_tensors:
        if isinstance(argument.type, TensorType) and not argument.type.may_lack_tensors:
            return first_of(argument.name) if argument.type.is_list else argument.name
    return ""


def tensor(name: str) -> str:
    """A tensor of the frame: `x`, or `xs[0]`, in a loop over the list `xs[_i]`, and `xs[_f]`, the first one given."""
    if name.endswith("[_f]"):
        listed = f"f->t.{list_of(name)}"
        return f"{listed}.at[{listed}.first]"
    return "f->t." + name.replace("[_", ".at[").replace("[0]", ".at[0]")


def place(op: Operator) -> tuple[str, str]:
    """Where a call runs, and the question whether that is a GPU: the first tensor's device, else the argument that says
    so.
    """
    first = first_given(op)
    if first:
        return f"{tensor(first)}.device", f"on_cuda(&{tensor(first)})"
    where = next(name for name, kind in scalars(op) if kind.kind == "device")
    return f"f->a.{where}", f"device_is_cuda(&f->a.{where})"


def mask_is_list(op: Operator) -> bool:
    """Whether how long the grad_mask is differs from call to call: it has a place for each tensor of a list."""
    return op.grad_mask and bool(op.list_outputs)


def wanted(op: Operator, output: str) -> str:
    """Whether an output is wanted, where it may not be: for a gradient the caller says so, else its condition. A list
    is wanted where one of its tensors is.
    """
    if not mask_is_list(op):
        return f"f->mask[{[one.name for one in op.outputs].index(output)}]"
    before = mask_places(op, output)
    listed = op.output(output).counted_by
    return f"mask_any(&f->a.grad_mask, {before}, f->t.{listed}.count)" if listed else wanted_at(before)


def mask_places(op: Operator, before: str = "") -> str:
    """How many places the grad_mask has, or has before those of an output."""
    lists, alone = op.mask_before(before)
    return " + ".join([*(f"f->t.{name}.count" for name in lists), *([str(alone)] if alone or not lists else [])])


def wanted_at(place: str) -> str:
    """Whether the tensor at a place of the grad_mask is wanted."""
    return f"mask_wants(&f->a.grad_mask, {place})"


def star_number(stars: Sequence[ComputeStar], text: str, owner: str = "") -> int:
    """The number of a function of stars, as the shape of `owner` has it."""
    found = [rule.index for rule in stars if rule.entry.text == text and rule.owner in ("", owner)]
    return found[0] if found else next(rule.index for rule in stars if rule.entry.text == text)


class HostNames:
    """Prints expressions and tensor properties of one operator as host C."""

    def __init__(self, op: Operator) -> None:
        self.op = op
        # In an element-wise operator the record has the dims of one tensor at a time, and the frame those of each.
        of_each = "f->each." if op.elementwise else "c->"
        names = {dim.name: f"{of_each}{dim.name}[i]" if dim.each else f"c->{dim.name}" for dim in op.dims}
        names |= {derived.name: f"c->{derived.name}" for derived in op.derived}
        names |= {scalar.name: f"c->{scalar.name}" for scalar in op.scalars}
        names |= {size.name: f"f->n.{size.name}.bound" for size in op.dynamic}
        names |= {variable.name: f"f->d.{variable.name}" for variable in op.types}
        names |= {name: f"scope->{name}" for name in CPU_HARDWARE}
        self.stars = [rule for rule in map(plain, op.rules) if isinstance(rule, ComputeStar)]
        for text in {rule.entry.text for rule in self.stars}:
            number = star_number(self.stars, text)
            names[text] = f"product_i64(&overflow, f->star[{number}].sizes, f->star[{number}].dim)"
        names |= {name: f"(dtype)c->{name}" for name, kind in scalars(op) if kind.kind == "dtype"}
        lists = [name for name, kind in scalars(op) if kind.is_list]
        names |= {name: f"product_i64(&overflow, c->{name}, c->{name}_count)" for name in lists}
        self.c = CNames(names=names, query=self.query, dtype=dtype_constant, word=self.word)

    def renamed(self, names: Mapping[str, str]) -> HostNames:
        """The same with some names called otherwise."""
        other = copy(self)
        other.c = replace(self.c, names={**self.c.names, **names})
        return other

    def expr(self, expr: Expr) -> str:
        """The expression as C."""
        return print_c(expr, self.c)

    def word(self, argument: str, word: str) -> str:
        """The constant of a word of a choice."""
        return choice_constant(self.op.name, argument, word)

    def query(self, query: Query, operands: tuple[str, ...]) -> str:
        """numel(x), size(x, i), sizeof(T), given(y), aligned(16) and so on."""
        subject = query.subject
        match query.function:
            case "numel":
                return f"f->t.{subject}.numel"
            case "numel_of_list":
                return f"list_numel(&overflow, &f->t.{subject})"
            case "dim":
                return f"f->t.{subject}.dim"
            case "size":
                return f"tensor_size(&overflow, &f->t.{subject}, {operands[0]})"
            case "stride":
                return f"tensor_stride(&overflow, &f->t.{subject}, {operands[0]})"
            case "sizeof":
                variables = {variable.name for variable in self.op.types}
                return f"dtype_size({f'f->d.{subject}' if subject in variables else dtype_constant(subject)})"
            case "given":
                return self.given(subject)
            case "len" if self.op.is_listed(subject):
                return self.count(subject)
            case "len":
                return f"c->{subject}_count"
            case "entry":
                return f"c->{subject}[{operands[0]}]"
            case "aligned":
                return self._aligned(subject, operands[0])
        raise ValueError(f"{query.function}() is not built yet")

    def given(self, subject: str) -> str:
        """Whether an optional argument was given, or a gradient is wanted."""
        if any(output.name == subject for output in self.op.outputs):
            return wanted(self.op, subject)
        if subject != list_of(subject):
            place = f"f->t.{list_of(subject)}.first" if subject.endswith("[_f]") else "i"
            return f"list_has(&f->t.{list_of(subject)}, {place})"
        if self.op.argument(subject) in self.op.lists:
            return f"list_given(&f->t.{subject})"
        return f"given(&f->t.{subject})" if self.op.argument(subject).is_tensor else f"c->{subject}_given"

    def count(self, listed: str) -> str:
        """How many tensors a list has."""
        return f"f->t.{listed}.count" if self.op.elementwise else f"c->{listed}_count"

    def _aligned(self, subject: str, bytes_text: str) -> str:
        """Every pointer, and every distance between rows of a tensor that has rows."""
        shapes: list[tuple[str, TensorType, Layout]] = []
        for argument in self.op.tensors:
            assert isinstance(argument.type, TensorType)
            shapes.append((argument.name, argument.type, layout(argument.words)))
        shapes += [(output.name, output.type, layout(output.words)) for output in self.op.outputs]
        swapped = {output.name for output in self.op.outputs if output.has_word("transposed")}
        tests = []
        for name, kind, asked in shapes:
            if subject in ("", name):
                if kind.is_list:
                    tests.append(f"list_aligned(&f->t.{name}, {bytes_text})")
                    entries = kind.shape.entries
                    if asked.free or asked.policy == "rows" or name in swapped:
                        tests.append(f"list_strides_aligned(&f->t.{name}, {bytes_text})")
                    elif len(entries) > 1 and isinstance(entries[-1], DimEntry):
                        tests.append(f"list_widths_aligned(&f->t.{name}, {bytes_text})")
                    continue
                tests.append(f"aligned_to(c->{name}, {bytes_text})")
                width = -2 if name in swapped else -1  # of a row, as it lies in memory
                last = kind.shape.entries[width] if len(kind.shape.entries) > 1 else None
                if asked.free:
                    tests.append(f"strides_aligned(&f->t.{name}, {bytes_text})")
                elif asked.policy == "rows":
                    tests.append(f"stride_aligned(&f->t.{name}, c->{name}_stride[0], {bytes_text})")
                elif isinstance(last, DimEntry):
                    tests.append(f"{self.expr(last.expr)} * dtype_size({self.dtype(kind.dtype)}) % {bytes_text} == 0")
        return f"({' && '.join(dict.fromkeys(tests))})"

    def dtype(self, dtype: Dtype) -> str:
        """The dtype of a tensor, as a C expression of type dtype."""
        match dtype:
            case Variable():
                return f"f->d.{dtype.name}"
            case Acc():
                return f"dtype_acc(f->d.{dtype.variable})"
            case FixedDtype():
                return dtype_constant(dtype.name)

    def star(self, name: str) -> tuple[str, str]:
        """A pointer to the sizes of a star or the values of a list, and how many they are. Where it depends on the call
        which argument binds a star, the frame remembers.
        """
        dim = next((dim for dim in self.op.dims if dim.name == name), None)
        if dim is None:
            return f"c->{name}", f"c->{name}_count"
        place = dim.places[0].at
        if dim.each:
            return self._star_of_each(dim)
        if dim.optional or not isinstance(place, Span):
            return f"f->s.{name}.sizes", f"f->s.{name}.count"
        return self.span(place)

    def _star_of_each(self, dim: Dim) -> tuple[str, str]:
        """The same in a loop over a list: those of the first holder that has a tensor there."""
        start, count = "", ""
        for place in dim.places:
            assert isinstance(place.at, Span)
            own_start, own_count = self.span(place.at)
            if place == dim.places[-1]:
                start, count = start + own_start, count + own_count
            else:
                has = self.given(place.argument)
                start, count = f"{start}{has} ? {own_start} : ", f"{count}{has} ? {own_count} : "
        return (start, count) if len(dim.places) == 1 else (f"({start})", f"({count})")

    def span(self, span: Span) -> tuple[str, str]:
        """A pointer to the sizes that a star covers in an argument, and how many they are."""
        covered = tensor(span.argument)
        start = f"{covered}.sizes" + (f" + {span.front}" if span.front else "")
        left = span.front + span.back
        return start, f"{covered}.dim" + (f" - {left}" if left else "")

    def computed(self, number: int) -> tuple[str, str]:
        """The sizes of a function of stars, and how many they are."""
        return f"f->star[{number}].sizes", f"f->star[{number}].dim"

    def star_call(self, rule: ComputeStar) -> str:
        """The call that computes a function of stars; it returns whether it has a value."""
        entry, to = rule.entry, f"&f->star[{rule.index}]"
        stars = [", ".join(self.star(name)) for name in named_stars(entry)]
        if isinstance(entry, BroadcastEntry):
            listed = ", ".join(f"{{{one}}}" for one in stars)
            return f"star_broadcast({to}, {len(stars)}, (const star[]){{{listed}}})"
        arguments = [to, f"(star){{{stars[0]}}}", self.expr(entry.dim)]
        if isinstance(entry, ReplaceEntry):
            return f"star_replace({', '.join(arguments)}, {self.expr(entry.size)})"
        return f"star_drop({', '.join(arguments)})"

    def shape_calls(self, shape: Shape, owner: str = "") -> list[str]:
        """Calls that append the sizes of `shape`, that of `owner`, to a `shape s`; each returns bool."""
        calls = []
        for entry in shape.entries:
            if isinstance(entry, StarEntry):
                start, count = self.star(entry.name)
                calls.append(f"shape_add(e, &s, {start}, {count})")
            elif isinstance(entry, DimEntry):
                calls.append(f"shape_add_dim(e, &s, {self.expr(entry.expr)})")
            else:
                number = star_number(self.stars, entry.text, owner)
                calls.append(f"shape_add(e, &s, {', '.join(self.computed(number))})")
        return calls
