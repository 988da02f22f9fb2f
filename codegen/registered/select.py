"""Which of the registered operators have an entry, which are forms or parts of another, and which cannot be said."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from codegen import names
from codegen.check.library import check
from codegen.errors import Diagnostics, nearest
from codegen.frozen import dataclass, replace
from codegen.load import load
from codegen.registered.draft import CannotImport, Draft, Forms, draft
from codegen.registered.facts import Entry, Registered

_WRONG = "what it said makes no right entry"
_INTERNAL = re.compile(r"_(?P<op>\w+?)(_no_grad|_saved)(\.out)?")


@dataclass(frozen=True)
class Selection:
    """The entries, and of every operator without one the reason; `parts` are made with an operator that has one, by a
    library of this generator.
    """

    drafts: tuple[Draft, ...]
    left_out: tuple[tuple[str, str], ...]
    parts: tuple[str, ...]


def select(namespace: str, operators: Sequence[Registered], wanted: Collection[str]) -> Selection:
    """All of them, or those with the names in `wanted`."""
    by_name = {op.qualified: op for op in operators}
    chosen = [op for op in operators if not wanted or op.name in wanted]
    drafts: dict[str, Draft] = {}
    left: dict[str, str] = {}
    parts: dict[str, str] = {}
    forms = {op.name: _forms(op, by_name) for op in chosen if not op.overload}
    belongs = {
        form.qualified: name for name, one in forms.items() for form in (one.inplace, one.out) if form is not None
    }
    for op in chosen:
        if op.qualified in belongs:
            continue
        if op.overload and not _owner(op, by_name):
            left[op.qualified] = "an operator has no overloads but `out`, which writes what the operator returns"
            continue
        if _owner(op, by_name):
            parts[op.qualified] = _owner(op, by_name)
            continue
        problem = names.operator_problem(op.name)
        if problem:
            left[op.qualified] = problem
            continue
        try:
            drafts[op.name] = draft(op, forms[op.name], by_name)
        except CannotImport as reason:
            left[op.qualified] = str(reason)

    def again(name: str) -> Draft:
        return draft(replace(by_name[name], contract=None, asked=_WRONG), forms[name], by_name)

    _check(namespace, drafts, left, again)
    for form, name in (belongs | parts).items():
        if name in left and form not in left:
            left[form] = f"it belongs to {name}, which has no entry"
    order = {op.qualified: place for place, op in enumerate(operators)}
    listed = tuple(sorted(left.items(), key=lambda item: order[item[0]]))
    return Selection(tuple(drafts.values()), listed, tuple(name for name in parts if name not in left))


def unknown(operators: Sequence[Registered], wanted: Collection[str]) -> list[tuple[str, str]]:
    """Names that no operator has, each with the one that was probably meant, or ""."""
    known = list(dict.fromkeys(op.name for op in operators))
    return [(name, nearest(name, known)) for name in wanted if name not in known]


def _forms(op: Registered, by_name: Mapping[str, Registered]) -> Forms:
    if not op.returns or any(one.written for one in op.arguments):
        return Forms()
    inplace, out = by_name.get(f"{op.name}_"), by_name.get(f"{op.name}.out")
    plain = [_read(one) for one in op.arguments]
    count = len(op.returns)
    if inplace is not None:
        written = [one for one in inplace.arguments if one.written]
        same = [_read(one) for one in inplace.arguments] == plain
        inplace = inplace if same and len(written) == count and not inplace.returns else None
    if out is not None:
        written = [one for one in out.arguments if one.written]
        same = [_read(one) for one in out.arguments if not one.written] == plain
        named = count > 1 or [one.name for one in written] == ["out"]
        keywords = all(one.keyword_only for one in written)
        out = out if same and named and keywords and len(written) == count and not out.returns else None
    return Forms(inplace, out)


def _read(entry: Entry) -> Entry:
    """An argument but for whether it is written."""
    return replace(entry, alias="", written=False)


def _owner(op: Registered, by_name: Mapping[str, Registered]) -> str:
    """The operator that this one belongs to, where a library of this generator has registered both; else ""."""
    found = _INTERNAL.fullmatch(op.qualified)
    if found is None:
        return ""
    name = found["op"] + (found[3] or "")
    owner = by_name.get(name)
    parts = op.takes.split(" -> "), owner.takes.split(" -> ") if owner is not None else []
    same = parts[0] == parts[1] if found[2] == "_no_grad" else parts[0][:1] == parts[1][:1]
    return name if owner is not None and same else ""


def spec(namespace: str, entries: Sequence[str]) -> str:
    """The text of a spec below its first comments."""
    return f"namespace: {namespace}\n\nops:\n" + "\n".join(entries)


def _check(namespace: str, drafts: dict[str, Draft], left: dict[str, str], again: Callable[[str], Draft]) -> None:
    """Moves those whose entry would be wrong, whatever is filled in, from `drafts` to `left`; `again` makes one without
    what a fake kernel said.
    """
    tried: set[str] = set()
    while drafts:
        text = spec(namespace, [one.filled for one in drafts.values()])
        found = Diagnostics()
        if check(load(text.encode(), found), found) is not None:
            return
        wrong: dict[str, str] = {}
        for one in found.sorted():
            name, _, said = one.text.partition(": ")
            if one.severity == "error" and name in drafts:
                wrong.setdefault(name, said)
        if not wrong:  # of no operator, so of nothing that leaving one out would mend
            raise CannotImport(found.sorted()[0].text)
        for name, said in wrong.items():
            if name not in tried:
                drafts[name] = again(name)
                tried.add(name)
            else:
                left[name] = said
                del drafts[name]
