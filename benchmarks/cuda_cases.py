"""The comparisons of the CUDA group: what runs against what on one shape, compared with float64 before it is timed."""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch._functorch import config as functorch

from .cuda_clock import Body, Device, input_sets
from .options import EPS

OURS = "my_ops"
COPY = "copy_"
TRIAD = "add"
ATEN = "ATen"
COMPILED = "compile"
# ||out - reference|| / ||reference||: rounding to the dtype gives about a third of it
LIMITS = {torch.bfloat16: 4e-3, torch.float16: 5e-4, torch.float32: 1e-5}

Function = Callable[..., torch.Tensor]
Reference = Callable[..., tuple[torch.Tensor, ...]]
Distances = list[tuple[float, str]]  # from float64, in parts of the limit, and of what


@dataclass(frozen=True)
class Shape:
    """A problem: `rows` x `n` of a dtype."""

    rows: int
    n: int
    dtype: torch.dtype = torch.bfloat16

    def __str__(self) -> str:
        suffix = "" if self.dtype == torch.bfloat16 else f" {str(self.dtype).removeprefix('torch.')}"
        return f"{self.rows} x {self.n}{suffix}"

    @property
    def nbytes(self) -> int:
        return self.rows * self.n * self.dtype.itemsize


@dataclass(frozen=True)
class Case:
    """Bodies that do the same work, the ceiling first. `moved` is the bytes of a launch, each read and written once."""

    kind: str
    ceiling: str
    bodies: dict[str, Body]
    sets: int
    moved: int


def other_roads() -> tuple[dict[str, Function], list[str]]:
    """RMSNorm of other libraries, where they are installed: with x, weight, eps. The second value says what is not."""
    candidates: dict[str, Function] = {}
    missing = []
    try:
        from quack.rmsnorm import rmsnorm

        candidates["QuACK"] = lambda x, weight: rmsnorm(x, weight, eps=EPS)
    except Exception:  # it may be installed and not load: no CuTe for this GPU or driver
        missing.append("QuACK")
    try:
        from liger_kernel.ops.rms_norm import LigerRMSNormFunction

        # not in place: it would write its gradient over the upstream one, which is used again here
        candidates["Liger"] = lambda x, weight: LigerRMSNormFunction.apply(x, weight, EPS, 0.0, "llama", False)
    except Exception:
        missing.append("Liger")
    return candidates, missing


def rms_norm_roads(n: int) -> dict[str, Function]:
    import my_ops

    return {
        OURS: lambda x, weight: my_ops.rms_norm(x, weight, EPS),
        ATEN: lambda x, weight: F.rms_norm(x, (n,), weight, EPS),
    }


def compiled_roads(n: int) -> dict[str, Function]:
    # a saved tensor that the compiled backward may overwrite cannot be used by the next replay
    functorch.donated_buffer = False
    torch._dynamo.reset()
    compiled = torch.compile(F.rms_norm, dynamic=False)
    return {COMPILED: lambda x, weight: compiled(x, (n,), weight, EPS)}


def rms_norm_cases(
    device: Device, shape: Shape, candidates: dict[str, Function], worst: Distances | None
) -> Iterator[Case]:
    """Forward without grad against copy_, then backward with both gradients against add. Unless `worst` is None, all
    candidates are compared with float64 before."""
    sets = input_sets(device, 2 * shape.nbytes)
    xs = [_random(device, shape) for _ in range(sets)]
    weight = torch.randn(shape.n, device=device.name, dtype=shape.dtype)
    grads = [_random(device, shape) for _ in range(sets)]
    if worst is not None:
        _compare(candidates, (xs[0], weight), grads[0], rms_norm_reference, shape, worst)
    yield _forward_case("forward", candidates, shape, sets, [(x, weight) for x in xs])
    yield _backward_case("backward", candidates, shape, sets, [(x, weight) for x in xs], grads)


def square_cases(device: Device, shape: Shape, worst: Distances) -> Iterator[Case]:
    """Forward against copy_, backward against add; ATen's is torch.square."""
    import my_ops

    sets = input_sets(device, 2 * shape.nbytes)
    xs = [_random(device, shape) for _ in range(sets)]
    grads = [_random(device, shape) for _ in range(sets)]
    candidates: dict[str, Function] = {OURS: my_ops.square, ATEN: torch.square}
    _compare(candidates, (xs[0],), grads[0], square_reference, shape, worst)
    yield _forward_case("square", candidates, shape, sets, [(x,) for x in xs])
    yield _backward_case("square backward", candidates, shape, sets, [(x,) for x in xs], grads)


def gather_rows_cases(device: Device, shape: Shape, worst: Distances) -> Iterator[Case]:
    """Every row of a table once, in random order (int64 indices), against copy_ of the table and torch.index_select."""
    import my_ops

    sets = input_sets(device, 2 * shape.nbytes)
    inputs = [(_random(device, shape), torch.randperm(shape.rows, device=device.name)) for _ in range(sets)]
    candidates: dict[str, Function] = {
        OURS: my_ops.gather_rows,
        ATEN: lambda table, index: torch.index_select(table, 0, index),
    }
    table, index = inputs[0]
    equal = torch.equal(my_ops.gather_rows(table, index), table[index])
    worst.append((0.0 if equal else math.inf, f"{OURS} gather_rows, {shape}"))
    yield _forward_case("gather_rows", candidates, shape, sets, inputs)


def rms_norm_reference(
    x: torch.Tensor, weight: torch.Tensor, grad: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Output and gradients by formula, in float64. The weight's gradient sums over rows."""
    rstd = (x.square().mean(-1, keepdim=True) + EPS).rsqrt()
    xhat = x * rstd
    scaled = grad * weight
    grad_x = rstd * (scaled - xhat * (scaled * xhat).mean(-1, keepdim=True))
    return xhat * weight, grad_x, (grad * xhat).sum(0)


def square_reference(x: torch.Tensor, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x * x, 2 * x * grad


def _forward_case(
    kind: str, candidates: dict[str, Function], shape: Shape, sets: int, inputs: list[tuple[Any, ...]]
) -> Case:
    copied = [_whole_pages(first) for first, *_ in inputs]

    def body(candidate: Function) -> Body:
        return lambda i: candidate(*inputs[i])

    bodies: dict[str, Body] = {COPY: lambda i: torch.empty_like(copied[i]).copy_(copied[i])}
    bodies.update({name: body(candidate) for name, candidate in candidates.items()})
    return Case(kind, COPY, bodies, sets, 2 * shape.nbytes)


def _backward_case(
    kind: str,
    candidates: dict[str, Function],
    shape: Shape,
    sets: int,
    inputs: list[tuple[torch.Tensor, ...]],
    grads: list[torch.Tensor],
) -> Case:
    """Backward through autograd, of outputs that are recorded now."""

    def body(candidate: Function) -> Body:
        leaves = [tuple(tensor.detach().requires_grad_() for tensor in given) for given in inputs]
        ys = [candidate(*given) for given in leaves]
        return lambda i: torch.autograd.grad(ys[i], leaves[i], grads[i], retain_graph=True)

    bodies: dict[str, Body] = {TRIAD: lambda i: torch.add(inputs[i][0], grads[i])}
    bodies.update({name: body(candidate) for name, candidate in candidates.items()})
    return Case(kind, TRIAD, bodies, sets, 3 * shape.nbytes)


def _whole_pages(tensor: torch.Tensor) -> torch.Tensor:
    """What copy_ is to copy: of a large tensor all but less than 8 KiB at its end, because the driver copies 134 MB in
    65 us on an H200 but a kilobyte less in 99."""
    flat = tensor.view(-1)
    page = 8192 // tensor.element_size()
    return flat if flat.numel() < 128 * page else flat[: flat.numel() // page * page]


def _random(device: Device, shape: Shape) -> torch.Tensor:
    return torch.randn(shape.rows, shape.n, device=device.name, dtype=shape.dtype)


def _compare(
    candidates: dict[str, Function],
    inputs: tuple[torch.Tensor, ...],
    grad: torch.Tensor,
    reference: Reference,
    shape: Shape,
    worst: Distances,
) -> None:
    """Output and every gradient of all candidates against the float64 reference; NaN is left where outputs will be."""
    expected, *expected_grads = reference(*(tensor.double() for tensor in inputs), grad.double())
    for name, candidate in candidates.items():
        leaves = [tensor.detach().requires_grad_() for tensor in inputs]
        poison = [torch.full_like(tensor, torch.nan) for tensor in (inputs[0], *inputs)]
        del poison  # the allocator hands these blocks to the outputs
        plain = candidate(*inputs)
        y = candidate(*leaves)
        grads = torch.autograd.grad(y, leaves, grad)
        for what, got, want in [
            ("output", plain, expected),
            ("output with grad", y.detach(), expected),
            *((f"gradient {i}", got, want) for i, (got, want) in enumerate(zip(grads, expected_grads, strict=True))),
        ]:
            distance = ((got.double() - want).norm() / want.norm()).item() / LIMITS[shape.dtype]
            worst.append((math.inf if math.isnan(distance) else distance, f"{name}, {shape}, {what}"))


@contextlib.contextmanager
def own_stream(device: Device) -> Iterator[None]:
    """The device's stream for one shape, and at the end its memory given back, graph pools included."""
    with device.active():
        yield
    if device.cuda:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
