"""The case matrix of an operator. A case is a call with one value of each axis; a generated test states the axes.

A case compares values and gradients with those of the reference in float64, fakes with real results, and a call that
torch.compile has traced with the call itself, bit for bit. Any two values of two axes meet in some case, unless they
exclude each other; with --full-matrix every combination runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from tests.harness import cuda
from tests.harness.compiled import traced
from tests.harness.contract import Arguments, Contract, Elements, Sample, as_tuple, every, list_of
from tests.harness.cover import Cover, Excluded
from tests.harness.forward import assert_fakes_agree, assert_matches_reference
from tests.harness.gradients import UPSTREAM, in_float64, loss_of
from tests.harness.layouts import LAYOUTS, leaves, make, recording, small_enough
from tests.harness.numbers import assert_close, terms, tolerance

# How a call is made, those that cost least first. Inductor is in compiled.py, once for each operator.
MODES = ("eager", "no_grad", "inference", "dynamic", "aot_eager")
UNRECORDED = ("no_grad", "inference")
TRACED = ("dynamic", "aot_eager")
ENTRY_POINTS = ("wrapper", "overload")
NONE, ALL = "none", "all"
UPSTREAMS = (NONE, *UPSTREAM)  # whether anything requires grad, and how the gradient that arrives lies in memory
DEFAULTS = ("given", "left_out")


Made = tuple[tuple[torch.Tensor | None, ...], Arguments]  # results, and gradients by input


@dataclass(frozen=True)
class Case:
    """One combination."""

    mode: str
    dtypes: tuple[str, ...]
    layout: str
    sample: int  # its place in SAMPLES
    entry: str = ENTRY_POINTS[0]
    absent: tuple[str, ...] = ()  # optional arguments that are None
    defaults: str = DEFAULTS[0]
    upstream: str = NONE
    used: str = ALL  # the output that the loss is made of

    def __str__(self) -> str:
        """The name of its test."""
        parts = [self.mode, self.entry, *self.dtypes, self.layout, f"sample{self.sample}"]
        parts += [f"without_{name}" for name in self.absent]
        parts += ["short"] if self.defaults == "left_out" else []
        parts += [self.upstream] if self.upstream != NONE else []
        return "-".join([*parts, *([f"only_{self.used}"] if self.used != ALL else [])])


def cases(test: Any, device: str, *, full: bool) -> list[Case]:
    """The cases of the operator of a generated test on a device."""
    own = cuda.modes(test.OP) if device == "cuda" else ()
    axes = {**test.AXES, "mode": (*test.AXES["mode"], *own)}
    cover = Cover(axes, excluded(test.OP, test.SAMPLES, getattr(test, "UNFIT", ())))
    return [Case(**combination) for combination in (cover.product() if full else cover.pairwise())]


def excluded(op: Contract, samples: Sequence[Sample], unfit: Collection[tuple[int, tuple[str, ...]]]) -> Excluded:
    """Which values of two axes make no call, or one that is no other than without one of them, or shows no more."""
    usual = {name for name in op.defaults if name in op.scalars}
    any_dtype = not any(name in op.defaults for name in op.dtypes)
    kinds = [_kind(op, sample) for sample in samples]
    first = [kind not in kinds[:place] for place, kind in enumerate(kinds)]
    symbolic = [_has_symbols(op, kind) for kind in kinds]
    small = [bool(small_enough([sample], LAYOUTS[1])) for sample in samples]
    unusual = [bool(usual & sample.keys()) for sample in samples]

    def between(axis: str, value: Any, other_axis: str, other: Any) -> bool:
        match axis, other_axis:
            case "mode", "upstream":
                return value in UNRECORDED and other != NONE
            case "mode", "sample":
                return (value in TRACED and not first[other]) or (value == "dynamic" and not symbolic[other])
            case "upstream", "used":
                return value == NONE and other != ALL
            case "layout", "sample":
                return value != LAYOUTS[0] and not small[other]
            case "dtypes", "absent":
                return op.bound(value, other) != value
            case "dtypes", "defaults":
                return not any_dtype and value != op.choices()[0] and other != DEFAULTS[0]
            case "sample", "absent":
                return (value, other) in unfit
            case "sample", "upstream":
                return not small[value] and other not in UPSTREAMS[:2]
            case "sample", "defaults":
                return unusual[value] and other != DEFAULTS[0]
        return False

    return between


def _kind(op: Contract, sample: Sample) -> dict[str, Any]:
    """What torch.compile makes of a call: it looks at sizes for whether they are 0 or 1."""
    return {name: _capped(value) if name in op.tensors else value for name, value in sample.items()}


def _capped(wanted: Any) -> Any:
    if wanted is None:  # in a list in which some may be absent
        return None
    if isinstance(wanted, list):
        return [_capped(one) for one in wanted]
    return tuple(min(size, 2) for size in (wanted.shape if isinstance(wanted, Elements) else wanted))


def _has_symbols(op: Contract, kind: dict[str, Any]) -> bool:
    """Whether each tensor that has dims has a size which a dynamic graph leaves open, as it does not 0 and 1."""
    shapes = [shape for name in op.tensors if name in kind for shape in _shapes(kind[name])]
    return all(0 not in shape and 2 in shape for shape in shapes if shape)


def _shapes(capped: Any) -> list[Any]:
    return [one for one in (capped if isinstance(capped, list) else [capped]) if one is not None]


def run(op: Contract, samples: Sequence[Sample], case: Case, device: str) -> None:
    """The test of one case."""
    sample = samples[case.sample]
    print(f"{op.name} of {sample}")
    arguments = make(op, sample, case.dtypes, device, case.layout, case.sample, case.absent)
    before = {name: value.clone() for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    given = leaves(arguments, _recorded(op, case, arguments))
    function = op.wrapper if case.entry == ENTRY_POINTS[0] else op.overload
    results = _called(op, case, function, given)
    _recorded_or_not(case, given, results)
    assert_matches_reference(op, op.bound(case.dtypes, case.absent), arguments, results, f"{op.name} of {sample}")
    _apart(before, arguments, as_tuple(results))
    assert_fakes_agree(op, arguments)
    gradients = _gradients(op, case, given, results)
    _match_reference(op, case, given, gradients)
    if case.mode == "inference":
        with torch.inference_mode():  # tensors from inside, too
            inside = make(op, sample, case.dtypes, device, case.layout, case.sample, case.absent)
        _same(as_tuple(results), as_tuple(_called(op, case, function, inside)))
    elif case.mode in TRACED:
        graph = traced(op, function, "aot_eager", dynamic=case.mode == "dynamic")
        _agree(op, case, given, (results, gradients), _again(op, case, graph, given))
    elif case.mode in cuda.MODES:
        found = cuda.called(case.mode, given, lambda arguments: _again(op, case, function, arguments))
        _agree(op, case, given, (results, gradients), found)


def _recorded(op: Contract, case: Case, arguments: Arguments) -> tuple[str, ...]:
    """The inputs that require grad: where none is recorded, too, all that could."""
    if case.upstream != NONE:
        return op.gradients
    named = op.spread(op.recordable, arguments) if case.mode in UNRECORDED else ()
    return tuple({list_of(name): None for name in named if is_differentiable(arguments[name])})


def is_differentiable(value: torch.Tensor | None) -> bool:
    """Whether it could require grad."""
    return value is not None and (value.is_floating_point() or value.is_complex())


def _called(
    op: Contract, case: Case, function: Callable[..., Any], given: Arguments
) -> tuple[torch.Tensor | None, ...]:
    """What a call returns and has written, None for outputs that are not there."""
    passed = given if case.defaults == DEFAULTS[0] else op.short(given)
    mode = {"no_grad": torch.no_grad, "inference": torch.inference_mode}.get(case.mode, nullcontext)
    with mode():
        return op.results(function, passed, every_output=True)


def _again(op: Contract, case: Case, function: Callable[..., Any], given: Arguments) -> Made:
    """The results of another way to make the call, and their gradients."""
    results = _called(op, case, function, given)
    return results, _gradients(op, case, given, results)


def _recorded_or_not(case: Case, given: Arguments, results: Sequence[torch.Tensor | None]) -> None:
    """What requires grad, and what was made in inference mode."""
    there, any_leaf = as_tuple(results), case.upstream != NONE and bool(recording(given))
    for result in there:
        assert result.requires_grad == (any_leaf and is_differentiable(result))
    assert all(result.is_inference() == (case.mode == "inference") for result in there)


def _apart(before: Arguments, arguments: Arguments, results: Sequence[torch.Tensor]) -> None:
    """Inputs are as they were, and outputs share no memory with them or each other."""
    memory = [result.untyped_storage().data_ptr() for result in results if result.numel()]
    assert len(set(memory)) == len(memory), "outputs share memory"
    for name, value in before.items():
        assert torch.equal(value, arguments[name]), f"{name} was written"
        assert arguments[name].untyped_storage().data_ptr() not in memory, f"an output shares the memory of {name}"


def _used(
    op: Contract, case: Case, given: Arguments, results: Sequence[torch.Tensor | None]
) -> tuple[torch.Tensor, ...]:
    """The outputs that the loss is made of."""
    names = op.output_names(given)
    return as_tuple([one for name, one in zip(names, results, strict=True) if case.used in (ALL, list_of(name))])


def _gradients(op: Contract, case: Case, given: Arguments, results: Sequence[torch.Tensor | None]) -> Arguments:
    """The gradient of each input that requires one: zeros where there is none, as for an output that is not there."""
    if case.upstream == NONE:
        return {}
    names = recording(given)
    used = tuple(result for result in _used(op, case, given, results) if result.requires_grad)
    found: Sequence[torch.Tensor | None] = [None] * len(names)
    if used:
        loss = loss_of(used, UPSTREAM[case.upstream])
        found = torch.autograd.grad(loss, [given[name] for name in names], allow_unused=True)
    return {
        name: given[name].new_zeros(given[name].shape) if gradient is None else gradient
        for name, gradient in zip(names, found, strict=True)
    }


def _match_reference(op: Contract, case: Case, given: Arguments, gradients: Arguments) -> None:
    """Gradients against float64: of the same dtype, and contiguous or as the input lies in memory."""
    if case.upstream == NONE:
        return
    exact = leaves(in_float64(given), recording(given))
    expected = _gradients(op, case, exact, every(op.exact(exact, given)))
    inputs = [value for value in given.values() if isinstance(value, torch.Tensor)]
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        assert gradient.dtype == given[name].dtype
        allowed = tolerance(gradient.dtype, terms(inputs, gradient))
        if op.is_elementwise:  # the strides of what its backward is given
            gradient = gradient.contiguous()
        # As the input lies in memory: what autograd makes of a gradient, too, and `like` of one that has gaps.
        lying = (given[name].stride(), torch.empty_like(given[name]).stride())
        strides = gradient.stride() if gradient.stride() in lying else None
        assert_close(gradient, expected[name], allowed, f"{op.name}: grad_{name}", strides)


def _agree(op: Contract, case: Case, given: Arguments, one: Made, other: Made) -> None:
    """The same bits, wherever they are. A gradient that PyTorch sums to the sizes of a smaller input is near the
    reference: the order of its terms depends on strides, which a graph may choose.
    """
    _same(as_tuple(one[0]), as_tuple(other[0]))
    if op.is_elementwise or any("expand" in words for words in op.words.values()):
        _match_reference(op, case, given, other[1])
        return
    assert one[1].keys() == other[1].keys()
    assert all(torch.equal(gradient, other[1][name].to(gradient.device)) for name, gradient in one[1].items())


def _same(results: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> None:
    for one, other in zip(results, others, strict=True):
        assert torch.equal(one, other.to(one.device))
        assert (one.stride(), one.requires_grad) == (other.stride(), other.requires_grad)
