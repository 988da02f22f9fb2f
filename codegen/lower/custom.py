"""Views of operators that launch their kernels themselves: csrc/<op>.launch.c with `launch: custom`, the host code of
csrc/<op>.cu with `full_cuda: true`. In the statements `f` is the frame and `e` the error record, as in every host
function.
"""

from __future__ import annotations

from collections.abc import Mapping

from codegen.expr.text import print_text
from codegen.expr.tree import Type
from codegen.frozen import dataclass
from codegen.launches import CustomKernel, ListedParam
from codegen.lower.c.layout import fitted
from codegen.lower.host import HostNames
from codegen.lower.launch import EntryPoints, cuda_rows, cuda_units
from codegen.lower.lists import record_lines
from codegen.lower.schema import public_schema
from codegen.lower.statements import c_comment, guarded
from codegen.model import Library, Operator


@dataclass(frozen=True)
class LaunchFunctionView:
    """The function with which a launcher launches one kernel."""

    compiled: str
    declaration: tuple[str, ...]
    head: tuple[str, ...]
    call: str


@dataclass(frozen=True)
class LauncherView:
    """generated/c/<op>_launch.h and <op>.launch.c."""

    op: str
    schema: str
    guard: str
    kernels: tuple[LaunchFunctionView, ...]


@dataclass(frozen=True)
class CustomKernelView:
    """The part of a host function that launches one kernel."""

    head: tuple[str, ...]
    rows: tuple[str, ...]
    row_count: int
    find: tuple[str, ...]
    place: str
    record: str


def launcher_symbol(op: Operator) -> str:
    """The function that the host calls. Names of a spec have no `__`."""
    return f"{op.name}__full_cuda" if op.full_cuda else f"{op.name}__launcher"


def _symbol(op: Operator, kernel: CustomKernel) -> str:
    return f"{op.name}__launch_{kernel.name}"


def launcher_view(library: Library, op: Operator) -> LauncherView:
    """What a hand-written launcher sees."""
    return LauncherView(
        op=op.name,
        schema=c_comment(public_schema(library.namespace, op)),
        guard=f"{library.namespace}_{op.name}_LAUNCH_H".upper(),
        kernels=tuple(_launch_function(op, kernel) for kernel in op.custom),
    )


def _launch_function(op: Operator, kernel: CustomKernel) -> LaunchFunctionView:
    parameters = [f"const cuda_context *ctx, const {op.name}_call *c, cuda_launch launch"]
    # With an underscore, as no function or type is called: a param may be called like one that the header sees.
    parameters += [f"{_c_type(param)} {param.name}_" for param in kernel.params]
    values = _array([f"{param.name}_" for param in kernel.params]) if kernel.params else "NULL"
    return LaunchFunctionView(
        compiled="; ".join(param_text(param) for param in kernel.params),
        declaration=_declared(op, kernel, ");"),
        head=tuple(fitted(f"static inline bool launch_{kernel.name}(", ", ".join(parameters), ") {", 0)),
        call=f"{_symbol(op, kernel)}(ctx, c, &launch, {values})",
    )


def _declared(op: Operator, kernel: CustomKernel, end: str) -> tuple[str, ...]:
    parameters = f"const cuda_context *ctx, const {op.name}_call *c, const cuda_launch *launch, const int64_t *params"
    return tuple(fitted(f"bool {_symbol(op, kernel)}(", parameters, end, 0))


def param_text(param: ListedParam) -> str:
    """`VEC in [1, 8]`."""
    return f"{param.name} in [{', '.join(map(print_text, param.values))}]"


def _c_type(param: ListedParam) -> str:
    return "bool" if param.values[0].type is Type.BOOL else "int64_t"


def _array(values: list[str]) -> str:
    return f"(const int64_t[]){{{', '.join(values)}}}"


def custom_kernels(op: Operator, points: EntryPoints) -> tuple[CustomKernelView, ...]:
    """The kernels of `launch: custom` in the host function."""
    units = cuda_units(points)
    return tuple(_custom_kernel(op, kernel, units) for kernel in op.custom)


def _custom_kernel(op: Operator, kernel: CustomKernel, units: Mapping[str, int]) -> CustomKernelView:
    names, count = HostNames(op), len(kernel.combinations)
    found: list[str] = []
    for i, param in enumerate(kernel.params):
        listed = _array([names.expr(value) for value in param.values])
        start = f'custom_param(ctx, "{kernel.name}", "{param.name}", params[{i}], '
        found += [*fitted(f"if (!{start}", f"{listed}, {len(param.values)}, &row", ")) {"), "    return false;", "}"]
    found = guarded(found, f"params of {kernel.name}")
    places = [f"const int {v.name}_index = index_of_{v.name}(f->d.{v.name});" for v in op.types]
    record = [f"{op.name}_call record = *c;"] if op.lists else []
    for argument in op.listed:
        record += record_lines(op, argument, "record.", "f->", "device_")
    body = [*places, *(["int64_t row = 0;"] if kernel.params else ["(void)params;"]), *found, *record]
    head: list[str] = []
    if any("CHECK(" in line for line in body):
        head.append("error *const e = ctx->state->e;")
    if op.types or op.lists:
        head.append(f"const {op.name}_frame *const f = ctx->state->frame;")
    return CustomKernelView(
        head=_declared(op, kernel, ") {"),
        rows=tuple(cuda_rows(op, kernel.name, count, units)),
        row_count=count,
        find=(*head, *body),
        place=f"[{'row' if kernel.params else 0}]" + "".join(f"[{variable.name}_index]" for variable in op.types),
        record="&record" if op.lists else "c",
    )


def dtype_lines(op: Operator) -> list[str]:
    """Tells host code of the operator's own the dtypes of a call."""
    return [f"f->call.{variable.name} = (int32_t)f->d.{variable.name};" for variable in op.types]


def call_lines(op: Operator, device: str, *, zeroes: bool) -> list[str]:
    """The end of <op>_cuda. Where every launch had an empty grid, what is written and never read is zero."""
    start = f"custom_call(e, scope, {device}, f, {launcher_symbol(op)}, &f->call, "
    if op.full_cuda or not zeroes:
        return [f"return {start}NULL);"]
    return [
        "bool nothing;",
        f"if (!{start}&nothing)) {{",
        "    return false;",
        "}",
        f"return !nothing || {op.name}_zero(e, f);",
    ]


def declared_variables(variables: list[str], lines: list[str]) -> list[str]:
    """The dtype variables whose place some of these lines ask for."""
    return [name for name in variables if any(f"index_of_{name}(" in line for line in lines)]
