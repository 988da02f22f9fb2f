"""Shapes of inputs: which of two contracts takes more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codegen.compare.change import Change, breaking, compatible
from codegen.contract import Argument, DimEntry, Shape, ShapeEntry, StarEntry, TensorType
from codegen.expr.text import print_text
from codegen.expr.tree import Expr, Name, NameKind, Query, Type, children, rebuild, substitute
from codegen.frozen import dataclass, replace
from codegen.model import Operator


@dataclass(frozen=True)
class Names:
    """How one side names things: entries of `dims:` are spelled out, and names of the old side are put as the new side
    has them, so that a new name alone is no change.
    """

    values: Mapping[str, Expr]
    renamed: Mapping[str, str]

    def expr(self, expr: Expr) -> Expr:
        """An expression, so spelled."""
        return self._subjects(substitute(expr, self.values))

    def text(self, expr: Expr) -> str:
        """The text of an expression, so spelled."""
        return print_text(self.expr(expr))

    def _subjects(self, expr: Expr) -> Expr:
        """`expr` with its questions asked about arguments as the new side calls them."""
        if isinstance(expr, Query):
            return replace(expr, subject=self.renamed.get(expr.subject, expr.subject))
        return rebuild(expr, tuple(self._subjects(part) for part in children(expr)))

    def shape(self, shape: Shape) -> str:
        """A shape, so spelled."""
        return f"[{', '.join(self.entry(entry) for entry in shape.entries)}]"

    def entry(self, entry: ShapeEntry) -> str:
        """One entry of a shape, so spelled."""
        if isinstance(entry, DimEntry):
            return self.text(entry.expr)
        if isinstance(entry, StarEntry):
            return f"*{self.renamed.get(entry.name, entry.name)}"
        return entry.text


def names(op: Operator, renamed: Mapping[str, str]) -> Names:
    """The names of `op`; `renamed` are those that the other side has otherwise."""
    kinds = {dim.name: NameKind.STAR if dim.star else NameKind.DIM for dim in op.dims}
    values: dict[str, Expr] = {}
    for name, kind in kinds.items():
        if name in renamed:
            values[name] = Name(renamed[name], kind, Type.INT)
    for argument in op.arguments:
        if argument.name in renamed:
            values[argument.name] = Name(renamed[argument.name], NameKind.SCALAR, Type.INT)
    for derived in op.derived:
        values[derived.name] = substitute(derived.expr, values)
    return Names(values, renamed)


def renamed_dims(pairs: Sequence[tuple[Argument, Argument]]) -> dict[str, str]:
    """Dims that have another name on the new side and stand at the same places of the same arguments."""
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    for old, new in pairs:
        if not (isinstance(old.type, TensorType) and isinstance(new.type, TensorType)):
            continue
        if _form(old.type.shape) != _form(new.type.shape):
            continue
        for before, after in zip(old.type.shape.entries, new.type.shape.entries, strict=True):
            one, two = _plain(before), _plain(after)
            if one and two and one not in found and two not in taken:
                found[one], taken[two] = two, one
    return {old: new for old, new in found.items() if old != new}


def compare_shapes(pairs: Sequence[tuple[Argument, Argument]], old: Names, new: Names) -> list[Change]:
    """What changed in the shapes that inputs may have; `pairs` are inputs that both sides have."""
    found: list[Change] = []
    before: dict[str, str] = {}  # a name -> the first place that has it
    after: dict[str, str] = {}
    for one, two in pairs:
        if not (isinstance(one.type, TensorType) and isinstance(two.type, TensorType)):
            continue
        was, now = one.type.shape, two.type.shape
        what = f"{two.name}: shape {now.text}, was {was.text}"
        if _form(was) != _form(now):
            found.append(_form_changed(what, was, now))
            continue
        strict, loose = "", False
        for i, (earlier, later) in enumerate(zip(was.entries, now.entries, strict=True)):
            place = f"{two.name}[{i}]"
            first_was = before.setdefault(old.entry(earlier), place) if _plain(earlier) else old.entry(earlier)
            first_now = after.setdefault(new.entry(later), place) if _plain(later) else new.entry(later)
            if first_was != first_now:
                strict = strict or (first_now if first_now != place else "")
                loose = True
        if strict and was.text == now.text:
            what = f"{two.name}: shape {now.text}, with sizes that must now equal {strict}"
        if strict:
            found.append(breaking(what, "shapes that agreed with the old contract can be refused"))
        elif loose:
            found.append(compatible(what, "it takes every shape that it took, and more"))
    return found


def _form(shape: Shape) -> tuple[bool, ...]:
    return tuple(isinstance(entry, DimEntry) for entry in shape.entries)


def _plain(entry: ShapeEntry) -> str:
    """The name that an entry is, and may bind; "" for what is computed."""
    if isinstance(entry, DimEntry):
        name = entry.expr
        return name.name if isinstance(name, Name) and name.kind in (NameKind.DIM, NameKind.STAR) else ""
    return entry.name if isinstance(entry, StarEntry) else ""


def _form_changed(what: str, was: Shape, now: Shape) -> Change:
    named = [sum(_form(shape)) for shape in (was, now)]
    if all(_form(was)) and not all(_form(now)) and named[1] <= named[0]:
        return compatible(what, "it takes every number of dims that it took, and more")
    return breaking(what, "tensors with the old number of dims can be refused")
