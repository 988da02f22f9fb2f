"""The entry of a registered operator in a spec: what its schema says, what its fake kernel says, TODO for the rest.

An input whose shape nobody knows says so with a star of its own, which is true of any tensor. The shape of an output
has to be computed, so there is no true thing to write: TODO stands there, and commands refuse the spec at that place.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence

from codegen import names
from codegen.frozen import dataclass
from codegen.parse_type import SCALAR_KINDS
from codegen.registered.facts import TODO, Entry, Registered
from codegen.tags import SAID_BY_KEY, TAGS

_WIDTH = 116
_PLAIN = re.compile(r"[A-Za-z][\w\[\]*, .()+/=?!<>-]*")
_KEYS = {"Autocast": "autocast:", "FuncTorchBatched": "batch:"}
_INSTEAD = {
    "Generator": "random: true draws from PyTorch's generator",
    "number": "say float or int",
    "Layout": "layouts are said by words such as strided",
}


class CannotImport(Exception):
    """Why an operator has no entry."""


@dataclass(frozen=True)
class Draft:
    """An entry. `lines` are those of the spec, the name first, `remarks` the comments above, `arguments` the names of
    its arguments. `stand_in` are the lines with something in each place of TODO, so that the rest can be checked.
    """

    name: str
    remarks: tuple[str, ...]
    lines: tuple[str, ...]
    arguments: tuple[str, ...]
    devices: tuple[str, ...]
    stand_in: tuple[str, ...]

    @property
    def text(self) -> str:
        """As it stands under `ops:`."""
        return "\n".join(f"  {line}" for line in (*_comments(self.remarks), *self.lines)) + "\n"

    @property
    def filled(self) -> str:
        """The same without remarks, and without TODO."""
        return "\n".join(f"  {line}" for line in self.stand_in) + "\n"

    @property
    def to_do(self) -> int:
        """How many places wait for their writer."""
        return sum(TODO in line for line in self.lines)


@dataclass(frozen=True)
class Forms:
    """What else belongs to an operator: its in-place form, and the keywords of its out form."""

    inplace: Registered | None = None
    out: Registered | None = None


def draft(op: Registered, forms: Forms, others: Mapping[str, Registered]) -> Draft:
    """The entry. `others` are the operators of the library by name. Raises CannotImport."""
    return _Writer(op, forms, others).draft()


def usable(name: str, taken: Collection[str] = ()) -> str:
    """`name`, or one like it that an argument may have."""
    bare = re.sub(r"_{2,}", "_", name.lstrip("_")) or "x"
    for one in (name, bare, f"{bare}_", f"{bare}_arg", *(f"{bare}{i}" for i in range(2, 100))):
        if not names.problem(one) and one not in taken:
            return one
    return "x"


class _Writer:
    """Writes one entry."""

    def __init__(self, op: Registered, forms: Forms, others: Mapping[str, Registered]) -> None:
        self.op, self.forms, self.others = op, forms, others
        self.remarks = [op.schema, *(form.schema for form in (forms.inplace, forms.out) if form is not None)]
        self.masked = _is_mask(op)
        self.arguments = [one for one in op.arguments if not (self.masked and one.name == "grad_mask")]
        self.returns = [one for one in op.returns if not one.written]
        self.taken: set[str] = set()
        self.called: dict[str, str] = {}
        self.shapes: dict[str, str] = {}

    def draft(self) -> Draft:
        self.refuse()
        for one in self.arguments:
            self.called[one.name] = usable(one.name, self.taken)
            self.taken.add(self.called[one.name])
            if self.called[one.name] != one.name:
                why = names.problem(one.name)
                self.remarks.append(f"The argument {one.name} is called {self.called[one.name]} here: {why}.")
        contract = self.op.contract
        known = {} if contract is None else contract.inputs
        inputs = [(one, self.input(one, known.get(one.name, ""))) for one in self.arguments]
        outputs = self.outputs()
        self.say_what_is_known()
        return Draft(
            self.op.name,
            tuple(self.remarks),
            self.lines(inputs, outputs),
            tuple(self.called[one.name] for one in self.arguments),
            tuple(self.op.devices) or ("cpu", "cuda"),
            self.lines(inputs, [(name, self.stand_in(name, text)) for name, text in outputs]),
        )

    def refuse(self) -> None:
        for one in self.op.arguments:
            if not one.is_tensor and one.kind not in SCALAR_KINDS:
                instead = next((f"; {text}" for word, text in _INSTEAD.items() if word in one.kind), "")
                raise CannotImport(f"argument {one.name}: no argument has the type {one.kind}{instead}")
            if one.alias and not one.written:
                raise CannotImport(f"argument {one.name}: what is returned views it, and outputs never alias inputs")
        if not self.op.returns and not any(one.written for one in self.op.arguments):
            raise CannotImport("it returns nothing and writes nothing, so that there is nothing to compute")
        for one in self.op.returns:
            if not one.is_tensor:
                raise CannotImport(f"it returns {one.kind}, and operators return tensors")
            if one.alias and not one.written:
                raise CannotImport("it returns a view, and outputs never alias inputs")
            if one.is_list and (one.optional or one.element_optional):
                raise CannotImport("it returns a list that may lack tensors, and outputs have all of theirs")

    # -------------------------------------------------------- arguments and outputs

    def input(self, one: Entry, known: str) -> str:
        if not one.is_tensor:
            brackets = f"[{one.length or ''}]" if one.is_list else ""
            kind = f"{one.kind}{brackets}{'?' if one.optional else ''}"
            return kind if one.default is None else f"{kind} = {one.default}"
        if one.is_list and one.length:
            self.remarks.append(f"{one.name} is a list of {one.length}, which the schema of a list here does not say.")
        kind = self.renamed(known) or f"T[*{self.star(self.called[one.name])}]"
        self.shapes[self.called[one.name]] = kind
        self.taken |= set(re.findall(r"[A-Za-z_]\w*", kind.partition("[")[2]))
        marks = ("?" if one.element_optional else "") + "[]" if one.is_list else ""
        marks += ("?" if one.optional else "") + ("!" if one.written else "")
        return f"{kind}{marks}" + ("" if one.default is None else f" = {one.default}")

    def star(self, name: str) -> str:
        return usable(f"{name}_shape"[: names.MAX_NAME], self.taken | set(self.called.values()))

    def renamed(self, text: str) -> str:
        changed = {old: new for old, new in self.called.items() if old != new}
        return re.sub(r"[A-Za-z_]\w*", lambda found: changed.get(found[0], found[0]), text)

    def outputs(self) -> list[tuple[str, str]]:
        known = [] if self.op.contract is None else [self.renamed(text) for text in self.op.contract.outputs]
        found = []
        for place, (name, one) in enumerate(zip(self.output_names(), self.returns, strict=True)):
            text = known[place] if place < len(known) else ""
            if not text or TODO in text:
                text = self.of_inplace(place) or text
            kind = (text or f"T[{TODO}]") + ("[]" if one.is_list else "")
            found.append((name, kind + (f" if {TODO}" if one.optional else "")))
        return found

    def of_inplace(self, place: int) -> str:
        """What is written in place has the shape of what it is written to."""
        written = _by_alias(self.forms.inplace)
        return self.shapes[self.called[written[place].name]] if place < len(written) else ""

    def stand_in(self, name: str, text: str) -> str:
        """An output with something in the place of TODO: a list has the shape of a list that is always there, the
        gradient of a list that of the list.
        """
        lists = [one for one in self.arguments if one.is_list and one.is_tensor]
        own = [one for one in lists if f"grad_{one.name}" == name]
        whole = [one for one in lists if not (one.optional or one.element_optional)]
        kind = next((self.shapes[self.called[one.name]] for one in (*own, *whole)), "[]")
        text = text.replace(f"[{TODO}][]", f"{kind[kind.index('[') :]}[]").replace(f"[{TODO}]", "[]")
        return re.sub(rf"\b{TODO}\[", "float32[", text.replace(f" if {TODO}", f" if {self.condition()}"))

    def condition(self) -> str:
        """Something that depends on a call."""
        for one in self.arguments:
            name = self.called[one.name]
            if one.optional:
                return f"given({name})"
            if one.kind in ("bool", "int", "size", "float") and not one.is_list:
                return name if one.kind == "bool" else f"{name} > 0"
        return "True"

    def output_names(self) -> list[str]:
        count = len(self.returns)
        out = [one.name for one in _by_place(self.forms.out)]
        backward = self.others.get(f"{self.op.name}_backward")
        upstream = (
            [one.name[5:] for one in backward.arguments if one.name.startswith("grad_") and one.is_tensor]
            if backward
            else []
        )
        forward = self.others.get(self.op.name.removesuffix("_backward"))
        wanted = [one.name for one in self.returns]
        if self.masked or (count == 1 and forward is not None and forward is not self.op):
            wanted = _gradients(forward, [] if self.op.contract is None else list(self.op.contract.outputs), count)
        elif count > 1 and len(out) == count:
            wanted = out
        elif len(upstream) == count:
            wanted = upstream
        plain = ["y"] if count == 1 else [f"y{i + 1}" for i in range(count)]
        found: list[str] = []
        for name, other in zip(wanted, plain, strict=True):
            free = bool(name) and not names.problem(name) and name not in self.taken | set(found)
            found.append(name if free else usable(other, self.taken | set(found)))
        return found

    # -------------------------------------------------------- the rest

    def lines(self, inputs: Sequence[tuple[Entry, str]], outputs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        return f"{self.op.name}:", *(f"  {line}" for line in self.keys(inputs, outputs))

    def keys(self, inputs: Sequence[tuple[Entry, str]], outputs: Sequence[tuple[str, str]]) -> list[str]:
        known = {} if self.op.contract is None else dict(self.op.contract.types)
        if any(re.match(r"(acc\()?T\b", text) for text in (*self.shapes.values(), *(text for _, text in outputs))):
            known = {"T": known.get("T", "floating"), **known}
        found = [f"doc: {scalar(' '.join(self.op.doc.split()))}"] if self.op.doc else []
        if known:
            found.append(f"types: {{{', '.join(f'{name}: {text}' for name, text in known.items())}}}")
        for section, keyword in (("inputs", False), ("keywords", True)):
            listed = [(self.called[one.name], text) for one, text in inputs if one.keyword_only == keyword]
            found += [f"{section}:", *(f"  {name}: {scalar(text)}" for name, text in listed)] if listed else []
        if outputs:
            found += ["outputs:", *(f"  {name}: {scalar(text)}" for name, text in outputs)]
        lengths = [
            f"  - len({self.called[one.name]}) == {one.length}" for one, _ in inputs if one.is_tensor and one.length
        ]
        found += ["checks:", *lengths] if lengths else []
        devices = list(self.op.devices) or ["cpu", "cuda"]
        given = (one for one, _ in inputs if one.is_tensor and not (one.optional or one.element_optional))
        first = next((self.called[one.name] for one in given), "")
        if devices != ["cpu", "cuda"]:
            found.append(f"devices: [{', '.join(devices)}]")
        if "cpu" in devices:
            found.append(f"parallel: {f'numel({first})' if first else 1}")
        if "cuda" in devices:
            found += ["launch:", f"  grid: {f'ceil_div(numel({first}), 256)' if first else 1}", "  block: 256"]
        tags = [tag for tag in self.op.tags if tag in TAGS and tag not in SAID_BY_KEY]
        found += [f"tags: [{', '.join(tags)}]"] if tags else []
        found += ["deterministic: false"] if "nondeterministic_bitwise" in self.op.tags else []
        return found + self.variants([name for name, _ in outputs])

    def variants(self, outputs: Sequence[str]) -> list[str]:
        if self.forms.inplace is None:
            return ["variants: {out: true}"] if self.forms.out is not None else []
        written = [self.called[one.name] for one in _by_alias(self.forms.inplace)]
        pairs = ", ".join(f"{output}: {given}" for output, given in zip(outputs, written, strict=True))
        return [f"variants: {{inplace: {{{pairs}}}{', out: true' if self.forms.out is not None else ''}}}"]

    def say_what_is_known(self) -> None:
        """What the reader has to know of where the entry comes from."""
        op, contract = self.op, self.op.contract
        tensors = any(one.is_tensor for one in (*op.arguments, *op.returns))
        if contract is not None:
            self.remarks.append("Shapes and dtypes are what its fake kernel takes and returns for samples.")
            self.remarks += [f"{note[0].upper()}{note[1:]}." for note in contract.notes]
        elif op.fake and tensors:
            said = f" ({op.asked})" if op.asked else ""
            self.remarks.append(f"Its fake kernel took no sample{said}: shapes and dtypes are still to be said.")
        elif tensors:
            self.remarks.append("It has no fake kernel to ask: shapes and dtypes are still to be said.")
        if len(op.returns) > len(self.returns):
            self.remarks.append("It returned what it writes; here the Python function does, and the schema does not.")
        if "nondeterministic_seeded" in op.tags:
            self.remarks.append("It draws numbers, to which random: true gives bodies a seed.")
        if op.kernels:
            keys = [text for start, text in _KEYS.items() if any(key.startswith(start) for key in op.kernels)]
            more = f"; {' and '.join(keys)} may say what they do" if keys else ""
            self.remarks.append(f"It has kernels for {', '.join(op.kernels)}, which the entry does not have{more}.")
        gradient = f"{op.name}_backward"
        hint = (
            f"if it is {gradient}, add backward: {gradient}"
            if gradient in self.others
            else "backward: names its operator"
        )
        if op.autograd:
            self.remarks.append(f"A kernel for autograd is registered, and what it computes cannot be seen; {hint}.")
        elif op.composite:
            self.remarks.append(f"Its gradients were those of the operators that it calls; {hint}.")


def _comments(remarks: Sequence[str]) -> list[str]:
    wrapped = [textwrap.wrap(" ".join(text.split()), _WIDTH - 4, subsequent_indent="  ") for text in remarks]
    lines = [line for lines in wrapped for line in lines]
    return [f"# {line}" for line in lines]


def scalar(text: str) -> str:
    """A text as YAML writes it behind a key."""
    if _PLAIN.fullmatch(text) and text == text.strip():
        return text
    return "'" + text.replace("'", "''") + "'"


def _is_mask(op: Registered) -> bool:
    """Whether an operator has the keyword that one with several gradients has without saying so."""
    mask = next((one for one in op.arguments if one.name == "grad_mask"), None)
    if (
        mask is None
        or mask is not op.arguments[-1]
        or not mask.keyword_only
        or (mask.kind, mask.is_list) != ("bool", True)
    ):
        return False
    if any(one.is_list for one in op.returns):
        return (mask.length, mask.default) == (0, "[]")
    count = len(op.returns)
    return count > 1 and (mask.length, mask.default) == (count, f"[{', '.join(['True'] * count)}]")


def _gradients(forward: Registered | None, outputs: Sequence[str], count: int) -> list[str]:
    """Names of gradients: those of tensors of the forward operator that can have one, in their order; of equal shapes
    where shapes are known.
    """
    contract = forward.contract if forward is not None else None
    known = {} if contract is None else contract.inputs
    tensors = [one.name for one in forward.arguments if one.is_tensor] if forward is not None else []
    tensors = [name for name in tensors if not re.match(r"I\[|u?int|bool", known.get(name, ""))]
    found: list[str] = []
    for output in outputs:
        found += [next((name for name in tensors if known.get(name) == output and name not in found), "")]
    if len(found) == count and all(found):
        return [f"grad_{name}" for name in found]
    return (
        [f"grad_{name}" for name in tensors[:count]]
        if len(tensors) >= count
        else [f"grad_{i + 1}" for i in range(count)]
    )


def _by_alias(op: Registered | None) -> list[Entry]:
    """The written arguments in the order of their letters."""
    written = [] if op is None else [one for one in op.arguments if one.written]
    return sorted(written, key=lambda one: one.alias)


def _by_place(op: Registered | None) -> list[Entry]:
    return [] if op is None else [one for one in op.arguments if one.written]
