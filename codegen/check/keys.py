"""Keys that say something of an operator as a whole: tags, history, determinism, independent dims."""

from __future__ import annotations

import re

from codegen import load
from codegen.autocast import CAST, cast_inputs
from codegen.check.rules import check_flag
from codegen.contract import DimEntry, FixedDtype, Output, Scratch, Shape, StarEntry, TensorType, Word
from codegen.errors import nearest, one_of, shown
from codegen.expr.tree import Compare, Constant, Name, NameKind, Type, integer
from codegen.frozen import replace
from codegen.load import Mapping, Node
from codegen.model import SEED, Operator
from codegen.reader import Reader
from codegen.scope import Scope
from codegen.tags import SAID_BY_KEY, TAGS

MAX_DEPRECATED = 300
POLICIES = ("float32", "lower", "promote")


def check_tags(read: Reader, node: Mapping) -> tuple[str, ...]:
    """`tags:`, in the order of the spec."""
    value = node.get("tags")
    read = read.within("tags")
    found: list[str] = []
    for item in read.items(value, "tags: [pointwise]") if value is not None else ():
        scalar = read.text(item, "a tag of PyTorch")
        if scalar is None:
            continue
        tag = scalar.text
        if tag not in TAGS:
            close = nearest(tag, TAGS)
            hint = f'did you mean "{close}"?' if close else f"tags are {', '.join(TAGS)}"
            read.error(scalar, f'"{shown(tag)}" is not a tag of PyTorch', hint)
        elif tag in SAID_BY_KEY:
            read.error(scalar, f"{tag} follows from `{SAID_BY_KEY[tag]}`", "write that key instead")
        elif tag in found:
            read.error(scalar, f"{tag} is there twice")
        else:
            found.append(tag)
    return tuple(found)


def check_deterministic(read: Reader, node: Mapping) -> bool:
    """`deterministic: false`; an operator is deterministic unless it says so."""
    value, key = check_flag(read, node, "deterministic"), node.key("deterministic")
    if value is True and key is not None:
        read.error(key, "only `deterministic: false` says something", "without it an operator is deterministic")
    return value is not False


def check_since(read: Reader, node: Mapping) -> str:
    """`since:`, a version."""
    value = node.get("since")
    scalar = read.within("since").text(value, "a version") if value is not None else None
    if scalar is None:
        return ""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9A-Za-z]{1,12}){0,5}", scalar.text):
        read.within("since").error(scalar, f'expected a version, got "{shown(scalar.text)}"', "for instance 0.2")
        return ""
    return scalar.text


def check_deprecated(read: Reader, node: Mapping) -> str:
    """`deprecated:`, a line of text."""
    return read.within("deprecated").line(node.get("deprecated"), "what to use instead", MAX_DEPRECATED)


def check_requires(read: Reader, node: Mapping, devices: tuple[str, ...]) -> Compare | None:
    """`requires: arch >= N`; the build can only leave out architectures of which it knows that they do not do."""
    value = node.get("requires")
    read = read.within("requires")
    scope = Scope(names={}, launch=True)
    expr = read.expression(value, scope, Type.BOOL, "a condition on arch") if value is not None else None
    if expr is None or value is None:
        return None
    arch = Name("arch", NameKind.HARDWARE, Type.INT)
    match expr:
        case Compare(operands=(left, Constant(value=int(number))), operators=(">=",)) if left == arch and number >= 50:
            pass
        case _:
            text = "expected arch >= a number of two or more digits"
            read.error(value, text, "for instance arch >= 90, which is compute capability 9.0")
            return None
    if "cuda" not in devices:
        read.error(value, "this operator has no cuda in `devices:`")
    return expr


def check_autocast(read: Reader, node: Mapping, op: Operator) -> str:
    """`autocast:`, which there must be something to do for."""
    value = node.get("autocast")
    read = read.within("autocast")
    scalar = read.text(value, f"one of {', '.join(POLICIES)}") if value is not None else None
    if scalar is None:
        return ""
    if scalar.text not in POLICIES:
        read.error(scalar, f'expected {one_of(POLICIES)}, got "{shown(scalar.text)}"')
    elif op.written:
        read.error(scalar, f"{op.written[0].name} is written, and a copy of another dtype would be written instead")
    elif not cast_inputs(replace(op, autocast=scalar.text)):
        hint = f"a dtype variable of inputs stands for two or more of {', '.join(CAST)}"
        read.error(scalar, "this operator has no inputs that autocast could cast", hint)
    return scalar.text


def check_random(read: Reader, node: Mapping, op: Operator, taken: dict[str, str]) -> bool:
    """`random: true`."""
    value, key = check_flag(read, node, "random"), node.key("random")
    read = read.within("random")
    if not value or key is None:
        return False
    if SEED in taken:
        read.error(key, f"bodies know what is drawn as {SEED}, and {taken[SEED]} has that name")
    elif node.get("elementwise") is not None:
        read.error(key, "no body of an element-wise operator could use what is drawn")
    elif op.grad_mask:
        read.error(key, f"a backward operator draws nothing: it takes what its forward drew, as {SEED}: int64[2]")
    return True


def with_seed(op: Operator, node: Mapping) -> Operator:
    """What a random operator draws: kept for backward where there is one, else gone after the call."""
    if not op.random:
        return op
    kind = TensorType(FixedDtype("int64"), Shape((DimEntry(integer(2), "2"),)))
    if node.get("backward") is None:
        return replace(op, scratch=(*op.scratch, Scratch(SEED, kind, text="int64[2]")))
    seed = Output(SEED, kind, (Word("saved"),), doc="drawn from PyTorch's generator", text="int64[2] saved")
    return replace(op, outputs=(*op.outputs, seed))


def check_batch(read: Reader, node: Mapping, op: Operator) -> tuple[str, ...]:
    """`batch:`: names of dims of inputs that everything which a call makes or writes has, too."""
    value = node.get("batch")
    read = read.within("batch")
    if value is None:
        return ()
    items: list[Node] = list(read.items(value, "batch: rows")) if isinstance(value, load.Sequence) else [value]
    known = [dim.name for dim in op.dims if not dim.each]
    made = [(f"output {output.name}", output.type.shape) for output in op.outputs]
    made += [(a.name, a.type.shape) for a in op.written if isinstance(a.type, TensorType)]
    found: list[str] = []
    for item in items:
        scalar = read.text(item, "a dim")
        if scalar is None:
            continue
        name = scalar.text.removeprefix("*")
        if name not in known:
            close = nearest(name, known)
            hint = f"dims known here are {', '.join(known)}" if known else "no dims are known here"
            hint = f'did you mean "{close}"?' if close else hint
            read.error(scalar, f'unknown dim "{shown(name)}"', hint)
        elif name in found:
            read.error(scalar, f"{name} is there twice")
        else:
            found.append(name)
            for what, shape in made:
                if name not in _names(shape):
                    read.error(scalar, f"{what} has no dim {name}, so its elements belong to no single one of {name}")
    return tuple(found)


def _names(shape: Shape) -> set[str]:
    """The dims that stand in a shape as they are."""
    found = {entry.name for entry in shape.entries if isinstance(entry, StarEntry)}
    exprs = [entry.expr for entry in shape.entries if isinstance(entry, DimEntry)]
    return found | {expr.name for expr in exprs if isinstance(expr, Name)}
