"""docs/transforms.md: what works with each operator of ops.yaml, the test that shows it, and why something does not.

REWRITE=1 pytest tests/test_transforms_page.py writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.operators.cases import CASES
from benchmarks.operators.traffic import library
from codegen.batch import batch_of
from codegen.forward_mode import has_forward_derivative
from codegen.lower.python.batch import batch_lines, part_lines
from codegen.lower.schema import dispatched
from codegen.lower.shims import has_shim
from codegen.lower.tests.module import autograd_state, second_state
from codegen.model import Library, Operator

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "transforms.md"
HEAD = """\
<!-- Written by REWRITE=1 pytest tests/test_transforms_page.py. -->
# What works with each operator

Of the Python functions `my_ops.*`; where `torch.ops.my_ops.*` differs it says so in an error. *yes* leads to the file
of the test that shows it, whose name stands under the table; a letter is the reason why not. Where a derivative is
missing the call is an error that names the operator, never a derivative of zero.
"""
REASONS = {
    "a": "`autocast:` is not declared: inputs are taken in the dtype that they have.",
    "b": "It writes what it is given, which has no batch: `torch.vmap` refuses it by name.",
    "c": "Its gradient is not derived from `elementwise:`; `torch.func.vjp` and `jacrev` are there.",
    "d": "`differentiable: false` declares results to be constants, as those of `torch.argmax` are: their derivatives "
    "are zero. What is written must not require grad.",
    "f": "It has neither `flops:` nor `elementwise:`: PyTorch's counter counts nothing.",
    "g": "No gradient is declared: backward through it is an error, `test_gradient_is_missing`.",
    "l": "Lists of tensors, and writes, have no rule for DTensor, which replicates or refuses.",
    "m": "Its bytes follow from the same rule, and are not compared with a number of their own.",
    "r": "It has no CUDA part.",
    "s": "PyTorch's compiler would write a call that leaves something out; it goes through the dispatcher.",
    "t": "Its backward operator has no gradient: a second gradient is an error, `test_second_order`.",
}


@dataclass(frozen=True)
class Test:
    """What a cell leads to; without a file it is that of the operator's generated tests."""

    name: str
    path: str = ""

    def at(self, op: Operator) -> str:
        return self.path or f"generated/tests/test_{op.name}.py"


@dataclass(frozen=True)
class Column:
    """`why_not` is the letter of a reason, or nothing where it works."""

    title: str
    test: Test
    why_not: Callable[[Library, Operator], str]


def _gradient(_: Library, op: Operator) -> str:
    return {"declared": "", "never": "d", "missing": "g"}[autograd_state(op)]


def _vmap(of: Library, op: Operator) -> str:
    return "" if batch_lines(of, op) or part_lines(of, op) else "b"


def _second(of: Library, op: Operator) -> str:
    return _gradient(of, op) or ("" if second_state(of, op) == "declared" else "t")


def _sharded(of: Library, op: Operator) -> str:
    return "" if batch_of(of, op) and not op.written and not op.listed else "l"


def _forward(of: Library, op: Operator) -> str:
    return _gradient(of, op) or ("" if has_forward_derivative(of, op) else "c")


def _bytes(of: Library, op: Operator) -> str:
    """Those of a backward operator are counted where its forward one is."""
    forwards = [one.name for one in of.forwards_of(op.name)]
    return "" if {op.name, *forwards} & set(CASES) else "m"


TABLES = {
    "Batches and derivatives": (
        Column("vmap", Test("test_batch"), _vmap),
        Column("grad", Test("test_transforms"), _gradient),
        Column("vjp, jacrev", Test("test_jacobians"), _gradient),
        Column("vmap of grad", Test("test_batch_gradients"), lambda of, op: _gradient(of, op) or _vmap(of, op)),
        Column("double backward", Test("test_second_order"), _second),
        Column("jacrev of jacrev", Test("test_jacobians"), _second),
        Column("jvp, jacfwd", Test("test_transforms"), _forward),
        Column("DTensor", Test("test_two_processes", "tests/test_sharding.py"), _sharded),
    ),
    "Graphs": (
        Column("compile", Test("test_compiled_inductor"), lambda *_: ""),
        Column("dynamic shapes", Test("test_compiled_dynamic"), lambda *_: ""),
        Column("compiled training", Test("test_compiled_training"), _gradient),
        Column("export", Test("test_export"), lambda *_: ""),
        Column("AOTInductor's calls", Test("test_direct"),
               lambda _, op: "" if has_shim(op, dispatched(op)[0]) else "s"),
        Column("CUDA graph", Test("test_graph_capture"), lambda _, op: "" if "cuda" in op.devices else "r"),
    ),
    "PyTorch's modes": (
        Column("autocast", Test("test_autocast"), lambda _, op: "" if op.autocast else "a"),
        Column("deterministic", Test("test_results_do_not_change", "tests/test_counters.py"), lambda *_: ""),
        Column("FLOP counter", Test("test_operations_are_counted", "tests/test_counters.py"),
               lambda _, op: "" if op.flops or op.elementwise else "f"),
        Column("bytes counter", Test("test_bytes_are_those_of_the_benchmark", "tests/test_counters.py"), _bytes),
    ),
}  # fmt: skip


def page() -> str:
    of = library()
    used: set[str] = set()
    parts = [HEAD]
    for title, columns in TABLES.items():
        rows = [["operator", *(column.title for column in columns)], ["---"] * (len(columns) + 1)]
        for op in of.operators:
            cells = [_cell(of, op, column, used) for column in columns]
            rows.append([f"[{op.name}](ops/{op.name}.md)", *cells])
        table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
        shown = "".join(f"- {column.title}: `{column.test.name}`\n" for column in columns)
        parts.append(f"## {title}\n\n{table}\n{shown}")
    reasons = "".join(f"- *{letter}*: {REASONS[letter]}\n" for letter in sorted(used))
    return "\n".join([*parts, f"## Why not\n\n{reasons}"])


def named() -> set[str]:
    """Every test that a cell leads to."""
    of = library()
    return {
        f"{column.test.at(op)}::{column.test.name}"
        for columns in TABLES.values()
        for column in columns
        for op in of.operators
        if not column.why_not(of, op)
    }


def _cell(of: Library, op: Operator, column: Column, used: set[str]) -> str:
    letter = column.why_not(of, op)
    used |= set(letter)
    return f"*{letter}*" if letter else f"[yes](../{column.test.at(op)})"
