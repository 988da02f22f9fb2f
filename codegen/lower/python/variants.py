"""The Python of the variants of an operator: op_, which writes to inputs, and op.out, which writes to keywords.

Neither has a gradient of its own: a call that is recorded runs the operator and copies its results. Where the gradient
reads an input that these overwrite, the operator gets a copy of it, as PyTorch's own in-place functions keep one.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.frozen import dataclass, replace
from codegen.lower.python.names import Names, call
from codegen.lower.python.recording import handed_over, recorded
from codegen.lower.schema import variant_names
from codegen.model import Operator, Variant


@dataclass(frozen=True)
class VariantView:
    """One variant. `kind` is part of the names of its functions: in_place or out."""

    kind: str
    joined: bool  # torch.vmap looks into what it writes
    name: str  # row_scale_, row_scale.out
    internal: str
    overload: str  # row_scale_.default
    internal_overload: str
    fake: tuple[str, ...]  # heads of functions
    autograd: tuple[str, ...]
    counter: tuple[str, ...]
    wrapper: tuple[str, ...]
    handed_over: tuple[str, ...]  # a condition, up to its colon
    base: str  # what the operator itself is handed
    passed: str  # what the variant is
    explained: str  # what is told of an error
    redispatched: str
    counted: str
    results: str  # what the fake kernel of the operator returns
    checks: tuple[str, ...]
    recorded: tuple[str, ...]  # a condition, up to its colon
    written: str  # "x, y"
    keywords: str  # the same by name: "x=x, y=y"
    copies: tuple[str, ...]
    last: bool


def values_of(op: Operator) -> list[str]:
    """The arguments of an operator in PyTorch's order."""
    positional = [argument.name for argument in op.arguments if not argument.keyword_only]
    keyword = [argument.name for argument in op.arguments if argument.keyword_only]
    return [*positional, *keyword, *(["grad_mask"] if op.grad_mask else [])]


def out_keywords(op: Operator) -> tuple[str, ...]:
    """The keywords that the wrapper of an operator has for its out variant."""
    return tuple(given for variant in op.variants if variant.kind == "out" for _, given in variant.writes)


def variant_views(names: Names, parameters: list[str], passed: list[str]) -> tuple[VariantView, ...]:
    """The variants of one operator; the parameters are those of the operator itself."""
    views = [_view(names, variant, parameters, passed) for variant in names.op.variants]
    return tuple(replace(view, last=i == len(views) - 1) for i, view in enumerate(views))


def _doc(op: Operator, variant: Variant) -> str:
    pairs = ", ".join(f"{output} to {given}" for output, given in variant.writes)
    return f'    """{op.name}, writing {pairs}, in place."""'


def _copies(op: Operator, base: str, pairs: Sequence[tuple[str, str]], checks: Sequence[str]) -> list[str]:
    """Copies what the operator returns into what is written, if that may be written: the same rules, in the same order,
    as where the host function does it.
    """
    written = ", ".join(f'"{given}": {given}' for given, _ in pairs)
    tensors = ", ".join(f'"{argument.name}": {argument.name}' for argument in op.tensors)
    return [
        f"{', '.join(result for _, result in pairs)} = {base}",
        *checks,
        *call("_check.apart", [f"{{{written}}}", f"{{{tensors}}}"], indent=8),
        *(f"{given}.copy_({result})" for given, result in pairs),
    ]


def _view(names: Names, variant: Variant, parameters: list[str], passed: list[str]) -> VariantView:
    op = names.op
    kind = "in_place" if variant.kind == "inplace" else "out"
    public, internal = variant_names(op, variant)
    written = [given for _, given in variant.writes]
    own, handed = list(parameters), list(passed)
    if kind == "out":
        own += ([] if "*" in own else ["*"]) + [f"{name}: Tensor" for name in written]
        handed += [f"{name}={name}" for name in written]
    results = [names.fresh(f"{output}_") for output, _ in variant.writes]
    pairs = list(zip(written, results, strict=True))
    keyset = names.fresh("keyset")
    checks = tuple(f'_check.output("{given}", {given}, {result})' for given, result in pairs)
    base = f"_op({', '.join(_recorded_call(op, variant, passed))})"
    values = [*values_of(op), *(written if kind == "out" else ())]
    return VariantView(
        kind=kind,
        joined=kind == "in_place",
        name=public,
        internal=internal,
        overload=public if kind == "out" else f"{public}.default",
        internal_overload=internal if kind == "out" else f"{internal}.default",
        fake=tuple(call(f"def _fake_{kind}", own, " -> None:", 0)),
        autograd=tuple(call(f"def _autograd_{kind}", [f"{keyset}: Any", *own], " -> None:", 0)),
        counter=tuple(call(f"def _count_{kind}", [f"{keyset}: Any", *own], " -> None:", 0)),
        wrapper=tuple(_wrapper(op, variant, own)),
        handed_over=tuple(handed_over(op, values)),
        base=", ".join(passed),
        passed=", ".join(handed),
        explained=", ".join([names.fresh("error"), f"_{kind}", *values]),
        redispatched=", ".join([f"{keyset} & _after_autograd", *handed]),
        counted=", ".join([f"{keyset} & _after_in_place", *handed]),
        results=", ".join(results),
        checks=checks,
        recorded=tuple(_recorded(names, written)),
        written=", ".join(written),
        keywords=", ".join(f"{name}={name}" for name in written),
        copies=tuple(_copies(op, base, pairs, checks)),
        last=False,
    )


def _recorded_call(op: Operator, variant: Variant, passed: Sequence[str]) -> list[str]:
    """The arguments of the operator in a call that is recorded."""
    read = {binding.name for binding in op.backward.bindings if binding.source == "input"} if op.backward else set()
    lost = read & {given for _, given in variant.writes} if variant.kind == "inplace" else set()
    return [f"{one}.clone()" if one.rpartition("=")[2] in lost else one for one in passed]


def _wrapper(op: Operator, variant: Variant, parameters: list[str]) -> list[str]:
    kind = "Tensor" if len(variant.writes) == 1 else f"tuple[{', '.join(['Tensor'] * len(variant.writes))}]"
    name = f"{op.name}_" if variant.kind == "inplace" else "_write_out"
    return [*call(f"def {name}", parameters, f" -> {kind}:", 0), _doc(op, variant)]


def _recorded(names: Names, written: Sequence[str]) -> list[str]:
    """The condition under which a call is recorded: what is written counts as well."""
    if names.op.never_requires_grad:
        return recorded(names, "", only=written)
    inputs = {argument.name for argument in names.op.arguments}
    return recorded(names, "", extra=[name for name in written if name not in inputs])
