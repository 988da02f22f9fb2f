"""The Python of an operator that writes in place: what autograd is told, and what its wrapper returns.

A call that would have to be recorded ends in an error: with `differentiable: false` at once, otherwise in backward,
because `backward:` is refused for such operators.
"""

from __future__ import annotations

from codegen.frozen import dataclass
from codegen.lower.python.autograd import targets
from codegen.lower.python.names import HELPER, Names, call
from codegen.lower.python.recording import recorded, spread
from codegen.model import Operator


@dataclass(frozen=True)
class WrittenView:
    """What the templates need."""

    names: str  # the written arguments: "x, y"
    keywords: str  # the same by name: "x=x, y=y"
    inputs: str  # every tensor that gradients may come through, lists as they are
    forward: tuple[str, ...]  # of the autograd.Function
    setup: tuple[str, ...]
    recorded: tuple[str, ...]  # the condition under which a call would be recorded, up to its colon
    refused: tuple[str, ...]  # the condition under which it is refused
    wrapper_recorded: tuple[str, ...]  # the same two in the wrapper
    wrapper_refused: tuple[str, ...]
    counter: tuple[str, ...]  # the head of the kernel that counts writes
    redispatched: str
    outputs: bool
    results: str  # the left side of a call that has outputs: "y = "
    result: str  # what it then returns
    returned: str  # what the wrapper returns: the outputs, or where there are none, what was written
    applied: str  # which of the Function's results that is: "[1:]"


def written_view(names: Names, parameters: list[str], passed: list[str]) -> WrittenView | None:
    """The view of one operator, None when it writes nothing."""
    op = names.op
    if not op.written:
        return None
    written = [argument.name for argument in op.written]
    outputs = [output.name for output in op.outputs]
    keyset = names.fresh("keyset")
    return WrittenView(
        names=", ".join(written),
        keywords=", ".join(f"{name}={name}" for name in written),
        inputs=", ".join(argument.name for argument in op.may_need_gradient),
        forward=tuple(_forward(names, parameters, passed)),
        setup=tuple(_setup(names)),
        recorded=tuple(recorded(names, "")),
        refused=tuple(recorded(names, "", only=spread(op, op.written))),
        wrapper_recorded=tuple(recorded(names, "", wrapper=True)),
        wrapper_refused=tuple(recorded(names, "", only=spread(op, op.written), wrapper=True)),
        counter=tuple(call("def _count_writes", [f"{keyset}: Any", *parameters], " -> Any:", 0)),
        redispatched=f"{keyset} & _after_in_place, {', '.join(passed)}",
        outputs=bool(outputs),
        results=f"{', '.join(outputs)} = " if outputs else "",
        result=", ".join(outputs),
        returned=", ".join(outputs or written),
        applied=_place(op, len(outputs)),
    )


def _place(op: Operator, outputs: int) -> str:
    """Which of the Function's results, what was written and then the outputs, a wrapper returns."""
    if not outputs:
        return ""
    lists = [f"{HELPER}count({argument.name})" for argument in op.written if argument in op.lists]
    alone = len(op.written) - len(lists)
    start = " + ".join([*lists, *([str(alone)] if alone or not lists else [])])
    if outputs == 1:
        return f"[{start}]"
    return f"[{start} :]" if lists else f"[{start}:]"


def _forward(names: Names, parameters: list[str], passed: list[str]) -> list[str]:
    plain = [parameter.split(" = ")[0] for parameter in parameters if parameter != "*"]
    plain += ["*_: Any"] if names.op.lists else []
    outputs = [output.name for output in names.op.outputs]
    results = f"{', '.join(outputs)} = " if outputs else ""
    found = spread(names.op, names.op.written) + outputs
    returned = f"({', '.join(found)}{',' if len(found) == 1 else ''})" if names.op.lists else ", ".join(found)
    return [
        *call("def forward", plain, " -> Any:"),
        f"    {results}_call_no_grad({', '.join(passed)})",
        f"    return {returned}",
    ]


def _setup(names: Names) -> list[str]:
    op, inputs = names.op, names.fresh("inputs")
    ctx = names.fresh("ctx")
    written = [argument.name for argument in op.written]
    places = [argument.name if argument in op.written else "_" for argument in op.arguments]
    unpacked = targets(places + (["*_"] if op.lists else []))
    given = [f"{ctx}: Any", f"{inputs}: Any", f"{names.fresh('output')}: Any"]
    return [
        *call("def setup_context", given, " -> None:"),
        f"    {unpacked} = {inputs}",
        f"    {ctx}.mark_dirty(*_runtime.present({', '.join(written)}))",
    ]
