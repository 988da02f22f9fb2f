"""What PyTorch's tools see of all operators: bytes, names in profiles, results that are the same in each run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import my_ops
from benchmarks.cuda_cases import Shape
from benchmarks.operators import traffic_of
from benchmarks.operators.cases import CASES
from benchmarks.operators.shapes import Named
from benchmarks.operators.traffic import library
from tests.harness.contract import Contract
from tests.harness.layouts import make
from tests.process import output

GENERATED = sorted((Path(__file__).resolve().parents[1] / "generated" / "tests").glob("test_*.py"))


def generated(path: Path) -> Any:
    """A generated test as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", CASES)
def test_bytes_are_those_of_the_benchmark(name: str) -> None:
    """Which follow from ops.yaml alone; with gradients where there are some."""
    named = Named("", Shape(4, 64))
    case = CASES[name](named.shape, "cpu")
    order = [argument.name for argument in library().operator(name).tensors]
    given = dict(zip(order, case.inputs(), strict=False)) | dict(case.scalars)
    given = {
        key: getattr(torch, value) if value in ("int8", "float8_e4m3fn") else value for key, value in given.items()
    }
    operator = getattr(torch.ops.my_ops, name)
    needed = [one.name for one in operator.default._schema.arguments if not one.has_default_value()]
    given = dict.fromkeys(needed, 1) | given  # of scalars the number of the step, which no size depends on
    wanted = traffic_of(name, named)
    with my_ops.BytesCounterMode() as counter:
        operator(**given)
    assert (counter.read.total(), counter.written.total()) == (wanted["forward"].read, wanted["forward"].written)
    assert counter.get_bytes() == {f"my_ops::{name}": counter.get_total_bytes()}
    if "backward" not in wanted:
        return
    floating = {key: v for key, v in given.items() if isinstance(v, torch.Tensor) and v.is_floating_point()}
    leaves = {key: value.detach().requires_grad_() for key, value in floating.items()}
    results = operator(**{**given, **leaves})
    with my_ops.BytesCounterMode() as counter:
        torch.autograd.backward([one for one in _several(results) if one.requires_grad],
                                [torch.ones_like(one) for one in _several(results) if one.requires_grad])  # fmt: skip
    assert (counter.read.total(), counter.written.total()) == (wanted["backward"].read, wanted["backward"].written)


def _several(results: Any) -> tuple[torch.Tensor, ...]:
    return results if isinstance(results, tuple) else (results,)


def test_bytes_of_other_forms() -> None:
    """In place, lists, gradients that are not wanted, fakes; what is not of this package does not count."""
    x = torch.ones(4, 8)
    with my_ops.BytesCounterMode() as counter:
        my_ops.add_rms_norm_(x.clone(), x.clone(), x[0].clone())
        x @ x.t()
    size = x.numel() * 4
    assert (counter.read.total(), counter.written.total()) == (2 * size + 8 * 4, 2 * size)
    with my_ops.BytesCounterMode() as counter:
        my_ops.global_norm([x, x])
    assert counter.get_bytes() == {"my_ops::global_norm": 2 * size + 4}
    with my_ops.BytesCounterMode() as counter:
        my_ops.rms_norm_backward(x, x, x[0], x[:, 0], 0.0, grad_mask=[False, True])
    assert counter.written.total() == 8 * 4
    with FakeTensorMode(), my_ops.BytesCounterMode() as counter:
        my_ops.square(torch.empty(2**20, 2**12))
    assert counter.get_total_bytes() == 2 * 2**34


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem.removeprefix("test_"))
def test_operations_are_counted(path: Path) -> None:
    """Of every operator but one that only moves; twice as many in two calls, and so under torch.ops."""
    module = generated(path)
    op: Contract = module.OP
    arguments = make(op, module.SAMPLES[0], op.choices()[0], "cpu")
    counts = []
    for function in (op.wrapper, op.overload):
        with FlopCounterMode(display=False) as counter:
            op.results(function, arguments)
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1]
    assert (counts[0] == 0) == (op.name == "gather_rows")


def test_operations_of_formulas() -> None:
    """They follow from `elementwise:`, in the gradient, too; the longer branch of a condition counts."""

    def counted(call: Any) -> int:
        with FlopCounterMode(display=False) as counter:
            call()
        return counter.get_total_flops()

    x = torch.ones(3, 4, requires_grad=True)
    assert counted(lambda: my_ops.silu_mul(x.detach(), x.detach())) == 12 * 3
    assert counted(lambda: my_ops.gelu_mul(x.detach(), x.detach())) == 12 * 9
    forward = counted(lambda: my_ops.silu_mul(x, x))
    assert counted(lambda: my_ops.silu_mul(x, x).sum().backward()) > 3 * forward
    assert counted(lambda: my_ops.rms_norm(x).sum().backward()) == 12 * (4 + 9)


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.stem.removeprefix("test_"))
def test_results_do_not_change(path: Path, device: str) -> None:
    """Bit for bit, in the usual call and in the largest, from run to run and whatever the number of threads, and
    use_deterministic_algorithms refuses none.
    """
    module = generated(path)
    op: Contract = module.OP
    if device not in op.runs_on:
        return
    largest = max(module.SAMPLES, key=lambda sample: max(_numbers(sample), default=0))
    threads = torch.get_num_threads()
    torch.use_deterministic_algorithms(True)
    try:
        for sample in (module.SAMPLES[0], largest):
            arguments = make(op, sample, op.choices()[-1], device)
            first = op.results(op.wrapper, arguments)
            for count in (threads, 1, 3):
                torch.set_num_threads(count)
                for one, other in zip(first, op.results(op.wrapper, arguments), strict=True):
                    assert torch.equal(one.flatten().view(torch.uint8), other.flatten().view(torch.uint8))
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)


def _numbers(sample: Any) -> list[int]:
    shapes = [shape for value in sample.values() for shape in (value if isinstance(value, list) else [value])]
    shapes = [getattr(shape, "shape", shape) for shape in shapes]
    return [torch.Size(shape).numel() for shape in shapes if isinstance(shape, tuple)]


def test_profiles_name_operators(device: str) -> None:
    """In forward and backward, on a GPU with their kernels."""
    kinds = [torch.profiler.ProfilerActivity.CPU]
    kinds += [torch.profiler.ProfilerActivity.CUDA] if device == "cuda" else []
    x = torch.randn(4, 64, device=device, requires_grad=True)
    with torch.profiler.profile(activities=kinds) as profile:
        my_ops.rms_norm(x).sum().backward()
        torch.ops.my_ops.square(x.detach())
    seen = {event.key for event in profile.key_averages()}
    assert {"my_ops::_rms_norm_saved", "my_ops::_rms_norm_backward_no_grad", "my_ops::square"} <= seen
    if device == "cuda":
        kernels = [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
        for name in ("rms_norm", "rms_norm_backward", "square"):
            assert any(name in kernel for kernel in kernels), kernels


@pytest.mark.parametrize("modules", ["my_ops, torch.utils.flop_counter", "torch.utils.flop_counter, my_ops"])
def test_flops_whoever_is_imported_first(modules: str) -> None:
    """Formulas wait for the counter, which the package does not import itself."""
    assert output("import sys, my_ops; print('torch.utils.flop_counter' in sys.modules)") == "False"
    counted = output(f"""
        import {modules}, torch
        with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            my_ops.silu_mul(torch.ones(4, 5), torch.ones(4, 5))
        print(counter.get_total_flops())
    """)
    assert int(counted) == 60
