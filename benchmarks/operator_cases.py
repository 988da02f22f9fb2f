"""The operators of models beside ATen and torch.compile, on a GPU: what a case calls, what it moves, what is right.

A case is a function of a shape that gives an Operator: its inputs, the roads that compute it from them, and the bytes
that must move forward and backward, each read and written once. Gradients of small inputs, a weight or a bias, count
as nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F

from .cuda_cases import ATEN, COMPILED, COPY, OURS, TRIAD, Case, Distances, Shape
from .cuda_clock import Body, Device, input_sets
from .options import EPS

Tensors: TypeAlias = tuple[torch.Tensor, ...]
Road: TypeAlias = Callable[..., Any]
# ||out - reference|| / ||reference||, as in cuda_cases; sums of exponentials and whole numbers are further off
LIMITS = {torch.bfloat16: 6e-3, torch.float16: 1e-3, torch.float32: 2e-5}


@dataclass(frozen=True)
class Operator:
    """`inputs` makes one set; those of `leaves` require grad in the backward case. `eager`, in float64, says what is
    right. `forward` and `backward` are bytes; without the second one there is no such case.
    """

    inputs: Callable[[], Tensors]
    ours: Road
    eager: Road
    forward: int
    backward: int = 0
    leaves: tuple[int, ...] = (0,)


def operator_cases(device: Device, name: str, shape: Shape, compiled: bool, worst: Distances) -> list[Case]:
    """Forward without grad against copy_, and backward against add, each ceiling scaled to the bytes of the case."""
    op = OPERATORS[name](shape, device.name)
    sets = input_sets(device, op.forward)
    inputs = [op.inputs() for _ in range(sets)]
    roads: dict[str, Road] = {OURS: op.ours, ATEN: op.eager}
    if compiled:
        torch._dynamo.reset()
        roads[COMPILED] = torch.compile(op.eager, dynamic=False)
    with torch.no_grad():
        _compare(name, op, inputs[0], shape, worst)
    cases = [_forward(name, roads, inputs, op.forward, sets)]
    if op.backward:
        cases.append(_backward(f"{name} backward", roads, op, inputs, sets))
    return cases


def _forward(name: str, roads: dict[str, Road], inputs: list[Tensors], moved: int, sets: int) -> Case:
    def body(road: Road) -> Body:
        return lambda i: road(*inputs[i])

    plain = [torch.empty(moved // 2, dtype=torch.uint8, device=inputs[0][0].device) for _ in range(sets)]
    bodies: dict[str, Body] = {COPY: lambda i: torch.empty_like(plain[i]).copy_(plain[i])}
    bodies.update({road: body(function) for road, function in roads.items()})
    return Case(name, COPY, bodies, sets, moved)


def _backward(name: str, roads: dict[str, Road], op: Operator, inputs: list[Tensors], sets: int) -> Case:
    def body(road: Road) -> Body:
        given, outputs, grads = [], [], []
        for one in inputs:
            leaves = [tensor.detach() for tensor in one]
            for place in op.leaves:
                leaves[place].requires_grad_()
            found = _outputs(road(*leaves))
            given.append([leaves[place] for place in op.leaves])
            outputs.append(found)
            grads.append([torch.ones_like(output) for output in found])
        return lambda i: torch.autograd.grad(outputs[i], given[i], grads[i], retain_graph=True)

    size = op.backward // 3 // 2
    plain = [torch.ones(size, dtype=torch.bfloat16, device=inputs[0][0].device) for _ in range(2 * sets)]
    bodies: dict[str, Body] = {TRIAD: lambda i: torch.add(plain[2 * i], plain[2 * i + 1])}
    bodies.update({road: body(function) for road, function in roads.items()})
    return Case(name, TRIAD, bodies, sets, op.backward)


def _outputs(result: Any) -> list[torch.Tensor]:
    return [tensor for tensor in (result if isinstance(result, tuple) else (result,)) if tensor.is_floating_point()]


def _compare(name: str, op: Operator, inputs: Tensors, shape: Shape, worst: Distances) -> None:
    """The first output of our road against the eager one in float64, and every gradient."""
    exact = [tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs]
    found, wanted = _results(op, op.ours, inputs), _results(op, op.eager, exact)
    for place, (got, want) in enumerate(zip(found, wanted, strict=True)):
        scale = want.norm().item() or 1.0
        distance = (got.double() - want).norm().item() / scale / LIMITS[shape.dtype]
        worst.append((math.inf if math.isnan(distance) else distance, f"{OURS} {name}, {shape}, result {place}"))


def _results(op: Operator, road: Road, inputs: Any) -> list[torch.Tensor]:
    with torch.enable_grad():
        leaves = [tensor.detach() for tensor in inputs]
        for place in op.leaves if op.backward else ():
            leaves[place].requires_grad_()
        outputs = _outputs(road(*leaves))
        if not op.backward:
            return outputs
        generator = torch.Generator(device=outputs[0].device).manual_seed(1)
        ups = [
            torch.randn(output.shape, device=output.device, generator=generator).to(inputs[0].dtype).to(output.dtype)
            for output in outputs
        ]
        grads = torch.autograd.grad(outputs, [leaves[place] for place in op.leaves], ups)
        return [*(output.detach() for output in outputs), *grads]


# ---- one function for each operator ----


def _maker(shape: Shape, device: str, *sizes: tuple[int, ...]) -> Callable[[], Tensors]:
    return lambda: tuple(torch.randn(size, device=device, dtype=shape.dtype) for size in sizes)


def _rms_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n, size = shape.n, (shape.rows, shape.n)
    return Operator(
        _maker(shape, device, size, (n,)),
        lambda x, weight: my_ops.rms_norm(x, weight, EPS),
        lambda x, weight: F.rms_norm(x, (n,), weight, EPS),
        2 * shape.nbytes,
        3 * shape.nbytes,
        (0, 1),
    )


def _add_rms_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n, size = shape.n, (shape.rows, shape.n)

    def eager(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> Tensors:
        total = x + residual
        return F.rms_norm(total, (n,), weight, EPS), total

    return Operator(
        _maker(shape, device, size, size, (n,)),
        lambda x, residual, weight: my_ops.add_rms_norm(x, residual, weight, EPS),
        eager,
        4 * shape.nbytes,
        4 * shape.nbytes,
        (0, 1, 2),
    )


def _layer_norm(shape: Shape, device: str) -> Operator:
    import my_ops

    n, size = shape.n, (shape.rows, shape.n)
    return Operator(
        _maker(shape, device, size, (n,), (n,)),
        lambda x, weight, bias: my_ops.layer_norm(x, weight, bias, EPS),
        lambda x, weight, bias: F.layer_norm(x, (n,), weight, bias, EPS),
        2 * shape.nbytes,
        3 * shape.nbytes,
        (0, 1, 2),
    )


def _softmax(shape: Shape, device: str) -> Operator:
    import my_ops

    size = (1, shape.rows, shape.n)
    return Operator(
        _maker(shape, device, size),
        lambda x: my_ops.softmax(x),
        lambda x: torch.softmax(x, -1),
        2 * shape.nbytes,
        3 * shape.nbytes,
    )


def _cross_entropy(shape: Shape, device: str) -> Operator:
    """The loss of each row; backward reads the logits again and writes their gradient."""
    import my_ops

    def inputs() -> Tensors:
        logits = torch.randn(shape.rows, shape.n, device=device, dtype=shape.dtype)
        return logits, torch.randint(shape.n, (shape.rows,), device=device)

    return Operator(
        inputs,
        lambda logits, target: my_ops.cross_entropy(logits, target),
        lambda logits, target: F.cross_entropy(logits, target, reduction="none"),
        shape.nbytes,
        2 * shape.nbytes,
    )


def _rope(shape: Shape, device: str) -> Operator:
    """q and k of 128 columns a head, a fourth as many heads of k; `rows` positions, n columns of q and k together."""
    import my_ops

    heads = max(2, shape.n // 128)
    few = max(1, heads // 5)
    sizes = (1, shape.rows, heads - few, 128), (1, shape.rows, few, 128), (1, shape.rows, 64), (1, shape.rows, 64)

    def turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x[..., :64], x[..., 64:]
        cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    moved = 2 * shape.rows * heads * 128 * shape.dtype.itemsize
    return Operator(
        _maker(shape, device, *sizes),
        lambda q, k, cos, sin: my_ops.rope(q, k, cos, sin),
        lambda q, k, cos, sin: (turned(q, cos, sin), turned(k, cos, sin)),
        moved,
        moved,
        (0, 1),
    )


def _gelu_mul(shape: Shape, device: str) -> Operator:
    import my_ops

    size = (shape.rows, shape.n)
    return Operator(
        _maker(shape, device, size, size),
        lambda gate, up: my_ops.gelu_mul(gate, up, "tanh"),
        lambda gate, up: F.gelu(gate, approximate="tanh") * up,
        3 * shape.nbytes,
        5 * shape.nbytes,
        (0, 1),
    )


def _in_bytes(x: torch.Tensor) -> Tensors:
    wide = x if x.dtype == torch.float64 else x.float()
    largest = wide.abs().amax(-1, keepdim=True)
    return (wide * (127.0 / largest)).round().to(torch.int8), (largest / 127.0).squeeze(-1)


def _quantize_per_token(shape: Shape, device: str) -> Operator:
    import my_ops

    return Operator(
        _maker(shape, device, (shape.rows, shape.n)),
        lambda x: my_ops.quantize_per_token(x),
        _in_bytes,
        shape.nbytes + shape.rows * shape.n,
    )


def _rms_norm_quantize(shape: Shape, device: str) -> Operator:
    import my_ops

    n = shape.n
    return Operator(
        _maker(shape, device, (shape.rows, n), (n,)),
        lambda x, weight: my_ops.rms_norm_quantize(x, weight, EPS),
        lambda x, weight: _in_bytes(F.rms_norm(x, (n,), weight, EPS)),
        shape.nbytes + shape.rows * n,
    )


OPERATORS: dict[str, Callable[[Shape, str], Operator]] = {
    "rms_norm": _rms_norm,
    "add_rms_norm": _add_rms_norm,
    "layer_norm": _layer_norm,
    "softmax": _softmax,
    "cross_entropy": _cross_entropy,
    "rope": _rope,
    "gelu_mul": _gelu_mul,
    "quantize_per_token": _quantize_per_token,
    "rms_norm_quantize": _rms_norm_quantize,
}
