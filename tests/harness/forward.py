"""Results of calls that record no gradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.library import opcheck
from torch.profiler import ProfilerActivity, profile

from tests.harness.contract import Arguments, Contract, Elements, Sample, as_tuple, every, list_of
from tests.harness.layouts import LAYOUTS, is_taken, leaves, make, output_strides, recording
from tests.harness.numbers import assert_close, terms, tolerance

OPCHECK = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
FLOAT8 = tuple(getattr(torch, name) for name in dir(torch) if name.startswith("float8_"))


def assert_matches_reference(
    op: Contract, dtypes: tuple[str, ...], arguments: Arguments, results: tuple[torch.Tensor | None, ...], what: str
) -> None:
    """The results of a call, None for those that are not there, against float64."""
    tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    wanted = op.expected(arguments)
    outputs = {name: op.outputs[list_of(name)] for name in op.output_names(arguments)}
    kinds = {**outputs, **_written(op, arguments)}
    if len(wanted) != len(kinds):
        text = f"{op.reference} of references.py returns {', '.join(kinds)}, in this order; it gave {len(wanted)}"
        pytest.fail(text, pytrace=False)
    for (name, written), result, expected in zip(kinds.items(), results, wanted, strict=True):
        if result is None or expected is None:
            assert result is expected, f"{what}: {name}: {result} instead of {expected}"
            continue
        assert result.dtype == op.dtype(written, dtypes)
        allowed = op.tolerance.get(str(result.dtype).removeprefix("torch.")) or tolerance(
            result.dtype, terms(tensors, result)
        )
        assert_close(result, expected, allowed, f"{what}: {name}", output_strides(op, name, arguments, result.shape))


def _written(op: Contract, arguments: Arguments) -> dict[str, str]:
    """The tensors that a call writes, with their dtypes."""
    names = op.spread(op.written, arguments)
    return {name: op.tensors[list_of(name)] for name in names if arguments[name] is not None}


def special_values(op: Contract, device: str, dtypes: tuple[str, ...], sample: Sample) -> None:
    """NaNs, infinities, denormals, huge numbers: results are finite where those of the reference are, and only there.

    Which of NaN and infinity comes out of infinities depends on how a formula is arranged. Derived gradients pass on
    nothing where a branch is not taken, while PyTorch's, their reference, multiply what is infinite there by 0.
    """
    for special in (float("nan"), float("inf"), -float("inf"), 1e-40, 6e4):
        arguments = make(op, sample, dtypes, device)
        for name, value in arguments.items():
            free = not isinstance(sample.get(name), Elements)  # `values:` may refuse what is special
            if free and isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel():
                value.view(-1)[0] = special
        results, wanted = op.results(op.wrapper, arguments), as_tuple(op.expected(arguments))
        for result, expected in zip(results, wanted, strict=True):
            if result.is_floating_point():
                largest = torch.finfo(result.dtype).max
                found, exact = result.cpu().double(), expected.double()
                clear = ~exact.isfinite() | (exact.abs() < 0.9 * largest)
                if op.derived is not None and special == special:
                    clear &= ~exact.isnan()
                assert torch.equal(found[clear].isfinite(), exact[clear].isfinite()), f"{special}: {found}, {exact}"


def call_styles(op: Contract, device: str, sample: Sample) -> None:
    """Defaults left out, everything by keyword, both entry points: the same result, bit for bit."""
    for absent in op.absences:
        arguments = make(op, sample, op.choices()[0], device, absent=absent)
        first = op.results(op.wrapper, arguments)
        for function in (op.wrapper, op.overload, op.packet):
            for given in (arguments, op.short(arguments)):
                _same(first, op.results(function, given, named=True))
                _same(first, op.results(function, given))
        for overload in op.dispatched():
            found = op.results(overload, arguments)
            _same(first, found if op.written else found[: len(first)])


def _same(first: tuple[torch.Tensor, ...], result: Any) -> None:
    for expected, found in zip(first, as_tuple(result), strict=True):
        assert torch.equal(expected, found)


def assert_fakes_agree(op: Contract, arguments: Arguments) -> None:
    """Fake and real agree on shape, dtype, device and strides, for the operator and its internal overloads."""
    # Sizes that only the kernel knows are symbols.
    mode = FakeTensorMode(shape_env=ShapeEnv(allow_dynamic_output_shape_ops=True) if op.dynamic else None)
    unknown = [name in op.dynamic for name in op.outputs]
    fakes = {
        name: mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }
    for operator in op.dispatched():
        real = op.results(operator, arguments)
        with mode:
            fake = op.results(operator, fakes)
        for i, (one, other) in enumerate(zip(real, fake, strict=True)):
            known = int(any(unknown[i : i + 1]) and not isinstance(other.shape[0], int))
            assert one.dim() == other.dim()
            assert one.shape[known:] == other.shape[known:]
            assert (one.dtype, one.device) == (other.dtype, other.device)
            assert one.stride() == other.stride(), f"{operator}: {one.stride()} and {other.stride()}"


def masks_agree(op: Contract, device: str, sample: Sample) -> None:
    """For each grad_mask what is not wanted is None, or not in a list, and the rest is the same bits."""
    arguments = make(op, sample, op.choices()[0], device)
    full = dict(zip(op.output_names(arguments), as_tuple(op.call(op.wrapper, arguments)), strict=True))
    for number in range(2 ** len(full)):
        mask = [bool(number >> i & 1) for i in range(len(full))]
        wanted = [
            (one, flag) for (name, one), flag in zip(full.items(), mask, strict=True) if flag or name in op.outputs
        ]
        for operator in (op.wrapper, *op.dispatched()):
            results = every(op.call(operator, {**arguments, "grad_mask": mask}))
            if not any(mask) and op.list_outputs:
                continue  # an empty list is the same as no mask
            for (one, flag), result in zip(wanted, results, strict=True):
                assert torch.equal(one, result) if flag else result is None


def passes_opcheck(op: Contract, device: str, sample: Sample, *, grad: bool) -> None:
    """All of opcheck, for the operator and its internal overloads. One with a missing gradient refuses: not with grad.
    A random operator draws other numbers in each of two calls, which the last test compares.
    """
    if op.pinned and device != "cpu":
        return  # it calls with copies of inputs, and these are not pinned
    for absent in op.absences:
        arguments = make(op, sample, op.choices()[0], device, absent=absent)
        if grad:
            arguments = leaves(arguments, op.recordable)
        tests = list(OPCHECK)
        if any(isinstance(value, torch.Tensor) and value.dtype in FLOAT8 for value in arguments.values()):
            tests.remove("test_schema")  # it compares copies of inputs, which PyTorch cannot in float8
        if op.random:
            tests.remove("test_aot_dispatch_dynamic")
        for operator in op.dispatched():
            if grad and op.autograd == "missing" and operator is op.overload and recording(arguments):
                continue
            positional, keyword = op.split(arguments)
            opcheck(operator, positional, keyword, test_utils=tests)
            if op.mask:
                count = len(op.output_names(arguments))
                opcheck(
                    operator, positional, {**keyword, "grad_mask": [i == 0 for i in range(count)]}, test_utils=tests
                )


def copies(op: Contract, device: str, sample: Sample) -> None:
    """An input is copied when the words after its type do not let the body see it as it is, and only then."""
    usual = _allocations(op, make(op, sample, op.choices()[0], device), device)
    for layout in LAYOUTS:
        arguments = make(op, sample, op.choices()[0], device, layout)
        tensors = [(name, value) for name, value in arguments.items() if isinstance(value, torch.Tensor)]
        # A copy is made where its input is.
        copied = [value for name, value in tensors if value.numel() > 0 and not is_taken(op, name, value)]
        wanted = sum(value.device.type == device for value in copied)
        assert _allocations(op, arguments, device) - usual == wanted, layout


def _allocations(op: Contract, arguments: Arguments, device: str) -> int:
    """How often one call allocates memory on its device."""
    arguments = op.unwritten(arguments)
    op.call(op.overload, arguments)
    if device != "cpu":
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        op.call(op.overload, arguments)
        return int(torch.cuda.memory_stats()["allocation.all.allocated"]) - int(before)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        results = op.call(op.overload, arguments)
    del results
    assert profiler.profiler is not None
    events = profiler.profiler.kineto_results.events()
    return sum(event.name() == "[memory]" and event.nbytes() > 0 for event in events)


def one_tensor_for_all(op: Contract, device: str, sample: Sample) -> None:
    """The same tensor for every argument of its kind is as good as equal copies of it."""
    arguments = make(op, sample, op.choices()[0], device)
    first: dict[Any, torch.Tensor] = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and list_of(name) not in op.written:
            # Arguments that `values:` fills in different ways stay different.
            filled = repr(sample[name]) if name in sample else ""
            arguments[name] = first.setdefault((value.shape, value.dtype, filled), value)
    copies = {k: v.clone() if isinstance(v, torch.Tensor) and k not in op.pinned else v for k, v in arguments.items()}
    _same(op.results(op.wrapper, copies), op.results(op.wrapper, arguments))
