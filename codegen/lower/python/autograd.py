"""The autograd part of an operator's Python module: its autograd.Function and its kernel at the Autograd key.

Three states: a backward operator; no gradient by declaration (`differentiable: false`), which needs no code; and
neither, whose backward raises an error that names the operator.
"""

from __future__ import annotations

from collections.abc import Sequence

from codegen.contract import Output, TensorType
from codegen.forward_mode import has_forward_derivative
from codegen.frozen import dataclass
from codegen.lower.host import mask_is_list
from codegen.lower.python.names import HELPER, Names, call
from codegen.lower.python.recording import indented, recorded, spread
from codegen.model import Backward, Binding, Library, Operator
from codegen.positions import list_of


@dataclass(frozen=True)
class AutogradView:
    """What the templates need; `setup`, `backward_body` and `backward` are empty where no backward is declared."""

    function: str
    backward: str
    context: str
    forward: tuple[str, ...]
    setup: tuple[str, ...]
    backward_body: tuple[str, ...]
    jvp: tuple[str, ...]
    kernel: tuple[str, ...]
    recorded: tuple[str, ...]
    recorded_or_transformed: tuple[str, ...]
    applied: str
    applied_transformed: str  # the same for torch.func, which takes lists apart
    nested: str  # puts the tensors of lists, which autograd gives in a row, into lists
    public: str
    redispatched: str


def function_name(op: Operator) -> str:
    """RmsNorm: grad_fn prints as RmsNormBackward."""
    return "".join(word.capitalize() for word in op.name.split("_"))


def targets(names: Sequence[str]) -> str:
    """The left side of an assignment that unpacks a sequence."""
    return ", ".join(names) if len(names) > 1 else f"({names[0]},)"


def _unpacked(wanted: Sequence[str], names: Sequence[str], value: str, *, more: bool = False) -> list[str]:
    """`x, _, eps = inputs`: a name for each that is wanted; nothing where none is. `more` values may follow."""
    if not any(name in wanted for name in names):
        return []
    return [f"{targets([name if name in wanted else '_' for name in names] + ['*_'] * more)} = {value}"]


def _row(items: Sequence[str]) -> str:
    """A tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def made(names: Names) -> str:
    """The form of the outputs in a row: how many tensors each list has, None for what is no list."""
    return _row([_length(names, output) for output in names.op.outputs])


def _length(names: Names, output: Output) -> str:
    if not output.type.is_list:
        return "None"
    return f"{HELPER}count({names.places(output) if names.op.grad_mask else output.counted_by})"


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
        self.forward_mode = has_forward_derivative(library, self.op)

    def required(self) -> list[str]:
        """The outputs whose gradient must be a tensor: zeros where autograd has none. With a single output there is
        nothing to do then.
        """
        bound = [binding for binding in self.backward.bindings if binding.source == "gradient"]
        lists = {output.name for output in self.op.list_outputs}
        if len(self.gradients) == 1 and not lists:
            return []
        optional = {a.name for a in self.other.tensors if a.type.optional and a not in self.other.lists}
        optional |= {a.name for a in self.other.lists if isinstance(a.type, TensorType) and a.type.element_optional}
        required = [binding.name for binding in bound if binding.argument not in optional]
        return required if len(self.gradients) > 1 else [name for name in required if name in lists]

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
            *(self.names_of_forms() if self.forms() else ()),
            *self.summed,
        ]
        dims = {dim.name: dim for dim in op.dims}
        needed += [list_of(holder) for name in self.kept if name in dims for holder in dims[name].holders]
        needed += [output.counted_by for output in op.list_outputs] + [argument.name for argument in op.lists]
        needed += ["grad_mask"] if mask_is_list(op) else []
        outputs = [output.name for output in op.outputs]
        given = [argument.name for argument in op.arguments] + (["grad_mask"] if op.grad_mask else [])
        lines = _unpacked(needed, given, self.names.fresh("inputs"), more=bool(op.lists))
        if op.lists:
            tail = [f"_runtime.length({argument.name})" for argument in op.lists]
            lines.append(f"{ctx}.inputs_form = {_row(['None'] * len(given) + tail)}")
        if op.list_outputs:
            lines.append(f"{ctx}.outputs_form = {made(self.names)}")
            lines += _unpacked(needed, outputs, f"_runtime.nested({self.names.fresh('output')}, {ctx}.outputs_form)")
        elif len(outputs) > 1:
            lines += _unpacked(needed, outputs, self.names.fresh("output"))
        elif outputs[0] in needed:
            lines.append(f"{outputs[0]} = {self.names.fresh('output')}")
        lines.append(f"{ctx}.set_materialize_grads(False)")
        for name in self.kept:
            value = self.names.dim(dims[name]) if name in dims else name
            lines.append(f"{ctx}.value_of_{name} = {value}")
        if self.saves_lists():
            lengths = [f"_runtime.length({name})" if op.is_listed(name) else "None" for name in self.saved]
            lines.append(f"{ctx}.saved_form = {_row(lengths)}")
        lines += self.forms()
        lines += [f"{ctx}.like_{name} = {self.form(name)}" for name in self.required()]
        for output in self.placed():
            listed, mask, before = output.counted_by, "grad_mask", self.names.mask_places(output.name)
            lines += call(f"{ctx}.places_of_{output.name} = {HELPER}places", [listed, mask, before], indent=8)
            lines.append(f"{ctx}.count_of_{output.name} = {HELPER}count({output.counted_by})")
        for name in self.summed:
            if op.is_listed(name):
                lines.append(f"{ctx}.form_of_{name} = _runtime.forms_of({name})")
                continue
            form = f"{name}.shape, {name}.dtype"
            optional = getattr(op.argument(name).type, "optional", False)
            lines.append(f"{ctx}.form_of_{name} = {f'None if {name} is None else ({form})' if optional else form}")
        if self.saved:
            flat = [self.spread(name) if op.is_listed(name) else name for name in self.saved]
            lines += call(f"{ctx}.save_for_backward", flat, indent=8)
        return [*lines, *self.kept_for_forward_mode()]

    def kept_for_forward_mode(self) -> list[str]:
        """What jvp reads. The test takes less time than keeping it always would."""
        if not self.forward_mode:
            return []
        lines = [f"{self.ctx}.forms_of_results = _runtime.forms_of_results({self.names.fresh('output')})"]
        if self.saved:
            lines += call(f"{self.ctx}.save_for_forward", self.saved, indent=12)
        return ["if _forward_ad._current_level >= 0:", *(f"    {line}" for line in lines)]

    def jvp(self) -> list[str]:
        """The body of jvp."""
        function = f"_{function_name(self.op)}.backward"
        given = [f'"{self.op.name}"', function, self.ctx, self.names.fresh("tangents")]
        return call("return _runtime.forward_derivative", given, indent=8)

    def placed(self) -> list[Output]:
        """The lists of gradients that were wanted, whose own gradients the backward operator takes: each at the place
        of its tensor.
        """
        bound = {binding.name for binding in self.backward.bindings if binding.source == "gradient"}
        return [output for output in self.op.list_outputs if self.op.grad_mask and output.name in bound]

    def saves_lists(self) -> bool:
        """Whether a list is kept for backward."""
        return any(map(self.op.is_listed, self.saved))

    def spread(self, name: str) -> str:
        """The tensors of a list, in a row."""
        return next(spread(self.op, [one])[0] for one in self.op.listed if one.name == name)

    def forms(self) -> list[str]:
        """Shape, dtype and device of the outputs, where some are not wanted, and so not there: those that the fake
        kernel would make. Gradients that were derived all have the shape of those that they are made of.
        """
        op = self.op
        if not op.grad_mask or op.derived_from or not self.required():
            return []
        passed = [f"{a.name}={a.name}" if a.keyword_only else a.name for a in op.arguments]
        outputs = [output.name for output in op.outputs]
        if mask_is_list(op):
            every = f"_fake({', '.join([*passed, 'grad_mask=()'])})"
            given = [_row(outputs), "grad_mask", f"lambda: {every if len(outputs) > 1 else f'({every},)'}"]
            return call(f"{self.names.fresh('forms')} = _runtime.forms_of_wanted", given, indent=8)
        passed.append(f"grad_mask=({', '.join(['True'] * len(op.outputs))})")
        given = [_row(outputs), f"lambda: _fake({', '.join(passed)})"]
        return call(f"{self.names.fresh('forms')} = _runtime.forms", given, indent=8)

    def names_of_forms(self) -> list[str]:
        """What that reads."""
        return [argument.name for argument in self.op.arguments] + [output.name for output in self.op.outputs]

    def form(self, name: str) -> str:
        """Shape, dtype and device of an output."""
        if self.forms():
            form = f"{self.names.fresh('forms')}[{[output.name for output in self.op.outputs].index(name)}]"
            if not self.op.is_listed(name):
                return form
            counted = self.op.output(name).counted_by
            return f"_runtime.at_places({form}, {HELPER}places({counted}, (), 0), {HELPER}count({counted}))"
        if self.op.is_listed(name):
            output = self.op.output(name)
            if not self.op.grad_mask:
                return f"[(_one.shape, _one.dtype, _one.device) for _one in {name}]"
            dtype = self.names.dtype(output.type.dtype)  # all have the shapes of the gradients that they are made of
            return f"[(_one.shape, {dtype}, _one.device) for _one in {output.counted_by}]"
        if not self.op.grad_mask:
            return f"{name}.shape, {name}.dtype, {name}.device"
        first = next(a.name for a in self.op.tensors if not a.type.optional)
        return f"{first}.shape, {self.names.dtype(self.op.output(name).type.dtype)}, {first}.device"

    def passed(self, binding: Binding) -> str:
        """The same as a call has it."""
        keyword = self.other.argument(binding.argument).keyword_only
        return f"{binding.argument}={self.value(binding)}" if keyword else self.value(binding)

    def value(self, binding: Binding) -> str:
        """What an argument of the backward operator is given."""
        if binding.source == "gradient":
            return f"grad_{binding.name}"
        return binding.name if binding.name in self.saved else f"{self.ctx}.value_of_{binding.name}"

    def run(self) -> list[str]:
        """The body of backward."""
        ctx, op = self.ctx, self.op
        nothing = ", ".join(["None"] * (len(op.arguments) + op.grad_mask))
        nothing = f"(None,) * len({ctx}.needs_input_grad)" if op.lists else nothing
        lines: list[str] = []
        if op.list_outputs:
            arriving = targets([*self.gradients, *(name for _, name in self.saved_gradients())])
            lines.append(f"{arriving} = _runtime.nested({self.names.fresh('gradients')}, {ctx}.outputs_form)")
        for name, given in self.saved_gradients():
            there = f"not {self.absent(given, name)}" if op.is_listed(name) else f"{given} is not None"
            lines += [f"if {there}:", f'    _runtime.refuse_saved("{op.name}", "{name}")']
        outputs = [output.name for output in op.public_outputs]
        absent = " and ".join(map(self.absent, self.gradients, outputs))
        lines += [f"if {absent}:", f"    return {nothing}"]
        for output in self.placed():
            where = f"{ctx}.places_of_{output.name}, {ctx}.count_of_{output.name}"
            lines.append(f"grad_{output.name} = _runtime.at_places(grad_{output.name}, {where})")
        for name in self.required():
            if op.is_listed(name):
                absent = " or None" if self.other.argument(f"grad_{name}").type.optional else ""
                lines.append(f"grad_{name} = _runtime.filled(grad_{name}, {ctx}.like_{name}){absent}")
            else:
                lines += [f"if grad_{name} is None:", f"    grad_{name} = _runtime.zeros(*{ctx}.like_{name})"]
        if self.saves_lists():
            lines.append(f"{targets(self.saved)} = _runtime.nested({ctx}.saved_tensors, {ctx}.saved_form)")
        elif self.saved:
            lines.append(f"{targets(self.saved)} = {ctx}.saved_tensors")
        run, arguments = self.names.fresh("run"), [self.passed(binding) for binding in self.backward.bindings]
        lines.append(f"{run} = _backward.{self.other.name} if _is_grad_enabled() else _backward_no_grad")
        gradients = self.backward.gradients
        if self.backward.mask:
            wanted = self.names.fresh("wanted")
            places = {gradient.input: self.wanted(wanted, gradient.input) for gradient in gradients}
            mask = [
                " or ".join(places[gradient.input] for gradient in gradients if gradient.output == output.name)
                for output in self.other.outputs
            ]
            listed = [output.type.is_list for output in self.other.outputs]
            mask = [f"*{one}" if several else one for one, several in zip(mask, listed, strict=True)]
            needs = f"{ctx}.needs_input_grad"
            lines.append(f"{wanted} = {f'_runtime.nested({needs}, {ctx}.inputs_form)' if op.lists else needs}")
            arguments.append(f"grad_mask=[{', '.join(mask)}]")
        results = [output.name for output in self.other.public_outputs]
        lines += call(f"{', '.join(results)} = {run}", arguments, indent=8)
        by_input = {gradient.input: gradient.output for gradient in gradients}
        lists = [argument.name for argument in op.lists]
        for name in self.summed:
            if name not in lists:
                lines.append(f"{by_input[name]} = _runtime.summed({by_input[name]}, {ctx}.form_of_{name})")
        returned = ["None" if a.name in lists else by_input.get(a.name, "None") for a in op.arguments]
        returned += ["None"] if op.grad_mask else []
        for name in lists:
            if name in by_input:
                needed = self.wanted(self.names.fresh("wanted"), name)
                placed = f"_runtime.placed({by_input[name]}, {needed})"
                summed = f"map(_runtime.summed, {placed}, {ctx}.form_of_{name})"
                returned.append(f"*{summed if name in self.summed else placed}")
            else:
                returned.append(f"*[None] * {ctx}.inputs_form[{len(op.arguments) + op.grad_mask + lists.index(name)}]")
        return [*lines, *call("return ", returned, indent=8)] if lists else [*lines, f"return {', '.join(returned)}"]

    def wanted(self, wanted: str, name: str) -> str:
        """Whether the gradient of an input is needed; of a list, of which of its tensors."""
        listed = [argument.name for argument in self.op.lists]
        if name not in listed:
            return f"{wanted}[{[argument.name for argument in self.op.arguments].index(name)}]"
        place = f"{wanted}[{len(self.op.arguments) + self.op.grad_mask + listed.index(name)}]"
        return f"({place} or ())" if self.op.argument(name).type.optional else place

    def absent(self, gradient: str, name: str) -> str:
        """Whether autograd has no gradient of an output, or of none of a list."""
        return f"_runtime.no_tensor({gradient})" if self.op.is_listed(name) else f"{gradient} is None"


def _public(op: Operator) -> str:
    """What a call returns, of all that the Function does."""
    public = len(op.public_outputs)
    if not op.saved_outputs:
        return "[0]" if op.list_outputs and public == 1 else ""
    return "[0]" if public == 1 else f"[:{public}]"


def _one(op: Operator, name: str) -> str:
    """An argument, a list of numbers being one value to torch.func."""
    lists = [argument.name for argument in op.scalars if getattr(argument.type, "is_list", False)]
    return f"_runtime.one({name})" if name in ("grad_mask", *lists) else name


def autograd_view(library: Library, names: Names, parameters: list[str], passed: list[str]) -> AutogradView:
    """The autograd part of one operator's module."""
    op = names.op
    declared = _Declared(library, names, op.backward) if op.backward is not None else None
    keyset, ctx = names.fresh("keyset"), names.fresh("ctx")
    plain = [parameter.split(" = ")[0] for parameter in parameters if parameter != "*"]
    # What is in a list reaches autograd behind the other arguments.
    plain += ["*_: Any"] if op.lists else []
    given_names = [argument.name for argument in op.arguments] + (["grad_mask"] if op.grad_mask else [])
    forward_mode = declared is not None and declared.forward_mode
    transformed = [_one(op, name) if forward_mode else name for name in given_names]
    forward = f"{'_call_saved' if op.saved_outputs else '_call_no_grad'}({', '.join(passed)})"
    forward = f"_runtime.flat({forward})" if op.list_outputs else forward
    setup, backward_body, jvp = [], [], []
    if declared is not None:
        given = [f"{ctx}: Any", f"{names.fresh('inputs')}: Any", f"{names.fresh('output')}: Any"]
        setup = [*call("def setup_context", given, " -> None:"), *indented(declared.setup())]
        arriving = [*declared.gradients, *(name for _, name in declared.saved_gradients())]
        given = [f"{ctx}: Any", *(f"{gradient}: Tensor | None" for gradient in arriving)]
        given = [given[0], f"*{names.fresh('gradients')}: Any"] if op.list_outputs else given
        backward_body = [*call("def backward", given, " -> Any:"), *indented(declared.run())]
        if declared.forward_mode:
            given = [f"{ctx}: Any", f"*{names.fresh('tangents')}: Any"]
            jvp = [*call("def jvp", given, " -> Any:"), *indented(declared.jvp())]
    return AutogradView(
        function=function_name(op),
        backward=declared.other.name if declared else "",
        context=ctx,
        forward=(*call("def forward", plain, " -> Any:"), f"    return {forward}"),
        setup=tuple(setup),
        backward_body=tuple(backward_body),
        jvp=tuple(jvp),
        kernel=tuple(call("def _autograd", [f"{keyset}: Any", *parameters], " -> Any:", 0)),
        recorded=tuple(recorded(names, "")),
        recorded_or_transformed=tuple(recorded(names, "_is_transformed()", wrapper=True)),
        applied=", ".join([*given_names, *spread(op, op.lists)]),
        applied_transformed=", ".join([*transformed, *spread(op, op.lists)]),
        nested="_runtime.nested(" if op.list_outputs else "",
        public=(f", {made(names)})" if op.list_outputs else "") + _public(op),
        redispatched=f"{keyset} & _after_autograd, {', '.join(passed)}",
    )
