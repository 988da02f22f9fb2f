"""The shape of a tensor: its dims, its star, and functions of stars."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.contract import (
    BroadcastEntry,
    DimEntry,
    DropEntry,
    ReplaceEntry,
    Shape,
    ShapeEntry,
    StarEntry,
    StarFunction,
)
from codegen.errors import shown
from codegen.expr import fold as expr_fold
from codegen.expr.tree import Expr, Name, NameKind, Type, uses
from codegen.expr.tree import names as names_in
from codegen.fields import Field
from codegen.frozen import replace
from codegen.model import DerivedDim, Dim
from codegen.parse_type import ParsedEntry, ParsedTensor, Piece
from codegen.presence import surely_given
from codegen.reader import Reader
from codegen.scope import Scope


def on_hardware(expr: Expr, derived: Sequence[DerivedDim]) -> bool:
    """Whether a number is known only where kernels are launched."""
    launch_only = {dim.name for dim in derived if dim.launch_only}
    used = {name.name for name in names_in(expr)}
    return uses(expr, NameKind.HARDWARE) or bool(used & launch_only)


class ShapeReader:
    """Reads the shapes of one operator. `spliced` are the lists of sizes that stand in shapes like stars."""

    def __init__(self, dims: Sequence[Dim], derived: Sequence[DerivedDim], spliced: Sequence[str]) -> None:
        self.dims, self.derived, self.spliced = dims, derived, spliced

    def shape(self, read: Reader, field: Field, parsed: ParsedTensor, scope: Scope) -> Shape | None:
        """The shape of a tensor; None after an error, which was reported."""
        entries = [self.entry(read, field, entry, scope) for entry in parsed.entries]
        known = tuple(entry for entry in entries if entry is not None)
        return Shape(known) if len(known) == len(entries) else None

    def entry(self, read: Reader, field: Field, entry: ParsedEntry, scope: Scope) -> ShapeEntry | None:
        if entry.function:
            return self.star_function(read, field, entry, scope)
        if entry.star:
            known = self.is_star(read, field, Piece(entry.name, entry.offset), scope)
            return StarEntry(entry.name, entry.text) if known else None
        if field.has_word("expand") and entry.name and entry.name not in scope.names:
            unbound = {entry.name: "an input with `expand` takes its sizes from the others"}
            scope = replace(scope, absent={**unbound, **scope.absent})
        expr = read.expression_at(
            field.node, entry.text, entry.offset, scope, Type.INT, "a size", 'unknown dim "{}" in shape'
        )
        if expr is None:
            return None
        if uses(expr, NameKind.DYNAMIC) and (entry is not field.entries[0] or not isinstance(expr, Name)):
            text = "a size that is known after the kernel ran is the first of a shape, on its own"
            read.error(field.node.at(entry.offset), text, "so that rows can be cut off behind it")
            return None
        size = expr_fold.constant(expr, {})
        if isinstance(size, int) and size < 0:
            read.error(field.node.at(entry.offset), f"the size {size} is negative")
        return DimEntry(expr, " ".join(entry.text.split()))

    def is_star(self, read: Reader, field: Field, name: Piece, scope: Scope) -> bool:
        """Whether a name is that of a star; reports it otherwise."""
        stars = {dim.name for dim in self.dims if dim.star and dim.name not in scope.absent} | set(self.spliced)
        if name.text in stars:
            holders = scope.holders.get(name.text)
            if holders is not None and not surely_given(holders, scope.met):
                read.error(field.node.at(name.offset), f"*{name.text} may be absent here", _only_under(holders))
            return True
        if name.text in scope.unread:
            return False
        hint = f"stars known here are {', '.join(sorted(stars))}" if stars else "no input has a star"
        if name.text in scope.names:
            plain = scope.names[name.text].kind is NameKind.DIM
            hint = f"it is a single dim: write {name.text}" if plain else "it is a number: name the star otherwise"
        if name.text in scope.absent:
            hint = scope.absent[name.text]
        read.error(field.node.at(name.offset), f'unknown star "{shown(name.text)}" in shape', hint)
        return False

    def star_function(self, read: Reader, field: Field, entry: ParsedEntry, scope: Scope) -> StarFunction | None:
        """`*broadcast(a, b)`, `*drop(s, dim)` or `*replace(s, dim, k)`."""
        text = f"*{entry.function}({', '.join(' '.join(part.text.split()) for part in entry.parts)})"
        stars = entry.parts if entry.function == "broadcast" else entry.parts[:1]
        for part in stars:
            if part.text in self.spliced:
                text = f"{part.text} is a list, and functions of stars take stars of inputs"
                read.error(field.node.at(part.offset), text)
                return None
        known = [self.is_star(read, field, part, scope) for part in stars]
        if not all(known):
            return None
        if entry.function == "broadcast":
            return BroadcastEntry(tuple(part.text for part in stars), text)
        numbers = [
            read.expression_at(field.node, part.text, part.offset, scope, Type.INT, what)
            for part, what in zip(entry.parts[1:], ("a dim", "a size"), strict=False)
        ]
        for part, number in zip(entry.parts[1:], numbers, strict=True):
            if number is not None and on_hardware(number, self.derived):
                read.error(field.node.at(part.offset), "a function of stars cannot depend on the hardware")
                return None
        if None in numbers:
            return None
        dim, *sizes = [number for number in numbers if number is not None]
        if entry.function == "drop":
            return DropEntry(stars[0].text, dim, text)
        return ReplaceEntry(stars[0].text, dim, sizes[0], text)


def _only_under(holders: tuple[str, ...]) -> str:
    return f"only {' and '.join(holders)} {'has' if len(holders) == 1 else 'have'} it, and may be None"
