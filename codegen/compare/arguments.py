"""What calls pass: which arguments there are, how they are passed, and what each may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.compare.change import Change, breaking, compatible, listed, sets
from codegen.contract import Acc, Argument, ScalarType, TensorType, Variable, dtypes_of
from codegen.defaults import default_text
from codegen.model import Operator

# Scalar kinds whose values another kind takes as well.
_TAKES = {("int", "size"), ("size", "int"), ("int", "float"), ("size", "float")}
# Words that refuse what calls without them took, or the other way round; other words change what bodies see.
_STRICT_WORDS = {"contiguous": "a strided tensor, which was copied, is refused", "cpu": "the other device is refused"}
_LOOSE_WORDS = {"expand": "a tensor that must be broadcast is refused", "cpu": "the other device is refused"}


def pair_arguments(old: Operator, new: Operator) -> dict[str, str]:
    """Name on the old side -> name on the new side: the same one, or, for a positional argument that lost its name,
    what stands in its place with a type of the same kind.
    """
    before = {argument.name: argument for argument in old.arguments}
    after = {argument.name: argument for argument in new.arguments}
    found = {name: name for name in before if name in after}
    one = [argument for argument in old.arguments if not argument.keyword_only]
    two = [argument for argument in new.arguments if not argument.keyword_only]
    if len(one) == len(two):
        for was, now in zip(one, two, strict=True):
            if was.name not in after and now.name not in before and was.is_tensor == now.is_tensor:
                found[was.name] = now.name
    return found


def compare_arguments(old: Operator, new: Operator, pairs: Mapping[str, str]) -> list[Change]:
    """Everything about arguments but their shapes."""
    found: list[Change] = []
    for argument in old.arguments:
        if argument.name not in pairs:
            found.append(breaking(f"{argument.name}: removed", "calls that pass it fail"))
        elif pairs[argument.name] != argument.name:
            why = f"calls that pass {argument.name}= by name fail"
            found.append(breaking(f"{argument.name}: now called {pairs[argument.name]}", why))
    kept = set(pairs.values())
    for i, argument in enumerate(new.arguments):
        if argument.name not in kept:
            found.append(_added(argument, [later for later in new.arguments[i:] if later.name in kept]))
    found += _order(old, new, pairs)
    both = [(old.argument(was), new.argument(now)) for was, now in pairs.items()]
    for was, now in both:
        found += _passing(was, now) + _kind(was, now) + _default(was, now) + _words(was, now)
    return found + _dtypes(old, new, both) + _equal_dtypes(both)


def _added(argument: Argument, behind: Sequence[Argument]) -> Change:
    what = f"{argument.name}: added"
    if argument.default is None:
        return breaking(f"{what}, without a default", "calls do not pass it")
    if not argument.keyword_only and any(not later.keyword_only for later in behind):
        return breaking(f"{what} in front of {behind[0].name}", "calls by position pass another argument there")
    return compatible(f"{what}, with a default", "calls without it mean what they meant")


def _order(old: Operator, new: Operator, pairs: Mapping[str, str]) -> list[Change]:
    """Positional arguments that both sides have, in another order."""
    after = [argument.name for argument in new.arguments if not argument.keyword_only]
    was = [pairs[a.name] for a in old.arguments if not a.keyword_only and pairs.get(a.name) in after]
    now = [name for name in after if name in was]
    if was == now:
        return []
    what = f"order of arguments: {', '.join(now)}, was {', '.join(was)}"
    return [breaking(what, "calls by position pass them in the old order")]


def _passing(was: Argument, now: Argument) -> list[Change]:
    if was.keyword_only == now.keyword_only:
        return []
    if now.keyword_only:
        return [breaking(f"{now.name}: now keyword-only", "calls that pass it by position fail")]
    return [compatible(f"{now.name}: now also by position", "it can still be passed by name")]


def _kind(was: Argument, now: Argument) -> list[Change]:
    """Tensor or scalar, and which; optional; a list; written."""
    one, two, name = was.type, now.type, now.name
    if isinstance(one, TensorType) != isinstance(two, TensorType):
        return [breaking(f"{name}: {now.text}, was {was.text}", "calls pass what it was")]
    found: list[Change] = []
    if one.optional and not two.optional:
        found.append(breaking(f"{name}: no longer optional", "calls that pass None fail"))
    elif two.optional and not one.optional:
        found.append(compatible(f"{name}: now optional", "calls pass it still"))
    if one.is_list != two.is_list:
        found.append(breaking(f"{name}: {now.text}, was {was.text}", "calls pass what it was"))
    if isinstance(one, TensorType) and isinstance(two, TensorType):
        if one.element_optional and not two.element_optional:
            found.append(breaking(f"{name}: its elements are no longer optional", "lists that hold None fail"))
        elif two.element_optional and not one.element_optional:
            found.append(compatible(f"{name}: its elements are now optional", "lists without None are as before"))
        if two.written and not one.written:
            found.append(breaking(f"{name}: now written", "callers rely on what they pass being left alone"))
        elif one.written and not two.written:
            found.append(breaking(f"{name}: no longer written", "callers read what was written to it"))
    if isinstance(one, ScalarType) and isinstance(two, ScalarType):
        found += _scalar(name, one, two)
    return found


def _scalar(name: str, one: ScalarType, two: ScalarType) -> list[Change]:
    found: list[Change] = []
    if one.kind != two.kind:
        what = f"{name}: {two.kind}, was {one.kind}"
        takes = (one.kind, two.kind) in _TAKES
        why = f"every {one.kind} is taken" if takes else f"calls pass {_a(one.kind)}"
        found.append(compatible(what, why) if takes else breaking(what, why))
    if one.length != two.length and one.is_list and two.is_list:
        what = f"{name}: {_length(two)}, was {_length(one)}"
        free = two.length is None
        found.append(compatible(what, "every length is taken") if free else breaking(what, "other lengths fail"))
    if one.kind == two.kind == "choice":
        verbs = (" no longer takes", " also takes")
        found += sets(
            name + ":", one.choices, two.choices, "calls that pass one fail", "the old words mean the same", verbs
        )
    if one.variable != two.variable:
        found.append(breaking(f"{name}: dtype({two.variable}), was dtype({one.variable})", "it chooses another dtype"))
    return found


def _a(kind: str) -> str:
    return f"an {kind}" if kind == "int" else f"a {kind}"


def _length(kind: ScalarType) -> str:
    return f"a list of {kind.length}" if kind.length is not None else "a list of any length"


def _default(was: Argument, now: Argument) -> list[Change]:
    if was.default == now.default:
        return []
    if now.default is None:
        return [breaking(f"{now.name}: no longer has a default", "calls that leave it out fail")]
    if was.default is None:
        return [compatible(f"{now.name}: default {default_text(now)}", "calls pass it still")]
    what = f"{now.name}: default {default_text(now)}, was {default_text(was)}"
    return [breaking(what, "calls that leave it out mean something else")]


def _words(was: Argument, now: Argument) -> list[Change]:
    found: list[Change] = []
    for word in now.words:
        if word not in was.words:
            found.append(_word(now.name, f"now `{word.name}`", _STRICT_WORDS.get(word.name, "")))
    for word in was.words:
        if word not in now.words and not now.has_word(word.name):
            found.append(_word(now.name, f"no longer `{word.name}`", _LOOSE_WORDS.get(word.name, "")))
    return found


def _word(name: str, what: str, fails: str) -> Change:
    if fails:
        return breaking(f"{name}: {what}", fails)
    return compatible(f"{name}: {what}", "what is taken is the same; bodies see another layout, or autograd less")


def _dtypes(old: Operator, new: Operator, pairs: Sequence[tuple[Argument, Argument]]) -> list[Change]:
    """Dtypes that tensors may have, arguments with the same change together."""
    lost: dict[tuple[str, ...], list[str]] = {}
    gained: dict[tuple[str, ...], list[str]] = {}
    for was, now in pairs:
        if isinstance(was.type, TensorType) and isinstance(now.type, TensorType):
            before, after = dtypes_of(was.type.dtype, old.types), dtypes_of(now.type.dtype, new.types)
            lost.setdefault(tuple(d for d in before if d not in after), []).append(now.name)
            gained.setdefault(tuple(d for d in after if d not in before), []).append(now.name)
    found = [
        breaking(f"{', '.join(names)}: no longer {_be(names)} {listed(dtypes)}", "calls with such tensors fail")
        for dtypes, names in lost.items()
        if dtypes
    ]
    return found + [
        compatible(f"{', '.join(names)}: also {_be(names)} {listed(dtypes)}", "other dtypes are as before")
        for dtypes, names in gained.items()
        if dtypes
    ]


def _be(names: Sequence[str]) -> str:
    return "takes" if len(names) == 1 else "take"


def _equal_dtypes(pairs: Sequence[tuple[Argument, Argument]]) -> list[Change]:
    """Which tensors must have equal dtypes."""
    found: list[Change] = []
    before: dict[object, str] = {}
    after: dict[object, str] = {}
    for was, now in pairs:
        if not (isinstance(was.type, TensorType) and isinstance(now.type, TensorType)):
            continue
        first_was = _first(before, was.type, now.name)
        first_now = _first(after, now.type, now.name)
        if first_was == first_now:
            continue
        if first_now == now.name:
            found.append(
                compatible(f"{now.name}: its dtype is free of that of {first_was}", "equal ones are still taken")
            )
        else:
            what = f"{now.name}: its dtype now follows that of {first_now}"
            found.append(breaking(what, "calls with other combinations of dtypes fail"))
    return found


def _first(seen: dict[object, str], tensor: TensorType, name: str) -> str:
    """The first argument whose dtype decides that of `tensor`; itself where there is none before it."""
    dtype = tensor.dtype
    if not isinstance(dtype, Variable | Acc):
        return name
    variable = dtype.variable if isinstance(dtype, Acc) else dtype.name
    return seen.setdefault(variable, name)
