"""The kernels of an operator: their names, which exist for a choice of dtypes, and the C that chooses between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from codegen.contract import ScalarType
from codegen.expr.fold import constant, depends_on_dtypes, fold
from codegen.expr.tree import Call, Constant, Expr, Name, Type, Unary, substitute
from codegen.frozen import dataclass
from codegen.launches import CustomKernel, LaunchEntry, Param, Pass
from codegen.lower.c.layout import fitted
from codegen.lower.host import CPU_HARDWARE, HostNames
from codegen.lower.statements import guarded, indented, mentions, overflows
from codegen.lower.switches import place, switch_lines
from codegen.model import DtypeChoice, Operator
from codegen.names import MOST_CUDA_UNITS

# Entry points of a unit of device code, roughly: so many that compiling them takes about a second.
UNIT_SIZE = 13


@dataclass(frozen=True)
class PassView:
    """The part of a host function that belongs to one kernel of the spec."""

    kernel: str
    cpu_symbols: tuple[str, ...]
    cpu_rows: tuple[str, ...]
    cpu_plan: tuple[str, ...]
    entry_count: int
    cuda_rows: tuple[str, ...]
    plan_head: tuple[str, ...]
    plan: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One entry point in device code: a launch entry for one choice of dtypes. `bounds` are the threads that a block
    has at most, 0 where code on the host decides.
    """

    symbol: str
    dtypes: tuple[str, ...]
    params: tuple[int | bool, ...]
    bounds: int


# The entry points of an operator by the kernel of the spec that they instantiate.
EntryPoints: TypeAlias = Mapping[str, tuple[Entry, ...]]

_Value = TypeVar("_Value")


def suffix(choice: DtypeChoice) -> str:
    """float32_int64"""
    return "_".join(dtype for _, dtype in choice)


def cpu_symbol(kernel: str, choice: DtypeChoice) -> str:
    """The C function of a kernel for a choice of dtypes, without its instruction set."""
    return f"{kernel}__{suffix(choice)}" if choice else kernel


def cuda_symbol(kernel: str, choice: DtypeChoice, index: int) -> str:
    """The entry point of launch entry number `index`."""
    return f"{cpu_symbol(kernel, choice)}__{index}"


def _put(sizes: tuple[Expr, ...], params: Mapping[str, Expr]) -> tuple[Expr, ...]:
    return tuple(substitute(size, params) for size in sizes)


def _exists(entry: LaunchEntry, choice: DtypeChoice) -> bool:
    """Whether an entry can ever be chosen for these dtypes."""
    return entry.when is None or fold(entry.when, dict(choice)) != Constant(False, Type.BOOL)


def _value(expr: Expr, choice: DtypeChoice) -> int | bool | None:
    value = constant(expr, dict(choice))
    return value if isinstance(value, int) else None


def _bounds(block: tuple[Expr, ...], choice: DtypeChoice, op: Operator) -> int:
    """The most threads of a block that can be told when the kernel is compiled; no block can have more than 1024."""
    meant: dict[str, int | None] = {}
    for derived in op.derived:
        meant[derived.name] = _most(derived.expr, choice, meant)
    threads = 1
    for size in block:
        most = _most(size, choice, meant)
        if most is None:
            return 1024
        threads *= most
    return threads


def _most(size: Expr, choice: DtypeChoice, meant: Mapping[str, int | None]) -> int | None:
    """What a number does not exceed: its value, or the bound of what `min` or `max` takes. `meant` has the bounds of
    entries of `dims:`.
    """
    if isinstance(size, Name):
        return meant.get(size.name)
    if isinstance(size, Call) and size.function in ("min", "max"):
        most = [_most(argument, choice, meant) for argument in size.arguments]
        known = [one for one in most if one is not None]
        if size.function == "max":
            return max(known) if len(known) == len(most) else None
        return min(known, default=None)
    return _value(size, choice)


def entry_points(op: Operator) -> EntryPoints:
    """The entry points of every kernel of an operator, in order of dtypes, then of the spec."""
    if op.full_cuda or op.triton is not None:
        return {}
    if op.custom:
        return {kernel.name: tuple(_custom_entries(op, kernel)) for kernel in op.custom}
    return {one.kernel: tuple(_entries(op, one)) for one in op.passes}


def _custom_entries(op: Operator, kernel: CustomKernel) -> Iterator[Entry]:
    for choice in op.kernel_choices:
        for number, values in enumerate(kernel.combinations):
            found = [constant(value, dict(choice)) for value in values]
            params = tuple(value for value in found if isinstance(value, int))
            yield Entry(cuda_symbol(kernel.name, choice, number), tuple(dtype for _, dtype in choice), params, 0)


def cuda_units(points: EntryPoints) -> dict[str, int]:
    """The unit of each entry point by its symbol. A unit is compiled on its own, next to the others; the kernels of one
    choice of dtypes share what is instantiated for it, and stay together: the most numerous ones first, each choice in
    the unit that has least.
    """
    sizes = Counter(entry.dtypes for entries in points.values() for entry in entries)
    units = max(1, min(MOST_CUDA_UNITS, round(sizes.total() / UNIT_SIZE), len(sizes)))
    filled, unit_of = [0] * units, {}
    for dtypes, size in sizes.most_common():
        unit = filled.index(min(filled))
        filled[unit] += size
        unit_of[dtypes] = unit
    return {entry.symbol: unit_of[entry.dtypes] for entries in points.values() for entry in entries}


def _entries(op: Operator, one: Pass) -> Iterator[Entry]:
    rows = [_row(op, entry, values) for entry, values in _rows(one)]
    for position, choice in enumerate(op.kernel_choices):
        dtypes = tuple(dtype for _, dtype in choice)
        for number, (exists, arguments, bounds) in enumerate(rows):
            if exists[position]:
                symbol = cuda_symbol(one.kernel, choice, number)
                yield Entry(symbol, dtypes, arguments[position], bounds[position])


def _row(
    op: Operator, entry: LaunchEntry, values: Mapping[str, Expr]
) -> tuple[Sequence[bool], Sequence[tuple[int | bool, ...]], Sequence[int]]:
    """What a row of the table of kernels is for each choice of dtypes: whether it exists, its template arguments, the
    threads of its blocks.
    """
    block = _put(entry.block, values)
    meant = tuple(derived.expr for derived in op.derived)
    when = (entry.when,) if entry.when is not None else ()
    return (
        _each(op, when, lambda choice: _exists(entry, choice)),
        _each(
            op,
            tuple(values.values()),
            lambda choice: tuple(_argument(op, param, values[param.name], choice) for param in entry.params),
        ),
        _each(op, (*block, *meant), lambda choice: _bounds(block, choice, op)),
    )


def _each(op: Operator, exprs: tuple[Expr, ...], compute: Callable[[DtypeChoice], _Value]) -> Sequence[_Value]:
    """What `compute` makes of `exprs` for every choice of dtypes; once where they do not depend on it."""
    if any(map(depends_on_dtypes, exprs)):
        return [compute(choice) for choice in op.kernel_choices]
    return [compute(op.kernel_choices[0])] * len(op.kernel_choices)


def _rows(one: Pass) -> list[tuple[LaunchEntry, Mapping[str, Expr]]]:
    """The rows of the table of kernels: each launch entry, with each combination of the values of its switches."""
    return [(entry, values) for entry in one.launches for values in entry.combinations]


def _argument(op: Operator, param: Param, expr: Expr, choice: DtypeChoice) -> int | bool:
    """A template argument. A choice is the place of its word."""
    value = constant(expr, dict(choice))
    if isinstance(value, str) and isinstance(param.expr, Name):
        kind = op.argument(param.expr.name).type
        assert isinstance(kind, ScalarType)
        return kind.choices.index(value)
    assert isinstance(value, int), "params are constants for a choice of dtypes and of the values of switches"
    return value


def nested(op: Operator, cells: list[str]) -> list[str]:
    """Initialisers of a table with one dimension per dtype variable; `cells` in order of kernel_places."""
    lines = [f"{cell}," for cell in cells]
    group = 1  # lines of one entry of the dimension at hand
    for variable in reversed(op.types[1:]):
        size = group * len(variable.places)
        rows = [lines[i : i + size] for i in range(0, len(lines), size)]
        lines = [line for row in rows for line in ("{", *indented(row), "},")]
        group = size + 2
    return lines


def cuda_rows(op: Operator, kernel: str, count: int, units: Mapping[str, int]) -> list[str]:
    """A kernel for each of `count` rows and each choice of dtypes; one that no call can choose stays without a name."""
    lines = []
    for number in range(count):
        wanted = [cuda_symbol(kernel, choice, number) for choice in op.kernel_places]
        cells = [
            f'{{.name = "{name}", .module = &modules[{units[name]}]}}' if name in units else "{0}" for name in wanted
        ]
        lines += ["{", *indented(nested(op, cells)), "},"] if op.types else [f"{cells[0]},"]
    return lines


def _cpu_cells(op: Operator, one: Pass) -> list[str]:
    """The kernels of one pass, in a table with a place for every combination of dtypes, also those that no call has."""
    there = set(op.kernel_choices)
    return [
        f"CPU_KERNELS({cpu_symbol(one.kernel, place)})" if place in there else "{{0}}" for place in op.kernel_places
    ]


def _three(names: HostNames, sizes: tuple[Expr, ...]) -> str:
    texts = [names.expr(size) for size in sizes]
    return ", ".join(texts + ["1"] * (3 - len(texts)))


def _entry_plan(op: Operator, one: Pass, index: int, names: HostNames) -> list[str]:
    entry = one.launches[index]
    params = entry.values
    subscripts = "".join(f"[{variable.name}_index]" for variable in op.types)
    indent = 8 if len(one.launches) == 1 else 12
    fields = [
        *fitted(".grid = {", _three(names, _put(entry.grid, params)), "},", indent),
        *fitted(".block = {", _three(names, _put(entry.block, params)), "},", indent),
    ]
    if entry.shared is not None:
        fields += fitted(".shared = ", names.expr(substitute(entry.shared, params)), ",", indent)
    if entry.cluster:
        fields += fitted(".cluster = {", _three(names, _put(entry.cluster, params)), "},", indent)
    row = " + ".join(text for text in (str(_first_row(one, index)), place(entry)) if text)
    kernel = f"plan->kernel = &kernels[{row.removeprefix('0 + ')}]{subscripts};"
    return [*switch_lines(op, entry), kernel, "plan->launch = (cuda_launch){", *indented(fields), "};"]


def _first_row(one: Pass, index: int) -> int:
    return sum(len(entry.combinations) for entry in one.launches[:index])


def _plan_head(op: Operator, one: Pass) -> list[str]:
    parameters = f"error *e, const {op.name}_frame *f, const cuda_scope *scope, cuda_plan *plan"
    return fitted(f"static bool {one.kernel}_plan(", parameters, ") {", 0)


def _plan(op: Operator, one: Pass) -> list[str]:
    """First match wins; a pass that is not wanted keeps a null kernel."""
    names = HostNames(op)
    lines: list[str] = []
    for index, entry in enumerate(one.launches):
        body = _entry_plan(op, one, index, names)
        if entry.when is None:
            lines += ["} else {", *indented(body), "}"] if lines else body
        else:
            lines += fitted(f"{'} else ' if lines else ''}if (", names.expr(entry.when), ") {")
            lines += indented(body)
    lines = guarded(lines, f"launch of {one.kernel}")
    start: list[str] = []
    if one.when is not None:
        unwanted = names.expr(Unary("not", one.when, Type.BOOL))
        start = [*fitted("if (", unwanted, ") {"), "    return true;", "}"]
    if one.when is not None and overflows(start):
        wanted = guarded(fitted("const bool wanted = ", names.expr(one.when), ";"), f"when of {one.kernel}")
        start = [*wanted, "if (!wanted) {", "    return true;", "}"]
        lines = lines[1:] if overflows(lines) else lines  # the flag is declared, and not set
    places = [f"const int {v.name}_index = index_of_{v.name}(f->d.{v.name});" for v in op.types]
    record = [f"const {op.name}_call *const c = &f->call;"] if mentions(start + lines, "c->") else []
    unused = [] if mentions(lines, "scope->") else ["(void)scope;"]
    errors = [] if mentions(lines, "CHECK(") else ["(void)e;"]
    return [*errors, *unused, *record, *start, *places, *lines]


def _cpu_plan(op: Operator, one: Pass, index: int) -> list[str]:
    names = HostNames(op).renamed(CPU_HARDWARE)
    subscripts = "".join(f"[{variable.name}_index]" for variable in op.types) if op.types else "[0]"
    start = f"plans[{index}] = (cpu_plan){{&{one.kernel}_kernels{subscripts}, "
    lines = fitted(start, names.expr(one.units), "};")
    if one.when is not None:
        lines = [*fitted("if (", names.expr(one.when), ") {"), *indented(lines), "}"]
    lines = guarded(lines, f"units of {one.kernel}")
    return ["{", *indented(lines), "}"] if overflows(lines) else lines


def pass_views(op: Operator, points: EntryPoints) -> tuple[PassView, ...]:
    """The passes of an operator, in order."""
    views = []
    units = cuda_units(points)
    for index, one in enumerate(op.passes):
        symbols = [cpu_symbol(one.kernel, choice) for choice in op.kernel_choices]
        views.append(
            PassView(
                kernel=one.kernel,
                cpu_symbols=tuple(symbols),
                cpu_rows=tuple(nested(op, _cpu_cells(op, one))),
                cpu_plan=tuple(_cpu_plan(op, one, index)),
                entry_count=len(_rows(one)),
                cuda_rows=tuple(cuda_rows(op, one.kernel, len(_rows(one)), units)),
                plan_head=tuple(_plan_head(op, one)),
                plan=tuple(_plan(op, one)),
            )
        )
    return tuple(views)
