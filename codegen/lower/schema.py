"""PyTorch schemas of an operator and of its internal overloads."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

from codegen.contract import Argument, Default, Output, ScalarType, TensorType
from codegen.frozen import dataclass
from codegen.lower.host import mask_is_list
from codegen.model import Operator, Variant

SCALAR_TYPES = {
    "float": "float",
    "int": "int",
    "size": "SymInt",
    "bool": "bool",
    "str": "str",
    "choice": "str",
    "dtype": "ScalarType",
    "device": "Device",
}


@dataclass(frozen=True)
class DispatchedOperator:
    """One operator in PyTorch's dispatcher, or an overload of one. `saved`: it also returns what only backward sees;
    `variant`: it writes its outputs to tensors of the caller.
    """

    name: str
    schema: str
    saved: bool
    public: bool
    variant: Variant | None = None


def _default(default: Default, kind: str) -> str:
    value = default.value
    if isinstance(value, tuple):
        return "[" + ", ".join(repr(item) for item in value) + "]"
    if isinstance(value, str) and kind != "dtype":
        return f"'{value}'" if '"' in value else f'"{value}"'
    return str(value)


def _scalar(kind: ScalarType) -> str:
    brackets = f"[{'' if kind.length is None else kind.length}]" if kind.is_list else ""
    return SCALAR_TYPES[kind.kind] + brackets + ("?" if kind.optional else "")


def _tensor(kind: TensorType, alias: str) -> str:
    element = "Tensor?" if kind.element_optional else "Tensor"
    brackets = "[]" if kind.is_list else ""
    return element + (f"({alias}!)" if alias else "") + brackets + ("?" if kind.optional else "")


def _argument(argument: Argument, alias: str) -> str:
    """One argument; `alias` is the letter that a written one gets."""
    kind = _tensor(argument.type, alias) if isinstance(argument.type, TensorType) else _scalar(argument.type)
    text = f"{kind} {argument.name}"
    kind_name = "" if isinstance(argument.type, TensorType) else argument.type.kind
    return text if argument.default is None else f"{text}={_default(argument.default, kind_name)}"


def arguments(op: Operator, variant: Variant | None = None) -> str:
    """What stands between the parentheses."""
    written = [argument.name for argument in op.written]
    written += [given for _, given in variant.writes] if variant else []
    aliases = {name: ascii_lowercase[i] for i, name in enumerate(written)}
    texts = [(argument, _argument(argument, aliases.get(argument.name, ""))) for argument in op.arguments]
    positional = [text for argument, text in texts if not argument.keyword_only]
    keyword = [text for argument, text in texts if argument.keyword_only]
    if mask_is_list(op):
        keyword.append("bool[] grad_mask=[]")
    elif op.grad_mask:
        count = len(op.outputs)
        keyword.append(f"bool[{count}] grad_mask=[{', '.join(['True'] * count)}]")
    if variant is not None and variant.kind == "out":
        keyword += [f"{_tensor(op.output(output).type, aliases[given])} {given}" for output, given in variant.writes]
    return ", ".join(positional + (["*", *keyword] if keyword else []))


def _returns(outputs: Sequence[Output]) -> str:
    kinds = ["Tensor[]" if o.type.is_list else "Tensor" if o.condition is None else "Tensor?" for o in outputs]
    return kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"


def dispatched(op: Operator) -> tuple[DispatchedOperator, ...]:
    """The operator, its internal overload without a kernel at the Autograd key, and one that returns all outputs."""
    text = arguments(op)
    public = op.public_outputs

    def entry(name: str, outputs: Sequence[Output], saved: bool, is_public: bool) -> DispatchedOperator:
        return DispatchedOperator(name, f"{name}({text}) -> {_returns(outputs)}", saved, is_public)

    entries = [entry(op.name, public, False, True), entry(f"_{op.name}_no_grad", public, False, False)]
    if op.saved_outputs:
        entries.append(entry(f"_{op.name}_saved", op.outputs, True, False))
    for variant in op.variants:
        for name in variant_names(op, variant):
            schema = f"{name}({arguments(op, variant)}) -> ()"
            entries.append(DispatchedOperator(name, schema, False, not name.startswith("_"), variant))
    return tuple(entries)


def variant_names(op: Operator, variant: Variant) -> tuple[str, str]:
    """What a variant is called in the dispatcher, and its internal overload without a kernel at the Autograd key."""
    if variant.kind == "inplace":
        return f"{op.name}_", f"_{op.name}__no_grad"
    return f"{op.name}.out", f"_{op.name}_no_grad.out"


def only_direct(op: Operator) -> tuple[DispatchedOperator, ...]:
    """The form of an operator that the direct module has and PyTorch has not: with `out`, unless that is one of its
    arguments.
    """
    outputs = [output.name for output in op.public_outputs]
    names = ["out"] if len(outputs) == 1 else outputs
    taken = {argument.name for argument in op.arguments}
    if not op.outputs_can_be_given or taken & set(names) or any(one.kind == "out" for one in op.variants):
        return ()
    variant = Variant("out", tuple(zip(outputs, names, strict=True)))
    schema = f"{op.name}.out({arguments(op, variant)}) -> ()"
    return (DispatchedOperator(f"{op.name}.out", schema, False, True, variant),)


def public_schema(namespace: str, op: Operator) -> str:
    """The schema as documentation shows it: `shapes::row_sum(Tensor x) -> Tensor`."""
    return f"{namespace}::{op.name}({arguments(op)}) -> {_returns(op.public_outputs)}"


def boxed_symbol(entry: DispatchedOperator) -> str:
    """The C function behind an operator of the dispatcher; the overload without autograd shares the public one's. No
    other operator can be called so that it gets the same one: names of operators have no `__`.
    """
    if entry.variant is not None:
        op = entry.name.removesuffix(".out")
        op = op.removeprefix("_").removesuffix("_no_grad") if op.startswith("_") else op
        op = op.removesuffix("_") if entry.variant.kind == "inplace" else op
        return f"{op}__{entry.variant.kind}_boxed"
    if entry.public:
        return f"{entry.name}_boxed"
    if entry.saved:
        return f"{entry.name.removeprefix('_').removesuffix('_saved')}__saved_boxed"
    return f"{entry.name.removeprefix('_').removesuffix('_no_grad')}_boxed"


def direct_symbol(entry: DispatchedOperator) -> str:
    """The C function that the direct module calls, which that of PyTorch only raises after."""
    return boxed_symbol(entry).removesuffix("_boxed") + "_direct"
