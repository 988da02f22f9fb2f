"""The autograd part of an operator's Python module: its autograd.Function and its kernel at the Autograd key.

Three states: a backward operator; no gradient by declaration (`differentiable: false`), which needs no code; and
neither, whose backward raises an error that names the operator.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.contract import Argument
from codegen.frozen import dataclass
from codegen.lower.python_names import COLUMNS, Names, call
from codegen.model import Backward, Binding, Library, Operator


@dataclass(frozen=True)
class AutogradView:
    """What the templates need; `setup`, `backward_body` and `backward` are empty where no backward is declared."""

    function: str
    backward: str
    context: str
    forward: tuple[str, ...]
    setup: tuple[str, ...]
    backward_body: tuple[str, ...]
    kernel: tuple[str, ...]
    recorded: tuple[str, ...]
    recorded_or_transformed: tuple[str, ...]
    applied: str
    public: str
    redispatched: str


def function_name(op: Operator) -> str:
    """RmsNorm: grad_fn prints as RmsNormBackward."""
    return "".join(word.capitalize() for word in op.name.split("_"))


def targets(names: Sequence[str]) -> str:
    """The left side of an assignment that unpacks a sequence."""
    return ", ".join(names) if len(names) > 1 else f"({names[0]},)"


def _unpacked(wanted: Sequence[str], names: Sequence[str], value: str) -> list[str]:
    """`x, _, eps = inputs`: a name for each that is wanted; nothing where none is."""
    if not any(name in wanted for name in names):
        return []
    return [f"{targets([name if name in wanted else '_' for name in names])} = {value}"]


class _Declared:
    """Prints the Function of an operator that has a backward."""

    def __init__(self, library: Library, names: Names, backward: Backward) -> None:
        self.op, self.names, self.backward = names.op, names, backward
        self.other = library.operator(backward.operator)
        self.ctx = names.fresh("ctx")
        tensors = {argument.name for argument in self.op.tensors} | {output.name for output in self.op.outputs}
        self.sources = [binding for binding in backward.bindings if binding.source != "gradient"]
        self.saved = list(dict.fromkeys(b.name for b in self.sources if b.name in tensors))
        self.kept = list(dict.fromkeys(b.name for b in self.sources if b.name not in tensors))
        self.summed = [
            gradient.input
            for gradient in backward.gradients
            if gradient.summed or self.op.argument(gradient.input).has_word("expand")
        ]
        self.gradients = [f"grad_{output.name}" for output in self.op.public_outputs]

    def required(self) -> list[str]:
        """The outputs whose gradient must be a tensor: zeros where autograd has none. With a single output there is
        nothing to do then.
        """
        bound = [binding for binding in self.backward.bindings if binding.source == "gradient"]
        if len(self.gradients) == 1:
            return []
        optional = {argument.name for argument in self.other.tensors if getattr(argument.type, "optional", False)}
        return [binding.name for binding in bound if binding.argument not in optional]

    def saved_gradients(self) -> list[tuple[str, str]]:
        """Saved outputs, and what their gradients are called. They are functions of the inputs, so autograd has them
        require grad: a second gradient that goes through one of them is an error, and not without its part.
        """
        return [(output.name, self.names.fresh(f"grad_{output.name}")) for output in self.op.saved_outputs]

    def setup(self) -> list[str]:
        """The body of setup_context."""
        ctx, op = self.ctx, self.op
        needed = [
            *self.saved,
            *self.kept,
            *((op.tensors[0].name,) if op.grad_mask else self.required()),
            *self.summed,
        ]
        dims = {dim.name: dim for dim in op.dims}
        needed += [holder for name in self.kept if name in dims for holder in dims[name].holders]
        outputs = [output.name for output in op.outputs]
        given = [argument.name for argument in op.arguments] + (["grad_mask"] if op.grad_mask else [])
        lines = _unpacked(needed, given, self.names.fresh("inputs"))
        if len(outputs) > 1:
            lines += _unpacked(needed, outputs, self.names.fresh("output"))
        elif outputs[0] in needed:
            lines.append(f"{outputs[0]} = {self.names.fresh('output')}")
        lines.append(f"{ctx}.set_materialize_grads(False)")
        for name in self.kept:
            value = self.names.dim(dims[name]) if name in dims else name
            lines.append(f"{ctx}.value_of_{name} = {value}")
        lines += [f"{ctx}.like_{name} = {self.form(name)}" for name in self.required()]
        for name in self.summed:
            form = f"{name}.shape, {name}.dtype"
            optional = getattr(op.argument(name).type, "optional", False)
            lines.append(f"{ctx}.form_of_{name} = {f'None if {name} is None else ({form})' if optional else form}")
        if self.saved:
            lines += call(f"{ctx}.save_for_backward", self.saved, indent=8)
        return lines

    def form(self, name: str) -> str:
        """Shape, dtype and device of an output. One that is not wanted is not there; then all, being gradients that
        were derived, have the shape of the first input.
        """
        if not self.op.grad_mask:
            return f"{name}.shape, {name}.dtype, {name}.device"
        first = self.op.tensors[0].name
        return f"{first}.shape, {self.names.dtype(self.op.output(name).type.dtype)}, {first}.device"

    def value(self, binding: Binding) -> str:
        """What an argument of the backward operator is given."""
        if binding.source == "gradient":
            return f"grad_{binding.name}"
        return binding.name if binding.name in self.saved else f"{self.ctx}.value_of_{binding.name}"

    def run(self) -> list[str]:
        """The body of backward."""
        ctx, op = self.ctx, self.op
        nothing = ", ".join(["None"] * (len(op.arguments) + op.grad_mask))
        absent = " and ".join(f"{gradient} is None" for gradient in self.gradients)
        lines: list[str] = []
        for name, given in self.saved_gradients():
            lines += [f"if {given} is not None:", f'    _runtime.refuse_saved("{op.name}", "{name}")']
        lines += [f"if {absent}:", f"    return {nothing}"]
        for name in self.required():
            lines += [f"if grad_{name} is None:", f"    grad_{name} = _runtime.zeros(*{ctx}.like_{name})"]
        if self.saved:
            lines.append(f"{targets(self.saved)} = {ctx}.saved_tensors")
        run, arguments = self.names.fresh("run"), [self.value(binding) for binding in self.backward.bindings]
        lines.append(f"{run} = _backward.{self.other.name} if _is_grad_enabled() else _backward_no_grad")
        gradients = self.backward.gradients
        if self.backward.mask:
            wanted = self.names.fresh("wanted")
            positions = [argument.name for argument in op.arguments]
            places = {gradient.input: f"{wanted}[{positions.index(gradient.input)}]" for gradient in gradients}
            mask = [
                " or ".join(places[gradient.input] for gradient in gradients if gradient.output == output.name)
                for output in self.other.outputs
            ]
            lines.append(f"{wanted} = {ctx}.needs_input_grad")
            arguments.append(f"grad_mask=[{', '.join(mask)}]")
        results = [output.name for output in self.other.public_outputs]
        lines += call(f"{', '.join(results)} = {run}", arguments, indent=8)
        by_input = {gradient.input: gradient.output for gradient in gradients}
        for name in self.summed:
            lines.append(f"{by_input[name]} = _runtime.summed({by_input[name]}, {ctx}.form_of_{name})")
        returned = [by_input.get(argument.name, "None") for argument in op.arguments]
        return [*lines, f"return {', '.join(returned + (['None'] if op.grad_mask else []))}"]


def _with_gradient(op: Operator) -> list[Argument]:
    """The inputs that may make outputs require grad."""
    if op.backward is not None:
        inputs = {gradient.input for gradient in op.backward.gradients}
        return [argument for argument in op.tensors if argument.name in inputs]
    return list(op.may_need_gradient)


def spread(op: Operator, arguments: Sequence[Argument]) -> list[str]:
    """Tensors as the arguments of a function that looks into no list."""
    found = []
    for argument in arguments:
        listed = f"({argument.name} or ())" if argument.type.optional else argument.name
        found.append(f"*{listed}" if argument in op.lists else argument.name)
    return found


def recorded(names: Names, or_else: str, extra: Sequence[str] = (), only: Sequence[str] | None = None) -> list[str]:
    """The condition under which a call is recorded, up to its colon; `extra` are tensors beside the inputs, and `only`
    are those in their place. Under torch.func an input may require grad without saying so.
    """
    inputs = spread(names.op, _with_gradient(names.op)) if only is None else only
    requires = f"_any_requires_grad({', '.join([*inputs, *extra])})"
    condition = f"_is_grad_enabled() and {f'({requires} or {or_else})' if or_else else requires}"
    line = f"if ({condition}) or _forward_ad._current_level >= 0:"
    if len(line) + 4 <= COLUMNS:
        return [line]
    recorded = names.fresh("recorded")
    lines = [f"{recorded} = {condition}"]
    if len(lines[0]) + 4 > COLUMNS:
        lines = [f"{recorded} = _is_grad_enabled() and (", f"    {requires}{f' or {or_else}' if or_else else ''}", ")"]
    return [*lines, f"if {recorded} or _forward_ad._current_level >= 0:"]


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def autograd_view(library: Library, names: Names, parameters: list[str], passed: list[str]) -> AutogradView:
    """The autograd part of one operator's module."""
    op = names.op
    declared = _Declared(library, names, op.backward) if op.backward is not None else None
    keyset, ctx = names.fresh("keyset"), names.fresh("ctx")
    plain = [parameter.split(" = ")[0] for parameter in parameters if parameter != "*"]
    # What is in a list reaches autograd behind the other arguments.
    plain += ["*_: Any"] if op.lists else []
    forward = f"{'_call_saved' if op.saved_outputs else '_call_no_grad'}({', '.join(passed)})"
    setup, backward_body = [], []
    if declared is not None:
        given = [f"{ctx}: Any", f"{names.fresh('inputs')}: Any", f"{names.fresh('output')}: Any"]
        setup = [*call("def setup_context", given, " -> None:"), *_indented(declared.setup())]
        arriving = [*declared.gradients, *(name for _, name in declared.saved_gradients())]
        given = [f"{ctx}: Any", *(f"{gradient}: Tensor | None" for gradient in arriving)]
        backward_body = [*call("def backward", given, " -> Any:"), *_indented(declared.run())]
    return AutogradView(
        function=function_name(op),
        backward=declared.other.name if declared else "",
        context=ctx,
        forward=(*call("def forward", plain, " -> Any:"), f"    return {forward}"),
        setup=tuple(setup),
        backward_body=tuple(backward_body),
        kernel=tuple(call("def _autograd", [f"{keyset}: Any", *parameters], " -> Any:", 0)),
        recorded=tuple(recorded(names, "")),
        recorded_or_transformed=tuple(recorded(names, "_is_transformed()")),
        applied=", ".join(
            [argument.name for argument in op.arguments]
            + (["grad_mask"] if op.grad_mask else [])
            + spread(op, op.lists)
        ),
        public="" if not op.saved_outputs else "[0]" if len(op.public_outputs) == 1 else f"[:{len(op.public_outputs)}]",
        redispatched=f"{keyset} & _after_autograd, {', '.join(passed)}",
    )
