"""import, and what is built of what it writes: needs the library of this project."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from codegen.commands.import_library import _bodies
from codegen.registered.ask import Question, ask
from codegen.registered.select import select, spec
from my_ops import quick
from tests.round_trip import differences, imported

ROOT = Path(__file__).parents[1]


def test_the_library_of_this_project() -> None:
    """Its schemas are those of the spec that is made of them."""
    answer, selection = imported(ROOT / "generated" / "my_ops" / "my_ops.so")
    assert (answer.namespace, selection.left_out) == ("my_ops", ())
    assert len(selection.drafts) > 20
    registered = {op.qualified: op.schema for op in answer.operators}
    assert differences(selection, registered) == set()
    assert differences(selection, registered | {"rms_norm": "rms_norm(Tensor x) -> Tensor"}) == {"rms_norm"}


def test_contracts_and_skeletons() -> None:
    """What fake kernels say is what ops.yaml says; a body that is not written builds, and says so in each call."""
    names = ("rms_norm_backward", "gather_rows", "quantize_per_token")
    answer = ask(Question(module="my_ops", operators=names))
    drafts = select("begun", answer.operators, names).drafts
    text = spec("begun", [one.text for one in drafts])
    assert "grad_y: T[*rows, n]\n      x: T[*rows, n]\n      weight: T[n]?\n      rstd: acc(T)[*rows]\n" in text
    assert "grad_x: T[*rows, n]\n      grad_weight: T[n]\n" in text
    assert "    types: {T: all, I: [int32, int64]}\n    inputs:\n      table: T[m, n]\n      index: I[k]\n" in text
    assert "      y1: int8[*rows, n]\n      y2: float32[*rows]\n" in text
    bodies = {one.name: _bodies(one, "begun")[f"{one.name}.c"].decode() for one in drafts}
    on_cpu = text.replace("namespace: begun", "namespace: begun\ndevices: [cpu]")
    operators = quick.load(on_cpu.replace("types: {T: all", "types: {T: [float32]"), cpu=bodies)
    with pytest.raises(RuntimeError, match=r"^begun::gather_rows: csrc/gather_rows\.c is not written yet$"):
        operators.gather_rows(torch.ones(2, 3), torch.zeros(1, dtype=torch.int64))
