"""`elementwise:`: the lines of an operator whose loops and gradient are generated.

Each output, and each written argument, has one line. All tensors that lines name broadcast to one shape, that of the
first output, and what a shape states decides whether they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codegen.check.contract import Contract
from codegen.check.lists import equally_long
from codegen.check.words import MAX_ARGUMENT_BYTES, value_bytes
from codegen.contract import (
    Argument,
    BroadcastEntry,
    DimEntry,
    Output,
    Shape,
    ShapeEntry,
    StarEntry,
    TensorType,
    Word,
    dtype_of,
)
from codegen.elementwise.build import build, operand_dtypes, uniform_kinds
from codegen.elementwise.kinds import KindProblem
from codegen.errors import nearest, shown
from codegen.expr.parse import parse
from codegen.expr.tree import Expr, Type, integer, names
from codegen.frozen import dataclass, replace
from codegen.layouts import POLICIES
from codegen.load import Mapping, Node, Scalar
from codegen.model import DtypeChoice, ElementwiseLine, Operator
from codegen.reader import Reader

MAX_OPERANDS = 64  # csrc/runtime/elementwise.h
# Of csrc/elementwise_layout.h: an elementwise_layout, and the strides of one operand.
_LAYOUT_BYTES, _STRIDES_BYTES = 168, 64
EXAMPLE = "elementwise: {y: gate * sigmoid(gate) * up}"
_EXCLUDES = ("launch", "passes", "parallel", "scratch", "kernels", "triton", "full_cuda", "dynamic")
NOTHING_WRITTEN = "declare it under outputs:, or put ! behind the type of an input that is written in place"


@dataclass(frozen=True)
class Elementwise:
    """The lines, in the order of outputs and written arguments, and the shape that operands broadcast to."""

    lines: tuple[ElementwiseLine, ...]
    shape: Shape | None


def check_elementwise(
    read: Reader, key: Scalar, node: Mapping, contract: Contract, choices: Sequence[DtypeChoice]
) -> Elementwise:
    """Reads `elementwise:` of the operator that `key` names; no lines where there is none."""
    value = node.get("elementwise")
    section = read.within("elementwise").mapping(value, EXAMPLE) if value is not None else None
    if section is None or not contract.valid:
        return Elementwise((), None)
    for other in _EXCLUDES:
        place = node.key(other)
        if place is not None:
            read.error(place, f"`elementwise:` needs no `{other}:`: its loops are generated")
    place = node.key("elementwise") or key
    for variable in contract.types:
        if variable.group == "bits":
            text = (
                f"the loops compute with numbers, and elements of {variable.name} are bits: name the dtypes, or a group"
            )
            read.error(place, text)
            return Elementwise((), None)
    return _Checker(read.within("elementwise"), place, contract, choices).check(section)


def as_loops_see(argument: Argument) -> Argument:
    """Generated loops read every stride, so a tensor is `strided` unless its words say otherwise."""
    if not argument.is_tensor or any(word.name in POLICIES for word in argument.words):
        return argument
    return replace(argument, words=(*argument.words, Word("strided")))


def as_loops_make(output: Output, arguments: Sequence[Argument]) -> Output:
    """An output lies in memory like the first input of its shape, unless its words say otherwise."""
    if output.has_word("like") or output.has_word("transposed"):
        return output
    for argument in arguments:
        kind = argument.type
        if (
            isinstance(kind, TensorType)
            and not kind.optional
            and kind.is_list is output.type.is_list
            and _same(kind.shape, output.type.shape)
        ):
            return replace(output, words=(*output.words, Word("like", argument.name)))
    return output


def size_problem(op: Operator) -> str:
    """Why the loops of an operator cannot take all of its operands; "" where they can."""
    count = len(op.operands)
    if count > MAX_OPERANDS:
        return f"lines about {count} tensors; at most {MAX_OPERANDS} are taken"
    size = sum(value_bytes(op)) + _LAYOUT_BYTES + _STRIDES_BYTES * count
    if "cuda" in op.devices and size > MAX_ARGUMENT_BYTES:
        return f"pointers, strides and scalars of {count} tensors, {size} bytes, do not fit the arguments of a launch"
    return ""


def broadcasts(own: Shape, whole: Shape) -> bool:
    """Whether a tensor of shape `own` broadcasts to `whole` in every call, by what the two state."""
    here, there = list(reversed(own.entries)), list(reversed(whole.entries))
    if len(here) > len(there):
        return False
    shorter = False  # behind a star that may have fewer dims than its counterpart, no dim of `own` has a known place
    for mine, other in zip(here, there, strict=False):
        if isinstance(mine, DimEntry) and isinstance(other, DimEntry):
            if mine.expr != integer(1) and (shorter or mine.expr != other.expr):
                return False
        elif isinstance(mine, DimEntry):
            return False  # a dim against a star, which may be empty
        elif isinstance(other, DimEntry) or not _star_fits(mine, other):
            return False
        else:
            shorter = isinstance(mine, StarEntry) and isinstance(other, BroadcastEntry)
    return True


def _star_fits(own: ShapeEntry, whole: ShapeEntry) -> bool:
    if isinstance(own, StarEntry) and isinstance(whole, BroadcastEntry):
        return own.name in whole.names
    return replace(own, text="") == replace(whole, text="")


class _Checker:
    def __init__(self, read: Reader, key: Scalar, contract: Contract, choices: Sequence[DtypeChoice]) -> None:
        self.read = read
        self.key = key
        self.contract = contract
        self.choices = [dict(choice) for choice in choices]
        self.targets: dict[str, Argument | Output] = {output.name: output for output in contract.outputs}
        self.targets |= {a.name: a for a in contract.arguments if isinstance(a.type, TensorType) and a.type.written}

    def check(self, section: Mapping) -> Elementwise:
        found: dict[str, ElementwiseLine] = {}
        for key, value in section.entries:
            if key.text not in self.targets:
                close = nearest(key.text, self.targets)
                known = f"lines here are for {', '.join(self.targets)}" if self.targets else NOTHING_WRITTEN
                hint = f'did you mean "{close}"?' if close else known
                self.read.error(key, f'"{shown(key.text)}" is neither an output nor written', hint)
                continue
            line = self.line(key, value)
            if line is not None:
                found[key.text] = line
        written = {key.text for key, _ in section.entries}
        for name in self.targets:
            if name not in written:
                self.read.error(self.key, f"{name} has no line", f"for instance {name}: ...")
        lines = tuple(found[name] for name in self.targets if name in found)
        self.lists(lines)
        return Elementwise(lines, self.shape(lines))

    def lists(self, lines: Sequence[ElementwiseLine]) -> None:
        """Lines about lists are computed for their tensors in turn: every target is a list, and all lists that lines
        name, and whose dims they name, are equally long.
        """
        kinds = {a.name: a.type for a in self.contract.arguments if isinstance(a.type, TensorType)}
        given = {name: kind.shape for name, kind in kinds.items() if kind.is_list}
        counted = {name: name for name in given}
        counted |= {output.name: output.counted_by for output in self.contract.outputs if output.counted_by}
        listed = [name for name in self.targets if name in counted]
        alone = [name for name in self.targets if name not in counted]
        if listed and alone:
            self.read.error(self.key, f"{listed[0]} is a list, and {alone[0]} is not: lines share one shape")
            return
        each = {dim.name: dim.each for dim in self.contract.dims if dim.each}
        alike = equally_long(self.contract.dims, given, counted[listed[0]]) if listed else set[str]()
        for line in lines:
            for name in dict.fromkeys((line.target, *(part.name for part in names(line.expr)))):
                source = counted.get(each.get(name, name), "")
                text = f"the line of {line.target} names {name}, and "
                if source and alone:
                    hint = "lines about lists have a result for each of their tensors"
                    self.read.error(self.key, f"{text}{alone[0]} is no list of tensors", hint)
                elif source and source not in alike:
                    hint = "lists are equally long where they share a name of their shapes"
                    self.read.error(self.key, f"{text}{source} need not be as long as {listed[0]}", hint)

    def line(self, key: Scalar, node: Node) -> ElementwiseLine | None:
        read = Reader(self.read.diagnostics, f"{self.read.prefix}: {shown(key.text)}")
        scalar = read.text(node, "an expression")
        if scalar is None:
            return None
        text = scalar.text
        lead = len(text) - len(text.lstrip())
        expr, problems = parse(text.strip(), self.contract.elements)
        for problem in problems:
            read.error(scalar.at(lead + problem.offset), problem.text, problem.hint)
        if expr is not None and expr.type in (Type.STR, Type.DTYPE):
            read.error(scalar.at(lead), f"expected a number, got a {expr.type.value}")
            return None
        if expr is None or not self.typed(read, scalar, key.text, expr):
            return None
        return ElementwiseLine(key.text, expr, " ".join(text.split()))

    def typed(self, read: Reader, place: Scalar, target: str, expr: Expr) -> bool:
        """Whether a line means something for every choice of dtypes; the first one that does not is reported."""
        kind = self.targets[target].type
        assert isinstance(kind, TensorType)
        uniforms = uniform_kinds(self.contract.arguments, self.sizes())
        for choice in self.choices:
            operands = operand_dtypes(self.contract.arguments, choice)
            try:
                build([(target, dtype_of(kind.dtype, choice), expr)], operands, uniforms, choice)
            except KindProblem as problem:
                where = ", ".join(f"{letter} = {dtype}" for letter, dtype in choice.items())
                told = f" for {where}" if where and len(self.choices) > 1 else ""
                read.error(place, f"{problem.text}{told}", problem.hint)
                return False
        return True

    def sizes(self) -> list[str]:
        """What shapes and `dims:` name, where it is known before a launch."""
        contract = self.contract
        return [d.name for d in contract.dims] + [d.name for d in contract.derived if not d.launch_only]

    def shape(self, lines: Sequence[ElementwiseLine]) -> Shape | None:
        """The shape of the first target, to which everything else must broadcast."""
        shapes = list(self.shapes(lines))
        whole = shapes[0][1] if shapes else None
        functions = [one.text for one in whole.entries if not isinstance(one, DimEntry | StarEntry)] if whole else []
        if functions and all(isinstance(one, Output) and one.condition is not None for one in self.targets.values()):
            text = f"{functions[0]} is known where an output is there, and every output is there on a condition"
            self.read.error(self.key, text, "leave out the condition of one of them")
        for name, own in shapes[1:]:
            assert whole is not None
            if name in self.targets and not _same(own, whole):
                text = f"{name} has shape {own.text}, and {shapes[0][0]} {whole.text}: lines share one shape"
                self.read.error(self.key, text)
            elif name not in self.targets and not broadcasts(own, whole):
                text = f"{name}, of shape {own.text}, does not broadcast to {whole.text}, the shape of {shapes[0][0]}"
                self.read.error(self.key, text, "shapes are compared from their last entry, as in NumPy")
        return whole

    def shapes(self, lines: Sequence[ElementwiseLine]) -> Iterator[tuple[str, Shape]]:
        """Targets, then what their lines read."""
        for name, target in self.targets.items():
            assert isinstance(target.type, TensorType)
            yield name, target.type.shape
        used = {part.name for line in lines for part in names(line.expr)}
        for argument in self.contract.arguments:
            kind = argument.type
            if argument.name in used and argument.name not in self.targets and isinstance(kind, TensorType):
                yield argument.name, kind.shape


def _same(a: Shape, b: Shape) -> bool:
    return [replace(entry, text="") for entry in a.entries] == [replace(entry, text="") for entry in b.entries]
