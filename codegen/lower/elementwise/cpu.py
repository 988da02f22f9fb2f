"""View of the CPU unit of an element-wise operator: its lines in the forms that its dtypes ask for, and its loops."""

from __future__ import annotations

from functools import partial

from codegen.contract import Dtype, FixedDtype, TensorType, Variable, dtype_of
from codegen.elementwise.build import build, operand_dtypes, uniform_kinds
from codegen.elementwise.kinds import REAL, Kind, Program, Store, Value, kind_of
from codegen.expr.tree import names
from codegen.frozen import dataclass
from codegen.lower.elementwise.print import Member, Printer, Style, c_function, members, result_members
from codegen.lower.record import c_element
from codegen.lower.statements import c_comment, conjunction
from codegen.model import DtypeChoice, Operator
from codegen.names import choice_constant
from codegen.types import DTYPES

MAX_COMMENT = 160  # derived lines can be as long as they like


@dataclass(frozen=True)
class Operand:
    """A tensor of the loops: its number, and how a pointer to it is declared."""

    name: str
    index: int
    declaration: str
    read: bool
    written: bool
    absent: bool  # it may be
    buffer: str
    moved: str
    to_tile: str


@dataclass(frozen=True)
class Load:
    """One member of `in`."""

    declaration: str
    name: str
    value: str


@dataclass(frozen=True)
class Stored:
    """One member of `out` and the function that stores it; `condition` where it may not be wanted."""

    declaration: str
    condition: str
    call: str


@dataclass(frozen=True)
class Form:
    """The lines for some choices of dtypes; `test` is the preprocessor's line in front of it."""

    test: str
    loads: tuple[Load, ...]
    stores: tuple[Stored, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True)
class NumberOf:
    """A number for a choice of dtypes: the form that it takes, or the bits of its lanes."""

    macro: str
    number: int


@dataclass(frozen=True)
class ElementwiseView:
    """The part of generated/c/<op>.cpu.c that stands where a body is included otherwise."""

    op: str
    lines: tuple[str, ...]
    operands: tuple[Operand, ...]
    output: str  # the first tensor that is written
    choices: tuple[NumberOf, ...]
    several: bool
    widths: tuple[NumberOf, ...]
    bits: str
    forms: tuple[Form, ...]
    fixed: str  # the dtype that stands for the first variable where there is none
    pairs: bool  # every tensor has the dtype of the first variable
    streams: str  # whether outputs go past the caches; empty where they never do
    packs: bool  # there are operands that are only read
    dense: tuple[str, ...]  # whether every operand has the step 1 along a row, or 0 where loops allow that


def program(op: Operator, choice: DtypeChoice) -> Program:
    """The program of an operator's lines for one choice of dtypes."""
    dtypes = dict(choice)
    targets = {output.name: output.type.dtype for output in op.outputs}
    targets |= {a.name: a.type.dtype for a in op.tensors if isinstance(a.type, TensorType) and a.type.written}
    lines = [(line.target, dtype_of(targets[line.target], dtypes), line.expr) for line in op.elementwise]
    sizes = [dim.name for dim in op.dims] + [derived.name for derived in op.derived]
    operands, uniforms = operand_dtypes(op.arguments, dtypes), uniform_kinds(op.arguments, sizes)
    return build(lines, operands, uniforms, dtypes, gradients=bool(op.derived_from))


def lane_kind(one: Program) -> Kind | None:
    """The kind of float that a program computes in lanes; None where other kinds differ from element to element, or are
    stored, too.
    """
    kinds = (one.kinds() | {one.values[store.value].kind for store in one.stores}) - {Kind.BOOL}
    if not kinds:
        return Kind.F32
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= set(REAL) else None


def tensor_dtypes(op: Operator) -> dict[str, Dtype]:
    """The dtypes of arguments and outputs, as written."""
    found = {a.name: a.type.dtype for a in op.tensors if isinstance(a.type, TensorType)}
    return found | {output.name: output.type.dtype for output in op.outputs}


def maskable(op: Operator) -> frozenset[str]:
    """The outputs that a call may not want."""
    return frozenset(o.name for o in op.outputs if op.grad_mask or o.saved or o.condition is not None)


def comments(op: Operator) -> tuple[str, ...]:
    """The lines as a comment shows them."""
    found = []
    for line in op.elementwise:
        text = c_comment(line.text) if line.text else "derived"
        found.append(f"{line.target}: {text if len(text) <= MAX_COMMENT else text[:MAX_COMMENT] + ' ...'}")
    return tuple(found)


def optional(op: Operator) -> frozenset[str]:
    """The inputs that a call may lack."""
    return frozenset(a.name for a in op.tensors if isinstance(a.type, TensorType) and a.type.optional)


def given(op: Operator, record: str, null: str, name: str) -> str:
    """Whether an optional argument was given; `record` is put before a field."""
    return f"{record}{name}_given" if name in {a.name for a in op.scalars} else f"{record}{name} != {null}"


class _Unit:
    def __init__(self, op: Operator) -> None:
        self.op = op
        self.dtypes = tensor_dtypes(op)
        self.maskable = maskable(op)
        self.optional = optional(op)
        self.inputs = len(op.operands) - len(op.elementwise)  # that are only read
        self.read = {part.name for line in op.elementwise for part in names(line.expr)}
        self.first = op.types[0].name if op.types else ""
        self.pairs = all(self.dtypes[name] == Variable(self.first) for name in op.operands)

    def lanes(self, one: Program, choice: DtypeChoice) -> Kind | None:
        """What a choice computes in lanes. Pairs are vectors of what the first variable is computed in."""
        found = lane_kind(one)
        return None if self.pairs and kind_of(dict(choice)[self.first]) is not found else found

    def loaded(self, one: Program, lanes: Kind | None) -> tuple[Member, ...]:
        """The members of `in`. Pairs load all that the lines name, also where a choice of dtypes needs less."""
        needed = members(one)
        if lanes is None or not self.pairs:
            return needed
        left = [name for name in self.op.operands if name in self.read - {member.operand for member in needed}]
        return (*needed, *(Member(name, name, lanes) for name in left))

    def pasted(self, start: str, tensor: str) -> str:
        """A name that ends with the dtype of a tensor."""
        dtype = self.dtypes[tensor]
        if isinstance(dtype, Variable):
            return f"CPU_PASTE({start}, {dtype.name}_DTYPE, )"
        if isinstance(dtype, FixedDtype):
            return start + ("_Bool" if dtype.name == "bool" else dtype.name)
        return ""

    def dtype_name(self, tensor: str, choice: DtypeChoice) -> str:
        """The dtype of a tensor for one choice, as names of csrc/cpu end with it."""
        name = dtype_of(self.dtypes[tensor], dict(choice))
        return "_Bool" if name == "bool" else name

    def function(self, start: str, tensor: str, choice: DtypeChoice) -> str:
        """The function of csrc/cpu for the dtype of a tensor: the same text for every choice where possible."""
        return self.pasted(start, tensor) or start + self.dtype_name(tensor, choice)

    def load(self, member: Member, choice: DtypeChoice, printer: Printer, lanes: Kind | None) -> Load:
        declaration = f"{printer.member_type(member.kind)} {member.name};"
        at = f"d.{member.operand} + i * s.{member.operand}"
        if lanes is None:
            loaded = f"{self.function('cpu_load_', member.operand, choice)}({at})"
            stored = {Kind.BOOL: f"{loaded} != 0", Kind.INT: loaded}
            text = stored.get(member.kind, f"({printer.member_type(member.kind)}){loaded}")
            return Load(declaration, member.name, self.or_zero(member.operand, text, "0"))
        zero = "cpu_splat_mask(false)" if member.kind is Kind.BOOL else "cpu_splat(0)"
        start = "cpu_lanes_load_mask" if member.kind is Kind.BOOL else ""
        name = start or self.function("cpu_lanes_load_", member.operand, choice)
        text = f"{name}({at}, s.{member.operand}, count)"
        return Load(declaration, member.name, self.or_zero(member.operand, text, zero))

    def or_zero(self, operand: str, loaded: str, zero: str) -> str:
        """What an operand that may be absent is read as; lines choose something else then."""
        return f"d.{operand} == NULL ? {zero} : {loaded}" if operand in self.optional else loaded

    def store(self, store: Store, value: Value, declaration: str, choice: DtypeChoice, lanes: Kind | None) -> Stored:
        target = store.target
        at = f"d.{target} + i * s.{target}"
        if lanes is None:
            result = f"out->{target}"
            if store.whole:
                bits = 64 if DTYPES[store.dtype].size == 8 else 32
                result = f"{c_function(f'whole{bits}', value.kind)}({result})"
            elif value.kind in REAL:
                acc = "float" if DTYPES[store.dtype].acc == "float32" else "double"
                result = f"({acc}){result}"
            call = f"{self.function('cpu_store_', target, choice)}({at}, {result});"
        else:
            mask = value.kind is Kind.BOOL
            name = "cpu_lanes_store_mask" if mask else self.function("cpu_lanes_store_", target, choice)
            call = f"{name}({at}, s.{target}, out->{target}, count);"
        return Stored(declaration, f"d.{target} != NULL" if target in self.maskable else "", call)

    def form(self, choice: DtypeChoice) -> tuple[Form, int]:
        """The lines for one choice, and the bits of their lanes; 0 for one element at a time."""
        one = program(self.op, choice)
        lanes = self.lanes(one, choice)
        printer = Printer(
            one,
            Style(
                c_function,
                lanes,
                given=partial(given, self.op, "a->", "NULL"),
                word=partial(choice_constant, self.op.name),
            ),
        )
        condition = "a->{} != NULL".format if self.maskable else None
        declarations = result_members(one, printer)
        stores = [
            self.store(store, one.values[store.value], declaration, choice, lanes)
            for store, declaration in zip(one.stores, declarations, strict=True)
        ]
        loads = tuple(self.load(member, choice, printer, lanes) for member in self.loaded(one, lanes))
        form = Form(
            test="",
            loads=loads or (Load("char nothing__;", "nothing__", "0"),),
            stores=tuple(stores),
            statements=tuple(printer.statements(condition)),
        )
        return form, 0 if lanes is None else 32 if lanes is Kind.F32 else 64

    def operand(self, index: int, name: str) -> Operand:
        """One tensor of the loops."""
        written = any(line.target == name for line in self.op.elementwise)
        absent = name in self.maskable | self.optional

        def moved(pointer: str, offset: str) -> str:
            return f"{pointer} == NULL ? NULL : {pointer} + {offset}" if absent else f"{pointer} + {offset}"

        start = f"d.{name}"
        element = c_element(self.dtypes[name], self.op)
        return Operand(
            name=name,
            index=index,
            declaration=f"{'' if written else 'const '}{element} *{name}",
            read=name in self.read,
            written=written,
            absent=absent,
            buffer=f"{element} {name}[ELEMENTWISE_BUFFER({self.inputs}) / sizeof({element})]",
            moved=moved(start, f"count * s.{name}"),
            to_tile=moved(start, f"cpu_tile_offset(layout, &tile, a->stride__[{index}])"),
        )

    def streams(self) -> str:
        """Whether all outputs go past the caches: they are large, and vectors of one are aligned where those of another
        are. Empty where outputs are not new ones.
        """
        targets = [line.target for line in self.op.elementwise]
        if any(argument.name in targets for argument in self.op.tensors):
            return ""
        first = targets[0]
        tests = [f"a->{target} != NULL" for target in targets if target in self.maskable]
        tests += [f"cpu_aligned_alike(a->{first}, a->{target})" for target in targets[1:]]
        return " && ".join([*tests, f"vector_streams(a->{first}, layout->elements)"])

    def selector(self, text: str) -> str:
        """What the preprocessor makes the name of a choice of, behind the word `text`."""
        for variable in self.op.types:
            text = f"CPU_PASTE({text}, _, {variable.name}_DTYPE)"
        return text


def elementwise_view(op: Operator) -> ElementwiseView:
    """The lines and loops of one operator."""
    unit = _Unit(op)
    forms: dict[Form, int] = {}
    choices, widths = [], []
    for choice in op.dtype_choices:
        form, bits = unit.form(choice)
        name = "".join(f"_{'_Bool' if dtype == 'bool' else dtype}" for _, dtype in choice)
        choices.append(NumberOf(f"FORM{name}", forms.setdefault(form, len(forms) + 1)))
        widths.append(NumberOf(f"BITS{name}", bits))
    several = len(forms) > 1
    same = len({width.number for width in widths}) == 1
    tested = []
    for form, number in forms.items():
        test = f"#{'if' if number == 1 else 'elif'} {unit.selector('FORM')} == {number}" if several else ""
        tested.append(Form(test, form.loads, form.stores, form.statements))
    listed = tuple(unit.operand(index, name) for index, name in enumerate(op.operands))
    dense = [
        f"(s.{one.name} == 1 || (ELEMENTWISE_BITS != 0 && s.{one.name} == 0))"
        if unit.pairs and not one.written
        else f"s.{one.name} == 1"
        for one in listed
    ]
    return ElementwiseView(
        op=op.name,
        lines=comments(op),
        operands=listed,
        output=op.elementwise[0].target,
        choices=tuple(choices),
        several=several,
        widths=() if same else tuple(widths),
        bits=str(widths[0].number) if same else unit.selector("BITS"),
        forms=tuple(tested),
        fixed="" if unit.first else "float32",
        pairs=unit.pairs,
        streams=unit.streams() if unit.pairs else "",
        packs=not all(operand.written for operand in listed),
        dense=tuple(conjunction(dense)),
    )
