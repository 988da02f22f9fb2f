"""From the tree to the model. Every problem of the file is found in one go: each part is checked with what is known
so far.
"""

from __future__ import annotations

from codegen import keys, names, supported
from codegen.bind import operator as bind
from codegen.check import keys as check_keys
from codegen.check import rules as check_rules
from codegen.check import values as check_values
from codegen.check.arguments import check_constants
from codegen.check.backward import Declared, check_backward, names_operator
from codegen.check.contract import check_contract
from codegen.check.derived import origin, with_gradients
from codegen.check.elementwise import as_loops_make, as_loops_see, check_elementwise, size_problem
from codegen.check.launch import Passes, check_passes
from codegen.check.variants import check_variants
from codegen.check.words import check_device, check_launch_size
from codegen.contract import Argument, ScalarType, TensorType
from codegen.errors import Diagnostics, Position, shown
from codegen.frozen import dataclass, replace
from codegen.load import Mapping, Node, Scalar
from codegen.messages.parts import MAX_SPELLED, spelled
from codegen.messages.sentences import message
from codegen.model import Library, Operator
from codegen.reader import Reader
from codegen.rules import ComputeStar, ElementsRule, ExpandRule, ShapeRule, SumRule, plain
from codegen.spread import spread


@dataclass(frozen=True)
class Checked:
    """A library, and where each of its operators stands in the spec."""

    library: Library
    places: dict[str, Position]


@dataclass(frozen=True)
class _Known:
    """One operator so far, without its tree. `operator` is None when its own parts have errors."""

    operator: Operator | None
    places: dict[str, Scalar]
    passes: Passes


@dataclass(frozen=True)
class _Found(_Known):
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
            supported.keys(read.diagnostics, inner.prefix, mapping)
            declared.append((key, inner.keys(mapping, keys.OPERATOR.names)))
    if section is not None and not section.entries:
        read.error(section, "`ops:` holds no operator")

    def alone(item: tuple[Scalar, Mapping]) -> tuple[_Known, Diagnostics]:
        """What is known of one operator without the others, and what is wrong with it."""
        key, mapping = item
        problems = Diagnostics()
        return _operator(Reader(problems, read.prefix).within(key.text), key, mapping, devices), problems

    found: list[_Found] = []
    for (key, mapping), (known, problems) in zip(declared, spread(alone, declared), strict=True):
        read.diagnostics.merge(problems)
        found.append(_Found(known.operator, known.places, known.passes, key, mapping))
    return found


def _operator(read: Reader, key: Scalar, node: Mapping, default_devices: tuple[str, ...]) -> _Known:
    before = read.diagnostics.errors
    devices = check_rules.check_devices(read, node, default_devices)
    contract = check_contract(read, node, devices)
    if contract.valid:
        _tensors(read, key, node, contract.arguments, bool(contract.outputs))
    draft = Operator(
        name=key.text,
        doc=read.doc(node),
        types=contract.types,
        arguments=contract.arguments,
        outputs=contract.outputs,
        scratch=contract.scratch,
        dims=contract.dims,
        derived=contract.derived,
        dynamic=contract.dynamic,
        checks=check_rules.check_checks(read, node, contract),
        values=check_values.check_values(read, node, contract),
        rules=(),
        passes=(),
        devices=devices,
        backward=None,
        differentiable=_differentiable(read, node, contract.arguments),
        grad_mask=contract.grad_mask,
        reference=check_rules.check_name(read, node, "reference", key.text),
        samples=check_rules.check_samples(read, node, contract),
        tolerance=check_rules.check_tolerance(read, node, contract),
        flops=check_rules.check_flops(read, node, contract),
        fast_math=bool(check_rules.check_flag(read, node, "fast_math")),
        tags=check_keys.check_tags(read, node),
        deterministic=check_keys.check_deterministic(read, node),
        since=check_keys.check_since(read, node),
        deprecated=check_keys.check_deprecated(read, node),
        requires=check_keys.check_requires(read, node, devices),
    )
    if read.diagnostics.errors == before:
        if draft.list_outputs and draft.written:
            name = draft.list_outputs[0].name
            text = f"PyTorch compiles no operator that writes to arguments and returns a list, which {name} is"
            hint = f"let the caller pass it: {name}: {draft.list_outputs[0].text.split()[0]}! out, under inputs:"
            read.error(node.key("outputs") or key, text, hint)
        draft = replace(draft, variants=check_variants(read, node, draft))
    if contract.valid:
        batch, autocast = check_keys.check_batch(read, node, draft), check_keys.check_autocast(read, node, draft)
        drawn = check_keys.check_random(read, node, draft, contract.taken)
        draft = check_keys.with_seed(replace(draft, batch=batch, autocast=autocast, random=drawn), node)
    passes = check_passes(read, key, node, contract, draft.kernel_choices, devices)
    lines = check_elementwise(read, key, node, contract, draft.dtype_choices)
    if read.diagnostics.errors != before:
        return _Known(None, contract.places, passes)
    rules = bind.rules(
        draft.types,
        draft.arguments,
        draft.outputs,
        draft.scratch,
        draft.dims,
        draft.derived,
        draft.dynamic,
        draft.checks,
        draft.values,
        devices,
    )
    for rule in map(plain, rules):
        # The error record of a call has room for a few spelled-out values.
        if isinstance(rule, ShapeRule | ExpandRule | ElementsRule | SumRule) and spelled(message(rule)) > MAX_SPELLED:
            read.error(key, f"the rule on {rule.argument} names too many values for one message")
        if isinstance(rule, ComputeStar) and spelled(message(rule)) > MAX_SPELLED:
            read.error(key, f"{rule.entry.text} names too many stars for one message; at most {MAX_SPELLED} are taken")
    check_device(read, key, draft)
    if not lines.lines:
        check_launch_size(read, key, draft)
    operator = replace(
        draft,
        arguments=tuple(as_loops_see(argument) if lines.lines else argument for argument in draft.arguments),
        outputs=tuple(as_loops_make(output, draft.arguments) if lines.lines else output for output in draft.outputs),
        rules=rules,
        passes=passes.passes,
        several_passes=passes.several,
        custom=passes.custom,
        full_cuda=passes.full_cuda,
        elementwise=lines.lines,
        iterated=lines.shape,
    )
    problem = size_problem(operator) if lines.lines else ""
    if problem:
        read.error(node.key("elementwise") or key, problem, "compute in several operators, of fewer tensors each")
    return _Known(operator, contract.places, passes)


def _tensors(read: Reader, key: Scalar, node: Mapping, arguments: tuple[Argument, ...], has_outputs: bool) -> None:
    """An operator takes a tensor and gives one."""
    tensors = [argument.type for argument in arguments if isinstance(argument.type, TensorType)]
    where = [
        argument for argument in arguments if isinstance(argument.type, ScalarType) and argument.type.kind == "device"
    ]
    if not tensors and len(where) != 1:
        text = f"an operator without tensor inputs has one `device` argument, this one {len(where) or 'none'}"
        read.error(node.key("inputs") or key, text, "for instance where: device = cuda")
    elif tensors and all(tensor.may_lack_tensors for tensor in tensors):
        text = "every tensor is optional, so a call without any would have no device"
        read.error(node.key("inputs") or key, text, "take one that is always given")
    written = [argument for argument in arguments if isinstance(argument.type, TensorType) and argument.type.written]
    backward = node.key("backward")
    if written and backward is not None:
        text = f"an operator that writes in place has no `backward:`, and {written[0].name} is written"
        read.error(backward, text, "return a new tensor instead; `variants: [inplace]` then writes in place as well")
    if not has_outputs and not any(tensor.written for tensor in tensors):
        read.error(node.key("outputs") or key, "`outputs:` is missing", "for instance outputs: {y: T[*shape]}")


def _differentiable(read: Reader, node: Mapping, arguments: tuple[Argument, ...]) -> bool | None:
    """What the key says; without tensor inputs there is nothing to differentiate."""
    value = check_rules.check_flag(read, node, "differentiable")
    key = node.key("differentiable")
    if value is True and key is not None:
        read.error(key, "only `differentiable: false` says something", "an operator is differentiable by `backward:`")
    if value is False and key is not None and node.get("backward") is not None:
        read.error(key, "`differentiable: false` and `backward:` contradict each other")
    return value if any(argument.is_tensor for argument in arguments) else False


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
