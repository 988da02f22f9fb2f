"""`variants:`: the in-place form of an operator, and the one that writes to tensors of the caller."""

from __future__ import annotations

from collections.abc import Mapping as Map

from codegen import load
from codegen.contract import Argument, Output, TensorType
from codegen.errors import nearest, shown
from codegen.load import Mapping, Node, Scalar
from codegen.model import Operator, Variant
from codegen.reader import Reader

KINDS = ("inplace", "out")
_EXAMPLE = "variants: {inplace: {y: x}, out: true}"


def check_variants(read: Reader, node: Mapping, op: Operator) -> tuple[Variant, ...]:
    """The variants of an operator whose own parts are right."""
    value = node.get("variants")
    if value is None:
        return ()
    read = read.within("variants")
    if op.grad_mask or op.written or not op.public_outputs:
        what = "computes gradients" if op.grad_mask else "writes in place" if op.written else "returns nothing"
        read.error(node.key("variants") or value, f"an operator that {what} has no variants")
        return ()
    if any(output.condition is not None for output in op.public_outputs):
        read.error(node.key("variants") or value, "an output with a condition cannot be given by the caller")
        return ()
    if op.dynamic:
        text = "an output whose size only the kernel knows cannot be given by the caller"
        read.error(node.key("variants") or value, text)
        return ()
    return tuple(variant for variant in (_out(read, value, op), _in_place(read, value, op)) if variant is not None)


def _entry(read: Reader, value: Node, kind: str) -> tuple[Node | None, bool]:
    """What stands under a kind, and whether it is asked for."""
    found: Node | None
    if isinstance(value, load.Sequence):
        found = next((item for item in value.items if isinstance(item, Scalar) and item.text == kind), None)
        if kind == KINDS[0]:
            for item in read.items(value, "variants: [inplace, out]"):
                scalar = read.text(item, "a variant")
                if scalar is not None and scalar.text not in KINDS:
                    close = nearest(scalar.text, KINDS)
                    hint = f'did you mean "{close}"?' if close else f"variants are {' and '.join(KINDS)}"
                    read.error(scalar, f'unknown variant "{shown(scalar.text)}"', hint)
        return found, found is not None
    mapping = read.mapping(value, _EXAMPLE) if kind == KINDS[0] else value
    if not isinstance(mapping, Mapping):
        return None, False
    if kind == KINDS[0]:
        mapping = read.keys(mapping, KINDS)
    found = mapping.get(kind)
    return found, found is not None


def _out(read: Reader, value: Node, op: Operator) -> Variant | None:
    entry, asked = _entry(read, value, "out")
    if not asked or entry is None:
        return None
    if isinstance(value, Mapping) and read.within("out").boolean(entry) is not True:
        return None
    outputs = [output.name for output in op.public_outputs]
    names = ["out"] if len(outputs) == 1 else outputs
    if names == ["out"] and any(argument.name == "out" for argument in op.arguments):
        read.error(entry, 'the keyword "out" of this variant is an argument of the operator', "name that otherwise")
        return None
    return Variant("out", tuple(zip(outputs, names, strict=True)))


def _in_place(read: Reader, value: Node, op: Operator) -> Variant | None:
    entry, asked = _entry(read, value, "inplace")
    if not asked or entry is None:
        return None
    read = read.within("inplace")
    outputs = {output.name: output for output in op.public_outputs}
    inputs = {argument.name: argument for argument in op.tensors}
    if isinstance(value, load.Sequence):
        if not inputs or len(outputs) != 1:
            read.error(entry, f"say which of the {len(outputs)} outputs is written to which input", _EXAMPLE)
            return None
        pairs: tuple[tuple[str, str, Node], ...] = ((next(iter(outputs)), next(iter(inputs)), entry),)
    else:
        mapping = read.mapping(entry, "inplace: {y: x}")
        if mapping is None:
            return None
        pairs = tuple((key.text, _text(to), key) for key, to in mapping.entries)
        missing = [name for name in outputs if name not in {output for output, _, _ in pairs}]
        if missing:
            read.error(entry, f"{', '.join(missing)} would be lost", "every output is written to an input")
            return None
    twice = next((to for i, (_, to, _) in enumerate(pairs) if to in [other for _, other, _ in pairs[:i]]), "")
    if twice:
        read.error(entry, f"{shown(twice)} would be written twice")
        return None
    if not all(_fits(read, place, output, given, outputs, inputs) for output, given, place in pairs):
        return None
    written = {output: given for output, given, _ in pairs}
    return Variant("inplace", tuple((output, written[output]) for output in outputs))


def _text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _fits(
    read: Reader, place: Node, output: str, given: str, outputs: Map[str, Output], inputs: Map[str, Argument]
) -> bool:
    """Whether an output can be written to an input: both have one contract."""
    for name, known, what in ((output, outputs, "an output"), (given, inputs, "a tensor input")):
        if name not in known:
            read.error(place, f'"{shown(name)}" is not {what}', f"there are {', '.join(known)}")
            return False
    argument, result = inputs[given], outputs[output]
    kind = argument.type
    assert isinstance(kind, TensorType)
    alike = (kind.dtype, kind.shape, kind.is_list) == (result.type.dtype, result.type.shape, result.type.is_list)
    if not alike or kind.may_lack_tensors:
        read.error(place, f"{output} is {result.text}, and {given} is {argument.text}", "both have the same contract")
        return False
    if argument.has_word("expand") or argument.has_word("cpu"):
        read.error(place, f"{given} cannot be written: it says {' '.join(word.name for word in argument.words)}")
        return False
    return True
