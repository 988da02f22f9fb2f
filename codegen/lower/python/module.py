"""Views of the generated Python package: one module per operator, and what they share.

The module of an operator, generated/<namespace>/ops/<op>.py, always has the same order: schema and doc, fake kernel,
autograd, registration, wrapper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from codegen.contract import Argument, Output, TensorType, TypeVariable
from codegen.defaults import default_text
from codegen.describe.keys import operator_notes
from codegen.elementwise.operations import operations
from codegen.errors import one_of
from codegen.frozen import dataclass
from codegen.lower.host import mask_is_list
from codegen.lower.python.arguments import annotation, default
from codegen.lower.python.autocast import autocast_lines
from codegen.lower.python.autograd import AutogradView, autograd_view
from codegen.lower.python.batch import batch_lines, part_lines
from codegen.lower.python.fake import binding_lines, fake_lines
from codegen.lower.python.names import Names, call, docstring
from codegen.lower.python.recording import handed_over
from codegen.lower.python.variants import VariantView, out_keywords, values_of, variant_views
from codegen.lower.python.written import WrittenView, written_view
from codegen.lower.schema import dispatched, public_schema
from codegen.lower.statements import mentions
from codegen.messages.python import python_escape
from codegen.model import Library, Operator
from codegen.names import checking_variable
from codegen.tags import tags_of
from codegen.types import DTYPES


@dataclass(frozen=True)
class Kernels:
    """The Python kernels of one operator of the dispatcher; `autograd` is the rest of a call of Library.impl."""

    name: str
    fake: str
    autograd: str


@dataclass(frozen=True)
class ModuleView:
    """generated/<namespace>/ops/<op>.py."""

    namespace: str
    op: str
    qualified: str
    header: tuple[str, ...]
    variables: tuple[str, ...]
    sequence: bool  # a parameter is annotated as a Sequence
    unchecked: bool  # something is annotated as Any
    saves: bool  # has saved outputs
    declared: bool  # has a backward operator
    differentiable: bool  # records gradients, or says that there are none
    fake: tuple[str, ...]
    autograd: AutogradView
    written: WrittenView | None
    variants: tuple[VariantView, ...]
    writes: bool  # in place, or to tensors of the caller
    out: tuple[str, ...]  # lines of the wrapper that hand keywords to the out variant
    records: bool  # has a kernel at the Autograd key
    asks_lists: bool  # whether a tensor of a list requires grad
    has_function: bool  # and an autograd.Function of the usual form
    asks_tracing: bool  # where a call is recorded, whether torch.jit.trace is watching
    kernels: tuple[Kernels, ...]
    autocast: tuple[str, ...]
    batches: tuple[tuple[str, ...], ...]  # what torch.vmap is told
    parts: tuple[str, ...]  # operators that torch.vmap calls for each part
    has_batch: bool
    shared: str  # the modules of the package that it imports
    entries: str  # the operator and its internal overloads
    tags: str
    flops: tuple[str, ...]  # a function that counts the operations of a call
    packets: str  # the names under which the dispatcher has the operator
    nondeterministic: bool
    random: bool
    deprecated: str
    wrapper: tuple[str, ...]
    handed_over: tuple[str, ...]  # a condition, up to its colon
    passed: str
    error: str
    explained: str  # what is told of an error: the operator, and its arguments in order


@dataclass(frozen=True)
class AccEntry:
    """A dtype and its accumulation dtype."""

    dtype: str
    acc: str


@dataclass(frozen=True)
class ModuleExports:
    """The functions of one operator that the package offers."""

    module: str
    functions: str


@dataclass(frozen=True)
class PackageView:
    """The files of the package that all operators share."""

    namespace: str
    operators: tuple[str, ...]
    exported: tuple[str, ...]
    checking: str  # the environment variable that turns checking mode on
    checking_calls: str  # that of check_calls
    modules: tuple[ModuleExports, ...]
    acc: tuple[AccEntry, ...]


def _parameter(argument: Argument, unchecked: bool) -> str:
    kind = argument.type
    loose = kind.optional and (not argument.is_tensor or argument.has_word("expand"))
    listed = isinstance(kind, TensorType) and kind.is_list and (kind.may_lack_tensors or argument.has_word("expand"))
    loose = unchecked and (loose or listed)
    text = f"{argument.name}: {'Any' if loose else annotation(argument)}"
    return text if argument.default is None else f"{text} = {default(argument)}"


def parameters(op: Operator, *, unchecked: bool = False) -> list[str]:
    """The parameters of the wrapper and of the kernels, annotated and with their defaults; with `unchecked` optional
    scalars are Any: which checks say that they are given, a type checker does not see.
    """
    positional = [_parameter(argument, unchecked) for argument in op.arguments if not argument.keyword_only]
    keyword = [_parameter(argument, unchecked) for argument in op.arguments if argument.keyword_only]
    if mask_is_list(op):
        keyword.append("grad_mask: Sequence[bool] = ()")
    elif op.grad_mask:
        wanted = ", ".join(["True"] * len(op.outputs))
        keyword.append(f"grad_mask: Sequence[bool] = ({wanted})")
    return positional + (["*", *keyword] if keyword else [])


def passed(op: Operator) -> list[str]:
    """How a call hands its arguments on."""
    positional = [argument.name for argument in op.arguments if not argument.keyword_only]
    keyword = [f"{argument.name}={argument.name}" for argument in op.arguments if argument.keyword_only]
    return positional + keyword + (["grad_mask=grad_mask"] if op.grad_mask else [])


def returned(op: Operator, outputs: Sequence[Output]) -> str:
    """The type of what these outputs are returned as."""
    if not outputs:
        return "None"
    kinds = [
        "list[Tensor]"
        if output.type.is_list
        else "Tensor | None"
        if op.grad_mask or output.condition is not None
        else "Tensor"
        for output in outputs
    ]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def _given_back(op: Operator) -> str:
    """The type of what the wrapper returns: the outputs, or where there are none, what was written."""
    if op.public_outputs:
        return returned(op, op.public_outputs)
    kinds = [annotation(argument) for argument in op.written]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"


def _wrapper_doc(op: Operator) -> list[str]:
    lines = docstring(op.doc or f"Calls {op.name}.")
    lines += ["", "Args:", *(f"    {argument.name}: {_contract(argument)}" for argument in op.arguments)]
    if op.grad_mask:
        others = "in lists only these; all by default" if mask_is_list(op) else "the others are None"
        lines.append(f"    grad_mask: which of the gradients are wanted; {others}")
    results = [(output.name, output.text) for output in op.public_outputs]
    results = results or [(argument.name, argument.text) for argument in op.written]
    lines += ["", "Returns:", *(f"    {name}: {docstring(text)[0]}" for name, text in results), ""]
    lines += [f"{variable.name} is {one_of(variable.allowed)}." for variable in op.types]
    stated = [docstring(text)[0] for text in (*(c.text for c in op.checks), *(v.text for v in op.values))]
    lines += [f"A call needs {', '.join(stated)}."] if stated else []
    lines += [line for note in operator_notes(op) for line in wrap(docstring(note)[0], 110)]
    while lines[-1] == "":
        del lines[-1]
    first, *rest = lines
    return [f'    """{first}', *(f"    {line}".rstrip() for line in rest), '    """']


def _contract(argument: Argument) -> str:
    text = docstring(argument.text)[0]
    text += "" if argument.default is None else f" = {docstring(default_text(argument))[0]}"
    return f"{text}; {' '.join(docstring(argument.doc))}" if argument.doc else text


def _header(schema: str, doc: str) -> list[str]:
    """The docstring of a module: the schema, broken between arguments, and the doc."""
    whole = re.sub(r"\[[^]]*\]", lambda list_: list_[0].replace(" ", "\0"), schema)
    first, *rest = [line.replace("\0", " ") for line in wrap(whole, 110)]
    lines = [f'"""{first}', *rest] + (["", *docstring(doc)] if doc else [])
    return [f'{lines[0]}"""'] if len(lines) == 1 else [*lines, '"""']


def _variable(variable: TypeVariable) -> list[str]:
    """The dtypes that a variable allows, as a constant."""
    dtypes = [f"torch.{name}" for name in variable.dtypes]
    return call(f"_{variable.name} = ", dtypes if len(dtypes) > 1 else [f"{dtypes[0]},"], indent=0)


def _fakes(names: Names) -> list[str]:
    """The fake kernels: one for all outputs, and one for the public ones where some are saved."""
    op = names.op
    public = len(op.public_outputs)
    name = "_fake_saved" if op.saved_outputs else "_fake"
    given = parameters(op, unchecked=True)
    lines = call(f"def {name}", given, f" -> {returned(op, op.outputs)}:", 0)
    lines += [f"    {line}" for line in fake_lines(names)]
    if op.saved_outputs:
        lines += ["", "", *call("def _fake", given, f" -> {returned(op, op.public_outputs)}:", 0)]
        lines.append(f"    return _fake_saved({', '.join(passed(op))}){'[0]' if public == 1 else f'[:{public}]'}")
    return lines


def _flops(names: Names) -> list[str]:
    """What PyTorch's counter calls with the arguments and the results of a call."""
    op = names.op
    if op.flops is None and op.elementwise:
        count = operations([line.expr for line in op.elementwise])
        return [
            "def _flops(*given: Any, out_val: Any = None, **named: Any) -> Any:",
            f"    return {count} * _runtime.elements([*given, *named.values()])",
        ]
    if op.flops is None:
        return []
    given = [*parameters(op, unchecked=True), "**_: Any"]
    lines = [*binding_lines(names, op.flops), f"return {names.expr(op.flops)}"]
    return [*call("def _flops", given, " -> Any:", 0), *(f"    {line}" for line in lines)]


def _out_lines(names: Names, handed: list[str]) -> list[str]:
    """A call that says where its outputs go."""
    keywords = [name for name, _ in out_keywords(names.op)]
    if not keywords:
        return []
    arguments = [*handed, *(f"{name}={name}" for name in keywords)]
    if len(keywords) == 1:
        return [f"if {keywords[0]} is not None:", f"    return _write_out({', '.join(arguments)})"]
    given = " or ".join(f"{name} is not None" for name in keywords)
    lacks = ", ".join(f"{name}={name}" for name in keywords)
    lists = "".join(f'"{name}", ' for name in keywords if names.op.is_listed(name)).rstrip()
    return [
        f"if {given}:",
        f'    _runtime.need_every_output("{names.op.name}", ({lists}), {lacks})',
        f"    assert {given.replace(' or ', ' and ')}",
        f"    return _write_out({', '.join(arguments)})",
    ]


def _records(op: Operator) -> bool:
    """Whether the public operator has a kernel of its own at the Autograd key."""
    return bool(op.written) or not op.never_requires_grad


def _kernels(op: Operator) -> list[Kernels]:
    """The public operator records gradients; below its internal overloads nothing is recorded."""
    found = []
    for entry in dispatched(op):
        if entry.variant is not None:
            continue  # templates/op_variants.py.j2
        records = entry.public and _records(op)
        autograd = '"Autograd", with_keyset=True' if records else '"Autograd"'
        autograd = f"{'_autograd' if records else 'torch.library.fallthrough_kernel'}, {autograd}"
        found.append(Kernels(entry.name, "_fake_saved" if entry.saved else "_fake", autograd))
    return found


def _conditions(
    op: Operator, autograd: AutogradView, written: WrittenView | None, variants: Sequence[VariantView]
) -> list[str]:
    """Those under which calls are recorded."""
    found = [line for variant in variants for line in (*variant.recorded, *variant.wrapper_recorded)]
    if written is not None:
        found += [*written.recorded, *written.refused, *written.wrapper_recorded, *written.wrapper_refused]
    elif not op.never_requires_grad:
        found += [*autograd.recorded, *autograd.recorded_or_transformed]
    return found


def module_view(library: Library, op: Operator) -> ModuleView:
    """The module of one operator."""
    names = Names(library.namespace, op)
    keywords = [f"{name}: {kind} | None = None" for name, kind in out_keywords(op)]
    own = parameters(op) + (["*"] if keywords and "*" not in parameters(op) else []) + keywords
    wrapper = call(f"def {op.name}", own, f" -> {_given_back(op)}:", 0)
    autograd = autograd_view(library, names, parameters(op), passed(op))
    written = written_view(names, parameters(op), passed(op))
    batches = tuple(map(tuple, batch_lines(library, op)))
    parts = tuple(part_lines(library, op))
    variants = variant_views(names, parameters(op), passed(op), has_batch=bool(batches))
    return ModuleView(
        namespace=library.namespace,
        op=op.name,
        qualified=names.qualified,
        header=tuple(_header(public_schema(library.namespace, op), op.doc)),
        variables=tuple(line for variable in op.types if not variable.listed for line in _variable(variable)),
        sequence=mentions(parameters(op), "Sequence["),
        unchecked=_records(op)
        or bool(op.variants or op.autocast or op.lists or op.flops or op.elementwise)
        or mentions(parameters(op, unchecked=True), ": Any"),
        saves=bool(op.saved_outputs),
        declared=op.backward is not None,
        differentiable=not op.never_requires_grad,
        fake=tuple(_fakes(names)),
        autograd=autograd,
        written=written,
        variants=variants,
        writes=bool(op.written or op.variants),
        out=tuple(_out_lines(names, passed(op))),
        records=_records(op) or bool(op.variants),
        asks_lists=any("_any_requires_grad" in line for line in _conditions(op, autograd, written, variants)),
        has_function=not op.written and not op.never_requires_grad,
        asks_tracing=bool(op.variants) or not op.never_requires_grad,
        kernels=tuple(_kernels(op)),
        autocast=tuple(autocast_lines(names, parameters(op), passed(op))),
        batches=batches,
        parts=parts,
        has_batch=bool(batches),
        shared=", ".join([*(["_batch"] if batches or parts else []), "_rules", "_runtime"]),
        entries=", ".join(_overload(library.namespace, entry.name) for entry in dispatched(op)),
        tags=", ".join(f'"{tag}"' for tag in tags_of(op)),
        flops=tuple(_flops(names)),
        packets=", ".join(dict.fromkeys(f'"{entry.name.partition(".")[0]}"' for entry in dispatched(op))),
        nondeterministic=not op.deterministic,
        random=op.random,
        deprecated=python_escape(op.deprecated),
        wrapper=(*wrapper, *_wrapper_doc(op)),
        handed_over=tuple(handed_over(op, values_of(op))),
        passed=", ".join(passed(op)),
        error=names.fresh("error"),
        explained=", ".join([names.fresh("error"), "_op", *values_of(op)]),
    )


def _name(op: Operator) -> str:
    return op.name


def _functions(op: Operator) -> list[str]:
    """The operator and its in-place form."""
    return [op.name, *(f"{op.name}_" for variant in op.variants if variant.kind == "inplace")]


def _overload(namespace: str, name: str) -> str:
    """An operator of the dispatcher in Python."""
    return f"torch.ops.{namespace}.{name if '.' in name else f'{name}.default'}"


def package_view(library: Library) -> PackageView:
    """What the operators share."""
    operators = [name for op in library.operators for name in _functions(op)]
    return PackageView(
        namespace=library.namespace,
        operators=tuple(sorted(operators)),
        exported=tuple(sorted([*operators, "BytesCounterMode", "check_calls", "check_values"])),
        checking=checking_variable(library.namespace),
        checking_calls=checking_variable(library.namespace, "calls"),
        modules=tuple(ModuleExports(op.name, ", ".join(_functions(op))) for op in sorted(library.operators, key=_name)),
        acc=tuple(AccEntry(info.name, info.acc) for info in DTYPES.values()),
    )
