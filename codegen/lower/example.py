"""A short call of an operator, for its documentation: small tensors, on the CPU, that pass every check."""

from __future__ import annotations

from dataclasses import replace

from codegen.check_backward import dtypes_of
from codegen.contract import Argument, Dtype, ScalarType, TensorType
from codegen.lower.tests_samples import Sample, base
from codegen.lower.tests_values import Elements
from codegen.model import Library, Operator
from codegen.types import DTYPES, is_floating


def example(library: Library, op: Operator) -> tuple[str, ...]:
    """The lines of a Python program."""
    sample = _sample(op)
    shapes = sample.shapes()
    lines, passed = [], []
    for argument in op.arguments:
        if isinstance(argument.type, TensorType):
            if argument.type.optional:
                continue
            lines.append(f"{argument.name} = {_tensor(sample, argument, argument.type, shapes[argument.name])}")
            passed.append(f"{argument.name}={argument.name}" if argument.keyword_only else argument.name)
        else:
            scalar = _scalar(argument, argument.type, sample)
            passed += [scalar] if scalar else []
    results = ", ".join(output.name for output in op.public_outputs)
    call = f"{library.namespace}.{op.name}({', '.join(passed)})"
    return ("import torch", f"import {library.namespace}", "", *lines, f"{results} = {call}" if results else call)


def _sample(op: Operator) -> Sample:
    """The usual sample, in float32 where that is possible."""
    choices = [dict(choice) for choice in op.dtype_choices]
    best = max(choices, key=lambda choice: list(choice.values()).count("float32"))
    plain = base(op)
    sample = replace(plain, dtypes=best)
    return sample if sample.valid() else plain


def _tensor(sample: Sample, argument: Argument, kind: TensorType, shape: tuple[int, ...]) -> str:
    dtype = _dtype(sample, kind.dtype)
    made = _values(sample, argument, dtype, shape)
    return f"[{made}, {made}]" if kind.is_list else made


def _values(sample: Sample, argument: Argument, dtype: str, shape: tuple[int, ...]) -> str:
    sizes, filled = repr(shape), sample.elements.get(argument.name)
    if filled is not None and filled == Elements(filled.low, filled.high):
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


def _dtype(sample: Sample, dtype: Dtype) -> str:
    """The dtype of a tensor in this call."""
    variables = tuple(
        replace(variable, dtypes=(sample.dtypes.get(variable.name, variable.dtypes[0]),))
        for variable in sample.op.types
    )
    (found,) = dtypes_of(replace(sample.op, types=variables), dtype)
    return found if found in DTYPES else "float32"


def _scalar(argument: Argument, kind: ScalarType, sample: Sample) -> str:
    """`eps=1e-06`, or "" where the default will do."""
    value = sample.scalars.get(argument.name)
    if argument.default is not None and argument.default.value == value:
        return ""
    literal = f"torch.{value}" if kind.kind == "dtype" and isinstance(value, str) else repr(value)
    return f"{argument.name}={literal}"
