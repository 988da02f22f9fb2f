"""View of generated/c/direct.c: what the direct module is told of the operators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from codegen.contract import Argument, Default, Output, ScalarType, TensorType
from codegen.frozen import dataclass
from codegen.lower.host import mask_is_list
from codegen.lower.schema import DispatchedOperator, direct_symbol, dispatched, only_direct
from codegen.messages.c import c_escape
from codegen.model import Library, Operator

_KINDS = {"float": "FLOAT", "int": "INT", "size": "INT", "bool": "BOOL", "str": "TEXT", "choice": "TEXT"}
_KINDS |= {"dtype": "DTYPE", "device": "DEVICE"}
# Tensors may be those of PyTorch, or arrays that speak DLPack.
_TYPES = {"TENSOR": "Any", "FLOAT": "float", "INT": "int", "BOOL": "bool", "TEXT": "str", "DTYPE": "torch.dtype | str"}
_TYPES |= {"DEVICE": "torch.device | str"}
NO_GRADIENT = "Records no gradient, and is not seen by torch.compile: {op} of torch.ops does and is."


@dataclass(frozen=True)
class DirectFunction:
    """One function of the direct module."""

    name: str
    typed: str  # the signature with types
    result: str
    op: str
    table: str
    signature: str
    doc: tuple[str, ...]  # its lines, each a C literal
    arguments: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class DirectView:
    """generated/c/direct.c."""

    namespace: str
    count: int
    functions: tuple[DirectFunction, ...]


@dataclass(frozen=True)
class _Parameter:
    """An argument as Python and as C see it; `default` is Python's text, "" when it must be given."""

    name: str
    kind: str
    facts: tuple[str, ...]
    keyword: bool
    default: str
    type: str

    @property
    def row(self) -> str:
        """Its row in the table."""
        fields = [f'.name = "{self.name}"', f".kind = DIRECT_{self.kind}"]
        fields += [f".{fact} = true" for fact in (*self.facts, *(["keyword"] if self.keyword else []))]
        fields += [f'.default_text = "{c_escape(self.default)}"'] if self.default else []
        return "{" + ", ".join(fields) + "},"

    @property
    def text(self) -> str:
        """Its place in the signature."""
        return f"{self.name}={self.default}" if self.default else self.name

    @property
    def typed(self) -> str:
        """The same with its type."""
        return f"{self.name}: {self.type}" + (f" = {self.default}" if self.default else "")


def python_text(default: Default | None) -> str:
    """A default as a literal of Python; a dtype by its name."""
    if default is None:
        return ""
    if isinstance(default.value, float) and not math.isfinite(default.value):
        return repr(default.value).replace("inf", "1e999").replace("nan", "(1e999 - 1e999)")
    return repr(list(default.value) if isinstance(default.value, tuple) else default.value)


def _parameter(argument: Argument, written: bool) -> _Parameter:
    kind = argument.type
    if isinstance(kind, TensorType):
        facts = {"optional": kind.optional, "list": kind.is_list, "element_optional": kind.element_optional}
        name, default = "TENSOR", python_text(argument.default)
    else:
        assert isinstance(kind, ScalarType)
        facts = {"optional": kind.optional, "list": kind.is_list}
        name, default = _KINDS[kind.kind], python_text(argument.default)
    facts["written"] = written
    held = tuple(fact for fact, holds in facts.items() if holds)
    return _Parameter(argument.name, name, held, argument.keyword_only, default, _type(name, held))


def _given(output: Output, name: str) -> _Parameter:
    """An output that may be given."""
    facts = ("optional", *(["list"] if output.type.is_list else []), "written")
    return _Parameter(name, "TENSOR", facts, True, "None", _type("TENSOR", facts))


def _type(kind: str, facts: tuple[str, ...]) -> str:
    """The type of a parameter in Python."""
    text = _TYPES[kind] + (" | None" if "element_optional" in facts else "")
    text = f"Sequence[{text}]" if "list" in facts else text
    return f"{text} | None" if "optional" in facts and text != "Any" else text


def _parameters(op: Operator, entry: DispatchedOperator) -> Iterator[_Parameter]:
    written = [argument.name for argument in op.written]
    written += [given for _, given in entry.variant.writes] if entry.variant is not None else []
    for argument in op.arguments:
        yield _parameter(argument, argument.name in written)
    if op.grad_mask:
        mask = "[]" if mask_is_list(op) else str([True] * len(op.outputs))
        yield _Parameter("grad_mask", "BOOL", ("list",), True, mask, "Sequence[bool]")


def _joined(parameters: Iterable[list[str]]) -> str:
    """Those by place and those by keyword, as between parentheses."""
    positional, keyword = parameters
    return ", ".join([*positional, *(["*", *keyword] if keyword else [])])


def _function(
    library: Library, op: Operator, entry: DispatchedOperator, out: DispatchedOperator | None
) -> DirectFunction:
    own = list(_parameters(op, entry))
    given = [name for _, name in out.variant.writes] if out is not None and out.variant is not None else []
    outputs = [_given(output, name) for output, name in zip(op.public_outputs, given, strict=False)]
    parameters = [one for one in own if not one.keyword], [one for one in [*own, *outputs] if one.keyword]
    letters = dict.fromkeys((output.name for output in op.list_outputs), "l")
    results = () if entry.variant is not None else op.public_outputs
    returns = "".join(letters.get(one.name, "t" if one.condition is None else "o") for one in results)
    table = f"{entry.name}__arguments"
    rows = tuple(one.row for one in [*own, *outputs])
    lines = [op.doc, "", NO_GRADIENT.format(op=op.name)]
    return DirectFunction(
        name=entry.name,
        typed=_joined([one.typed for one in group] for group in parameters),
        result="None" if not returns else "Any" if len(returns) == 1 else f"tuple[{', '.join(['Any'] * len(returns))}]",
        op=f"{library.namespace}::{op.name}",
        table=table,
        signature=c_escape(f"({_joined([one.text for one in group] for group in parameters)})"),
        doc=(*(c_escape(line) + "\\n" for line in lines[:-1]), c_escape(lines[-1])),
        arguments=rows,
        fields=(
            *([f".arguments = {table},"] if rows else []),
            f".count = {len(own)},",
            f".given = {len(outputs)},",
            f'.returns = "{returns}",',
            f".call = {direct_symbol(entry)},",
            *([f".call_given = {direct_symbol(out)},"] if out is not None else []),
        ),
    )


def _functions(library: Library, op: Operator) -> Iterator[DirectFunction]:
    """The operator, and its in-place form; what `op.out` is to PyTorch are keywords here."""
    public = [entry for entry in dispatched(op) if entry.public]
    out = [one for one in (*public, *only_direct(op)) if one.variant is not None and one.variant.kind == "out"]
    for entry in public:
        if entry.variant is None:
            yield _function(library, op, entry, out[0] if out else None)
        elif entry.variant.kind == "inplace":
            yield _function(library, op, entry, None)


def direct_view(library: Library) -> DirectView:
    """All functions."""
    functions = tuple(one for op in library.operators for one in _functions(library, op))
    return DirectView(library.namespace, len(functions), functions)
