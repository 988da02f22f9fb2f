"""Prints the program of element-wise lines as statements of C or CUDA: one element at a time, or in the lanes of
csrc/cpu/lanes.h.

Operands are members of `in`, results members of `out`, scalar arguments and dims members of `a`; temporaries are t0,
t1 and so on, which is why nothing of the spec is named outside these records.
"""

from __future__ import annotations

from collections.abc import Callable

from codegen.elementwise.kinds import COMPLEX, REAL, TESTS, TO_REAL, Kind, Program, Store, Value, real_of
from codegen.frozen import dataclass

_SUFFIX = {
    Kind.BOOL: "mask",
    Kind.INT: "i64",
    Kind.WEAK: "f64",
    Kind.F32: "f32",
    Kind.F64: "f64",
    Kind.C64: "c64",
    Kind.C128: "c128",
}
_SCALARS = {Kind.BOOL: "bool", Kind.INT: "int64_t", Kind.WEAK: "double", Kind.F32: "float", Kind.F64: "double"}
_INTEGER = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod", "neg": "neg"}
_COMPLEX = {"+": "add", "-": "sub", "*": "mul", "/": "div", "neg": "neg"}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_BY_OPERAND = (*TESTS, *TO_REAL, "equal")  # functions whose results are of another kind
_LOGIC = {"and": "&&", "or": "||", "xor": "!="}
_MASKS = {"and": "&", "or": "|", "xor": "^"}


@dataclass(frozen=True)
class Style:
    """How a target spells things. `lanes` is the kind of the one floating type that is computed in lanes, None for one
    element at a time; `function` names a function of one kind; `a`, `into` and `out` are put before members.
    """

    function: Callable[[str, Kind], str]
    lanes: Kind | None = None
    complex64: str = "float _Complex"
    complex128: str = "double _Complex"
    a: str = "a->"
    into: str = "in->"
    out: str = "out->"
    given: Callable[[str], str] = "a->{} != NULL".format
    word: Callable[[str, str], str] = "{}_{}".format  # the constant of a word of a choice


def c_function(function: str, kind: Kind) -> str:
    """The name of a function of csrc/cpu/elements.h."""
    return f"cpu_{function}_{_SUFFIX[kind]}"


@dataclass(frozen=True)
class Member:
    """A member of `in`: an operand as one kind. An operand that is needed as several kinds has one for each."""

    name: str
    operand: str
    kind: Kind


def members(program: Program) -> tuple[Member, ...]:
    """What a program loads."""
    loads = [value for value in program.values if value.op == "load"]
    several = {load.name for load in loads if sum(other.name == load.name for other in loads) > 1}
    return tuple(
        Member(f"{load.name}__{_SUFFIX[load.kind]}" if load.name in several else load.name, load.name, load.kind)
        for load in loads
    )


Place = tuple[tuple[int, int], ...]  # choices, from the outermost on: which one, and which of its operands


def _common(one: Place, other: Place) -> Place:
    """The choices that two places stand under."""
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return one[:same]


class Printer:
    """Prints one program. Loops may be unswitched on `condition`: in them it is the constant CONDITION."""

    def __init__(self, program: Program, style: Style, condition: int | None = None) -> None:
        self.program = program
        self.style = style
        self.condition = condition
        self.names = {(m.operand, m.kind): m.name for m in members(program)}
        self.places = self.find_places()

    # ---------------------------------------------------------------- types

    def in_lanes(self, value: Value) -> bool:
        """Whether a value differs from lane to lane."""
        return self.style.lanes is not None and not value.uniform

    def type(self, value: Value) -> str:
        """The C type of a value."""
        if not self.in_lanes(value):
            if value.kind in COMPLEX:
                return self.style.complex64 if value.kind is Kind.C64 else self.style.complex128
            return "cpu_real_t" if value.kind is self.style.lanes else _SCALARS[value.kind]
        return "cpu_mask" if value.kind is Kind.BOOL else "cpu_lanes"

    def member_type(self, kind: Kind) -> str:
        """The C type of a loaded or stored value of this kind."""
        return self.type(Value("load", kind))

    # ---------------------------------------------------------------- values

    def named(self, index: int) -> bool:
        """Whether a value has a temporary of its own."""
        return index != self.condition and self.program.values[index].op not in ("constant", "load", "uniform")

    def atom(self, index: int) -> str:
        """A value where it is used; it binds as strongly as a name."""
        value = self.program.values[index]
        if index == self.condition:
            return "CONDITION"
        match value.op:
            case "constant":
                return self.constant(value)
            case "load":
                return self.style.into + self.names[value.name, value.kind]
            case "uniform":
                return self.style.a + value.name
        return f"t{index}"

    def constant(self, value: Value) -> str:
        if value.kind is Kind.BOOL:
            return "true" if value.number else "false"
        if value.kind is Kind.INT:
            return _integer(int(value.number))
        if value.kind in COMPLEX:
            return self.complex_constant(value.kind, float(value.number))
        text = repr(float(value.number))
        if value.kind is self.style.lanes:
            return f"(cpu_real_t){text}"
        return f"{text}f" if value.kind is Kind.F32 else text

    def complex_constant(self, kind: Kind, number: float) -> str:
        part = self.constant(Value("constant", real_of(kind), number=number))
        return f"{self.style.function('complex', kind)}({part})"

    def lanes(self, index: int) -> str:
        """A value in every lane."""
        value = self.program.values[index]
        if self.in_lanes(value):
            return self.atom(index)
        return f"{'cpu_splat_mask' if value.kind is Kind.BOOL else 'cpu_splat'}({self.atom(index)})"

    def expression(self, index: int) -> str:
        """What a temporary is set to."""
        value = self.program.values[index]
        return self.lane_expression(value) if self.in_lanes(value) else self.scalar_expression(value)

    def lane_expression(self, value: Value) -> str:
        operands = [self.program.values[index] for index in value.operands]
        parts = [self.lanes(index) for index in value.operands]
        op = value.op
        if op in _COMPARISONS or (op in ("+", "-", "*", "/") and value.kind in REAL):
            return f"{self.atom(value.operands[0])} {op} {self.atom(value.operands[1])}"
        if op in _MASKS:
            return f"{parts[0]} {_MASKS[op]} {parts[1]}"
        match op:
            case "neg":
                return f"-{parts[0]}"
            case "not":
                return f"~{parts[0]}"
            case "convert":
                return f"cpu_of_mask({parts[0]})" if operands[0].kind is Kind.BOOL else parts[0]
            case "select":
                if operands[0].uniform:
                    return f"{self.atom(value.operands[0])} ? {parts[1]} : {parts[2]}"
                return f"cpu_select{'_mask' if value.kind is Kind.BOOL else ''}({', '.join(parts)})"
            case "min" | "max" if any(operand.uniform for operand in operands):
                lanes, same = sorted(value.operands, key=lambda index: self.program.values[index].uniform)
                return f"cpu_lanes_{op}_of({self.atom(lanes)}, {self.atom(same)})"
        return f"cpu_lanes_{op}({', '.join(parts)})"

    def scalar_expression(self, value: Value) -> str:
        operands = [self.program.values[index] for index in value.operands]
        parts = [self.atom(index) for index in value.operands]
        op, kind = value.op, value.kind
        if op in _INTEGER and kind is Kind.INT:
            return f"{self.style.function(_INTEGER[op], kind)}({', '.join(parts)})"
        if op in _COMPLEX and kind in COMPLEX:
            return f"{self.style.function(_COMPLEX[op], kind)}({', '.join(parts)})"
        if op in _COMPARISONS or op in ("+", "-", "*", "/"):
            return f"{parts[0]} {op} {parts[1]}"
        if op in _LOGIC:
            return f"{parts[0]} {_LOGIC[op]} {parts[1]}"
        match op:
            case "neg":
                return f"-{parts[0]}"
            case "not":
                return f"!{parts[0]}"
            case "convert" if kind in COMPLEX:
                return f"{self.style.function(f'to_{_SUFFIX[kind]}', operands[0].kind)}({parts[0]})"
            case "convert":
                return f"({self.type(value)}){parts[0]}"
            case "select":
                return f"{parts[0]} ? {parts[1]} : {parts[2]}"
            case "given":
                return self.style.given(value.name)
            case "word":
                return f"{self.style.a}{value.name} == {self.style.word(value.name, value.word)}"
        return f"{self.style.function(op, operands[0].kind if op in _BY_OPERAND else kind)}({', '.join(parts)})"

    # ---------------------------------------------------------------- statements

    def statement(self, index: int) -> str:
        """The temporary of one value."""
        return f"const {self.type(self.program.values[index])} t{index} = {self.expression(index)};"

    def result(self, store: Store) -> str:
        """The statement that sets one member of `out`."""
        value = self.lanes(store.value) if self.style.lanes is not None else self.atom(store.value)
        return f"{self.style.out}{store.target} = {value};"

    def zero(self, store: Store) -> str:
        """What a member of `out` is when it is not wanted."""
        kind = self.program.values[store.value].kind
        if kind in COMPLEX:
            return self.complex_constant(kind, 0.0)
        if self.style.lanes is None:
            return "0"
        return "cpu_splat_mask(false)" if kind is Kind.BOOL else "cpu_splat(0)"

    def branches(self, index: int) -> bool:
        """Whether a value is one of two that are the same choice for all lanes."""
        value = self.program.values[index]
        return value.op == "select" and self.in_lanes(value) and self.program.values[value.operands[0]].uniform

    def find_places(self) -> dict[int, Place]:
        """Where each needed value is computed: under all choices that every use of it stands under."""
        values = self.program.values
        places: dict[int, Place] = {store.value: () for store in self.program.stores}
        for index in reversed(range(len(values))):
            if index not in places:
                continue
            for position, operand in enumerate(values[index].operands):
                place = places[index]
                if position > 0 and self.branches(index):
                    place = (*place, (index, position))
                places[operand] = _common(places[operand], place) if operand in places else place
        return places

    def block(self, indices: list[int], place: Place = ()) -> list[str]:
        """The temporaries of those of these values that are computed at a place, and what stands under them."""
        lines = []
        for index in indices:
            if self.places[index] != place or not self.named(index):
                continue
            value = self.program.values[index]
            under = []
            if self.branches(index):  # nothing stands under others: no look through all values for each of them
                under = [self.block(indices, (*place, (index, position))) for position in (1, 2)]
            if not any(under):
                lines.append(self.statement(index))
                continue
            lines += [f"{self.type(value)} t{index};", f"if ({self.atom(value.operands[0])}) {{"]
            lines += [f"    {line}" for line in [*under[0], f"t{index} = {self.lanes(value.operands[1])};"]]
            lines.append("} else {")
            lines += [f"    {line}" for line in [*under[1], f"t{index} = {self.lanes(value.operands[2])};"]]
            lines.append("}")
        return lines

    def statements(self, wanted: Callable[[str], str] | None) -> list[str]:
        """Everything. `wanted` gives the condition under which a target is computed: what only that target needs then
        stands under it.
        """
        stores = self.program.stores
        if wanted is None:
            needed = frozenset[int]().union(*(self.program.needed(store) for store in stores))
            return self.block(sorted(needed)) + [self.result(store) for store in stores]
        needs = [self.program.needed(store) for store in stores]
        shared = {index for index in frozenset[int]().union(*needs) if sum(index in need for need in needs) > 1}
        lines = self.block(sorted(shared))
        for store, need in zip(stores, needs, strict=True):
            lines.append(f"{self.style.out}{store.target} = {self.zero(store)};")
            own = self.block(sorted(need - shared))
            lines += [f"if ({wanted(store.target)}) {{", *(f"    {line}" for line in [*own, self.result(store)]), "}"]
        return lines


def _integer(number: int) -> str:
    if number == -(2**63):
        return "INT64_MIN"
    return f"INT64_C({number})" if number >= 0 else f"(-INT64_C({-number}))"


def result_members(program: Program, printer: Printer) -> list[str]:
    """The declarations of the members of `out`."""
    return [f"{printer.member_type(program.values[s.value].kind)} {s.target};" for s in program.stores]
