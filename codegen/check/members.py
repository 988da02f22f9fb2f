"""Arguments, outputs and scratch of the model, each out of its field and what its shape may name."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.check.arguments import check_scalar
from codegen.check.lists import as_long, check_length, check_list, equally_long, is_list, length_of
from codegen.check.shapes import ShapeReader
from codegen.check.types import resolve_dtype
from codegen.check.words import check_input_words, check_output_words
from codegen.contract import Argument, Output, ScalarType, Scratch, TensorType, TypeVariable
from codegen.defaults import parse_default
from codegen.expr.text import print_text
from codegen.expr.tree import Constant, Expr, Name, NameKind, Query, Type
from codegen.fields import Field
from codegen.frozen import dataclass, replace
from codegen.model import DerivedDim, Dim
from codegen.parse_type import ParsedScalar, ParsedTensor, Piece, TypeProblem
from codegen.positions import list_of
from codegen.presence import Condition
from codegen.reader import Reader
from codegen.scope import Scope


def dim_name(dim: Dim) -> Name:
    """What a dim is in an expression."""
    return Name(dim.name, NameKind.STAR if dim.star else NameKind.DIM, Type.INT)


@dataclass(frozen=True)
class Members:
    """Makes them; problems go to `read`."""

    read: Reader
    variables: Mapping[str, TypeVariable]
    dims: tuple[Dim, ...]
    derived: tuple[DerivedDim, ...]
    spliced: tuple[str, ...]  # `size[]` arguments whose values shapes take as a star
    masked: bool  # grad_mask says which outputs are wanted

    def argument(self, field: Field, scope: Scope) -> Argument | None:
        """An entry of `inputs:` or `keywords:`; None after an error in its type."""
        parsed = field.parsed.type
        read = self.read.within(field.part)
        kind: TensorType | ScalarType | None
        if isinstance(parsed, ParsedTensor):
            if field.optional or parsed.element_optional:  # its contract matters only when it is given
                scope = replace(scope, met=(Condition(Query("given", field.name, (), Type.BOOL)),))
            if parsed.list_at is not None:  # each of its tensors has these
                scope = self._of_each(field.name, scope)
            kind = self._tensor_type(read, field, parsed, scope)
        else:
            variable = parsed.variable.text if parsed.variable else ""
            choices = tuple(choice.text for choice in parsed.choices)
            optional, is_list = parsed.optional_at is not None, parsed.list_at is not None
            kind = ScalarType(parsed.kind, optional, is_list, parsed.length, choices, variable)
        default = None
        if field.parsed.condition is not None:
            read.error(field.node.at(field.parsed.condition.offset), "only outputs have a condition")
        if field.parsed.default is not None:
            try:
                default = parse_default(parsed, field.parsed.default)
            except TypeProblem as found:
                read.error(field.node.at(found.offset), found.text, found.hint)
        if isinstance(parsed, ParsedScalar):
            check_scalar(read, field, parsed, default, self.variables)
        if kind is None:
            return None
        if isinstance(kind, TensorType) and kind.element_optional and kind.written:
            text = "PyTorch compiles no operator that writes to a list in which some may be absent"
            read.error(field.node.at(parsed.list_at or 0), text, "leave out those that are absent, or write several")
        words = check_input_words(read, field, kind) if isinstance(kind, TensorType) else ()
        keyword_only = field.section == "keywords"
        return Argument(field.name, kind, keyword_only, default, words, field.doc, field.parsed.text)

    def _of_each(self, name: str, scope: Scope) -> Scope:
        """What the shape of a list may name: dims that bind for each tensor, where they are there whenever one is."""
        known, absent = {}, dict(scope.absent)
        for dim in self.dims:
            lists = [list_of(holder) for holder in dim.holders]
            if dim.each and (not dim.optional or name in lists):
                known[dim.name] = dim_name(dim)
            elif dim.each:
                absent[dim.name] = f"{' or '.join(lists)} may have no tensor where {name} has one"
        return replace(scope, absent=absent).naming(known)

    def output(self, field: Field, scope: Scope, inputs: dict[str, Argument]) -> Output | None:
        """An entry of `outputs:`."""
        condition, text = None, field.parsed.text
        if field.parsed.condition is not None:
            condition = self._condition(field, field.parsed.condition, scope)
            if condition is None:
                return None
            scope = replace(scope, met=(*scope.met, Condition(condition)))
            text = f"{text} if {print_text(condition)}"
        read, counted_by, alike = self.read.within(field.part), "", set[str]()
        if is_list(field):
            kinds = {name: one.type for name, one in inputs.items() if isinstance(one.type, TensorType)}
            lists = {name: kind.shape for name, kind in kinds.items() if kind.is_list}
            counted_by = length_of(read, field, self.dims, lists)
            if not counted_by:
                return None
            check_length(read, field, inputs[counted_by], self.masked)
            alike = equally_long(self.dims, lists, counted_by)
            scope = as_long(self._of_each(counted_by, scope), alike, counted_by, self.dims)
        kind = self._made_tensor(field, scope)
        if kind is None:
            return None
        words = check_output_words(read, field, kind, inputs, self.variables, alike)
        return Output(field.name, kind, words, condition, field.doc, text, counted_by)

    def _condition(self, field: Field, piece: Piece, scope: Scope) -> Expr | None:
        """When an output is there."""
        read, place = self.read.within(field.part), field.node.at(piece.offset)
        if field.has_word("saved"):
            read.error(place, "a `saved` output has no condition: it is computed whenever backward may need it")
            return None
        if self.masked:
            read.error(place, "a gradient has no condition: grad_mask says which are wanted")
            return None
        expr = read.expression_at(field.node, piece.text, piece.offset, scope, Type.BOOL, "a condition")
        if isinstance(expr, Constant):
            read.error(place, "this condition names nothing that a call could change")
            return None
        return expr

    def scratch(self, field: Field, scope: Scope) -> Scratch | None:
        """An entry of `scratch:`."""
        kind = self._made_tensor(field, scope)
        if kind is None:
            return None
        words = check_output_words(self.read.within(field.part), field, kind, {}, self.variables)
        return Scratch(field.name, kind, words, field.parsed.text)

    def _made_tensor(self, field: Field, scope: Scope) -> TensorType | None:
        """The type of an output or scratch tensor: plain tensors without a default."""
        read = self.read.within(field.part)
        parsed = field.parsed.type
        if isinstance(parsed, ParsedScalar):
            what = "an output" if field.section == "outputs" else "scratch"
            read.error(
                field.node,
                f"{what} is a tensor, not a {parsed.kind}",
                f"for instance {parsed.kind}32[]" if parsed.kind in ("int", "float") else "",
            )
            return None
        if field.parsed.default is not None:
            read.error(field.node.at(field.parsed.default.offset), "only inputs have defaults")
        check_list(read, field, parsed)
        if parsed.optional_at is not None:
            hint = "an output is there on a condition: T[n] if flag" if field.section == "outputs" else ""
            read.error(field.node.at(parsed.optional_at), "only inputs are optional", hint)
        if parsed.written_at is not None:
            read.error(field.node.at(parsed.written_at), "only inputs are written in place")
        return self._tensor_type(read, field, parsed, scope)

    def _tensor_type(self, read: Reader, field: Field, parsed: ParsedTensor, scope: Scope) -> TensorType | None:
        dtype = resolve_dtype(read, field, parsed, self.variables)
        shape = ShapeReader(self.dims, self.derived, self.spliced).shape(read, field, parsed, scope)
        if dtype is None or shape is None:
            return None
        optional, is_list = parsed.optional_at is not None, parsed.list_at is not None
        return TensorType(dtype, shape, optional, is_list, parsed.element_optional, parsed.written_at is not None)
