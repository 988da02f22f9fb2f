"""From the tree to the model. Every problem of the file is found in one go: each part is checked with what is known
so far.
"""

from __future__ import annotations

from codegen import keys, names
from codegen.check import rules as check_rules
from codegen.check.arguments import check_constants
from codegen.check.backward import Declared, check_backward, names_operator
from codegen.check.derived import origin, with_gradients
from codegen.check.operator import Known, check_operator
from codegen.errors import Diagnostics, Position, shown
from codegen.frozen import dataclass, replace
from codegen.load import Mapping, Node, Scalar
from codegen.model import Library, Operator
from codegen.reader import Reader
from codegen.spread import spread


@dataclass(frozen=True)
class Checked:
    """A library, and where each of its operators stands in the spec."""

    library: Library
    places: dict[str, Position]


@dataclass(frozen=True)
class _Found(Known):
    """The same with its tree."""

    key: Scalar
    node: Mapping


def check(tree: Node | None, diagnostics: Diagnostics) -> Checked | None:
    """The library that `tree` declares, or None after an error."""
    read = Reader(diagnostics, "")
    start = Position(1, 1)
    if tree is None:
        if not diagnostics.failed:
            read.error(start, "the file is empty", "it starts with namespace: and ops:")
        return None
    root = read.mapping(tree, "namespace: shapes")
    if root is None:
        return None
    root = read.keys(root, keys.TOP.names, "an operator stands under ops:, two spaces further in")
    namespace = _namespace(read, root)
    devices = check_rules.check_devices(read, root, ("cpu", "cuda"))
    found = _operators(read, root, devices)
    declared = {item.key.text: _declared(item) for item in found}
    _collisions(read, found)
    operators: list[Operator] = []
    for item in found:
        known = declared[item.key.text]
        if known is None:
            place = item.node.get("backward")
            if isinstance(place, Scalar):
                names_operator(read.within(item.key.text), place, item.key.text, declared)
            continue
        backward = check_backward(read.within(item.key.text), known, declared)
        operators.append(replace(known.operator, backward=backward))
    if diagnostics.failed:
        return None
    places = {item.key.text: item.key for item in found}
    operators = with_gradients(read, operators, places)
    if diagnostics.failed:
        return None
    by_name = {op.name: op for op in operators}
    derived = {op.name: places[origin(op, by_name)].position for op in operators}
    return Checked(Library(namespace, tuple(operators)), derived)


def _namespace(read: Reader, root: Mapping) -> str:
    node = root.get("namespace")
    if node is None:
        read.error(Position(1, 1), "`namespace:` is missing", "for instance namespace: shapes")
        return ""
    scalar = read.within("namespace").text(node, "a name")
    problem = names.namespace_problem(scalar.text) if scalar else ""
    if scalar and problem:
        read.error(scalar, f'"{shown(scalar.text)}" cannot be the namespace: {problem}')
    return scalar.text if scalar else ""


def _operators(read: Reader, root: Mapping, devices: tuple[str, ...]) -> list[_Found]:
    node = root.get("ops")
    if node is None:
        read.error(Position(1, 1), "`ops:` is missing", "it holds the operators")
        return []
    section = read.within("ops").mapping(node, "ops: {square: ...}")
    declared: list[tuple[Scalar, Mapping]] = []
    for key, value in section.entries if section else ():
        problem = names.operator_problem(key.text)
        if problem:
            read.error(key, f'"{shown(key.text)}" cannot be an operator: {problem}')
            continue
        inner = read.within(key.text)
        mapping = inner.mapping(value, "inputs:, outputs: and launch:")
        if mapping is not None:
            declared.append((key, inner.keys(mapping, keys.OPERATOR.names)))
    if section is not None and not section.entries:
        read.error(section, "`ops:` holds no operator")

    def alone(item: tuple[Scalar, Mapping]) -> tuple[Known, Diagnostics]:
        """What is known of one operator without the others, and what is wrong with it."""
        key, mapping = item
        problems = Diagnostics()
        return check_operator(Reader(problems, read.prefix).within(key.text), key, mapping, devices), problems

    found: list[_Found] = []
    for (key, mapping), (known, problems) in zip(declared, spread(alone, declared), strict=True):
        read.diagnostics.merge(problems)
        found.append(_Found(known.operator, known.places, known.passes, key, mapping))
    return found


def _declared(item: _Found) -> Declared | None:
    if item.operator is None:
        return None
    value = item.node.get("backward")
    return Declared(item.operator, item.places, value if isinstance(value, Scalar) else None)


def _collisions(read: Reader, found: list[_Found]) -> None:
    """Names that must be distinct over the whole library: kernels, and what the generator derives from operators."""
    kernels: dict[str, str] = {}
    operators = {item.key.text for item in found}
    for item in found:
        name = item.key.text
        inner = read.within(name)
        if item.operator is not None:
            check_constants(inner, item.key, item.operator, operators)
        backward = item.node.get("backward")
        if backward is not None and not isinstance(backward, Scalar):
            inner.within("backward").error(backward, "expected the name of an operator")
        in_place = item.operator is not None and any(one.kind == "inplace" for one in item.operator.variants)
        if in_place and f"{name}_" in operators:
            text = f"the in-place variant is called {name}_, and so is an operator"
            inner.error(item.node.key("variants") or item.key, text)
        for suffix in names.OPERATOR_SUFFIXES:
            if name.endswith(suffix) and name.removesuffix(suffix) in operators:
                inner.error(item.key, f"generated code for {name.removesuffix(suffix)} uses this name")
        for kernel, place in item.passes.kernels:
            if kernels.setdefault(kernel, name) != name:
                inner.error(place, f'the kernel "{kernel}" belongs to {kernels[kernel]}')
            elif kernel != name and kernel in operators:
                inner.error(place, f'the kernel "{kernel}" is called like an operator')
