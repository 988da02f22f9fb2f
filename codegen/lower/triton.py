"""Views of operators whose kernel Triton compiles: the part of the host function that launches it, and what the build
is told to compile, generated/cuda/<op>.json. (A folder called triton would be a package to Python.)

A kernel is compiled for each choice of dtypes and each combination of values of the params, and each of these twice:
for any call, and for calls whose pointers and rows are divisible by 16, which lets it move 16 bytes at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from codegen.contract import Argument, DimEntry, Output, ScalarType, Scratch, StarEntry, TensorType, dtype_of, dtypes_of
from codegen.expr.fold import constant
from codegen.expr.tree import Name, substitute
from codegen.frozen import dataclass
from codegen.launches import Param, TritonKernel
from codegen.lower.c.layout import fitted
from codegen.lower.host import HostNames
from codegen.lower.schema import public_schema
from codegen.lower.statements import guarded, indented, mentions
from codegen.model import DtypeChoice, Library, Operator
from codegen.types import TRITON

DIVISIBLE = 16


@dataclass(frozen=True)
class TritonView:
    """The part of a host function that launches the kernel."""

    table: str
    lines: tuple[str, ...]
    parameters: tuple[str, ...]
    count: int
    device: str


@dataclass(frozen=True)
class KernelView:
    """A kernel to compile, as JSON."""

    text: str
    end: str


@dataclass(frozen=True)
class ManifestView:
    """generated/cuda/<op>.json."""

    op: str
    schema: str
    source: str
    kernel: str
    arguments: str
    rows: int
    kernels: tuple[KernelView, ...]


def table(op: Operator) -> str:
    """The table of kernels that the build writes. Names of a spec have no `__`."""
    return f"{op.name}__triton"


def _triton(op: Operator) -> TritonKernel:
    assert op.triton is not None
    return op.triton


def _tensors(op: Operator) -> dict[str, Argument | Output | Scratch]:
    found: list[Argument | Output | Scratch] = [*op.tensors, *op.outputs, *op.scratch]
    return {one.name: one for one in found}


def divisible(op: Operator) -> tuple[str, ...]:
    """The arguments that half of the kernels take for divisible by 16: pointers, and the width of rows, which decides
    where a row begins; where there are no rows, the number of elements.
    """
    tensors = [one for name, one in _tensors(op).items() if name in _triton(op).args]
    shapes = [one.type.shape.entries for one in tensors if isinstance(one.type, TensorType)]
    rows = [entries for entries in shapes if len(entries) > 1]
    widths = set()
    for entries in rows or shapes:
        match entries[-1:]:
            case (DimEntry(expr=Name(name=name)),) | (StarEntry(name=name),):
                widths.add(name)
    pointers = {one.name for one in tensors} | {size.name for size in op.dynamic}
    return tuple(name for name in _triton(op).args if name in pointers | widths)


def _is_wide(op: Operator, choice: Mapping[str, str]) -> bool:
    """Whether scalars are float64: some tensor of the kernel is."""
    kinds = [one.type for name, one in _tensors(op).items() if name in _triton(op).args]
    return any(isinstance(kind, TensorType) and dtype_of(kind.dtype, choice) == "float64" for kind in kinds)


# ---------------------------------------------------------------- what is compiled


def manifest_view(library: Library, op: Operator) -> ManifestView:
    """Every kernel, in the place that the host function looks at."""
    triton = _triton(op)
    kernels = [json.dumps(one) for one in _kernels(op)]
    return ManifestView(
        op=op.name,
        schema=json.dumps(public_schema(library.namespace, op)),
        source=f"csrc/{op.name}.py",
        kernel=triton.name,
        arguments=json.dumps(triton.args),
        rows=len(op.kernel_places) * len(triton.launch.combinations) * 2,
        kernels=tuple(KernelView(text, "," if i < len(kernels) - 1 else "") for i, text in enumerate(kernels)),
    )


def _kernels(op: Operator) -> Iterator[Mapping[str, object]]:
    triton = _triton(op)
    combinations = triton.launch.combinations
    hints = divisible(op)
    for place, choice in enumerate(op.kernel_places):
        if choice not in op.kernel_choices:
            continue
        dtypes = dict(choice)
        for number, values in enumerate(combinations):
            for aligned in (False, True):
                yield {
                    "row": (place * len(combinations) + number) * 2 + aligned,
                    "types": [_type(op, name, choice) for name in triton.args],
                    "divisible": list(hints) if aligned else [],
                    "params": {name: constant(value, dtypes) for name, value in values.items()},
                    "num_warps": constant(substitute(triton.num_warps, values), dtypes),
                    "num_stages": constant(substitute(triton.num_stages, values), dtypes),
                }


def _type(op: Operator, name: str, choice: DtypeChoice) -> str:
    """The type of an argument, as Triton writes it."""
    tensor = _tensors(op).get(name)
    if tensor is not None:
        assert isinstance(tensor.type, TensorType)
        return f"*{TRITON[dtype_of(tensor.type.dtype, dict(choice))]}"
    if any(size.name == name for size in op.dynamic):
        return "*i64"
    match _scalar(op, name):
        case "float":
            return "fp64" if _is_wide(op, dict(choice)) else "fp32"
        case "bool":
            return "i1"
        case "choice":
            return "i32"
    return "i64"


def _scalar(op: Operator, name: str) -> str:
    """The kind of a scalar argument; "" for sizes."""
    kinds = {scalar.name: scalar.type for scalar in op.scalars}
    kind = kinds.get(name)
    return kind.kind if isinstance(kind, ScalarType) else ""


# ---------------------------------------------------------------- the launch


def triton_view(op: Operator, device: str, *, zeroes: bool) -> TritonView | None:
    """What launches the kernel of an operator; None where it has none."""
    if op.triton is None:
        return None
    names, launch = HostNames(op), op.triton.launch
    lines = ["int64_t row = 0;"]
    for position, variable in enumerate(op.types):
        index = f"index_of_{variable.name}(f->d.{variable.name})"
        row = index if position == 0 else f"row * {len(variable.places)} + {index}"
        lines = [f"int64_t row = {row};"] if position == 0 else [*lines, f"row = {row};"]
    for param in launch.params:
        if param.choices:
            lines += _switch(op, param, names.expr(launch.values[param.name]))
    lines += _aligned(op, names)
    sizes = [names.expr(substitute(size, launch.values)) for size in launch.grid]
    lines += fitted("const int64_t grid[3] = {", ", ".join(sizes + ["1"] * (3 - len(sizes))), "};")
    lines = [*guarded(lines, f"launch of {op.triton.name}"), *_if_empty(op, zeroes)]
    parameters = []
    for name in op.triton.args:
        if _scalar(op, name) == "float":
            lines.append(f"float {name}_single = (float)c->{name};")
            parameters.append(_float_parameter(op, name))
        else:
            parameters.append(f"&c->{name}")
    record = f"{op.name}_call *const c = &f->call;"
    used = mentions([*lines, *parameters], "c->")
    return TritonView(
        table(op),
        tuple([record, *lines] if used else lines),
        tuple(parameters),
        len(parameters),
        device,
    )


def _switch(op: Operator, param: Param, value: str) -> list[str]:
    assert op.triton is not None
    kind = _scalar(op, param.expr.name) if isinstance(param.expr, Name) else ""
    choices: list[int] = [choice for choice in param.choices if isinstance(choice, int)]
    if kind == "choice" and isinstance(param.expr, Name):
        words = op.argument(param.expr.name).type
        assert isinstance(words, ScalarType)
        choices = [words.choices.index(str(choice)) for choice in param.choices]
    listed = ", ".join(str(int(choice)) for choice in choices)
    table = f"{param.name}_values"
    return [
        *fitted(f"static const int64_t {table}[] = {{", listed, "};"),
        *fitted(
            "if (!",
            f'cuda_param(e, "{op.triton.name}", "{param.name}", {value}, {table}, {len(choices)}, &row)',
            ") {",
        ),
        "    return false;",
        "}",
    ]


def _aligned(op: Operator, names: HostNames) -> list[str]:
    tests = []
    for name in divisible(op):
        pointer = name in _tensors(op) or any(size.name == name for size in op.dynamic)
        tests.append(f"aligned_to(c->{name}, {DIVISIBLE})" if pointer else f"c->{name} % {DIVISIBLE} == 0")
    return fitted("row = row * 2 + (", " && ".join(tests), ");")


def _float_parameter(op: Operator, name: str) -> str:
    """A float, or the double that the record has where a tensor of the kernel is float64."""
    wide = [_is_wide(op, dict(choice)) for choice in op.kernel_choices]
    if all(wide):
        return f"&c->{name}"
    if not any(wide):
        return f"&{name}_single"
    return f"{_wide_test(op)} ? (void *)&c->{name} : (void *)&{name}_single"


def _wide_test(op: Operator) -> str:
    """Which dtypes make scalars float64, as C."""
    tests = []
    for one in [one for name, one in _tensors(op).items() if name in _triton(op).args]:
        assert isinstance(one.type, TensorType)
        if "float64" in dtypes_of(one.type.dtype, op.types):
            tests.append(f"{HostNames(op).dtype(one.type.dtype)} == DTYPE_FLOAT64")
    return f"({' || '.join(dict.fromkeys(tests))})"


def _if_empty(op: Operator, zeroes: bool) -> list[str]:
    """Nothing is launched on an empty grid; what has no value to start at is zero then."""
    done = f"return {op.name}_zero(e, f);" if zeroes else "return true;"
    return ["if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {", *indented([done]), "}"]
