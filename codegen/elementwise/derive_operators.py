"""The gradient operators of element-wise operators that declare none.

`<op>_backward` takes the gradients of the outputs and those operands that the derivatives need, all broadcast to the
shape of the outputs, and gives a gradient of that shape for each floating input. Where an input was broadcast, that
gradient is one of its accumulation dtype, and autograd sums it to the input's shape and rounds it once. The operator is
differentiable itself: its own gradient is derived in the same way, and that is the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from codegen.bind import names as bind_names
from codegen.bind import operator as bind
from codegen.contract import (
    Acc,
    Argument,
    DimEntry,
    Dtype,
    FixedDtype,
    Output,
    ScalarType,
    Shape,
    ShapeEntry,
    StarEntry,
    TensorType,
    TypeVariable,
    Variable,
    Word,
    dtypes_of,
)
from codegen.elementwise.derive import gradients
from codegen.expr.tree import (
    Conditional,
    Constant,
    Expr,
    Name,
    NameKind,
    Query,
    Type,
    children,
    distinct,
    integer,
    names,
    rebuild,
)
from codegen.frozen import dataclass, replace
from codegen.launches import Pass
from codegen.model import Backward, Binding, ElementwiseLine, Gradient, Operator, Samples
from codegen.types import DTYPES, is_floating

SUFFIX = "_backward"


@dataclass(frozen=True)
class Derived:
    """An operator that was derived, and how the operator that it belongs to uses it."""

    operator: Operator
    backward: Backward


def differentiable(op: Operator) -> bool:
    """Whether the gradient of an operator is derived: it says nothing of gradients itself and is not in place."""
    return bool(op.elementwise) and op.backward is None and op.differentiable is None and not op.written


def never_differentiable(op: Operator) -> bool:
    """Whether no output can have a gradient."""
    return not any(_floating(op, output.type.dtype) for output in op.public_outputs)


def derive(op: Operator) -> Derived | None:
    """The operator that computes the gradients of `op`; None where a dtype variable stands for floats and others, and
    more than one does, and where every output is there on a condition.
    """
    return _Derivation(op).run() if _separable(op) else None


def _floating(op: Operator, dtype: Dtype) -> bool:
    return any(is_floating(name) for name in dtypes_of(dtype, op.types))


def _complex(op: Operator, argument: Argument) -> bool:
    kind = argument.type
    return isinstance(kind, TensorType) and any(
        DTYPES[name].category == "complex" for name in dtypes_of(kind.dtype, op.types)
    )


def _separable(op: Operator) -> bool:
    """Gradients are computed where every variable that may be floating is. With one such variable no call is missed."""
    mixed = [v for v in op.types if len({is_floating(name) for name in v.dtypes}) > 1]
    floating = [v for v in op.types if any(is_floating(name) for name in v.dtypes)]
    derived = any(name.kind is NameKind.DERIVED for line in op.elementwise for name in names(line.expr))
    return (not mixed or len(floating) == 1) and not derived


class TwoMeanings(Exception):
    """A name that would mean two things in a gradient operator; the text says which."""


class _Derivation:
    def __init__(self, op: Operator) -> None:
        self.op = op
        assert op.iterated is not None
        self.taken = {a.name for a in op.arguments} | {output.name for output in op.outputs}
        self.taken |= {dim.name for dim in op.dims} | {variable.name for variable in op.types}
        self.shape = self.plain(op.iterated)
        self.inputs = {a.name: a.type for a in op.tensors if isinstance(a.type, TensorType)}
        self.listed = op.is_listed(op.elementwise[0].target)
        self.targets = {output.name: output for output in op.public_outputs}

    def fresh(self, name: str) -> str:
        """A name that the operator does not use itself."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def plain(self, shape: Shape) -> Shape:
        """A shape of which every entry binds a name."""
        entries: list[ShapeEntry] = []
        for i, entry in enumerate(shape.entries):
            if isinstance(entry, StarEntry):
                entries.append(entry)
            elif not isinstance(entry, DimEntry):
                name = self.fresh("shape")
                entries.append(StarEntry(name, f"*{name}"))
            elif isinstance(entry.expr, Name) and entry.expr.kind is NameKind.DIM and entry not in entries:
                entries.append(entry)
            else:
                name = self.fresh(f"n{i}")
                entries.append(DimEntry(Name(name, NameKind.DIM, Type.INT), name))
        return Shape(tuple(entries))

    def run(self) -> Derived | None:
        wanted = [a.name for a in self.op.may_need_gradient]
        upstream = {name: f"grad_{name}" for name in self.targets if _floating(self.op, self.targets[name].type.dtype)}
        always = [gradient for name, gradient in upstream.items() if self.targets[name].condition is None]
        if not always:
            return None
        lines = [
            (line.expr, self.arriving(line.target, upstream[line.target]))
            for line in self.op.elementwise
            if line.target in upstream
        ]
        found = gradients(lines, wanted, any(_complex(self.op, argument) for argument in self.op.tensors))
        # An input that nothing depends on smoothly has the gradient 0.
        made = {name: found.get(name, integer(0)) for name in wanted}
        if not made:
            return None
        given = {name: _where_given(expr, name) for name, expr in made.items()}
        used = _used(given.values())
        if self.listed and not self.of_lists_alone(made, used):
            return None
        # What is no argument of the gradient operator is taken to have been given.
        made = {name: made[name] if name in used else given[name] for name in made}
        arguments = self.arguments(upstream, used)
        outputs = [self.output(name, always[0]) for name in made]
        if not all(self.bound(output.type.dtype, arguments) for output in outputs):
            return None
        self.check_names(upstream, arguments, outputs)
        operator = self.operator(arguments, outputs, made)
        return Derived(operator, self.backward(operator, upstream))

    def of_lists_alone(self, made: Mapping[str, Expr], used: Collection[str]) -> bool:
        """Whether all gradients are those of lists: that of a tensor beside them would be a sum over all of theirs.
        Tensors beside them come with their own shapes, whose names have to bind, and dims are those of the shape.
        """
        bound = {name.name for entry in self.shape.entries for name in _names(entry)}
        beside = [a for a in self.op.tensors if a.name in used and not self.op.is_listed(a.name)]
        plain = [entry for a in beside if isinstance(a.type, TensorType) for entry in a.type.shape.entries]
        return (
            all(self.op.is_listed(name) for name in made)
            and all(dim.name in bound or not dim.each for dim in self.op.dims if dim.name in used)
            and all(isinstance(e, StarEntry) or (isinstance(e, DimEntry) and isinstance(e.expr, Name)) for e in plain)
            and not any(a.has_word("expand") for a in beside)
        )

    def arriving(self, target: str, gradient: str) -> Expr:
        """The gradient of an output; that of one with a condition is not always there."""
        name = Name(gradient, NameKind.ELEMENT, Type.FLOAT)
        if self.targets[target].condition is None:
            return name
        return Conditional(Query("given", gradient, (), Type.BOOL), name, Constant(0.0, Type.FLOAT), Type.FLOAT)

    def check_names(
        self, upstream: Mapping[str, str], arguments: Sequence[Argument], outputs: Sequence[Output]
    ) -> None:
        """Beside the names of the operator there are those of gradients, which its own names may be equal to."""
        given = [(gradient, f"the gradient of {name}") for name, gradient in upstream.items()]
        given += [(output.name, f"the gradient of {output.name.removeprefix('grad_')}") for output in outputs]
        masked = len(outputs) > 1 or self.listed
        given += [("grad_mask", "the keyword that says which gradients are wanted")] if masked else []
        given += [(argument.name, "an input") for argument in arguments[len(upstream) :]]
        given += [(f"{a.name}_given", f"what loops see of {a.name}") for a in arguments if _has_flag(a)]
        scalars = [argument.name for argument in arguments if not argument.is_tensor]
        dims = [name.name for entry in self.shape.entries for name in _names(entry)]
        given += [(name, "a dim") for name in dims if name not in scalars]
        given += [(variable.name, "a dtype variable") for variable in self.op.types if _binds(variable, arguments)]
        meanings: dict[str, str] = {}
        for name, what in given:
            if name in meanings:
                where = f"its derived gradient {self.op.name}{SUFFIX}"
                raise TwoMeanings(f'in {where} "{name}" would be both {meanings[name]} and {what}')
            meanings[name] = what

    # ---------------------------------------------------------------- the contract

    def arguments(self, upstream: Mapping[str, str], used: Collection[str]) -> list[Argument]:
        """Gradients of outputs, then operands, sizes and scalars that the derivatives use."""
        found = []
        for name, gradient in upstream.items():
            target = self.targets[name]
            optional = target.condition is not None
            kind = TensorType(target.type.dtype, self.shape, optional=optional, is_list=self.listed)
            found.append(Argument(gradient, kind, words=(Word("strided"),), text=_text(kind)))
        for argument in self.op.arguments:
            if argument.name not in used:
                continue
            if isinstance(argument.type, TensorType):
                found.append(self.operand(argument, argument.type))
            else:
                found.append(replace(argument, default=None, keyword_only=False))
        bound = {name.name for entry in self.shape.entries for name in _names(entry)}
        for argument in self.op.may_need_gradient:
            kind_ = argument.type
            if isinstance(kind_, TensorType) and argument.name not in used and not self.bound(kind_.dtype, found):
                found.append(self.operand(argument, kind_))  # nothing else tells the dtype of its gradient
        for dim in self.op.dims:
            if dim.name in used and dim.name not in bound:
                found.append(Argument(dim.name, ScalarType("size"), text="size"))
        return found

    def bound(self, dtype: Dtype, arguments: Sequence[Argument]) -> bool:
        """Whether a call of the gradient operator tells what this dtype is."""
        if isinstance(dtype, FixedDtype):
            return True
        variable = dtype.name if isinstance(dtype, Variable) else dtype.variable
        dtypes = [argument.type.dtype for argument in arguments if isinstance(argument.type, TensorType)]
        return any(isinstance(other, Variable) and other.name == variable for other in dtypes)

    def operand(self, argument: Argument, kind: TensorType) -> Argument:
        if self.listed and not kind.is_list:  # it is broadcast to the tensors of lists, which differ
            return replace(argument, words=(Word("strided"), Word("no_grad")), default=None, keyword_only=False)
        same = self.is_whole(argument)
        kind = TensorType(kind.dtype, self.shape, optional=kind.optional, is_list=self.listed)
        words = (Word("strided"),) if same else (Word("expand"), Word("strided"))
        text = _text(kind) if same else f"{_text(kind)} expand"
        return Argument(argument.name, kind, words=words, text=text)

    def is_whole(self, argument: Argument) -> bool:
        """Whether an input has the shape of the outputs in every call."""
        assert isinstance(argument.type, TensorType)
        assert self.op.iterated is not None
        return argument.type.shape.entries == self.op.iterated.entries and not argument.has_word("expand")

    def output(self, name: str, first: str) -> Output:
        argument = self.op.argument(name)
        assert isinstance(argument.type, TensorType)
        dtype = argument.type.dtype if self.is_whole(argument) else _accumulated(argument.type.dtype)
        kind = TensorType(dtype, self.shape, is_list=self.listed)
        counted_by = first if self.listed else ""
        return Output(f"grad_{name}", kind, words=(Word("like", first),), text=_text(kind), counted_by=counted_by)

    # ---------------------------------------------------------------- the model

    def operator(self, arguments: Sequence[Argument], outputs: Sequence[Output], made: Mapping[str, Expr]) -> Operator:
        op = self.op
        types = tuple(_only_floating(v) for v in op.types if _binds(v, arguments))
        shapes = [
            bind_names.PlainShape(
                a.name,
                tuple(_plain_entry(entry) for entry in a.type.shape.entries),
                a.type.optional,
                a.type.is_list,
            )
            for a in arguments
            if isinstance(a.type, TensorType) and not a.has_word("expand")
        ]
        dims = bind_names.find_dims(shapes, frozenset(a.name for a in arguments if not a.is_tensor))
        known = {dim.name for dim in dims} | {a.name for a in arguments if not a.is_tensor}
        name = op.name + SUFFIX
        return Operator(
            name=name,
            doc=f"Gradient of {op.name}, derived from its lines.",
            types=types,
            arguments=tuple(arguments),
            outputs=tuple(outputs),
            scratch=(),
            dims=dims,
            derived=(),
            checks=(),
            values=(),
            rules=bind.rules(types, arguments, outputs, (), dims, (), (), (), (), op.devices),
            passes=(Pass(name, None, (), integer(1)),),
            devices=op.devices,
            backward=None,
            differentiable=None,
            grad_mask=len(outputs) > 1 or self.listed,
            reference=op.reference,
            samples=Samples(tuple(entry for entry in op.samples.sizes if entry[0] in known)),
            tolerance=op.tolerance,
            fast_math=op.fast_math,
            elementwise=tuple(ElementwiseLine(f"grad_{target}", expr, "") for target, expr in made.items()),
            iterated=self.shape,
            requires=op.requires,
            derived_from=op.name,
        )

    def backward(self, operator: Operator, upstream: Mapping[str, str]) -> Backward:
        sources = {gradient: Binding(gradient, "gradient", name) for name, gradient in upstream.items()}
        inputs = {argument.name for argument in self.op.arguments}
        bindings = [
            sources.get(a.name) or Binding(a.name, "input" if a.name in inputs else "dim", a.name)
            for a in operator.arguments
        ]
        found = []
        for output in operator.outputs:
            name = output.name.removeprefix("grad_")
            found.append(Gradient(output.name, name, summed=not self.is_whole(self.op.argument(name))))
        return Backward(operator.name, tuple(bindings), tuple(found), operator.grad_mask)


def _has_flag(argument: Argument) -> bool:
    """Whether an argument comes with a flag that says whether it was given."""
    return argument.type.optional and not argument.is_tensor


def _used(exprs: Iterable[Expr]) -> set[str]:
    """What expressions name, or ask about."""
    parts = [part for expr in exprs for part in distinct(expr)]
    asked = {part.subject for part in parts if isinstance(part, Query) and part.function == "given"}
    return {part.name for part in parts if isinstance(part, Name)} | asked


def _where_given(expr: Expr, name: str) -> Expr:
    """The gradient of an input is asked for only where the input was given."""
    done: dict[int, Expr] = {}

    def visit(node: Expr) -> Expr:
        if id(node) not in done:
            parts = children(node)
            new = tuple(visit(part) for part in parts)
            if node == Query("given", name, (), Type.BOOL):
                done[id(node)] = Constant(True, Type.BOOL)
            elif isinstance(node, Conditional) and isinstance(new[1], Constant):
                done[id(node)] = new[0] if new[1].value else new[2]
            else:
                same = all(a is b for a, b in zip(new, parts, strict=True))
                done[id(node)] = node if same else rebuild(node, new)
        return done[id(node)]

    return visit(expr)


def _accumulated(dtype: Dtype) -> Dtype:
    match dtype:
        case Variable():
            return Acc(dtype.name)
        case FixedDtype():
            return FixedDtype(DTYPES[dtype.name].acc)
    return dtype


def _only_floating(variable: TypeVariable) -> TypeVariable:
    """A variable with the dtypes that gradients are computed for."""
    floating = tuple(name for name in variable.dtypes if is_floating(name))
    return replace(variable, dtypes=floating, group="") if floating and floating != variable.dtypes else variable


def _binds(variable: TypeVariable, arguments: Sequence[Argument]) -> bool:
    tensors = [argument.type for argument in arguments if isinstance(argument.type, TensorType)]
    return any(variable.name in (getattr(t.dtype, "name", ""), getattr(t.dtype, "variable", "")) for t in tensors)


def _names(entry: ShapeEntry) -> tuple[Name, ...]:
    if isinstance(entry, StarEntry):
        return (Name(entry.name, NameKind.STAR, Type.INT),)
    return names(entry.expr) if isinstance(entry, DimEntry) else ()


def _plain_entry(entry: ShapeEntry) -> bind_names.PlainEntry:
    (name,) = _names(entry)
    return bind_names.PlainEntry(name.name, isinstance(entry, StarEntry))


def _text(kind: TensorType) -> str:
    """A type as a spec would write it."""
    match kind.dtype:
        case Acc():
            dtype = f"acc({kind.dtype.variable})"
        case FixedDtype() | Variable():
            dtype = kind.dtype.name
    return f"{dtype}{kind.shape.text}{'[]' if kind.is_list else ''}{'?' if kind.optional else ''}"
