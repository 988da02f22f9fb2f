"""How names, dtypes and messages of the spec read in the generated Python of one operator.

Tensor and scalar arguments, dims and outputs keep their names; a star is the sequence of its sizes. Everything else
that a generated function uses is a global with a leading underscore, `torch`, or a local that `fresh` chose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.contract import Acc, DimEntry, Dtype, FixedDtype, Output, ScalarType, Shape, StarEntry, Variable
from codegen.expr.python import PythonNames, print_python
from codegen.expr.tree import Binary, Call, Constant, Expr, Name, NameKind, Query, Type, Unary, children, rebuild
from codegen.frozen import cached_property
from codegen.lower.host import first_given, star_number
from codegen.messages.parts import (
    AccDtypeOf,
    ComputedDims,
    DeviceOf,
    DimCount,
    DtypeOf,
    ListIndex,
    Message,
    Part,
    RankOf,
    ShapeOf,
    StarOf,
    StridesOf,
    TextOf,
    Value,
)
from codegen.messages.python import print_message_python
from codegen.model import Dim, Operator
from codegen.positions import Index, Span, list_of
from codegen.rules import ComputeStar, DtypeRule, When, plain

HELPER = "_rules."
COLUMNS = 120


class Names:
    """Prints expressions and tensor properties of one operator as Python."""

    def __init__(self, namespace: str, op: Operator) -> None:
        self.op = op
        self.qualified = f"{namespace}::{op.name}"
        self.sources: dict[str, list[tuple[str, bool]]] = {}
        for rule in op.rules:
            bound = plain(rule)
            if isinstance(bound, DtypeRule) and bound.variable:
                self.sources.setdefault(bound.variable, []).append((bound.argument, isinstance(rule, When)))
        values = {dim.name: f"{dim.name}[_i]" if dim.each else dim.name for dim in op.dims}
        names = {dim.name: f"{HELPER}product({values[dim.name]})" for dim in op.dims if dim.star}
        names |= {dim.name: values[dim.name] for dim in op.dims if dim.each and not dim.star}
        kinds = {scalar.name: scalar.type for scalar in op.scalars if isinstance(scalar.type, ScalarType)}
        self.kinds = kinds
        names |= {name: f"{HELPER}product({name})" for name, kind in kinds.items() if kind.is_list}
        names |= {variable.name: self.variable(variable.name) for variable in op.types}
        self.python = PythonNames(names=names, query=self.query, helper=HELPER)
        self.taken = {argument.name for argument in op.arguments} | {output.name for output in op.outputs}
        self.taken |= {dim.name for dim in op.dims} | {derived.name for derived in op.derived} | {"grad_mask"}
        self.taken |= {size.name for size in op.dynamic}

    @cached_property
    def stars(self) -> list[str]:
        """The locals that hold functions of stars, by their number."""
        rules = [rule for rule in map(plain, self.op.rules) if isinstance(rule, ComputeStar)]
        found = [self.fresh(f"star_{rule.index}") for rule in rules]
        return [f"{name}[_i]" if rule.owner.endswith("[_i]") else name for name, rule in zip(found, rules, strict=True)]

    def star_sizes(self, name: str) -> str:
        """The sizes of a star, or the values of a list."""
        each = any(dim.name == name and dim.each for dim in self.op.dims)
        return f"{name}[_i]" if each else name

    def dim_count(self, star: str | int, named: int) -> str:
        """How many dims a star and so many more are."""
        sizes = self.star_sizes(star) if isinstance(star, str) else self.stars[star]
        return f"{HELPER}count({sizes}) + {named}"

    def wanted(self, output: str) -> str:
        """The local that says whether an output with a condition is there."""
        return self.fresh(f"{output}_wanted")

    def places(self, output: Output) -> str:
        """The places at which an output that is a list has a tensor."""
        if not self.op.grad_mask:
            return f"range({HELPER}count({output.counted_by}))"
        return f"{HELPER}places({output.counted_by}, grad_mask, {self.mask_places(output.name)})"

    def mask_places(self, before: str = "") -> str:
        """How many places the grad_mask has, or has before those of an output."""
        lists, alone = self.op.mask_before(before)
        return " + ".join(
            [*(f"{HELPER}count({name})" for name in lists), *([str(alone)] if alone or not lists else [])]
        )

    def fresh(self, name: str) -> str:
        """`name`, or with underscores behind it where the operator uses that name itself."""
        while name in self.taken:
            name += "_"
        return name

    def variable(self, name: str) -> str:
        """The dtype of a variable; what no argument binds has its first dtype."""
        first = self.dtype_name(next(variable.allowed[0] for variable in self.op.types if variable.name == name))
        text = ""
        for argument, optional in self.sources.get(name, ()):
            if not optional:
                return self.dtype_of(argument)
            text += f"{self.dtype_of(argument)} if {self.given(argument)} else "
        return f"({text}{first})" if text else first

    def dtype_of(self, argument: str) -> str:
        """The dtype of a tensor, or that a dtype argument names."""
        return argument if argument in self.kinds else f"{self.tensor(argument)}.dtype"

    def tensor(self, name: str) -> str:
        """A tensor argument, or one of a list: `xs[_f]` is the first one that is given."""
        return f"{HELPER}first({list_of(name)})" if name.endswith("[_f]") else name

    def given(self, name: str) -> str:
        """Whether an argument, or a tensor of a list, is there."""
        return f"{HELPER}has({list_of(name)}, _i)" if name.endswith("[_i]") else f"{self.tensor(name)} is not None"

    def absent(self, name: str) -> str:
        """The opposite."""
        return f"not {self.given(name)}" if name.endswith("[_i]") else f"{self.tensor(name)} is None"

    def device(self) -> str:
        """Where outputs are made: on the first tensor's device, else where an argument says."""
        first = first_given(self.op)
        if first:
            return f"{first}.device"
        where = next(name for name, kind in self.kinds.items() if kind.kind == "device")
        return f'"cpu" if {where} is None else {where}' if self.kinds[where].optional else where

    def device_type(self) -> str:
        """An expression for the type of that device, cpu or cuda."""
        return f"{self.device()}.type" if self.op.tensors else f"{HELPER}device({self.device()}).type"

    def dtype(self, dtype: Dtype) -> str:
        """The dtype of a tensor."""
        match dtype:
            case Variable():
                return self.variable(dtype.name)
            case Acc():
                return f"{HELPER}acc({self.variable(dtype.variable)})"
            case FixedDtype():
                return f"torch.{dtype.name}"

    def dtype_name(self, name: str) -> str:
        """A torch name of a dtype, or the name of a variable."""
        variables = {variable.name for variable in self.op.types}
        return self.variable(name) if name in variables else f"torch.{name}"

    def expr(self, expr: Expr) -> str:
        """The expression, where it cannot leave 64 bits."""
        return print_python(expr, self.python)

    def checked(self, expr: Expr) -> str:
        """The expression, with every integer result held to 64 bits: OverflowError otherwise."""
        return print_python(_checked(expr), self.python)

    def query(self, query: Query, operands: tuple[str, ...]) -> str:
        """numel(x), size(x, i), given(y) and so on."""
        subject = query.subject
        match query.function:
            case "numel":
                return f"{subject}.numel()"
            case "numel_of_list":
                return f"{HELPER}numel({subject})"
            case "dim":
                return f"{subject}.dim()"
            case "size":
                return f"{HELPER}item({subject}.shape, {operands[0]})"
            case "stride":
                return f"{HELPER}item({subject}.stride(), {operands[0]})"
            case "sizeof":
                return f"{self.dtype_name(subject)}.itemsize"
            case "given":
                return f"{subject} is not None"
            case "len":
                return f"{HELPER}count({subject})"
            case "entry":
                return f"{subject}[{operands[0]}]"
        raise ValueError(f"{query.function}() is not built yet")

    def size(self, argument: str, index: Index) -> str:
        """One size of a tensor."""
        return f"{self.tensor(argument)}.shape[{'-' if index.from_back else ''}{index.index}]"

    def dim(self, dim: Dim) -> str:
        """The value of a dim, or the product of a star, from the arguments; 0 where none of its holders is given."""
        text = ""
        for place in dim.places:
            at = place.at
            value = f"{HELPER}product({self.span(at)})" if isinstance(at, Span) else self.size(place.argument, at)
            if not dim.optional:
                return value
            text += f"{value} if {self.given(place.argument)} else "
        return f"({text}0)"

    def span(self, span: Span) -> str:
        """The sizes that a star covers."""
        front, back = span.front or "", f"-{span.back}" if span.back else ""
        return f"{self.tensor(span.argument)}.shape" + (f"[{front}:{back}]" if front or back else "")

    def shape(self, shape: Shape, checked: bool = False, owner: str = "") -> str:
        """The sizes of the tensor `owner`, as an expression; `checked` as in `checked()`."""
        parts = []
        for entry in shape.entries:
            if isinstance(entry, StarEntry):
                sizes = self.star_sizes(entry.name)
                if len(shape.entries) == 1:
                    return sizes
                parts.append(f"*{sizes}")
            elif isinstance(entry, DimEntry):
                parts.append(self.checked(entry.expr) if checked else self.expr(entry.expr))
            else:
                rules = [rule for rule in map(plain, self.op.rules) if isinstance(rule, ComputeStar)]
                number = star_number(rules, entry.text, owner)
                parts.append(f"*{self.stars[number]}")
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def message(self, message: Message) -> list[str]:
        """A function without arguments that returns the text of an error, but for its leading `ns::operator: `."""
        return problem(print_message_python(message, self.python, self.part))

    def part(self, part: Part) -> str:
        """A spelled-out value of a message."""
        match part:
            case ShapeOf():
                return f"{HELPER}sizes_text({part.argument}.shape)"
            case StridesOf():
                return f"tuple({part.argument}.stride())"
            case StarOf():
                return f"{HELPER}sizes_text({self.star_sizes(part.name)})"
            case ListIndex():
                return f"{HELPER}place({part.of})" if part.index == "_f" else part.index
            case ComputedDims():
                return f"{HELPER}sizes_text({self.stars[part.index]})"
            case DimCount():
                return self.dim_count(part.star, part.named)
            case DtypeOf():
                return f"{HELPER}dtype_text({self.dtype_of(part.argument)})"
            case AccDtypeOf():
                return f"{HELPER}dtype_text({HELPER}acc({self.dtype_of(part.argument)}))"
            case DeviceOf():
                return part.argument if part.argument in self.kinds else f"{part.argument}.device"
            case TextOf():
                return f"{HELPER}quoted({part.argument})"
            case Value() if part.expr.type is Type.STR:
                return f"{HELPER}quoted({self.expr(part.expr)})"
            case RankOf():
                return f"{part.argument}.dim()"
            case Value() if part.expr.type is Type.DTYPE:
                return f"{HELPER}dtype_text({self.expr(part.expr)})"
        raise ValueError(f"{part} is not built yet")


def _checked(expr: Expr) -> Expr:
    parts = tuple(_checked(part) for part in children(expr))
    result = rebuild(expr, parts)
    match expr:
        case Unary() | Binary(operator="+" | "-" | "*") | Call(function="abs") | Name(kind=NameKind.SPLICED):
            computes = expr.type is Type.INT
        case Binary(operator="//", right=Constant(value=-1)):
            computes = True
        case _:
            computes = False
    return Call("fit", (result,), Type.INT) if computes else result


def call(start: str, arguments: Sequence[str | list[str]], ending: str = "", indent: int = 4) -> list[str]:
    """`start(arguments)ending` as a formatter lays it out `indent` columns in: on one line, else with the arguments on
    a line of their own, else with a line for each. An argument may itself be several lines.
    """
    blocks = [[argument] if isinstance(argument, str) else argument for argument in arguments]
    if all(len(block) == 1 for block in blocks):
        joined = ", ".join(block[0] for block in blocks)
        if indent + len(start) + len(joined) + len(ending) + 2 <= COLUMNS:
            return [f"{start}({joined}){ending}"]
        if indent + len(joined) + 4 <= COLUMNS:
            return [f"{start}(", f"    {joined}", f"){ending}"]
    return [f"{start}(", *(f"    {line}" for block in blocks for line in ended(block)), f"){ending}"]


def ended(block: list[str]) -> list[str]:
    """The lines with a comma at the end."""
    return [*block[:-1], f"{block[-1]},"]


def problem(literal: str) -> list[str]:
    """`lambda: literal`, eight columns in; a literal that is too long is cut into neighbouring ones, at spaces."""
    if len(literal) + 17 <= COLUMNS:
        return [f"lambda: {literal}"]
    start = literal[: literal.index('"') + 1]
    pieces, piece, depth = [], start, 0
    for word in re.split(r"(?<= )", literal[len(start) : -1]):
        if depth == 0 and piece != start and len(piece) + len(word) + 13 > COLUMNS:
            pieces.append(piece + '"')
            piece = start
        piece += word
        depth += word.replace("{{", "").count("{") - word.replace("}}", "").count("}")
    return ["lambda: (", *(f"    {_plain(piece)}" for piece in (*pieces, piece + '"')), ")"]


def _plain(literal: str) -> str:
    """A literal, without an `f` where nothing is put into it."""
    if not literal.startswith("f") or "{" in literal.replace("{{", ""):
        return literal
    return literal[1:].replace("{{", "{").replace("}}", "}")


def docstring(text: str) -> list[str]:
    """Lines of text that may stand inside a triple-quoted literal."""
    printable = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return [line.strip() for line in printable.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').split("\n")]
