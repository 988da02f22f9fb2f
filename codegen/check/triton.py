"""`triton:`: a kernel in csrc/<op>.py that Triton compiles when the library is built, and that C launches.

Everything that it is compiled for is known then: dtypes, and the values of its params. What a call passes are the
tensors, sizes and scalars that `args:` names.
"""

from __future__ import annotations

from collections.abc import Mapping as Map
from collections.abc import Sequence

from codegen import keys, names
from codegen.check.contract import Contract
from codegen.check.params import check_params, launch_numbers
from codegen.contract import Argument, Output, Scratch, TensorType, dtype_of
from codegen.errors import nearest, shown
from codegen.expr.bounds import ANY, SIZE, Numbers, bounds, values
from codegen.expr.fold import FoldError, constant, depends_on_dtypes
from codegen.expr.text import print_text
from codegen.expr.tree import Binary, Expr, Type, integer, substitute
from codegen.launches import LaunchEntry, Param, TritonKernel, combinations
from codegen.load import Mapping, Scalar
from codegen.model import Operator
from codegen.reader import Reader
from codegen.scope import Scope
from codegen.types import TRITON

EXAMPLE = "triton: {kernel: softmax_kernel, args: [y, x, n], params: {BLOCK: next_pow2(n)}, grid: rows}"
_EXCLUDES = ("launch", "passes", "kernels", "full_cuda")
WARPS, STAGES = (1, 2, 4, 8, 16, 32), tuple(range(1, 17))
_WARP = 32


def check_triton(read: Reader, node: Mapping, contract: Contract, op: Operator) -> TritonKernel | None:
    """Reads `triton:` of the operator `op`, which lacks nothing else."""
    value = node.get("triton")
    place = node.key("triton")
    read = read.within("triton")
    section = read.mapping(value, EXAMPLE) if value is not None else None
    if section is None or place is None or not contract.valid or node.get("elementwise") is not None:
        return None
    for other in _EXCLUDES:
        key = node.key(other)
        if key is not None:
            read.error(key, f"`triton:` needs no `{other}:`: it says how its kernel is launched")
    if "cuda" not in op.devices:
        read.error(place, "this operator has no cuda in `devices:`")
    if op.fast_math:
        read.error(node.key("fast_math") or place, "`fast_math:` is about what nvcc compiles")
    if op.listed:
        read.error(place, f"Triton kernels take no lists of tensors, and {op.listed[0].name} is one")
    return _Checker(read, place, contract, op).kernel(read.keys(section, keys.TRITON.names))


class _Checker:
    def __init__(self, read: Reader, place: Scalar, contract: Contract, op: Operator) -> None:
        self.read = read
        self.place = place
        self.contract = contract
        self.op = op
        self.choices = [dict(choice) for choice in op.kernel_choices]

    def kernel(self, node: Mapping) -> TritonKernel | None:
        name = self.name(node)
        args = self.args(node)
        params, scope = check_params(
            self.read, node, self.contract.launches, self.contract.taken, self.choices, self.known()
        )
        grid_node = node.get("grid")
        if grid_node is None:
            self.read.error(node, "`grid:` is missing", f"for instance {EXAMPLE}")
        grid = launch_numbers(self.read.within("grid"), grid_node, scope, 3) if grid_node is not None else ()
        warps = self.option(node, "num_warps", integer(4), WARPS, scope, params)
        stages = self.option(node, "num_stages", integer(3), STAGES, scope, params)
        if not name or not grid or warps is None or stages is None:
            return None
        block = (Binary("*", integer(_WARP), warps, Type.INT),)
        return TritonKernel(name, args, LaunchEntry(None, params, grid, block), warps, stages)

    def name(self, node: Mapping) -> str:
        value = node.get("kernel")
        if value is None:
            self.read.error(node, "`kernel:` is missing", f"it names the function in csrc/{self.op.name}.py")
        scalar = self.read.text(value, "the name of a kernel") if value is not None else None
        problem = names.problem(scalar.text) if scalar is not None else ""
        if scalar is not None and problem:
            self.read.error(scalar, f'"{shown(scalar.text)}" cannot be a kernel: {problem}')
        return scalar.text if scalar is not None and not problem else ""

    def known(self) -> dict[str, Numbers]:
        """What checks say of the numbers of a call."""
        found: dict[str, Numbers] = {dim.name: SIZE for dim in self.op.dims if not dim.each}
        found |= {scalar.name: ANY for scalar in self.op.scalars}
        found |= {"sm_count": SIZE, "max_shared": SIZE, "arch": SIZE}
        found = bounds((check.condition for check in self.op.checks), found)
        for derived in self.op.derived:
            if not depends_on_dtypes(derived.expr):
                found[derived.name] = values(derived.expr, {}, found)
        return bounds((check.condition for check in self.op.checks), found)

    # ---------------------------------------------------------------- args

    def args(self, node: Mapping) -> tuple[str, ...]:
        value = node.get("args")
        if value is None:
            self.read.error(node, "`args:` is missing", f"for instance {EXAMPLE}")
            return ()
        read = self.read.within("args")
        before = read.diagnostics.errors
        found: list[str] = []
        for item in read.items(value, "args: [y, x, n]"):
            scalar = read.text(item, "the name of a tensor, a size or a scalar")
            if scalar is None:
                continue
            problem = self.argument_problem(scalar.text)
            if scalar.text not in self.known_names():
                close = nearest(scalar.text, self.known_names())
                hint = f'did you mean "{close}"?' if close else f"names here are {', '.join(self.known_names())}"
                text = f'"{shown(scalar.text)}" is neither a tensor nor a size nor a scalar of this operator'
                read.error(scalar, text, hint)
            elif problem:
                read.error(scalar, problem)
            elif scalar.text in found:
                read.error(scalar, f"{scalar.text} is there twice")
            else:
                found.append(scalar.text)
        made = [output.name for output in self.op.outputs if not output.saved]
        made += [argument.name for argument in self.op.written]
        for name in made if read.diagnostics.errors == before else ():
            if name not in found:
                read.error(value, f"{name} is not among them, and nothing else writes it")
        return tuple(found)

    def tensors(self) -> dict[str, Argument | Output | Scratch]:
        found: list[Argument | Output | Scratch] = [*self.op.tensors, *self.op.outputs, *self.op.scratch]
        return {one.name: one for one in found}

    def known_names(self) -> list[str]:
        """What a kernel could be passed."""
        op = self.op
        sizes = [dim.name for dim in op.dims] + [dim.name for dim in op.derived] + [dim.name for dim in op.dynamic]
        return [*self.tensors(), *sizes, *(scalar.name for scalar in op.scalars)]

    def argument_problem(self, name: str) -> str:
        """Why a kernel cannot be passed what is called so."""
        tensor = self.tensors().get(name)
        if tensor is not None:
            return self.tensor_problem(tensor)
        for scalar in self.op.scalars:
            kind = scalar.type
            if scalar.name != name or isinstance(kind, TensorType):
                continue
            if kind.is_list or kind.kind in ("str", "dtype", "device"):
                return f"{name} is {scalar.text}, and kernels take numbers"
            if kind.optional:
                return f"{name} may be absent, and then it is no number"
        return ""

    def tensor_problem(self, tensor: Argument | Output | Scratch) -> str:
        kind = tensor.type
        assert isinstance(kind, TensorType)
        if isinstance(tensor, Output) and tensor.saved and not self.op.draws(tensor.name):
            return f"{tensor.name} is not there in inference, and a kernel would not know: return it as an output"
        for choice in self.choices:
            dtype = dtype_of(kind.dtype, choice)
            if dtype not in TRITON:
                return f"{tensor.name} can be {dtype}, which Triton does not know"
        return ""

    # ---------------------------------------------------------------- options

    def option(
        self,
        node: Mapping,
        key: str,
        default: Expr,
        allowed: Sequence[int],
        scope: Scope,
        params: Sequence[Param],
    ) -> Expr | None:
        """A number for each kernel: a constant, or an expression on dtypes and params."""
        value = node.get(key)
        if value is None:
            return default
        read = self.read.within(key)
        expr = read.expression(value, scope, Type.INT, "a number")
        if expr is None:
            return None
        for given in combinations(params):
            put = substitute(expr, given)
            for choice in self.choices if depends_on_dtypes(put) else self.choices[:1]:
                problem = _option_problem(put, choice, allowed)
                if problem:
                    of = ", ".join(f"{name} = {print_text(part)}" for name, part in given.items())
                    read.error(value, f"{problem}{f' for {of}' if of else ''}")
                    return None
        return expr


def _option_problem(expr: Expr, choice: Map[str, str], allowed: Sequence[int]) -> str:
    listed = ", ".join(map(str, allowed)) if len(allowed) < 10 else f"{allowed[0]} to {allowed[-1]}"
    try:
        number = constant(expr, choice)
    except FoldError as error:
        return f"it has no value: {error}"
    if number is None:
        return "expected a constant for every dtype and every value of the params"
    return "" if number in allowed else f"expected one of {listed}, got {number}"
