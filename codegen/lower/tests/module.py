"""Views of the generated tests: an operator's contract, calls of many sizes, and wrong calls with their errors.

What is done with them is hand-written, in tests/harness/.
"""

from __future__ import annotations

from collections.abc import Iterable

from codegen.autocast import cast_inputs
from codegen.contract import MAX_DIMS, Acc, Argument, Dtype, FixedDtype, TensorType, Word
from codegen.forward_mode import has_forward_derivative
from codegen.frozen import dataclass
from codegen.lower.dynamic import sized_by
from codegen.lower.elementwise.host import alike
from codegen.lower.python.batch import batch_lines, part_lines
from codegen.lower.python.names import COLUMNS, call
from codegen.lower.sample import Sample
from codegen.lower.schema import public_schema
from codegen.lower.statements import mentions
from codegen.lower.tests.axes import axes, left_out, strings, tuple_of, unfit
from codegen.lower.tests.derived import broken, derived_lines, dict_of
from codegen.lower.tests.refused import Wrong, wrong_calls
from codegen.lower.tests.samples import base, growing, large, samples
from codegen.lower.tests.scalars import kind_of, literal, sampled, usual_scalar
from codegen.lower.tests.texts import WrongTensor
from codegen.lower.tests.values import Elements
from codegen.messages.python import python_string
from codegen.model import Library, Operator
from codegen.tags import tags_of
from codegen.types import is_floating


@dataclass(frozen=True)
class TestView:
    """generated/tests/test_<op>.py."""

    op: str
    contract: tuple[str, ...]
    samples: tuple[str, ...]
    growing: tuple[str, ...]
    large: tuple[str, ...]
    axes: tuple[str, ...]
    unfit: tuple[str, ...]
    wrong: tuple[str, ...]
    imports: str
    modules: str
    has_batch: bool  # torch.vmap goes by `batch:`
    has_parts: bool  # or calls the operator for each part
    mask: bool
    no_grad: bool
    declared: bool
    written: bool
    variants: bool
    missing: bool
    never: bool
    tags: bool
    nondeterministic: bool
    deprecated: bool
    autocast: bool
    random: bool


def _broken_dict(entries: Iterable[tuple[str, str]], indent: int) -> list[str]:
    """A dict as a formatter lays it out: on one line, else with a line for each entry."""
    listed = list(entries)
    whole = dict_of(listed)
    if indent + len(whole) + 1 <= COLUMNS:
        return [whole]
    return ["{", *(f"    {python_string(name)}: {value}," for name, value in listed), "}"]


def _dtype(dtype: Dtype) -> str:
    match dtype:
        case Acc():
            return python_string(f"acc({dtype.variable})")
        case FixedDtype():
            return python_string(dtype.name)
    return python_string(dtype.name)


def _word(word: Word) -> str:
    """`rows`, `inner(2)`; `inner` is about one dim."""
    return word.name if word.argument is None or word == Word("inner", 1) else f"{word.name}({word.argument})"


def autograd_state(op: Operator) -> str:
    """declared, missing or never."""
    if op.backward is not None:
        return "declared"
    return "never" if op.never_requires_grad else "missing"


def _gradients(op: Operator, usual: Sample) -> list[str]:
    """Inputs that get a gradient; without a backward, those that could require one."""
    if op.backward is not None:
        inputs = {gradient.input for gradient in op.backward.gradients}
        return [argument.name for argument in op.tensors if argument.name in inputs]
    names = []
    for argument in op.tensors:
        if argument in op.may_need_gradient and is_floating(usual.dtype_of(argument.name)):
            names.append(argument.name)
    return names


def second_state(library: Library, op: Operator) -> str:
    """The state of the backward operator; "saved" where its gradients need those of saved outputs, which have none."""
    if op.backward is None:
        return ""
    first = library.operator(op.backward.operator)
    saved = {output.name for output in op.saved_outputs}
    bound = {b.argument for b in op.backward.bindings if b.source == "output" and b.name in saved}
    wanted = {gradient.input for gradient in first.backward.gradients} if first.backward else set()
    return "saved" if bound & wanted else autograd_state(first)


def _contract(library: Library, op: Operator, usual: Sample) -> list[str]:
    inputs = {argument.name for argument in op.arguments}
    kept = [b.name for b in op.backward.bindings if b.source == "input" and b.name in inputs] if op.backward else []
    tensors = [(argument.name, argument.type) for argument in op.tensors if isinstance(argument.type, TensorType)]
    worded = [(argument.name, argument.words) for argument in op.tensors]
    worded += [(output.name, output.words) for output in op.outputs]
    words = [(name, strings(map(_word, listed))) for name, listed in worded if listed]
    kinds = {argument.name: kind_of(argument) for argument in op.scalars}
    broadcast = [output for output in op.outputs if alike(op, output)]
    mixed = [variable for variable in op.types if variable.listed]
    made = op.list_outputs
    sized = [output for output in op.public_outputs if sized_by(output)]
    drawn = [entry for entry in op.samples.sizes if entry[0] in dict(tensors)]
    arguments = broken("arguments=", [python_string(argument.name) for argument in op.arguments], 4)
    fields = [
        ("namespace", python_string(library.namespace)),
        ("name", python_string(op.name)),
        ("arguments", "\n    ".join(arguments).removeprefix("arguments=")),
        ("keywords", strings(argument.name for argument in op.arguments if argument.keyword_only)),
        (
            "tensors",
            dict_of((name, _dtype(kind.dtype)) for name, kind in tensors),
        ),
        ("scalars", dict_of((name, literal(value, kinds[name])) for name, value in usual.scalars.items())),
        *_from_the_call(op),
        ("absences", _absences(usual)),
        ("defaults", strings(argument.name for argument in op.arguments if _usually_default(usual, argument))),
        ("written", strings(argument.name for argument in op.written)),
        ("variants", _variants(op)),
        ("outputs", dict_of((output.name, _dtype(output.type.dtype)) for output in op.public_outputs)),
        ("saved", dict_of((output.name, _dtype(output.type.dtype)) for output in op.saved_outputs)),
        ("mask", str(op.grad_mask)),
        ("autograd", python_string(autograd_state(op))),
        ("second", python_string(second_state(library, op))),
        ("backward", python_string(op.backward.operator if op.backward else "")),
        ("gradients", strings(_gradients(op, usual))),
        ("kept", strings(name for name in kept if name in dict(tensors))),
        ("reference", python_string(op.reference)),
        ("tolerance", dict_of((name, repr(value)) for name, value in op.tolerance)),
        *([("words", "\n    ".join(_broken_dict(words, 4 + len("words="))))] if words else []),
        *([("tags", strings(tags_of(op)))] if tags_of(op) else []),
        *([("alike", dict_of((o.name, strings(alike(op, o))) for o in broadcast))] if broadcast else []),
        *([("is_elementwise", "True")] if op.elementwise else []),
        *([("forward_mode", "True")] if has_forward_derivative(library, op) else []),
        *([("random", "True")] if op.random else []),
        *([("autocast", python_string(op.autocast)), ("cast", _cast(op))] if op.autocast else []),
        *([("pinned", strings(argument.name for argument in op.pinned))] if op.pinned else []),
        *([("lists", strings(argument.name for argument in op.lists))] if op.lists else []),
        *([("list_outputs", dict_of((o.name, python_string(o.counted_by)) for o in made))] if made else []),
        *([("dynamic", strings(output.name for output in sized))] if sized else []),
        *([("among", dict_of((name, repr(numbers)) for name, numbers in drawn))] if drawn else []),
        *([("mixed", dict_of((v.name, strings(v.listed)) for v in mixed))] if mixed else []),
    ]
    if op.devices != ("cpu", "cuda"):
        fields.append(("runs_on", strings(op.devices)))
    lines = ["OP = Contract("]
    for name, value in fields:
        if name == "tensors":
            lines += _types(op)
        lines.append(f"    {name}={value},")
    if op.derived_from:
        first, *rest = _ended(derived_lines(library, op, 4 + len("derived=")))
        lines += [f"    derived={first}", *(f"    {line}" for line in rest)]
    return [*lines, ")"]


def _from_the_call(op: Operator) -> list[tuple[str, str]]:
    """Arguments whose values are a dtype or the device of the call."""
    kinds = [(argument.name, kind_of(argument)) for argument in op.scalars]
    dtypes = [(name, python_string(kind.variable)) for name, kind in kinds if kind.variable]
    devices = [name for name, kind in kinds if kind.kind == "device"]
    found = [("dtypes", dict_of(dtypes))] if dtypes else []
    return [*found, ("devices", strings(devices))] if devices else found


def _cast(op: Operator) -> str:
    return dict_of((variable, strings(inputs)) for variable, inputs in cast_inputs(op).items())


def _usually_default(usual: Sample, argument: Argument) -> bool:
    """Whether a scalar may be left out of the usual call, or an optional tensor where it is None."""
    if argument.is_tensor or argument.default is None:
        return argument.default is not None
    kind = kind_of(argument)
    if kind.kind == "device":
        return False
    if kind.variable:
        return argument.default.value == usual.dtypes[kind.variable]
    return usual.scalars[argument.name] == usual_scalar(argument)


def _types(op: Operator) -> list[str]:
    entries = [
        broken(f'"{variable.name}": ', [python_string(name) for name in variable.dtypes]) for variable in op.types
    ]
    whole = "{" + ", ".join(line for entry in entries for line in entry) + "}"
    if all(len(entry) == 1 for entry in entries) and len(whole) + 11 <= COLUMNS:
        return [f"    types={whole},"]
    return ["    types={", *(f"        {line}" for entry in entries for line in _ended(entry)), "    },"]


def _ended(lines: list[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]},"]


def _sample(sample: Sample, usual: Sample) -> str:
    shapes, entries = sample.shapes(), []
    for argument in sample.op.tensors:
        if argument in sample.op.lists:
            listed = [repr(shapes.get(f"{argument.name}[{i}]")) for i in range(sample.length)]
            entries.append((argument.name, f"[{', '.join(listed)}]"))
            continue
        filled = sample.elements.get(argument.name)
        shape = shapes[argument.name]
        entries.append((argument.name, _elements(filled, shape) if filled is not None else repr(shape)))
    for argument in sampled(sample.op):
        value = sample.scalars[argument.name]
        if value != usual.scalars[argument.name]:
            entries.append((argument.name, literal(value, kind_of(argument))))
    return "\n".join(f"    {line}" for line in _ended(_broken_dict(entries, 4)))


def _elements(filled: Elements, shape: tuple[int, ...]) -> str:
    """Elements((7,), 0, 10)"""
    usual, arguments = Elements(), [repr(shape)]
    if not filled.among and filled.offsets is None:
        arguments += [repr(filled.low), repr(filled.high)]
    for name in ("without", "among", "also", "total", "offsets"):
        value = getattr(filled, name)
        arguments += [f"{name}={value!r}"] if value != getattr(usual, name) else []
    if filled.columns:
        columns = ", ".join(f"{index}: {_elements(column, shape[:-1])}" for index, column in filled.columns)
        arguments.append(f"columns={{{columns}}}")
    return f"Elements({', '.join(arguments)})"


def _numbers(values: Iterable[int | float]) -> str:
    return tuple_of('float("nan")' if value != value else repr(value) for value in values)


def _variants(op: Operator) -> str:
    pairs = [(variant.kind, tuple_of(strings(pair) for pair in variant.writes)) for variant in op.variants]
    return dict_of(pairs)


def _absences(usual: Sample) -> str:
    return tuple_of(map(strings, left_out(usual)))


def _wrong_tensor(tensor: WrongTensor) -> str:
    extra = f", elements={_numbers(tensor.elements)}" if tensor.elements else ""
    extra = ", other=True" if tensor.other_device else extra
    extra += f", strides={tensor.strides}" if tensor.strides else ""
    many = len(tensor.shape) > MAX_DIMS and set(tensor.shape) == {1}
    shape = f"(1,) * {len(tensor.shape)}" if many else str(tensor.shape)
    return f"Tensor({python_string(tensor.dtype)}, {shape}{extra})"


def _wrong(op: Operator, wrong: Wrong) -> list[str]:
    changes = [(name, _wrong_tensor(tensor)) for name, tensor in wrong.tensors]
    changes += [(name, f"[{', '.join(map(_wrong_tensor, tensors))}]") for name, tensors in wrong.lists]
    changes += [(name, "None") for name in wrong.absent]
    changes += [(wrong.alias[0], f"Alias({python_string(wrong.alias[1])})")] if wrong.alias else []
    changes += [(name, literal(value, kind_of(op.argument(name)))) for name, value in wrong.scalars]
    changes += [("grad_mask", repr([True] * wrong.mask))] if wrong.mask else []
    flags = [f"{flag}=True" for flag in ("elements", "memory") if getattr(wrong, flag)]
    arguments: list[str | list[str]] = [_broken_dict(changes, 8), python_string(wrong.text), *flags]
    return [f"    {line}" for line in call("Wrong", arguments, ",", indent=4)]


def _modules(op: Operator, refused: bool, has_parts: bool) -> list[str]:
    """The parts of the harness that the tests of an operator use."""
    own = ["refused"] if refused else []
    own += ["written" if op.written else "gradients", *(["variants"] if op.variants else [])]
    own += ["project"] if op.samples.function else []
    own += ["keys"] if tags_of(op) or op.deprecated or op.autocast else []
    own += ["batched"] if has_parts else []
    own += ["transforms"] if op.backward is not None else []
    return sorted(["compiled", "cuda", "direct", "forward", "matrix", *own])


def _samples(op: Operator, usual: Sample, calls: list[str]) -> list[str]:
    """Calls that results are compared for; where a function gives them, the usual one comes first if it is right."""
    if not op.samples.function:
        return ["SAMPLES = [", *calls, "]"]
    more = f"project.samples({python_string(op.samples.function)})"
    return ["SAMPLES = [", _sample(usual, usual), f"    *{more},", "]"] if usual.valid() else [f"SAMPLES = {more}"]


def _growing(op: Operator, usual: Sample) -> list[str]:
    if op.samples.function:
        return ["GROWING = project.growing(SAMPLES)"]
    return ["GROWING = [", *(_sample(sample, usual) for sample in growing(usual)), "]"]


def test_view(library: Library, op: Operator) -> TestView:
    """The tests of one operator."""
    usual = base(op)
    known = not op.samples.function or usual.valid()  # else only the function knows a right call
    wrong = [line for one in wrong_calls(usual) for line in _wrong(op, one)] if known else []
    right = samples(usual)
    calls = [_sample(sample, usual) for sample in right]
    largest = [_sample(sample, usual) for sample in large(usual)]
    contract = _contract(library, op, usual)
    state = autograd_state(op)
    has_batch = bool(batch_lines(library, op))
    has_parts = has_batch or bool(part_lines(library, op))
    names = ["Contract"] + (["Wrong"] if wrong else []) + (["Tensor"] if mentions(wrong, "Tensor(") else [])
    names += ["Dtype"] if mentions([*wrong, *calls, *contract], "Dtype(") else []
    names += ["Alias"] if mentions(wrong, "Alias(") else []
    names += ["Derived"] if op.derived_from else []
    names += ["Elements"] if mentions(calls, "Elements(") else []
    return TestView(
        op=public_schema(library.namespace, op).split("(")[0],
        contract=tuple(contract),
        samples=tuple(_samples(op, usual, calls)),
        growing=tuple(_growing(op, usual)),
        large=("LARGE = [", *largest, "]") if largest else ("LARGE = []",),
        axes=tuple(axes(usual, any(_usually_default(usual, argument) for argument in op.scalars))),
        unfit=tuple(unfit(usual, right)),
        wrong=tuple(wrong),
        imports=", ".join(sorted(names)),
        modules=", ".join(_modules(op, bool(wrong), has_parts)),
        has_batch=has_batch,
        has_parts=has_parts,
        mask=op.grad_mask,
        no_grad=any(argument.has_word("no_grad") and argument not in op.may_need_gradient for argument in op.tensors),
        declared=state == "declared",
        written=bool(op.written),
        variants=bool(op.variants),
        missing=state == "missing" and not op.written,
        never=state == "never" and not op.written,
        tags=bool(tags_of(op)),
        nondeterministic=not op.deterministic,
        deprecated=bool(op.deprecated),
        autocast=bool(op.autocast),
        random=op.random,
    )
