"""The contract of one operator: dtype variables, inputs, outputs, scratch and the names that their shapes give.

In this order: every type is parsed, plain names bind over all inputs, `dims:` are derived, and only then are the
expressions of shapes read.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen import load, names
from codegen.bind import names as bind_names
from codegen.check.arguments import (
    choice_words,
    reserve_fields,
    scalar_absent,
    scalar_holders,
    scalar_names,
    scalar_subjects,
    spliced_names,
    stated_conditions,
)
from codegen.check.dynamic import dynamic_names, read_dynamic
from codegen.check.lists import is_list
from codegen.check.members import Members, dim_name
from codegen.check.scopes import element_scope, value_scope
from codegen.check.shapes import on_hardware
from codegen.check.types import bound_types, read_types
from codegen.check.words import check_names
from codegen.contract import (
    Argument,
    DimEntry,
    Output,
    Scratch,
    TypeVariable,
)
from codegen.errors import Position, shown
from codegen.expr.tree import Name, NameKind, Type, integer
from codegen.expr.tree import names as names_in
from codegen.fields import SECTIONS, Field, read_fields
from codegen.frozen import dataclass, replace
from codegen.load import Mapping, Scalar
from codegen.model import DerivedDim, Dim, DynamicDim
from codegen.parse_type import ParsedTensor
from codegen.positions import list_of
from codegen.reader import Reader
from codegen.scope import Scope, Subject

_SIZE_HARDWARE = "it depends on the hardware: launches and scratch only"


@dataclass(frozen=True)
class Contract:
    """What this step hands on; `valid` is false after an error that makes later steps guess."""

    types: tuple[TypeVariable, ...]
    arguments: tuple[Argument, ...]
    outputs: tuple[Output, ...]
    scratch: tuple[Scratch, ...]
    dims: tuple[Dim, ...]
    derived: tuple[DerivedDim, ...]
    dynamic: tuple[DynamicDim, ...]
    grad_mask: bool
    checks: Scope  # for checks and flops: no hardware, no outputs
    launches: Scope  # for launches and parallel
    values: Scope  # for values: inputs are their elements
    elements: Scope  # for elementwise: the same, and what may be absent must be asked for
    places: dict[str, Scalar]  # where each argument, output and scratch tensor is named
    taken: dict[str, str]  # every name that the operator gives -> what it is
    valid: bool


def check_contract(read: Reader, node: Mapping, devices: Sequence[str]) -> Contract:
    """Reads the contract of the operator `node`, which runs on `devices`; problems go to `read`."""
    return _Checker(read, node, devices).contract()


class _Checker:
    def __init__(self, read: Reader, node: Mapping, devices: Sequence[str]) -> None:
        self.read = read
        self.node = node
        self.devices = devices
        self.taken: dict[str, str] = {}
        self.variables: dict[str, TypeVariable] = {}
        self.dims: tuple[Dim, ...] = ()
        self.derived: tuple[DerivedDim, ...] = ()
        self.holders: dict[str, tuple[str, ...]] = {}
        self.spliced: dict[str, Name] = {}
        self.choices: dict[str, tuple[str, ...]] = {}
        self.unnamed: dict[str, str] = {}
        self.dynamic: tuple[DynamicDim, ...] = ()
        self.unread: frozenset[str] = frozenset()

    def contract(self) -> Contract:
        before = self.read.diagnostics.errors
        self.variables = read_types(self.read, self.node, self.take)
        fields: dict[str, list[Field]] = {}
        for section in SECTIONS:
            fields[section], unread = read_fields(self.read, self.node, section, self.take)
            self.unread |= unread
        inputs = [*fields["inputs"], *fields["keywords"]]
        several = len(fields["outputs"]) > 1 or any(field.subject.is_list for field in fields["outputs"])
        masked = several and all(field.name.startswith("grad_") for field in fields["outputs"])
        if masked:
            self.reserve_grad_mask(fields)
        derived_names = self.derived_names()
        unbound = dynamic_names(self.read, self.node, self.take)
        self.find_dims(inputs, derived_names)
        reserve_fields([*inputs, *filter(is_list, fields["outputs"])], self.take)
        every = [field for listed in fields.values() for field in listed]
        self.spliced = spliced_names(inputs, every)
        scalars = scalar_names(inputs) | self.spliced
        self.choices = choice_words(inputs)
        self.unnamed = scalar_absent(inputs)
        self.holders = scalar_holders(inputs)
        subjects = {field.name: field.subject for field in inputs if isinstance(field.parsed.type, ParsedTensor)}
        subjects |= scalar_subjects(inputs)
        self.derive(scalars, subjects, [field.name for field in inputs if field.has_word("expand")])
        checks = self.scope(scalars, subjects, launch=False)
        self.dynamic = read_dynamic(self.read, self.node, checks)
        later = dict.fromkeys(unbound, "it is known after the kernel ran: shapes of outputs begin with it")
        checks = replace(checks, absent={**checks.absent, **later})
        met = stated_conditions(self.node, checks)
        tensors = [field for field in fields["outputs"] if isinstance(field.parsed.type, ParsedTensor)]
        output_subjects = {field.name: self.output_subject(field, masked) for field in tensors}
        sizes = replace(self.scope(scalars, {**subjects, **output_subjects}, launch=True), met=met)
        sizes = replace(sizes, absent={**sizes.absent, **later})
        members = Members(self.read, self.variables, self.dims, self.derived, tuple(self.spliced), masked)
        arguments = [members.argument(field, checks) for field in inputs]
        known = {argument.name: argument for argument in arguments if argument is not None}
        made = replace(checks, met=met).naming({n: Name(n, NameKind.DYNAMIC, Type.INT) for n in unbound})
        outputs = [members.output(field, made, known) for field in fields["outputs"]]
        self.unused_sizes(outputs)
        scratch = [members.scratch(field, sizes) for field in fields["scratch"]]
        self.default_order(fields["inputs"])
        check_names(self.read, every, self.taken)
        types = bound_types(self.read, self.node, self.variables, every, self.unread)
        return Contract(
            types=types,
            arguments=tuple(argument for argument in arguments if argument is not None),
            outputs=tuple(output for output in outputs if output is not None),
            scratch=tuple(tensor for tensor in scratch if tensor is not None),
            dims=self.dims,
            derived=self.derived,
            dynamic=self.dynamic,
            grad_mask=masked,
            checks=checks,
            launches=replace(sizes, pointers=True),
            values=value_scope(checks, inputs, self.variables),
            elements=element_scope(self.of_any(replace(checks, met=met)), inputs, self.variables, self.devices),
            places={field.name: field.key for listed in fields.values() for field in listed},
            taken=self.taken,
            valid=self.read.diagnostics.errors == before,
        )

    # ---------------------------------------------------------------- names

    def reserve_grad_mask(self, fields: dict[str, list[Field]]) -> None:
        """Nothing else may be called like the keyword that operators of several gradients have without saying."""
        keyword = "the keyword that says which gradients are wanted"
        keys = [field.key for listed in fields.values() for field in listed]
        types = self.node.get("types")
        keys += [key for key, _ in types.entries] if isinstance(types, Mapping) else []
        for key in keys:
            if key.text == "grad_mask":
                self.read.error(key, f'"grad_mask" is {keyword}', "it is there already: give this another name")
        self.taken["grad_mask"] = keyword

    def take(self, place: Scalar | Position, name: str, what: str) -> None:
        """Gives `name` a meaning; it must not have one yet."""
        if name in self.taken:
            self.read.error(place, f'the name "{name}" is taken: it is {self.taken[name]}')
        else:
            self.taken[name] = what

    def derived_names(self) -> list[str]:
        """The names of `dims:`, needed before their values can be read."""
        node = self.node.get("dims")
        section = (
            self.read.within("dims").mapping(node, "dims: {b: size(offsets, 0) - 1}") if node is not None else None
        )
        found: list[str] = []
        for key, _ in section.entries if section else ():
            problem = names.problem(key.text)
            if problem:
                self.read.error(key, f'dims: "{shown(key.text)}" cannot be the name of a dim: {problem}')
            else:
                self.take(key, key.text, "an entry of dims:")
                found.append(key.text)
        return found

    def find_dims(self, inputs: list[Field], derived: list[str]) -> None:
        tensors = {field.name: field for field in inputs if isinstance(field.parsed.type, ParsedTensor)}
        valued = frozenset(derived) | {field.name for field in inputs if field.name not in tensors}

        shapes = [
            bind_names.PlainShape(
                name,
                tuple(bind_names.PlainEntry(entry.name, entry.star) for entry in field.entries),
                field.optional,
                field.parsed.type.list_at is not None,
                isinstance(field.parsed.type, ParsedTensor) and field.parsed.type.element_optional,
            )
            for name, field in tensors.items()
            if not field.has_word("expand")
        ]
        self.dims = bind_names.find_dims(shapes, valued)
        for dim in self.dims:
            field = tensors[list_of(dim.places[0].argument)]
            entry = next(entry for entry in field.entries if entry.name == dim.name)
            place = field.node.at(entry.offset + entry.star)
            problem = names.problem(dim.name)
            if problem:
                self.read.within(field.part).error(place, f'"{dim.name}" cannot be the name of a dim: {problem}')
            elif dim.name in self.taken:
                text = f'the name "{dim.name}" is taken: it is {self.taken[dim.name]}'
                self.read.within(field.part).error(place, text)
            else:
                self.taken[dim.name] = "a dim"

    # ---------------------------------------------------------------- expressions

    def output_subject(self, field: Field, masked: bool) -> Subject:
        """Launches may ask whether an output is wanted where it may not be."""
        return replace(field.subject, may_be_absent=masked or field.parsed.condition is not None)

    def scope(self, scalars: dict[str, Name], subjects: dict[str, Subject], launch: bool) -> Scope:
        """What shapes, checks or launches may name: dims, `dims:` so far, scalars."""
        known = {dim.name: dim_name(dim) for dim in self.dims if not dim.each}
        absent = dict(self.unnamed)
        absent |= {dim.name: f"each tensor of {dim.each} has its own" for dim in self.dims if dim.each}
        for derived in self.derived:
            if derived.launch_only and not launch:
                absent[derived.name] = _SIZE_HARDWARE
            else:
                known[derived.name] = Name(derived.name, NameKind.DERIVED, Type.INT)
        known.update(scalars)
        # A list that is there has a first tensor, unless what is in it may be absent, too.
        held = {dim.name: tuple(map(list_of, dim.holders)) for dim in self.dims if dim.optional and not dim.each}
        holders = self.holders | held
        sized = [name for name, variable in self.variables.items() if variable.group == "bits"]
        absent |= {name: f"it can be any dtype, and kernels know sizeof({name}) only" for name in sized}
        return Scope(known, subjects, tuple(self.variables), launch, absent, holders, self.choices, self.unread)

    def of_any(self, scope: Scope) -> Scope:
        """With the dims that bind for each tensor of any list."""
        known = {dim.name: dim_name(dim) for dim in self.dims if dim.each and not dim.optional}
        return replace(scope, absent={k: v for k, v in scope.absent.items() if k not in known}).naming(known)

    def derive(self, scalars: dict[str, Name], subjects: dict[str, Subject], expanded: list[str]) -> None:
        """Reads the values of `dims:`, each over those before it. Inputs are expanded later: to sizes that these may
        have given.
        """
        subjects = {name: subject for name, subject in subjects.items() if name not in expanded}
        unknown = dict.fromkeys(expanded, "it is expanded when all of dims: are known; ask for the dims of its shape")
        node = self.node.get("dims")
        entries = [
            entry for entry in (node.entries if isinstance(node, Mapping) else ()) if not names.problem(entry[0].text)
        ]
        for i, (key, value) in enumerate(entries):
            later = dict.fromkeys((entry[0].text for entry in entries[i:]), "the entries of dims: are read in order")
            scope = replace(self.scope(scalars, subjects, launch=True), absent={**unknown, **later})
            expr = self.read.within(f"dims: {key.text}").expression(value, scope, Type.INT, "a size")
            # After an error the name is still known, so that its uses are not reported as well.
            expr = expr or integer(1)
            self.derived += (DerivedDim(key.text, expr, _written(value), on_hardware(expr, self.derived)),)

    # ---------------------------------------------------------------- all of them together

    def unused_sizes(self, outputs: Sequence[Output | None]) -> None:
        """Every size of `dynamic:` is that of an output."""
        entries = [entry for output in outputs if output is not None for entry in output.type.shape.entries]
        used = {name.name for entry in entries if isinstance(entry, DimEntry) for name in names_in(entry.expr)}
        node = self.node.get("dynamic")
        for key, _ in node.entries if isinstance(node, Mapping) and None not in outputs else ():
            if key.text not in used:
                self.read.error(key, f"dynamic: no output has the size {shown(key.text)}")

    def default_order(self, fields: list[Field]) -> None:
        """Python has no positional argument without a default behind one with a default."""
        earlier = ""
        for field in fields:
            if field.parsed.default is not None:
                earlier = field.name
            elif earlier:
                text = f"it has no default and stands behind {earlier}, which has one"
                self.read.within(field.part).error(field.key, text, "move it before, or put the others under keywords:")


def _written(node: load.Node) -> str:
    return " ".join(node.text.split()) if isinstance(node, Scalar) else ""
