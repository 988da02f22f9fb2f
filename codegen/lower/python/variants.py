"""The Python of the variants of an operator: op_, which writes to inputs, and op.out, which writes to keywords.

Neither has a gradient of its own: a call that is recorded runs the operator and copies its results. Where the gradient
reads an input that these overwrite, the operator gets a copy of it, as PyTorch's own in-place functions keep one.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.frozen import dataclass, replace
from codegen.lower.python.arguments import annotation
from codegen.lower.python.names import Names, call
from codegen.lower.python.recording import handed_over, recorded
from codegen.lower.schema import variant_names
from codegen.model import Operator, Variant


@dataclass(frozen=True)
class VariantView:
    """One variant. `kind` is part of the names of its functions: in_place or out."""

    kind: str
    has_batch: bool  # torch.vmap joins its calls
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
    wrapper_recorded: tuple[str, ...]  # the same in the wrapper
    written: str  # "x, y"
    keywords: str  # the same by name: "x=x, y=y"
    copies: tuple[str, ...]
    last: bool


def values_of(op: Operator) -> list[str]:
    """The arguments of an operator in PyTorch's order."""
    positional = [argument.name for argument in op.arguments if not argument.keyword_only]
    keyword = [argument.name for argument in op.arguments if argument.keyword_only]
    return [*positional, *keyword, *(["grad_mask"] if op.grad_mask else [])]


def out_keywords(op: Operator) -> tuple[tuple[str, str], ...]:
    """The keywords that the wrapper of an operator has for its out variant, and their types."""
    out = [variant for variant in op.variants if variant.kind == "out"]
    return tuple(
        (given, _written_type(op, variant, output, given)) for variant in out for output, given in variant.writes
    )


def _written_type(op: Operator, variant: Variant, output: str, given: str) -> str:
    """How what is written is annotated: what comes in is what the wrapper returns."""
    if variant.kind == "inplace":
        return annotation(op.argument(given))
    return "list[Tensor]" if op.is_listed(output) else "Tensor"


def variant_views(
    names: Names, parameters: list[str], passed: list[str], *, has_batch: bool
) -> tuple[VariantView, ...]:
    """The variants of one operator; the parameters are those of the operator itself."""
    views = [_view(names, variant, parameters, passed, has_batch) for variant in names.op.variants]
    return tuple(replace(view, last=i == len(views) - 1) for i, view in enumerate(views))


def _doc(op: Operator, variant: Variant) -> str:
    pairs = ", ".join(f"{output} to {given}" for output, given in variant.writes)
    return f'    """{op.name}, writing {pairs}, in place."""'


def _copies(op: Operator, variant: Variant, base: str, results: Sequence[str], checks: Sequence[str]) -> list[str]:
    """Copies what the operator returns into what is written, if that may be written: the same rules, in the same order,
    as where the host function does it.
    """
    written = ", ".join(f'"{given}": {given}' for _, given in variant.writes)
    tensors = ", ".join(f'"{argument.name}": {argument.name}' for argument in op.tensors)
    name, keywords = variant_names(op, variant)[0], [f"{given}={given}" for _, given in variant.writes]
    made = f"{', '.join(results)}{',' if len(results) == 1 else ''}"
    return [
        f"{', '.join(results)} = {base}",
        *checks,
        *call("_check.apart", [f"{{{written}}}", f"{{{tensors}}}"], indent=12),
        *call("_runtime.check_copies", [f'"{name}"', f"({made})", *keywords], indent=12),
        *(
            f"_runtime.copy_each({given}, {result})" if op.is_listed(output) else f"{given}.copy_({result})"
            for (output, given), result in zip(variant.writes, results, strict=True)
        ),
    ]


def _view(names: Names, variant: Variant, parameters: list[str], passed: list[str], has_batch: bool) -> VariantView:
    op = names.op
    kind = "in_place" if variant.kind == "inplace" else "out"
    public, internal = variant_names(op, variant)
    written = [given for _, given in variant.writes]
    own, handed = list(parameters), list(passed)
    if kind == "out":
        own += ([] if "*" in own else ["*"]) + [f"{name}: {form}" for name, form in out_keywords(op)]
        handed += [f"{name}={name}" for name in written]
    results = [names.fresh(f"{output}_") for output, _ in variant.writes]
    keyset = names.fresh("keyset")
    checks = tuple(
        _check(op, output, given, result) for (output, given), result in zip(variant.writes, results, strict=True)
    )
    base = f"_op({', '.join(_recorded_call(op, variant, passed))})"
    values = [*values_of(op), *(written if kind == "out" else ())]
    return VariantView(
        kind=kind,
        has_batch=has_batch and kind == "in_place",  # it does not look into keywords
        name=public,
        internal=internal,
        overload=public if kind == "out" else f"{public}.default",
        internal_overload=internal if kind == "out" else f"{internal}.default",
        fake=tuple(call(f"def _fake_{kind}", own, " -> None:", 0)),
        autograd=tuple(call(f"def _autograd_{kind}", [f"{keyset}: Any", *own], " -> None:", 0)),
        counter=tuple(call(f"def _count_{kind}", [f"{keyset}: Any", *own], " -> None:", 0)),
        wrapper=tuple(_wrapper(op, variant, own)),
        handed_over=tuple(handed_over(op, values, [given for output, given in variant.writes if op.is_listed(output)])),
        base=", ".join(passed),
        passed=", ".join(handed),
        explained=", ".join([names.fresh("error"), f"_{kind}", *values]),
        redispatched=", ".join([f"{keyset} & _after_autograd", *handed]),
        counted=", ".join([f"{keyset} & _after_in_place", *handed]),
        results=", ".join(results),
        checks=checks,
        recorded=tuple(_recorded(names, variant)),
        wrapper_recorded=tuple(_recorded(names, variant, wrapper=True)),
        written=", ".join(written),
        keywords=", ".join(f"{name}={name}" for name in written),
        copies=tuple(_copies(op, variant, base, results, checks)),
        last=False,
    )


def _check(op: Operator, output: str, given: str, result: str) -> str:
    """What is given for an output is like the `result` that the operator makes."""
    if op.is_listed(output):
        return f'_check.outputs("{given}", {given}, {result}, "{op.output(output).counted_by}")'
    return f'_check.output("{given}", {given}, {result})'


def _recorded_call(op: Operator, variant: Variant, passed: Sequence[str]) -> list[str]:
    """The arguments of the operator in a call that is recorded."""
    read = {binding.name for binding in op.backward.bindings if binding.source == "input"} if op.backward else set()
    lost = read & {given for _, given in variant.writes} if variant.kind == "inplace" else set()
    return [_copied(op, one) if one.rpartition("=")[2] in lost else one for one in passed]


def _copied(op: Operator, passed: str) -> str:
    """An argument, by position or by its name, of which a call gets a copy."""
    keyword, equals, name = passed.rpartition("=")
    return f"{keyword}{equals}_runtime.clone_each({name})" if op.is_listed(name) else f"{passed}.clone()"


def _wrapper(op: Operator, variant: Variant, parameters: list[str]) -> list[str]:
    kinds = [_written_type(op, variant, output, given) for output, given in variant.writes]
    kind = kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
    name = f"{op.name}_" if variant.kind == "inplace" else "_write_out"
    return [*call(f"def {name}", parameters, f" -> {kind}:", 0), _doc(op, variant)]


def _recorded(names: Names, variant: Variant, *, wrapper: bool = False) -> list[str]:
    """The condition under which a call is recorded: what is written counts as well."""
    written = {given: f"*{given}" if names.op.is_listed(output) else given for output, given in variant.writes}
    if names.op.never_requires_grad:
        return recorded(names, "", only=list(written.values()), wrapper=wrapper)
    inputs = {argument.name for argument in names.op.arguments}
    return recorded(names, "", extra=[one for name, one in written.items() if name not in inputs], wrapper=wrapper)
