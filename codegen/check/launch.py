"""How an operator runs: `launch:`, `passes:` and `parallel:` become its passes."""

from __future__ import annotations

from collections.abc import Sequence

from codegen import keys, load, names
from codegen.check.contract import Contract
from codegen.check.custom import check_full_cuda, check_kernels, is_custom
from codegen.check.params import check_params, launch_numbers
from codegen.contract import DimEntry, StarEntry, TensorType, names_of
from codegen.errors import shown
from codegen.expr.fold import FoldError, constant, depends_on_dtypes, fold
from codegen.expr.tree import Expr, Name, NameKind, Query, Type, integer, product, substitute, uses
from codegen.frozen import dataclass, replace
from codegen.launches import CustomKernel, LaunchEntry, Param, Pass, combinations
from codegen.load import Mapping, Node, Scalar
from codegen.model import DtypeChoice
from codegen.presence import Condition
from codegen.reader import Reader
from codegen.scope import Scope

_EXAMPLE = "launch: {grid: rows, block: 256}"
MAX_THREADS = 1024
MAX_CLUSTER = 16
MAX_PASSES = 16
# With one of these an operator needs no `launch:`.
REPLACES_LAUNCH = ("elementwise", "triton", "kernels")


@dataclass(frozen=True)
class Passes:
    """The passes, where their kernels are named, and what an operator that launches itself says instead."""

    passes: tuple[Pass, ...]
    several: bool
    kernels: tuple[tuple[str, Node], ...]
    custom: tuple[CustomKernel, ...] = ()
    full_cuda: bool = False


def check_passes(
    read: Reader, key: Scalar, node: Mapping, contract: Contract, choices: Sequence[DtypeChoice], devices: Sequence[str]
) -> Passes:
    """Reads how the operator that `key` names runs."""
    return _Checker(read, key, node, contract, choices, devices).passes()


class _Checker:
    def __init__(
        self,
        read: Reader,
        key: Scalar,
        node: Mapping,
        contract: Contract,
        choices: Sequence[DtypeChoice],
        devices: Sequence[str],
    ) -> None:
        self.read = read
        self.key = key
        self.node = node
        self.contract = contract
        self.scope = contract.launches  # within a pass or an entry also what its `when:` says
        self.choices = [dict(choice) for choice in choices]
        self.devices = devices

    def passes(self) -> Passes:
        launch, passes, parallel = self.node.get("launch"), self.node.get("passes"), self.node.get("parallel")
        custom, places = check_kernels(self.read, self.key.text, self.node, self.contract, self.choices)
        full_cuda = check_full_cuda(self.read, self.node)
        if launch is not None and passes is not None:
            place = self.node.key("passes")
            self.read.error(place or passes, "either `launch:` or `passes:`, not both")
        if passes is not None:
            if parallel is not None:
                self.read.error(
                    self.node.key("parallel") or parallel, "with `passes:`, `parallel:` stands in each pass"
                )
            return self.several(passes)
        if parallel is None:
            self.one_unit()
        units = self.parallel(self.read, parallel) if parallel is not None else self.default_units()
        launches: tuple[LaunchEntry, ...] = ()
        if launch is not None and not is_custom(self.node):
            launches = self.entries(self.read.within("launch"), launch)
        elif launch is None and "cuda" in self.devices and not self.replaced(full_cuda):
            hint = f"for instance {_EXAMPLE}; or devices: [cpu]"
            self.read.error(self.key, "`launch:` or `passes:` is missing", hint)
        single = Pass(self.key.text, None, launches, units or integer(1))
        own = (self.key.text, self.node.key("launch") or self.key)
        kernels = (own, *(place for place in places if place[0] != self.key.text))
        return Passes((single,), False, kernels, custom, full_cuda)

    def replaced(self, full_cuda: bool) -> bool:
        """Whether something else says how kernels are launched."""
        return full_cuda or any(map(self.node.get, REPLACES_LAUNCH))

    def several(self, node: Node) -> Passes:
        read = self.read.within("passes")
        found: list[Pass] = []
        kernels: list[tuple[str, Node]] = []
        items = read.items(node, "- {kernel: name, grid: rows, block: 256}")
        if isinstance(node, load.Sequence) and not items:
            read.error(node, "the list is empty")
        if len(items) > MAX_PASSES:
            read.error(node, f"{len(items)} passes; at most {MAX_PASSES} are taken")
        for item in items[:MAX_PASSES]:
            mapping = read.mapping(item, "- {kernel: name, grid: rows, block: 256}")
            made = self.one_pass(read, mapping, {name for name, _ in kernels}) if mapping is not None else None
            if made is not None:
                found.append(made[0])
                kernels.append((made[0].kernel, made[1]))
        return Passes(tuple(found), True, tuple(kernels))

    def one_pass(self, read: Reader, node: Mapping, earlier: set[str]) -> tuple[Pass, Node] | None:
        node = read.keys(node, keys.PASS.names)
        kernel_node = node.get("kernel")
        if kernel_node is None:
            read.error(node, "`kernel:` is missing", "it names the function in the bodies")
            return None
        kernel = read.text(kernel_node, "the name of a kernel")
        if kernel is None:
            return None
        problem = names.operator_problem(kernel.text)
        if problem:
            read.error(kernel, f'"{shown(kernel.text)}" cannot be a kernel: {problem}')
            return None
        if kernel.text in earlier:
            read.error(kernel, f'the kernel "{kernel.text}" is there twice')
        read = self.read.within(f"pass {kernel.text}")
        when_node, launch, parallel = node.get("when"), node.get("launch"), node.get("parallel")
        when = read.expression(when_node, self.scope, Type.BOOL, "a condition") if when_node is not None else None
        around, self.scope = self.scope, _under(self.scope, when)
        launches: tuple[LaunchEntry, ...] = ()
        if launch is not None:
            for key, _ in node.entries:
                if key.text in ("params", "grid", "block", "shared", "cluster"):
                    read.error(key, f"with `launch:`, `{key.text}:` stands in its entries")
            launches = self.entries(read.within("launch"), launch)
        elif node.get("grid") is not None or "cuda" in self.devices:
            entry = self.entry(read, node, with_when=False)
            launches = (entry,) if entry is not None else ()
        units = self.parallel(read, parallel) if parallel is not None else self.pass_units(read, node, launches)
        self.scope = around
        return Pass(kernel.text, when, launches, units or integer(1)), kernel

    # ---------------------------------------------------------------- units of the C body

    def parallel(self, read: Reader, node: Node) -> Expr | None:
        read = read.within("parallel")
        units = read.expression(node, self.scope, Type.INT, "a number of units")
        choices = self.choices if units is not None and depends_on_dtypes(units) else self.choices[:1]
        try:
            known = [constant(units, choice) for choice in choices] if units is not None else []
        except FoldError as error:
            read.error(node, f"it has no value: {error}")
            return None
        if any(isinstance(count, int) and count < 0 for count in known):
            read.error(node, "a number of units is not below 0")
        return units

    def default_units(self) -> Expr:
        """The first output's shape, or that of the first written argument, without its last entry; a star is one."""
        kinds = [(argument.name, argument.type) for argument in self.contract.arguments]
        written = [(name, kind) for name, kind in kinds if isinstance(kind, TensorType) and kind.written]
        if not self.contract.outputs and written and written[0][1].is_list:
            return Query("len", written[0][0], (), Type.INT)
        if self.contract.outputs and self.contract.outputs[0].type.is_list:
            return Query("len", self.contract.outputs[0].counted_by, (), Type.INT)
        shapes = [output.type.shape for output in self.contract.outputs]
        shapes += [kind.shape for _, kind in written]
        if not shapes:
            return integer(1)
        factors: list[Expr] = []
        for entry in shapes[0].entries[:-1]:
            if isinstance(entry, DimEntry):
                factors.append(entry.expr)
            else:
                name = entry.name if isinstance(entry, StarEntry) else entry.text
                factors.append(Name(name, NameKind.STAR, Type.INT))
        return product(tuple(factors))

    def one_unit(self) -> None:
        """Warns where the default makes one unit of everything: behind a star that ends a shape, as in `y: T[*rows]`,
        units are the elements or the rows that a reduction leaves.
        """
        output = next(iter(self.contract.outputs), None)
        if output is None or "cpu" not in self.devices or "elementwise" in {key.text for key, _ in self.node.entries}:
            return
        match output.type.shape.entries:
            case (StarEntry(name=star),) if not output.type.is_list:
                text = f"`parallel:` is missing, and [begin, end) of the C body counts 1 unit, all of {output.name}"
                self.read.warning(self.key, text, f"write parallel: {star} for its elements, or parallel: 1")
            case (*rows, _) if output.condition is not None:
                unsure = {dim.name for dim in self.contract.dims if dim.optional}
                if any(set(names_of(entry)) & unsure or not isinstance(entry, DimEntry | StarEntry) for entry in rows):
                    text = f"`parallel:` is missing, and its default is a number only where {output.name} is there"
                    self.read.warning(self.key, text, "write parallel: with a number that every call has")

    def pass_units(self, read: Reader, node: Mapping, launches: Sequence[LaunchEntry]) -> Expr | None:
        """A pass runs over its grid, where that is one and the same whatever the parameters are."""
        grids = {entry.grid for entry in launches}
        if len(grids) == 1:
            (grid,) = grids
            if not any(uses(part, NameKind.PARAM) for part in grid):
                return product(grid)
        if launches and "cpu" in self.devices:
            text = "`parallel:` is missing: its grid depends on the entry or on params, and C bodies see neither"
            read.error(node, text, "the number of units that [begin, end) of the C body counts")
        return None

    # ---------------------------------------------------------------- entries

    def entries(self, read: Reader, node: Node) -> tuple[LaunchEntry, ...]:
        """One launch, or a list of which the last has no `when`."""
        nodes: Sequence[Node] = (node,)
        if isinstance(node, load.Sequence):
            nodes = read.items(node, _EXAMPLE)
            if not nodes:
                read.error(node, "the list is empty", f"for instance {_EXAMPLE}")
        found: list[LaunchEntry] = []
        around = self.scope
        for i, item in enumerate(nodes):
            mapping = read.mapping(item, _EXAMPLE)
            if mapping is None:
                continue
            mapping = read.keys(mapping, keys.LAUNCH.names)
            self.when_order(read, mapping, last=i == len(nodes) - 1)
            entry = self.entry(read, mapping, with_when=True)
            if entry is None:
                continue
            if entry.when is not None:  # the entries behind this one are looked at when it does not hold
                self.scope = _under(self.scope, entry.when, holds=False)
            if found and [param.name for param in entry.params] != [param.name for param in found[0].params]:
                first = ", ".join(param.name for param in found[0].params) or "none"
                text = "its params are not those of the first entry"
                read.error(
                    mapping.key("params") or mapping, text, f"all entries give the same ones in the same order: {first}"
                )
            found.append(entry)
        self.scope = around
        return tuple(found)

    def when_order(self, read: Reader, node: Mapping, last: bool) -> None:
        key = node.key("when")
        if last and key is not None:
            read.error(key, "the last entry has no `when`, so that every call finds one")
        elif not last and key is None:
            read.error(node, "`when:` is missing: the entries behind this one are never reached")

    def entry(self, read: Reader, node: Mapping, with_when: bool) -> LaunchEntry | None:
        when_node = node.get("when") if with_when else None
        when = read.expression(when_node, self.scope, Type.BOOL, "a condition") if when_node is not None else None
        if when is not None:
            self.possible(read, node.key("when") or node, when)
        around, self.scope = self.scope, _under(self.scope, when)
        params, scope = check_params(read, node, self.scope, self.contract.taken, self.choices)
        values = self.param_values(params)
        numbers: dict[str, tuple[Expr, ...]] = {}
        for key in ("grid", "block", "shared", "cluster"):
            value = node.get(key)
            if value is not None:
                numbers[key] = launch_numbers(read.within(key), value, scope, 1 if key == "shared" else 3)
            elif key in ("grid", "block"):
                read.error(node, f"`{key}:` is missing", f"for instance {_EXAMPLE}")
        self.limits(read, node, numbers, values)
        self.scope = around
        if not numbers.get("grid") or not numbers.get("block"):
            return None
        shared = numbers.get("shared")
        return LaunchEntry(
            when,
            params,
            numbers["grid"],
            numbers["block"],
            shared[0] if shared else None,
            numbers.get("cluster", ()),
        )

    def possible(self, read: Reader, place: Node, when: Expr) -> None:
        """A condition that no choice of dtypes can meet is a mistake."""
        choices = self.choices if depends_on_dtypes(when) else self.choices[:1]
        try:
            if choices and all(constant(when, choice) is False for choice in choices):
                read.error(place, "this condition never holds")
        except FoldError as error:
            read.error(place, f"this condition has no value: {error}")

    def param_values(self, params: Sequence[Param]) -> list[dict[str, Expr]]:
        """For each choice of dtypes the params that are constants."""
        values = combinations(params)
        if len(values) != 1:
            return [{} for _ in self.choices]
        if not any(map(depends_on_dtypes, values[0].values())):
            return [{name: fold(expr, {}) for name, expr in values[0].items()}] * len(self.choices)
        return [{name: fold(expr, choice) for name, expr in values[0].items()} for choice in self.choices]

    def limits(
        self, read: Reader, node: Mapping, numbers: dict[str, tuple[Expr, ...]], values: Sequence[dict[str, Expr]]
    ) -> None:
        """What can be seen to be impossible on any GPU; the rest is seen when a kernel is launched."""
        cases = list(zip(self.choices, values, strict=True))
        varying = any(values[0] != other for other in values[1:])
        for key, exprs in numbers.items():
            place = node.get(key) or node
            differs = varying and any(uses(expr, NameKind.PARAM) for expr in exprs)
            for choice, params in cases if differs or any(map(depends_on_dtypes, exprs)) else cases[:1]:
                try:
                    sizes = [constant(substitute(expr, params), choice) for expr in exprs]
                except FoldError as error:
                    read.error(place, f"{key} has no value: {error}")
                    break
                known = [size for size in sizes if isinstance(size, int)]
                problem = _impossible(key, known, complete=len(known) == len(sizes))
                if problem:
                    read.error(place, problem)
                    break


def _under(scope: Scope, when: Expr | None, *, holds: bool = True) -> Scope:
    """The scope of what is evaluated only when `when` holds, or does not."""
    return scope if when is None else replace(scope, met=(*scope.met, Condition(when, holds)))


def _impossible(key: str, known: Sequence[int], complete: bool) -> str:
    total = 1
    for size in known:
        total *= size
    if key == "shared":
        return f"{known[0]} bytes of shared memory are impossible" if known and known[0] < 0 else ""
    if any(size < (0 if key == "grid" else 1) for size in known):
        return f"{key} has a size below {0 if key == 'grid' else 1}"
    if key == "block" and (total > MAX_THREADS or (len(known) == 3 and complete and known[2] > 64)):
        return f"a block has at most {MAX_THREADS} threads (64 along z), this one {total}"
    if key == "cluster" and total > MAX_CLUSTER:
        return f"a cluster has at most {MAX_CLUSTER} blocks, this one {total}"
    return ""
