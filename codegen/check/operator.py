"""One operator, without the others: from its node of the tree to the model, but for its gradients."""

from __future__ import annotations

from codegen.bind import operator as bind
from codegen.check import keys as check_keys
from codegen.check import rules as check_rules
from codegen.check import values as check_values
from codegen.check.contract import Contract, check_contract
from codegen.check.elementwise import as_loops_make, as_loops_see, check_elementwise, size_problem
from codegen.check.launch import Passes, check_passes
from codegen.check.triton import check_triton
from codegen.check.variants import check_variants
from codegen.check.words import check_device, check_launch_size
from codegen.contract import Argument, ScalarType, TensorType
from codegen.frozen import dataclass, replace
from codegen.load import Mapping, Scalar
from codegen.messages.parts import MAX_SPELLED, spelled
from codegen.messages.sentences import message
from codegen.model import Operator
from codegen.reader import Reader
from codegen.rules import ComputeStar, ElementsRule, ExpandRule, Rule, ShapeRule, SumRule, plain


@dataclass(frozen=True)
class Known:
    """One operator so far, without its tree. `operator` is None when its own parts have errors."""

    operator: Operator | None
    places: dict[str, Scalar]
    passes: Passes


def check_operator(read: Reader, key: Scalar, node: Mapping, default_devices: tuple[str, ...]) -> Known:
    """What the operator `key` declares; problems go to `read`."""
    before = read.diagnostics.errors
    devices = check_rules.check_devices(read, node, default_devices)
    contract = check_contract(read, node, devices)
    if contract.valid:
        _tensors(read, key, node, contract.arguments, bool(contract.outputs))
    draft = _draft(read, key, node, contract, devices)
    if read.diagnostics.errors == before:
        _written_and_lists(read, key, node, draft)
        draft = replace(draft, variants=check_variants(read, node, draft))
    if contract.valid:
        batch, autocast = check_keys.check_batch(read, node, draft), check_keys.check_autocast(read, node, draft)
        drawn = check_keys.check_random(read, node, draft, contract.taken)
        draft = check_keys.with_seed(replace(draft, batch=batch, autocast=autocast, random=drawn), node)
    passes = check_passes(read, key, node, contract, draft.kernel_choices, devices)
    triton = check_triton(read, node, contract, draft)
    lines = check_elementwise(read, key, node, contract, draft.dtype_choices)
    if read.diagnostics.errors != before:
        return Known(None, contract.places, passes)
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
    _message_sizes(read, key, rules)
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
        triton=triton,
        elementwise=lines.lines,
        iterated=lines.shape,
    )
    problem = size_problem(operator) if lines.lines else ""
    if problem:
        read.error(node.key("elementwise") or key, problem, "compute in several operators, of fewer tensors each")
    return Known(operator, contract.places, passes)


def _draft(read: Reader, key: Scalar, node: Mapping, contract: Contract, devices: tuple[str, ...]) -> Operator:
    """The operator without what is worked out of the whole: rules, passes, gradients."""
    return Operator(
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


def _written_and_lists(read: Reader, key: Scalar, node: Mapping, draft: Operator) -> None:
    if draft.list_outputs and draft.written:
        name = draft.list_outputs[0].name
        text = f"PyTorch compiles no operator that writes to arguments and returns a list, which {name} is"
        hint = f"let the caller pass it: {name}: {draft.list_outputs[0].text.split()[0]}! out, under inputs:"
        read.error(node.key("outputs") or key, text, hint)


def _message_sizes(read: Reader, key: Scalar, rules: tuple[Rule, ...]) -> None:
    """The error record of a call has room for a few spelled-out values."""
    for rule in map(plain, rules):
        if isinstance(rule, ShapeRule | ExpandRule | ElementsRule | SumRule) and spelled(message(rule)) > MAX_SPELLED:
            read.error(key, f"the rule on {rule.argument} names too many values for one message")
        if isinstance(rule, ComputeStar) and spelled(message(rule)) > MAX_SPELLED:
            read.error(key, f"{rule.entry.text} names too many stars for one message; at most {MAX_SPELLED} are taken")


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
