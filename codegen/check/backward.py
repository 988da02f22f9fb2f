"""`backward:`: what the inputs and outputs of the backward operator stand for, seen from the forward."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from codegen.check.lists import equally_long
from codegen.contract import (
    Acc,
    Argument,
    DimEntry,
    Dtype,
    FixedDtype,
    Output,
    ScalarType,
    Shape,
    TensorType,
    Variable,
    dtype_of,
    dtypes_of,
)
from codegen.errors import nearest, shown
from codegen.frozen import dataclass
from codegen.load import Scalar
from codegen.model import Backward, Binding, Dim, Gradient, Operator
from codegen.reader import Reader
from codegen.types import DTYPES, is_floating


@dataclass(frozen=True)
class Declared:
    """An operator and where its parts stand in the spec."""

    operator: Operator
    places: Mapping[str, Scalar]
    backward: Scalar | None


def names_operator(
    read: Reader, place: Scalar, own: str, operators: Collection[str], forward: Operator | None = None
) -> bool:
    """Whether `backward:` of the operator `own` names another operator; reports it otherwise. `forward` is that
    operator, where it has no errors itself.
    """
    read = read.within("backward")
    if place.text == own:
        read.error(place, "an operator cannot be its own backward")
    elif place.text not in operators:
        close = nearest(place.text, [name for name in operators if name != own])
        declare = f"declare it under ops:{_what_it_does(forward)}"
        hint = f'did you mean "{close}"? Or {declare}' if close else declare
        read.error(place, f'there is no operator "{shown(place.text)}"', hint)
    return place.text != own and place.text in operators


def _what_it_does(forward: Operator | None) -> str:
    """What the backward of an operator takes and returns at least."""
    if forward is None:
        return ", with gradients of outputs among its inputs, and of inputs as its outputs"
    taken = [f"grad_{output.name}" for output in forward.public_outputs if floating(forward, output.type)]
    made = [f"grad_{argument.name}" for argument in forward.may_need_gradient if not argument.shares_gradient]
    takes = f" it takes {', '.join(taken)} and what else it needs," if taken else ""
    return f"{takes} and returns {', '.join(made)}" if made else takes.rstrip(",")


def check_backward(read: Reader, forward: Declared, operators: Mapping[str, Declared | None]) -> Backward | None:
    """Resolves the `backward:` of `forward`; `operators` holds every operator, None where one has errors of its own."""
    place = forward.backward
    if place is None:
        _without_backward(read, forward)
        return None
    if not names_operator(read, place, forward.operator.name, operators, forward.operator):
        return None
    backward = operators[place.text]
    return None if backward is None else _Matcher(read.within("backward"), place, forward.operator, backward).match()


def _without_backward(read: Reader, forward: Declared) -> None:
    for output in forward.operator.saved_outputs:
        if forward.operator.draws(output.name):
            continue  # `backward:` is there, and wrong: nothing else keeps what is drawn
        read.error(forward.places[output.name], f"output {output.name}: `saved` is for operators with `backward:`")
    for argument in forward.operator.tensors:
        if argument.shares_gradient:
            text = f"input {argument.name}: `grad` is for operators with `backward:`"
            read.error(forward.places[argument.name], text)


def floating(operator: Operator, tensor: TensorType) -> bool:
    """Whether the tensor has a floating or complex dtype in some call, and so may have a gradient."""
    return any(is_floating(name) for name in dtypes_of(tensor.dtype, operator.types))


class _Matcher:
    """Binds one forward and one backward operator; problems are reported at the `backward:` that joins them."""

    def __init__(self, read: Reader, place: Scalar, forward: Operator, backward: Declared) -> None:
        self.read = read
        self.place = place
        self.forward = forward
        self.backward = backward.operator
        self.places = backward.places
        self.variables: dict[str, str] = {}  # dtype variable of the backward -> of the forward
        self.alike: list[tuple[str, Dtype, Dtype, str]] = []  # bound tensors: name, dtype there, here, input or output

    def match(self) -> Backward:
        bindings = [self.binding(argument) for argument in self.backward.arguments]
        self.compare_choices()
        gradients = [self.gradient(output) for output in self.backward.public_outputs]
        gradients += [self.shared(argument) for argument in self.forward.tensors if argument.shares_gradient]
        found = {gradient.input for gradient in gradients if gradient is not None}
        for argument in self.forward.tensors:
            missing = argument.name not in found and not (argument.has_word("no_grad") or argument.shares_gradient)
            if missing and isinstance(argument.type, TensorType) and floating(self.forward, argument.type):
                hint = f"add it to {self.backward.name}, or write `no_grad` behind the type of {argument.name}"
                self.error(f"{self.backward.name} has no output grad_{argument.name}", hint)
        self.unused_saved([binding for binding in bindings if binding is not None])
        return Backward(
            self.backward.name,
            tuple(binding for binding in bindings if binding is not None),
            tuple(gradient for gradient in gradients if gradient is not None),
            self.backward.grad_mask,
        )

    def error(self, text: str, hint: str = "") -> None:
        self.read.error(self.place, text, hint)

    def unused_saved(self, bindings: list[Binding]) -> None:
        named = {binding.name for binding in bindings if binding.source == "output"}
        for output in self.forward.saved_outputs:
            drawn = self.forward.draws(output.name)  # not every gradient needs it
            if output.name not in named and not drawn:
                self.error(f"{self.backward.name} does not take the saved output {output.name}")

    # ---------------------------------------------------------------- inputs of the backward

    def binding(self, argument: Argument) -> Binding | None:
        name, forward = argument.name, self.forward
        self.one_meaning(name)
        source = next((known for known in forward.arguments if known.name == name), None)
        if source is not None:
            self.compare(argument, source.type, "input")
            if source.has_word("expand") and not argument.has_word("expand"):
                text = f"the input {name} comes to {self.backward.name} with the sizes that {forward.name} was given"
                self.error(text, f"write `expand` behind its type in {self.backward.name} too")
            self.compare_places(argument, source)
            return Binding(name, "input", name)
        output = next((known for known in forward.outputs if known.name == name), None)
        if output is not None:
            self.compare(argument, output.type, "output")
            self.compare_places(argument, output)
            self.may_be_absent(argument, output)
            return Binding(name, "output", name)
        upstream = name.removeprefix("grad_")
        output = next((known for known in forward.public_outputs if known.name == upstream), None)
        if upstream != name and output is not None:
            if floating(forward, output.type):
                self.compare(argument, output.type, "output")
                self.compare_places(argument, output)
                self.may_be_absent(argument, output)
            else:
                self.error(f"the output {upstream} is never floating, so there is no {name}")
            return Binding(name, "gradient", upstream)
        dim = next((known for known in forward.dims if known.name == name), None)
        if dim is not None:
            if dim.each:
                self.error(f"the input {name} of {self.backward.name}: each tensor of {dim.each} has its own {name}")
            elif not (isinstance(argument.type, ScalarType) and argument.type.kind in ("size", "int")):
                self.error(f"the input {name} of {self.backward.name} is a dim of {forward.name}: its type is size")
            return Binding(name, "dim", name)
        self.unknown_input(name)
        return None

    def one_meaning(self, name: str) -> None:
        """A name of the forward that reads like the gradient of one of its outputs leaves open which is meant."""
        forward, upstream = self.forward, name.removeprefix("grad_")
        if upstream == name or all(output.name != upstream for output in forward.public_outputs):
            return
        known: dict[str, Sequence[Argument | Output | Dim]]
        known = {"an input": forward.arguments, "an output": forward.outputs, "a dim": forward.dims}
        for what, listed in known.items():
            if any(one.name == name for one in listed):
                text = f"{name} is {what} of {forward.name}, and reads like the gradient of its output {upstream}"
                self.error(text, "give it another name")

    def may_be_absent(self, argument: Argument, output: Output) -> None:
        """What belongs to an output with a condition is not always there, and no gradient is that is not wanted; the
        gradient of such a list has zeros where it is not, but for tensors that the list itself lacks.
        """
        text = f"the input {argument.name} of {self.backward.name}"
        a_gradient = self.forward.grad_mask and argument.name == output.name
        if a_gradient and (output.type.is_list or not argument.type.optional):
            hint = "compute it again" if output.type.is_list else "write ? behind its type"
            self.error(f"{text} is a gradient that {self.forward.name} need not have been asked for", hint)
        source = self.forward.argument(output.counted_by).type if output.counted_by else None
        kind = argument.type
        if isinstance(source, TensorType) and isinstance(kind, TensorType) and kind.is_list and source.may_lack_tensors:
            lacks = (source.optional and not kind.optional) or (source.element_optional and not kind.element_optional)
            listed = ("?" if source.element_optional else "") + "[]" + ("?" if source.optional else "")
            hint = f"write `{_written(kind.dtype)}{kind.shape.text}{listed}`"
            if lacks:
                whose = f"{output.counted_by} of {self.forward.name}"
                self.error(f"{text} is there where {whose} is, and may be absent", hint)
        if output.condition is not None and not argument.type.optional:
            text = f"the output {output.name} is there on a condition, and the input {argument.name} of "
            self.error(f"{text}{self.backward.name} is not optional", "write ? behind its type")

    def unknown_input(self, name: str) -> None:
        forward = self.forward
        known = [argument.name for argument in forward.arguments]
        known += [output.name for output in forward.outputs]
        known += [f"grad_{output.name}" for output in forward.public_outputs if floating(forward, output.type)]
        known += [dim.name for dim in forward.dims]
        text = f"the input {name} of {self.backward.name} is nothing that {forward.name} has"
        close = nearest(name, known)
        self.error(text, f'did you mean "{close}"?' if close else f"it can take {', '.join(known)}")

    def compare_places(self, argument: Argument, source: Argument | Output) -> None:
        """Both are on the host, or both on the device of the call, which may be a GPU."""
        here = isinstance(source, Argument) and source.has_word("cpu")
        if argument.has_word("cpu") == here or "cuda" not in self.backward.devices:
            return
        text = f"the input {argument.name} of {self.backward.name}"
        if here:
            self.error(f"{text} comes from the host", "write `cpu` behind its type there too")
        else:
            self.error(f"{text} says `cpu`, and what it is bound to is not on the host")

    def compare(self, argument: Argument, source: TensorType | ScalarType, what: str) -> None:
        """Both sides of a binding state the same contract."""
        own = argument.type
        if isinstance(own, TensorType) != isinstance(source, TensorType):
            self.differ(argument.name, what, "one is a tensor, the other a scalar")
        elif isinstance(own, ScalarType) and isinstance(source, ScalarType):
            same = own.kind == source.kind or {own.kind, source.kind} <= {"int", "size"}
            if not same or own.is_list != source.is_list:
                self.differ(argument.name, what, f"{own.kind} there, {source.kind} here")
            elif source.optional and not own.optional:
                self.differ(argument.name, what, "it may be absent here, and there it has no `?`")
            elif own.choices != source.choices:
                self.differ(argument.name, what, f"{_words(own)} there, {_words(source)} here")
            elif own.length not in (None, source.length):
                self.differ(argument.name, what, f"{own.length} values there, {source.length or 'any number'} here")
            elif own.variable or source.variable:
                self.compare_dtypes(argument.name, own, source, what)
        elif isinstance(own, TensorType) and isinstance(source, TensorType):
            self.compare_tensors(argument.name, own, source, what)

    def compare_dtypes(self, name: str, own: ScalarType, source: ScalarType, what: str) -> None:
        """A dtype argument of the backward takes every dtype of the forward's, consistently."""
        if not own.variable:
            return
        mine = set(dtypes_of(Variable(own.variable), self.backward.types))
        theirs = dtypes_of(Variable(source.variable), self.forward.types) if source.variable else tuple(DTYPES)
        lacking = [dtype for dtype in theirs if dtype not in mine]
        if lacking:
            self.differ(name, what, f"it lacks {', '.join(lacking)}")
        elif source.variable and self.variables.setdefault(own.variable, source.variable) != source.variable:
            self.differ(name, what, "another dtype")

    def compare_tensors(self, name: str, own: TensorType, source: TensorType, what: str) -> None:
        if own.is_list != source.is_list:
            forms = ["a list" if kind.is_list else "one tensor" for kind in (own, source)]
            self.differ(name, what, f"{forms[0]} there, {forms[1]} here")
        if source.element_optional and not own.element_optional:
            text = f"tensors of {name} of {self.forward.name} may be absent, and {self.backward.name} takes all of them"
            self.error(text, f"write `{_written(own.dtype)}{own.shape.text}?[]`")
        if _form(own.shape) != _form(source.shape):
            self.differ(name, what, f"shape {own.shape.text} there, {source.shape.text} here")
        if what == "input" and source.optional and not own.optional:
            text = f"the input {name} of {self.backward.name} must be optional, as {name} of {self.forward.name} is"
            listed = ("?" if own.element_optional else "") + ("[]" if own.is_list else "")
            self.error(text, f"write `{_written(own.dtype)}{own.shape.text}{listed}?`")
        if self.same_dtype(own.dtype, source.dtype):
            self.alike.append((name, own.dtype, source.dtype, what))
        elif isinstance(own.dtype, FixedDtype) and isinstance(source.dtype, FixedDtype):
            self.differ(name, what, f"{own.dtype.name} there, {source.dtype.name} here")
        else:
            mine = set(dtypes_of(own.dtype, self.backward.types))
            lacking = [d for d in dtypes_of(source.dtype, self.forward.types) if is_floating(d) and d not in mine]
            detail = f"it lacks {', '.join(lacking)}" if lacking else "another dtype"
            self.differ(name, what, detail)

    def same_dtype(self, own: Dtype, source: Dtype) -> bool:
        """Whether the backward takes each dtype in which the forward's tensor can need a gradient, consistently."""
        if isinstance(own, Variable) and isinstance(source, Variable):
            if self.variables.setdefault(own.name, source.name) != source.name:
                return False
        elif isinstance(own, Acc) and isinstance(source, Acc):
            if self.variables.setdefault(own.variable, source.variable) != source.variable:
                return False
        elif isinstance(own, FixedDtype) and isinstance(source, FixedDtype):
            return own.name == source.name
        mine = set(dtypes_of(own, self.backward.types))
        theirs = dtypes_of(source, self.forward.types)
        wanted = [name for name in theirs if is_floating(name)] or list(theirs)
        return set(wanted) <= mine

    def compare_choices(self) -> None:
        """Once every input has said which variables are the same ones: in each choice of dtypes both sides of a binding
        come to the same dtype. `acc(T)` and `T` do not where T can be a half format.
        """
        for name, own, source, what in self.alike:
            mine = _variable(own)
            same = self.variables.get(mine)
            if same is None or _variable(source) not in ("", same):
                continue
            chosen = dtypes_of(Variable(same), self.forward.types)
            wanted = [dtype for dtype in chosen if is_floating(dtype)] or chosen
            if any(dtype_of(own, {mine: dtype}) != dtype_of(source, {same: dtype}) for dtype in wanted):
                self.differ(name, what, f"{_written(own)} there, {_written(source)} here")

    def differ(self, name: str, what: str, how: str) -> None:
        self.error(f"the input {name} of {self.backward.name} differs from the {what} of {self.forward.name}: {how}")

    # ---------------------------------------------------------------- outputs of the backward

    def gradient(self, output: Output) -> Gradient | None:
        wanted = output.name.removeprefix("grad_")
        source = next((argument for argument in self.forward.tensors if argument.name == wanted), None)
        if wanted == output.name or source is None:
            known = ", ".join(f"grad_{argument.name}" for argument in self.forward.tensors)
            text = f"the output {output.name} of {self.backward.name} is no gradient of an input of {self.forward.name}"
            self.error(text, f"expected are {known}")
            return None
        assert isinstance(source.type, TensorType)
        if not floating(self.forward, source.type):
            self.error(f"the input {wanted} is never floating, so there is no grad_{wanted}")
        if source.has_word("no_grad"):
            self.error(f"the input {wanted} says no_grad, and {self.backward.name} computes grad_{wanted}")
        if source.has_word("cpu") and "cuda" in self.backward.devices:
            text = f"the input {wanted} stays on the host, and its gradient would be made on a GPU"
            self.error(text, f"write `no_grad` behind the type of {wanted}")
        if output.type.is_list != source.type.is_list:
            forms = ["a list" if kind.is_list else "one tensor" for kind in (output.type, source.type)]
            self.error(f"grad_{wanted} is {forms[0]}, and {wanted} {forms[1]}")
        elif output.type.is_list and not self.as_long(output.counted_by, wanted):
            text = f"grad_{wanted} is as long as {output.counted_by}, which need not be as long as {wanted}"
            self.error(text, f"take {wanted} in {self.backward.name}, too")
        if _form(output.type.shape) != _form(source.type.shape):
            here, there = source.type.shape.text, output.type.shape.text
            self.error(f"grad_{wanted} has shape {there}, and {wanted} {here}")
        if source.shares_gradient:
            text = f"the input {wanted} has the gradient of {source.shares_gradient}, and {self.backward.name} computes"
            self.error(f"{text} grad_{wanted}")
        return Gradient(output.name, wanted)

    def as_long(self, name: str, source: str) -> bool:
        """Whether a list that the backward takes has as many tensors as an input of the forward, in every call."""
        lists = {one.name: one.type.shape for one in self.forward.lists if isinstance(one.type, TensorType)}
        outputs = {output.name: output.counted_by for output in self.forward.outputs}
        outputs |= {f"grad_{output}": source for output, source in outputs.items()}
        counted = name if name in lists else outputs.get(name, "")
        return counted in equally_long(self.forward.dims, lists, source)

    def shared(self, argument: Argument) -> Gradient | None:
        """The gradient of an input that says `grad(x)`: that of x, an input of the same contract."""
        name = argument.shares_gradient
        text = f"the input {argument.name} says grad({shown(name)}), and "
        source = next((known for known in self.forward.tensors if known.name == name and known != argument), None)
        if source is None:
            others = [known.name for known in self.forward.tensors if known != argument]
            close = nearest(name, others)
            self.error(f"{text}that is no other tensor input", f'did you mean "{close}"?' if close else "")
        elif argument.has_word("no_grad") or source.has_word("no_grad") or source.shares_gradient:
            self.error(f"{text}{'it' if argument.has_word('no_grad') else name} says something else of its gradient")
        elif argument in self.forward.lists:
            self.error(f"{text}the tensors of a list have gradients of their own")
        elif argument.has_word("expand") or source.has_word("expand"):
            self.error(f"{text}what is broadcast has a gradient of its own")
        elif argument.type != source.type or source.type.optional:
            detail = f"it is {argument.text}, and {name} {source.text}"
            self.error(text + detail, "both have the same contract, and are always there")
        else:
            return Gradient(f"grad_{name}", argument.name)
        return None


def _variable(dtype: Dtype) -> str:
    """The variable that stands in a dtype, or nothing."""
    return "" if isinstance(dtype, FixedDtype) else dtype.variable if isinstance(dtype, Acc) else dtype.name


def _written(dtype: Dtype) -> str:
    return f"acc({dtype.variable})" if isinstance(dtype, Acc) else dtype.name


def _words(kind: ScalarType) -> str:
    return f"choice({', '.join(kind.choices)})"


def _form(shape: Shape) -> tuple[bool, ...]:
    """How many dims, and where the star is; names may differ between the two operators."""
    return tuple(isinstance(entry, DimEntry) for entry in shape.entries)
