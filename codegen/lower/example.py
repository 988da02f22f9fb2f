"""A short call of an operator, for its documentation: small tensors, on the CPU, that pass every check.

Where no such sizes are found (the spec names a function for them), the program says that it only shows the form.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.contract import Argument, ScalarType, TensorType
from codegen.frozen import replace
from codegen.lower.sample import Sample
from codegen.lower.tests.samples import base
from codegen.lower.tests.values import Elements
from codegen.model import Library, Operator
from codegen.types import is_floating

FORM_ONLY = "# These sizes only show the form of the call: the checks want others."


def example(library: Library, op: Operator) -> tuple[str, ...]:
    """The lines of a Python program."""
    sample = _sample(op)
    shapes = sample.shapes()
    lines: list[str] = []
    passed: list[str] = []
    by_name = False
    for argument in op.arguments:
        if isinstance(argument.type, TensorType):
            value = argument.name if argument.name not in sample.absent else "None"
            if value != "None":
                lines.append(f"{value} = {_tensor(sample, argument, argument.type, shapes)}")
        else:
            value = _scalar(sample, argument, argument.type)
        # What may be left out is; what stands behind it goes by name, and so do scalars, which show no meaning.
        skipped = not value or (value == "None" and argument.default is not None)
        by_name = by_name or skipped or not argument.is_tensor or argument.keyword_only
        if not skipped:
            passed.append(f"{argument.name}={value}" if by_name else value)
    results = ", ".join(output.name for output in op.public_outputs)
    call = f"{library.namespace}.{op.name}({', '.join(passed)})"
    if not sample.valid():
        lines.insert(0, FORM_ONLY)
    return ("import torch", f"import {library.namespace}", "", *lines, f"{results} = {call}" if results else call)


def _sample(op: Operator) -> Sample:
    """The usual sample, in float32 where that is possible."""
    choices = [dict(choice) for choice in op.dtype_choices]
    best = max(choices, key=lambda choice: list(choice.values()).count("float32"))
    plain = base(op)
    sample = replace(plain, dtypes=best)
    return sample if sample.valid() else plain


def _tensor(sample: Sample, argument: Argument, kind: TensorType, shapes: Mapping[str, tuple[int, ...]]) -> str:
    dtype, name = sample.dtype_of(argument.name), argument.name
    if not kind.is_list:
        return _values(sample, argument, dtype, shapes[name])
    each = [_values(sample, argument, dtype, shapes[f"{name}[{i}]"]) for i in range(sample.length)]
    return f"[{', '.join(each)}]"


def _values(sample: Sample, argument: Argument, dtype: str, shape: tuple[int, ...]) -> str:
    sizes, filled = repr(shape), sample.elements.get(argument.name)
    drawn = dict(sample.op.samples.sizes).get(argument.name)
    if drawn is not None:
        return f"torch.tensor({list(drawn)}, dtype=torch.{dtype})[torch.randint({len(drawn)}, {sizes})]"
    if filled is not None and replace(filled, also=()) == Elements(filled.low, filled.high):
        return f"torch.randint({filled.low}, {filled.high}, {sizes}, dtype=torch.{dtype})"
    if filled is not None:
        return f"torch.tensor({filled.listed(shape)}, dtype=torch.{dtype}).reshape({sizes})"
    if dtype == "float32":
        return f"torch.randn({sizes})"
    if dtype in ("float64", "complex64", "complex128"):
        return f"torch.randn({sizes}, dtype=torch.{dtype})"
    if is_floating(dtype):
        return f"torch.randn({sizes}).to(torch.{dtype})"
    return f"torch.randint(0, {2 if dtype == 'bool' else 10}, {sizes}, dtype=torch.{dtype})"


def _scalar(sample: Sample, argument: Argument, kind: ScalarType) -> str:
    """A literal, or "" where the default will do."""
    value: object = sample.scalars.get(argument.name)
    if argument.default is not None and (argument.default.value == value or argument.name not in sample.scalars):
        return ""
    if kind.kind == "device":
        return '"cpu"'
    if kind.kind == "dtype":
        return f"torch.{sample.dtypes.get(kind.variable, value)}"
    return repr(list(value) if isinstance(value, tuple) else value)
