"""The axes of an operator's case matrix, as its generated test states them; tests/harness/matrix.py makes cases of
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from codegen.contract import dtype_of
from codegen.lower.sample import Sample
from codegen.lower.tests.samples import absences
from codegen.messages.python import python_string
from codegen.types import is_floating


def tuple_of(items: Iterable[str]) -> str:
    """A tuple in Python."""
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def strings(names: Iterable[str]) -> str:
    """A tuple of strings in Python."""
    return tuple_of(map(python_string, names))


def left_out(usual: Sample) -> list[list[str]]:
    """The sets of optional arguments that a call can leave out, in the order of the arguments."""
    order = [argument.name for argument in usual.op.arguments]
    return [sorted(absent, key=order.index) for absent in absences(usual)]


def axes(usual: Sample, defaults: bool) -> Iterator[str]:
    """Each axis and its values, without those that this operator has no choice on. `defaults`: whether a usual call can
    leave out an argument.
    """
    op = usual.op
    yield '"mode": matrix.MODES,'
    yield '"entry": matrix.ENTRY_POINTS,'
    yield '"dtypes": OP.choices(),'
    yield f'"layout": {"LAYOUTS" if op.tensors else "LAYOUTS[:1]"},'
    yield '"sample": range(len(SAMPLES)),'
    if len(left_out(usual)) > 1:
        yield '"absent": OP.absences,'
    if defaults:
        yield '"defaults": matrix.DEFAULTS,'
    if op.backward is None:
        return
    yield '"upstream": matrix.UPSTREAMS,'
    used = [output.name for output in op.public_outputs if is_floating(dtype_of(output.type.dtype, usual.dtypes))]
    if len(used) > 1:
        yield f'"used": (matrix.ALL, {", ".join(map(python_string, used))}),'


def unfit(usual: Sample, samples: Sequence[Sample]) -> list[str]:
    """Samples that are no right call without some optional arguments, if there are any. Of those that a function gives
    only the first is known to be one.
    """
    if usual.op.samples.function:
        every = "(i, absent) for i in range(1, len(SAMPLES)) for absent in OP.absences[1:]"
        return [f"UNFIT = {{{every}}}"] if len(left_out(usual)) > 1 else []
    pairs = [
        f"({place}, {strings(absent)})"
        for place, sample in enumerate(samples)
        for absent in left_out(usual)
        if not sample.without(frozenset(absent)).valid()
    ]
    return [f"UNFIT = {{{', '.join(pairs)}}}"] if pairs else []
