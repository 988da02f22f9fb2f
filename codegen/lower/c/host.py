"""View of generated/c/<op>.c: the host function of an operator."""

from __future__ import annotations

from codegen.contract import DimEntry, Scratch
from codegen.expr.tree import Expr, Name, NameKind, walk
from codegen.frozen import dataclass
from codegen.layouts import rank
from codegen.lower.c.arguments import device_values_lines, frame_lines, words_lines
from codegen.lower.c.boxed import BoxedKernelView, boxed_views
from codegen.lower.c.layout import fitted
from codegen.lower.checks import check_lines
from codegen.lower.custom import (
    CustomKernelView,
    call_lines,
    custom_kernels,
    declared_variables,
    dtype_lines,
    launcher_symbol,
)
from codegen.lower.dynamic import make_calls, may_read_calls, narrow_lines
from codegen.lower.elementwise.host import (
    ElementwiseHostView,
    alike,
    elementwise_host_view,
    empty_call,
    place_parameter,
)
from codegen.lower.host import CPU_HARDWARE, HostNames, dtype_constant, mask_is_list, place, wanted
from codegen.lower.launch import EntryPoints, PassView, cuda_units, pass_views
from codegen.lower.lists import data_call, device_lines, each_call, make_list
from codegen.lower.memory import arrange_calls, fill_calls, output_calls, pinned_calls, stride_lines
from codegen.lower.schema import public_schema
from codegen.lower.statements import all_or_return, c_comment, conjunction, guarded, indented, mentions
from codegen.lower.triton import TritonView, triton_view
from codegen.lower.values import looked_at, value_lines
from codegen.lower.variants import allocated, counted, givable, given_kind, place_lines, returned_outputs
from codegen.lower.written import overlap_lines, returned, set_aside
from codegen.model import Library, Operator
from codegen.positions import each_of


@dataclass(frozen=True)
class Named:
    """Something that a template only needs the name of."""

    name: str


@dataclass(frozen=True)
class GivableView:
    """An output that a caller may give."""

    kind: str
    name: str


@dataclass(frozen=True)
class DtypeCase:
    """One line of a dtype switch."""

    dtype: str
    index: int


@dataclass(frozen=True)
class IndexedVariable:
    """A dtype variable and the switch that gives its dtypes their places."""

    name: str
    cases: tuple[DtypeCase, ...]


@dataclass(frozen=True)
class HostView:
    """generated/c/<op>.c."""

    op: str
    name: str
    schema: str
    doc: tuple[str, ...]
    tensors: tuple[Named, ...]
    lists: tuple[Named, ...]
    views: tuple[Named, ...]
    variables: tuple[Named, ...]
    indexed: tuple[IndexedVariable, ...]
    givable: tuple[GivableView, ...]
    set_aside: tuple[Named, ...]
    looked_at: tuple[Named, ...]
    stars: tuple[Named, ...]
    arguments: tuple[str, ...]
    words: tuple[str, ...]
    mask: int
    star_functions: int
    dynamic: tuple[Named, ...]
    narrow: tuple[str, ...]
    check: tuple[str, ...]
    values: tuple[str, ...]
    overlap: tuple[str, ...]
    allocate: tuple[str, ...]
    nothing_to_do: str
    zero: tuple[str, ...]
    prepare: tuple[str, ...]
    prepare_head: tuple[str, ...]
    pointers: tuple[str, ...]
    execute: tuple[str, ...]
    run: tuple[str, ...]
    saved_parameter: str
    cpu: bool
    cuda: bool
    cuda_units: tuple[Named, ...]
    custom: bool
    launcher: str
    custom_kernels: tuple[CustomKernelView, ...]
    cuda_call: tuple[str, ...]
    triton: TritonView | None
    passes: tuple[PassView, ...]
    pass_count: int
    extents: str
    cpu_extents: str
    cpu_prologue: tuple[str, ...]
    cpu_if_empty: tuple[str, ...]
    cuda_prologue: tuple[str, ...]
    boxed_kernels: tuple[BoxedKernelView, ...]
    elementwise: ElementwiseHostView | None
    each: tuple[Named, ...]  # dims of tensors of lists, of which loops see those of one at a time
    place_parameter: str


class _Host:
    """What the parts of one host function have in common."""

    def __init__(self, op: Operator) -> None:
        self.op = op
        self.names = HostNames(op)
        # Where outputs are made, and the question whether that is a GPU.
        self.device, self.on_cuda = place(op)
        self.inputs = [argument.name for argument in op.tensors]
        self.lists = [one.name for one in op.listed]
        self.outputs = [output.name for output in op.outputs]
        self.computed = [name for name in self.outputs if not op.draws(name)]
        self.written = [argument.name for argument in op.written]
        self.scratch = [scratch.name for scratch in op.scratch]
        self.tensors = [*self.inputs, *self.outputs, *self.scratch, *(size.name for size in op.dynamic)]
        self.launch_dims = [derived for derived in op.derived if derived.launch_only]
        self.hardware = self._hardware()
        self.prepare = self._prepare()

    def _hardware(self) -> list[str]:
        """The hardware names that sizes of this operator depend on."""
        exprs: list[Expr] = [derived.expr for derived in self.launch_dims]
        for scratch in self.op.scratch:
            exprs += [entry.expr for entry in scratch.type.shape.entries if isinstance(entry, DimEntry)]
        nodes = [node for expr in exprs for node in walk(expr)]
        return sorted({node.name for node in nodes if isinstance(node, Name) and node.kind is NameKind.HARDWARE})

    def allocate(self) -> list[str]:
        """Every output that is wanted."""
        op, names = self.op, self.names
        lines: list[str] = []
        made: dict[str, list[str]] = {}
        for output in op.outputs:
            owner = each_of(output.name) if output.type.is_list else output.name
            # Each tensor of a list has its own; that there is one was checked.
            stars = [names.star_call(rule) for rule in names.stars if rule.owner == owner and output.type.is_list]
            shape = [*stars, *names.shape_calls(output.type.shape, owner)]
            dtype = names.dtype(output.type.dtype)
            calls = output_calls(output, dtype, self.device, shape)
            calls += [f"tensor_draw(e, &f->t.{output.name})"] if op.draws(output.name) else []
            if alike(op, output):
                calls = [*shape, empty_call(op, output, dtype)]
            reset = ["s.dim = 0;"] if any("&s" in call.split(", ") for call in calls) else []
            made[output.name] = [*reset, *all_or_return(calls)]
            block = allocated(op, output, shape, dtype, self.device, made[output.name])
            if output.type.is_list:
                block = [*counted(op, output), *make_list(op, output, block)]
            if output.type.is_list and op.grad_mask:
                pass  # each of its tensors is wanted, or not
            elif op.grad_mask or output.condition is not None:
                block = [f"if ({wanted(op, output.name)}) {{", *indented(block), "}"]
            elif output.saved and not op.draws(output.name):
                block = ["if (saved) {", *indented(block), "}"]
            lines += block
        lines += place_lines(op, made)
        record = [f"const {op.name}_call *const c = &f->call;"] if mentions(lines, "c->") else []
        sizes = ["shape s;"] if any(line.lstrip() == "s.dim = 0;" for line in lines) else []
        return [*record, *sizes, *guarded(lines, "outputs")]

    def _prepare(self) -> list[str]:
        """Sizes that depend on the hardware, and scratch."""
        op, names = self.op, self.names.renamed({name: name for name in CPU_HARDWARE})
        sizes = [
            line
            for derived in self.launch_dims
            for line in fitted(f"c->{derived.name} = ", names.expr(derived.expr), ";")
        ]
        for scratch in op.scratch:
            sizes += self.scratch_sizes(scratch, names)
        made = all_or_return(make_calls(op, self.device))
        if not sizes:
            return made
        lines = [f"{op.name}_call *const c = &f->call;", *(["shape s;"] if op.scratch else []), *made]
        lines += guarded(sizes, "the sizes of launch and scratch")
        for scratch in op.scratch:
            count = rank(scratch.type.shape)
            shape = f"shape_add(e, &s, c->{scratch.name}_size, {f'c->{scratch.name}_dim' if count is None else count})"
            dtype = names.dtype(scratch.type.dtype)
            draw = [f"tensor_draw(e, &f->t.{scratch.name})"] if op.draws(scratch.name) else []
            tensor = f'tensor_empty(e, &f->t.{scratch.name}, "{scratch.name}", &s, {dtype}, {self.device})'
            lines += ["s.dim = 0;", *all_or_return([shape, tensor, *fill_calls(scratch), *draw])]
        return lines

    def scratch_sizes(self, scratch: Scratch, names: HostNames) -> list[str]:
        """The sizes of a scratch tensor go into the record; they must all be there before the first is used."""
        name, shape = scratch.name, scratch.type.shape
        if rank(shape) is None:
            lines = ["s.dim = 0;", *all_or_return(names.shape_calls(shape)), f"c->{name}_dim = s.dim;"]
            return [*lines, f"memcpy(c->{name}_size, s.sizes, (size_t)s.dim * sizeof *s.sizes);"]
        exprs = [entry.expr for entry in shape.entries if isinstance(entry, DimEntry)]
        return [
            line for i, expr in enumerate(exprs) for line in fitted(f"c->{name}_size[{i}] = ", names.expr(expr), ";")
        ]

    def empty(self, name: str) -> str:
        """Whether a tensor has no elements, or none of a list has any."""
        listed = name in self.lists
        return f"list_empty(&f->t.{name})" if listed else f"f->t.{name}.numel == 0"

    def nothing(self) -> list[str]:
        """What must hold for there to be nothing to do. A size that only the kernel knows is found for rows of no
        elements too.
        """
        tests = [self.empty(name) for name in self.written + self.computed]
        return tests + [f"f->n.{size.name}.bound == 0" for size in self.op.dynamic]

    def prepare_head(self) -> list[str]:
        """What the function of which `prepare` is the body begins with."""
        parameters = ["error *e", f"{self.op.name}_frame *f", *(f"int64_t {name}" for name in self.hardware)]
        return fitted(f"static bool {self.op.name}_prepare(", ", ".join(parameters), ") {", 0)

    def pointers(self) -> list[str]:
        """The data of every tensor goes into the record, and the strides that bodies read."""
        read = [name for name in self.inputs if name not in self.written]
        if self.op.elementwise:
            read = [name for name in read if name not in self.lists or name in self.op.operands]
        calls = [data_call(self.op, name, "const") for name in read]
        made = self.written + self.outputs + self.scratch + [size.name for size in self.op.dynamic]
        calls += [data_call(self.op, name, "mutable") for name in made]
        return [*stride_lines(self.op), *conjunction(calls)]

    def prepare_call(self, values: list[str]) -> list[str]:
        """The call of the function that `prepare` is the body of."""
        return [f"{self.op.name}_prepare(e, f{''.join(f', {value}' for value in values)})"] if self.prepare else []

    def cpu_prologue(self) -> list[str]:
        """What stands before the first CPU kernel."""
        op = self.op
        calls = [*self.prepare_call([CPU_HARDWARE[name] for name in self.hardware]), f"{op.name}_pointers(e, f)"]
        lines = [*all_or_return(calls), f"const {op.name}_call *const c = &f->call;"]
        sizes = [each_call(op, name, "bytes") for name in self.inputs + self.outputs + self.scratch]
        head = "const int64_t bytes = "
        terms = [f"{head}{sizes[0]}", *(f"{' ' * len(head)}{size}" for size in sizes[1:])]
        lines += [*(f"{term} +" for term in terms[:-1]), f"{terms[-1]};"]
        for variable in op.types:
            lines.append(f"const int {variable.name}_index = index_of_{variable.name}(f->d.{variable.name});")
        return lines

    def cuda_prologue(self, passes: tuple[PassView, ...]) -> list[str]:
        """What stands before the launches: all of them are planned before the first one runs."""
        op = self.op
        calls = [*may_read_calls(op), *self.prepare_call([f"scope->{name}" for name in self.hardware])]
        calls += [f"{op.name}_pointers(e, f)"]
        if op.launches_itself:
            lines = [*device_values_lines(op), *all_or_return(calls), *device_lines(op, self.device)]
            return [*lines, *dtype_lines(op)]
        calls += pinned_calls(op)
        if op.triton is not None:
            return [*device_values_lines(op), *all_or_return(calls)]
        calls += [f"{one.kernel}_plan(e, f, scope, &plans[{i}])" for i, one in enumerate(passes)]
        return [*device_values_lines(op), *all_or_return(calls), *self.if_empty("cuda"), *device_lines(op, self.device)]

    def if_empty(self, device: str) -> list[str]:
        """What is done when a pass has nothing to run on."""
        if not self.zero():
            return []
        any_empty = f"{device}_any_empty(plans, {len(self.op.passes)})"
        return [f"if ({any_empty} && !{self.op.name}_zero(e, f)) {{", "    return false;", "}"]

    def zero(self) -> list[str]:
        """What is written and never read is zero when a kernel has nothing to run on; those without a `fill` have to be
        told.
        """
        if self.op.elementwise:  # lines reach every element
            return []
        names = [argument.name for argument in self.op.written if argument.has_word("out")]
        names += [name for name in self.computed if self.op.output(name).word("fill") is None]
        calls = [each_call(self.op, name, "clear" if name in self.written else "zero") for name in names]
        return conjunction(calls) if calls else []

    def run(self, values: list[str]) -> list[str]:
        """The order of work of every host function."""
        op = self.op
        checks = [f"{op.name}_check(e, f)"] + ([f"{op.name}_values(e, f)"] if values else [])
        checks += [f"{op.name}_overlap(e, f)"] if op.written else []
        saved = ", saved" if op.for_backward else ""
        lines = [*all_or_return(checks[:1]), *self.require_arch(), *(all_or_return(checks[1:]) if checks[1:] else [])]
        lines += all_or_return([f"{op.name}_allocate(e, f{saved})"]) if op.outputs else []
        lines += all_or_return(arrange_calls(op))
        lines += [f"if ({op.name}_nothing_to_do(f)) {{", "    return true;", "}"]
        return [*lines, *conjunction([f"{op.name}_execute(e, f)", *returned(op), *returned_outputs(op)])]

    def require_arch(self) -> list[str]:
        """Before anything is allocated, a GPU that is too old is refused."""
        if not self.op.oldest_arch:
            return []
        call = f"cuda_require_arch(e, {self.device}.index, {self.op.oldest_arch})"
        return [f"if ({self.on_cuda} && !{call}) {{", "    return false;", "}"]

    def execute(self) -> list[str]:
        """Runs the kernels on the device of the tensors."""
        op = self.op
        narrow = f" && {op.name}_narrow(e, f, &scope)" if op.dynamic else ""
        on_cuda = [
            "cuda_scope scope;",
            *all_or_return([f"cuda_enter(e, {self.device}.index, &scope)"]),
            f"const bool ok = {op.name}_cuda(e, f, &scope){narrow};",
            "cuda_leave(e, &scope);",
            "return ok;",
        ]
        if "cpu" not in op.devices:
            return on_cuda
        lines = [f"if ({self.on_cuda}) {{", *indented(on_cuda), "}"] if "cuda" in op.devices else []
        narrow = f" && {op.name}_narrow(e, f, NULL)" if op.dynamic else ""
        return [*lines, f"return {op.name}_cpu(e, f){narrow};"]


def host_view(library: Library, op: Operator, points: EntryPoints) -> HostView:
    """The host function of one operator."""
    host = _Host(op)
    values = value_lines(op)
    passes = pass_views(op, points)
    extents = "".join(f"[{len(variable.places)}]" for variable in op.types)
    kernels = custom_kernels(op, points)
    check = check_lines(op)
    indexed = [v.name for v in op.types]
    if op.full_cuda and "cpu" not in op.devices:  # no table of kernels asks for the places of dtypes
        indexed = declared_variables(indexed, check)
    return HostView(
        op=op.name,
        name=f"{library.namespace}::{op.name}",
        schema=c_comment(public_schema(library.namespace, op)),
        doc=tuple(line.strip() for line in c_comment(op.doc).splitlines()),
        tensors=tuple(Named(name) for name in host.tensors if name not in host.lists),
        lists=tuple(Named(name) for name in host.lists),
        views=tuple(Named(a.name) for a in op.tensors if a.has_word("expand") and a not in op.lists),
        variables=tuple(Named(variable.name) for variable in op.types),
        indexed=tuple(
            IndexedVariable(v.name, tuple(DtypeCase(dtype_constant(d), v.places.index(v.place(d))) for d in v.dtypes))
            for v in op.types
            if v.name in indexed
        ),
        givable=tuple(GivableView(given_kind(output), output.name) for output in givable(op)),
        set_aside=tuple(Named(name) for name in set_aside(op)),
        looked_at=tuple(Named(argument.name) for argument in looked_at(op)),
        stars=tuple(Named(dim.name) for dim in op.dims if dim.star and dim.optional and not dim.each),
        arguments=frame_lines(op),
        words=words_lines(op),
        mask=0 if mask_is_list(op) else len(op.outputs) * (op.grad_mask or any(o.condition for o in op.outputs)),
        star_functions=len(host.names.stars),
        dynamic=tuple(Named(size.name) for size in op.dynamic),
        narrow=tuple(narrow_lines(op)),
        check=tuple(check),
        values=tuple(values),
        overlap=tuple(overlap_lines(op)),
        allocate=tuple(host.allocate()) if op.outputs else (),
        nothing_to_do=" && ".join(host.nothing()),
        zero=tuple(host.zero()),
        prepare=tuple(host.prepare),
        prepare_head=tuple(host.prepare_head()),
        pointers=tuple(host.pointers()),
        execute=tuple(host.execute()),
        run=tuple(host.run(values)),
        saved_parameter=", bool saved" if op.for_backward else "",
        cpu="cpu" in op.devices,
        cuda="cuda" in op.devices,
        cuda_units=tuple(Named(str(unit)) for unit in sorted({0, *cuda_units(points).values()})),
        custom=op.launches_itself and bool(op.custom),
        launcher=launcher_symbol(op) if op.launches_itself else "",
        custom_kernels=kernels,
        cuda_call=tuple(call_lines(op, host.device, zeroes=bool(host.zero()))),
        triton=triton_view(op, host.device, zeroes=bool(host.zero())),
        passes=passes,
        pass_count=len(passes),
        extents=extents,
        cpu_extents=extents or "[1]",
        cpu_prologue=tuple(host.cpu_prologue()),
        cpu_if_empty=tuple(host.if_empty("cpu")),
        cuda_prologue=tuple(host.cuda_prologue(passes)),
        boxed_kernels=boxed_views(op),
        elementwise=elementwise_host_view(op) if op.elementwise else None,
        each=tuple(Named(dim.name) for dim in op.dims if dim.each and op.elementwise),
        place_parameter=place_parameter(op),
    )
