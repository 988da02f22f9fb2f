"""Everything of an operator but what calls pass: results, checks, gradients, devices, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.compare.arguments import compare_arguments, pair_arguments
from codegen.compare.change import Change, breaking, compatible, listed, sets
from codegen.compare.shapes import Names, compare_shapes, names, renamed_dims
from codegen.contract import Acc, Argument, Output, TensorType, Variable, dtypes_of
from codegen.expr.text import print_text
from codegen.expr.tree import Compare, Constant, Expr
from codegen.frozen import dataclass
from codegen.model import Check, Operator
from codegen.rules import ElementsRule, OffsetsRule, SumRule, ValueRule

_GETS_NO_GRADIENT = "training through it fails or gets no gradient"


@dataclass(frozen=True)
class _Plain:
    """A field whose change is told as it is: what callers call it, and why it breaks them, or why it does not."""

    called: str
    why: str
    breaks: bool = False


_RUNS = "callers do not see how it runs"
_TESTS = "tests only"
_SAID = "documentation only"
# Fields that are compared whole. Every other field of an operator is looked at by a function below, or follows from
# these; a test holds the two lists to the dataclass.
PLAIN: dict[str, _Plain] = {
    "doc": _Plain("doc", _SAID),
    "scratch": _Plain("scratch", _RUNS),
    "passes": _Plain("launches", _RUNS),
    "fast_math": _Plain("fast_math", "results may differ in their last digits"),
    "elementwise": _Plain("elementwise expressions", "results can differ", breaks=True),
    "custom": _Plain("kernels", _RUNS),
    "full_cuda": _Plain("full_cuda", _RUNS),
    "triton": _Plain("triton", _RUNS),
    "reference": _Plain("reference", _TESTS),
    "samples": _Plain("samples", _TESTS),
    "tolerance": _Plain("tolerance", _TESTS),
    "flops": _Plain("flops", "only counters read it"),
    "since": _Plain("since", _SAID),
    "deprecated": _Plain("deprecated", _SAID),
    "tags": _Plain("tags", "passes of torch.compile may treat it otherwise"),
    "random": _Plain("random", "it draws, or no longer draws, from PyTorch's generator", breaks=True),
    "dynamic": _Plain("dynamic sizes", "sizes of results are known at another time", breaks=True),
    "autocast": _Plain("autocast", "under autocast results have another dtype", breaks=True),
}
LOOKED_AT = frozenset(
    {"types", "arguments", "outputs", "dims", "derived", "checks", "values", "backward", "differentiable", "grad_mask"}
    | {"devices", "variants", "deterministic", "requires", "batch"}
)
FOLLOWS = frozenset({"name", "rules", "several_passes", "iterated", "derived_from"})


def compare_operators(old: Operator, new: Operator) -> list[Change]:
    """What changed between two operators of one name."""
    paired = pair_arguments(old, new)
    pairs = [(old.argument(was), new.argument(now)) for was, now in paired.items()]
    renamed = {**{was: now for was, now in paired.items() if was != now}, **renamed_dims(pairs)}
    before, after = names(old, renamed), names(new, {})
    found = compare_arguments(old, new, paired)
    found += compare_shapes(pairs, before, after)
    found += _outputs(old, new, pairs, before, after)
    found += _conditions(_checks(old, before), _checks(new, after))
    found += _conditions(_values(old, before), _values(new, after))
    found += _messages(old.checks, new.checks)
    found += _gradients(old, new, paired)
    found += _support(old, new)
    for name, plain in PLAIN.items():
        if getattr(old, name) != getattr(new, name):
            found.append(Change(plain.breaks, f"{plain.called} changed", plain.why))
    if not found and [(d.name, print_text(d.expr)) for d in old.derived] != [
        (d.name, print_text(d.expr)) for d in new.derived
    ]:
        found.append(compatible("dims changed", _RUNS))
    return found


# ---------------------------------------------------------------- results


def _outputs(
    old: Operator, new: Operator, pairs: Sequence[tuple[Argument, Argument]], before: Names, after: Names
) -> list[Change]:
    was, now = old.public_outputs, new.public_outputs
    found: list[Change] = []
    if len(was) != len(now):
        gone = [output.name for output in was if output.name not in {o.name for o in now}]
        more = [output.name for output in now if output.name not in {o.name for o in was}]
        told = [f"{listed(more)} added"] if more else []
        told += [f"{listed(gone)} removed"] if gone else []
        what = f"outputs: {', '.join(told) or 'another number'}"
        return [breaking(what, f"a call returns {_count(len(now))}, and callers unpack {_count(len(was))}")]
    if sorted(o.name for o in was) == sorted(o.name for o in now) and [o.name for o in was] != [o.name for o in now]:
        what = f"order of outputs: {', '.join(o.name for o in now)}, was {', '.join(o.name for o in was)}"
        return [breaking(what, "callers unpack them in the old order")]
    for one, two in zip(was, now, strict=True):
        found += _output(one, two, (old, new), pairs, (before, after))
    return found


def _count(number: int) -> str:
    return "nothing" if number == 0 else "1 tensor" if number == 1 else f"{number} tensors"


def _output(
    was: Output,
    now: Output,
    ops: tuple[Operator, Operator],
    pairs: Sequence[tuple[Argument, Argument]],
    spelled: tuple[Names, Names],
) -> list[Change]:
    found: list[Change] = []
    if was.name != now.name:
        found.append(compatible(f"output {was.name}: now called {now.name}", "calls do not name outputs"))
    one = _dtype(ops[0], was, [pair[0] for pair in pairs], [pair[1] for pair in pairs])
    two = _dtype(ops[1], now, [pair[1] for pair in pairs], [pair[1] for pair in pairs])
    if one != two:
        found.append(breaking(f"output {now.name}: its dtype is {two}, was {one}", "callers get another dtype"))
    if spelled[0].shape(was.type.shape) != spelled[1].shape(now.type.shape):
        what = f"output {now.name}: shape {now.type.shape.text}, was {was.type.shape.text}"
        found.append(breaking(what, "callers get another shape"))
    if was.type.is_list != now.type.is_list:
        forms = ["a list" if output.type.is_list else "one tensor" for output in (now, was)]
        found.append(breaking(f"output {now.name}: {forms[0]}, was {forms[1]}", "callers unpack it in another way"))
    called = {pair[0].name: pair[1].name for pair in pairs}
    if was.type.is_list and now.type.is_list and called.get(was.counted_by) != now.counted_by:
        what = f"output {now.name}: as long as {now.counted_by}, was as long as {was.counted_by}"
        found.append(breaking(what, "callers get another number of tensors"))
    if was.condition != now.condition:
        found.append(breaking(f"output {now.name}: its condition changed", "callers get None at other times"))
    layout = [{word for word in output.words if word.name in ("like", "transposed")} for output in (was, now)]
    if layout[0] != layout[1]:
        found.append(breaking(f"output {now.name}: other strides", "callers that read strides or call view can fail"))
    return found


def _dtype(op: Operator, output: Output, own: Sequence[Argument], called: Sequence[Argument]) -> str:
    """In terms of the arguments that both sides have, under the names of the new one."""
    dtype = output.type.dtype
    if not isinstance(dtype, Variable | Acc):
        return dtype.name
    variable = dtype.variable if isinstance(dtype, Acc) else dtype.name
    of = "the accumulation dtype of" if isinstance(dtype, Acc) else "that of"
    for argument, name in zip(own, called, strict=True):
        if isinstance(argument.type, TensorType) and argument.type.dtype == Variable(variable):
            return f"{of} {name.name}"
    return " or ".join(dtypes_of(dtype, op.types))


# ---------------------------------------------------------------- conditions


def _checks(op: Operator, spelled: Names) -> dict[str, Expr]:
    return {spelled.text(check.condition): spelled.expr(check.condition) for check in op.checks}


def _values(op: Operator, spelled: Names) -> dict[str, Expr | None]:
    return {
        _value(rule, spelled): spelled.expr(rule.condition)
        if isinstance(rule, ElementsRule) and not rule.besides
        else None
        for rule in op.values
    }


def _value(rule: ValueRule, spelled: Names) -> str:
    column = f"[..., {rule.column}]" if rule.column is not None else ""
    match rule:
        case OffsetsRule():
            return f"offsets({rule.argument}{column}, {spelled.text(rule.total)})"
        case SumRule():
            return f"sum of {rule.argument}{column}: {spelled.text(rule.condition)}"
    element = f"{rule.argument}{column}"
    text = " or ".join([spelled.text(rule.condition), *(f"{element} == {spelled.text(one)}" for one in rule.besides)])
    return f"{rule.argument}{column}: {text}" if column else text


def _conditions(old: Mapping[str, Expr | None], new: Mapping[str, Expr | None]) -> list[Change]:
    found: list[Change] = []
    gone = {text: expr for text, expr in old.items() if text not in new}
    for text, expr in new.items():
        if text in old:
            continue
        looser = next((was for was, before in gone.items() if _looser(before, expr)), None)
        if looser is not None:
            del gone[looser]
            found.append(compatible(f"check {text}, was {looser}", "it holds wherever the old one held"))
            continue
        tighter = next((was for was, before in gone.items() if _looser(expr, before)), None)
        if tighter is not None:
            del gone[tighter]
            found.append(breaking(f"check {text}, was {tighter}", "calls that the old one let through can fail"))
        else:
            found.append(breaking(f"check {text} added", "calls for which it does not hold fail"))
    return found + [compatible(f"check {text} removed", "every call that was right is") for text in gone]


def _looser(old: Expr | None, new: Expr | None) -> bool:
    """Whether both compare the same with a number, and the number of `new` lets more through."""
    if not (isinstance(old, Compare) and isinstance(new, Compare)):
        return False
    if old.operators != new.operators or len(old.operators) != 1 or old.operands[0] != new.operands[0]:
        return False
    one, two = old.operands[1], new.operands[1]
    if not (isinstance(one, Constant) and isinstance(two, Constant)):
        return False
    was, now = one.value, two.value
    if isinstance(was, str) or isinstance(now, str):
        return False
    return now >= was if old.operators[0] in ("<", "<=") else old.operators[0] in (">", ">=") and now <= was


def _messages(old: Sequence[Check], new: Sequence[Check]) -> list[Change]:
    texts = {check.text: check.message for check in old}
    changed = [check.text for check in new if check.text in texts and texts[check.text] != check.message]
    return [compatible(f"message of check {text} changed", "it fails for the same calls") for text in changed]


# ---------------------------------------------------------------- gradients, devices


def _gradients(old: Operator, new: Operator, paired: Mapping[str, str]) -> list[Change]:
    if old.backward is not None and new.backward is None:
        return [breaking("no longer has a gradient", _GETS_NO_GRADIENT)]
    if new.backward is not None and old.backward is None:
        return [compatible("now has a gradient", "calls that need none are as before")]
    if old.backward is None or new.backward is None:
        if old.differentiable is False and new.differentiable is None:
            return [breaking("no longer `differentiable: false`", "backward through it raises an error")]
        if new.differentiable is False and old.differentiable is None:
            return [compatible("now `differentiable: false`", "backward through it raised an error")]
        return []
    was = [paired[gradient.input] for gradient in old.backward.gradients if gradient.input in paired]
    now = [gradient.input for gradient in new.backward.gradients]
    lost = [name for name in was if name not in now]
    more = [name for name in now if name not in was]
    found = [breaking(f"{listed(lost)}: no gradient any more", _GETS_NO_GRADIENT)] if lost else []
    found += [compatible(f"{listed(more)}: now with a gradient", "other gradients are as before")] if more else []
    if old.backward.operator != new.backward.operator:
        what = f"backward {new.backward.operator}, was {old.backward.operator}"
        found.append(compatible(what, "callers do not name it"))
    return found


def _support(old: Operator, new: Operator) -> list[Change]:
    """Where and under what it works."""
    verbs = (" no longer", " also")
    found = sets("devices:", old.devices, new.devices, "calls on it fail", "others are as before", verbs)
    kinds = [[variant.kind for variant in op.variants] for op in (old, new)]
    found += sets("variants:", kinds[0], kinds[1], "calls of it fail", "others are as before", verbs)
    for one in old.variants:
        if any(two.kind == one.kind and two.writes != one.writes for two in new.variants):
            found.append(breaking(f"variant {one.kind}: writes another argument", "callers read the old one"))
    found += sets("batch:", old.batch, new.batch, "vmap and sharding over it fail", "others are as before", verbs)
    if old.deterministic and not new.deterministic:
        found.append(breaking("no longer deterministic", "it fails under torch.use_deterministic_algorithms"))
    elif new.deterministic and not old.deterministic:
        found.append(compatible("now deterministic", "results are among those it gave"))
    if old.requires != new.requires:
        texts = [print_text(op.requires) if op.requires is not None else "nothing" for op in (old, new)]
        what = f"requires {texts[1]}, was {texts[0]}"
        free = new.requires is None
        found.append(compatible(what, "every device is taken") if free else breaking(what, "other devices fail"))
    return found
