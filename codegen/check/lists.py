"""Outputs that are lists of tensors: how many tensors they have, and which dims their shapes may name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from codegen.contract import Argument, Shape, TensorType, names_of
from codegen.expr.tree import NameKind
from codegen.fields import Field
from codegen.frozen import replace
from codegen.model import Dim
from codegen.parse_type import ParsedTensor
from codegen.reader import Reader
from codegen.scope import Scope

# torch.export.save takes Tensor, Tensor? and Tensor[] as results, but neither Tensor[]? nor Tensor?[].
_UNSAVED = "PyTorch saves no exported program whose operator returns a list"

_NAMES = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_list(field: Field) -> bool:
    """Whether an entry is a list of tensors."""
    return isinstance(field.parsed.type, ParsedTensor) and field.parsed.type.list_at is not None


def length_of(read: Reader, field: Field, dims: Sequence[Dim], inputs: Collection[str]) -> str:
    """The list among `inputs` that an output is as long as: the one that it is the gradient of, the one that binds a
    dim of its shape, or the only one; "" after an error, which was reported.
    """
    source = field.name.removeprefix("grad_")
    if source != field.name and source in inputs:
        return source
    named = {name for entry in field.entries for name in _NAMES.findall(entry.text)}
    binding = [dim.each for dim in dims if dim.each and dim.name in named]
    if binding and binding[0] not in inputs:
        return ""  # there is an error in that one, which was reported
    if binding or len(inputs) == 1:
        return (*binding, *inputs)[0]
    what = "no input is a list of tensors" if not inputs else f"it could be as long as {' or '.join(sorted(inputs))}"
    hint = "it names a dim that binds for each tensor of a list, such as *s of T[*s][]"
    read.error(field.node, f"nothing says how many tensors it has: {what}", hint)
    return ""


def check_length(read: Reader, field: Field, source: Argument, masked: bool) -> None:
    """An output that is no gradient has a tensor for each of a list that is there in every call."""
    if not masked and isinstance(source.type, TensorType) and source.type.may_lack_tensors:
        lacks = f"in which tensors may be absent, as in {source.name}"
        lacks = lacks if source.type.element_optional else f"that may be absent, as {source.name}"
        hint = "take a list that is there, whole; callers leave out the rest"
        read.error(field.node.at(0), f"{_UNSAVED} {lacks}", hint)


def equally_long(dims: Sequence[Dim], lists: Mapping[str, Shape], source: str) -> set[str]:
    """The lists that have as many tensors as `source` in every call: they share names that bind for each tensor."""
    each = {dim.name for dim in dims if dim.each}
    named = {one: each & {n for entry in shape.entries for n in names_of(entry)} for one, shape in lists.items()}
    alike = {source}
    for _ in lists:
        shared = set().union(*(named[one] for one in alike))
        alike |= {one for one, used in named.items() if used & shared}
    return alike


def as_long(scope: Scope, alike: Collection[str], source: str, dims: Sequence[Dim]) -> Scope:
    """`scope`, in which names bind for each tensor of `source`, without the dims of lists that are not `alike` in
    length.
    """
    others = {dim.name: dim.each for dim in dims if dim.each and dim.each not in alike}
    absent = {name: f"{one} need not be as long as {source}" for name, one in others.items()}
    afterwards = [name for name, value in scope.names.items() if value.kind is NameKind.DYNAMIC]
    absent |= dict.fromkeys(afterwards, "it is known after the kernel ran, and cuts no lists")
    known = {name: value for name, value in scope.names.items() if name not in absent}
    return replace(scope, names=known, absent={**scope.absent, **absent})


def check_list(read: Reader, field: Field, parsed: ParsedTensor) -> None:
    """What an output that is a list cannot be."""
    if parsed.list_at is None:
        return
    if field.section != "outputs":
        hint = "one tensor with a dim for all of them, such as T[len(xs), n]"
        read.error(field.node.at(parsed.list_at), "scratch is no list of tensors", hint)
    if parsed.element_optional:
        read.error(field.node.at(parsed.list_at), "only in inputs may tensors of a list be absent")
    if field.parsed.condition is not None:
        kind = field.node.text[: field.parsed.condition.offset].removesuffix("if ").strip()
        hint = f"let the caller pass it, under inputs, and ask given({field.name}): {field.name}: {kind}?! out"
        read.error(field.node.at(field.parsed.condition.offset), f"{_UNSAVED} that may be absent", hint)
