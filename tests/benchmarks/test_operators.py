"""A run of the group operators on tiny CPU tensors, in processes as on a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch

from benchmarks import operators
from benchmarks.__main__ import main
from benchmarks.cuda_cases import Shape
from benchmarks.operators import cpu
from benchmarks.operators.cases import CASES
from benchmarks.operators.cases.operator import Operator
from benchmarks.operators.cases.peers import INSTALLED, PEERS, Implementation, has, implementation_of
from benchmarks.operators.checked import distance
from benchmarks.operators.shapes import Named, chosen, shapes_of
from benchmarks.operators.worker import one_line
from benchmarks.options import Options, Selection


def test_peers_are_timed_and_compared(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "installed", lambda peer: peer != "QuACK")
    wanted = Selection(("rms_norm", "gather_rows"), ("ATen", "Liger", "QuACK"), ("decode 4 x 4096", "odd 65"))
    run = operators.Run(Options("cpu", True, True, wanted))
    run.measure()
    found = {(e["operator"], e["kind"], e["peer"]): e for e in run.entries if e["shape"] == "odd 65"}
    assert {name for name in found if name[2] == "ATen"} == {
        ("rms_norm", "forward", "ATen"),
        ("rms_norm", "backward", "ATen"),
        ("gather_rows", "forward", "ATen"),
    }
    ours, aten = found["rms_norm", "backward", "my_ops"], found["rms_norm", "backward", "ATen"]
    assert ours["against"] == "triad"
    assert ours["distance"] <= 1
    for times in (ours["kernel"], ours["felt"], ours["host"], ours["ceiling"], aten["kernel"]):
        assert 0 < times[0] <= times[1] <= times[2]
    assert aten["beside"] == {name: ours[name][1] for name in ("kernel", "felt", "host")}
    assert "ceiling" not in aten
    assert any(note.startswith("Liger, rms_norm, everywhere: ") for note in run.result.notes)  # there is no GPU for it
    assert "QuACK: not installed here" in run.result.notes
    assert "operators[####" in capfd.readouterr().err


def test_what_fails_while_it_is_timed_is_a_note_and_no_entry() -> None:
    class Fails:
        name = "my_ops"
        prepared: ClassVar[Any] = {("square", "odd 65"): {"distance": 0.1}}

        def time(self, *request: object) -> dict[str, Any]:
            times = [1.0, 2.0, 3.0]
            return {"kinds": {"forward": {"note": "RuntimeError: no"}, "backward": {"felt": times, "note": "no graph"}}}

    run = operators.Run(Options("cpu", True, True))
    (named,) = shapes_of_name("square", "odd 65")
    ours: dict[str, Any] = {}
    run.cell(Fails(), "square", named, ours)  # type: ignore[arg-type]
    assert [(entry["kind"], entry["felt"], entry["note"]) for entry in run.entries] == [
        ("backward", [1.0, 2.0, 3.0], "no graph")
    ]
    assert ours == {"backward": {"felt": 2.0}}
    assert run.result.notes == ["my_ops, square forward at odd 65: RuntimeError: no"]


def shapes_of_name(operator: str, name: str) -> list[Named]:
    return chosen(shapes_of(operator, tiny=True), (name,))


def test_a_budget_is_kept() -> None:
    run = operators.Run(Options("cpu", True, True, Selection(("square",), ("none",), ("decode",), budget=0.0)))
    run.measure()
    assert run.entries == []
    assert any("not ready in time" in note or "time is up" in note for note in run.result.notes)


def test_on_the_cpu_memcpy_is_the_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "keep_memory", lambda: None)  # which would outlive this test
    run = cpu.Run(Options("cpu", True, False, Selection(peers=("ATen",))), ["rms_norm", "quantize_per_token"], 1 << 18)
    run.measure()
    found = {(e["operator"], e["kind"], e["shape"], e["peer"]): e for e in run.entries}
    assert len(found) == len(run.entries) == 2 * 2 * (2 + 1)  # dtypes, peers, kinds
    ours = found["rms_norm", "backward", "large bfloat16", "my_ops"]
    assert ours["against"] == "memcpy"
    assert 0 < ours["ceiling"][0] <= ours["ceiling"][2]
    aten = found["rms_norm", "backward", "large bfloat16", "ATen"]
    assert aten["beside"] == {"felt": ours["felt"][1]}
    assert ours["bytes"] > 3 * 2**18


def test_on_the_cpu_lists_are_of_large_tensors_and_of_many() -> None:
    """Both in float32, whatever a shape says, and of as many bytes."""
    assert [one.name for one in cpu.shapes_of("square")] == ["large float32", "large bfloat16"]
    large, many = cpu.shapes_of("adamw_step")
    assert (large.name, many.name) == ("large float32", "many float32")
    assert large.shape.rows * large.shape.n == many.shape.rows * many.shape.n == cpu.BYTES // 4
    assert all(t.dtype == torch.float32 for xs in CASES["adamw_step"](Shape(2, 8), "cpu").inputs() for t in xs)


@pytest.mark.parametrize("operator", CASES)
def test_ours_and_the_usual_way_agree(operator: str) -> None:
    shape = Shape(3, 256)
    op = CASES[operator](shape, "cpu")
    for peer, most in (("my_ops", 1), ("ATen", 2)):  # of several operators in a row, ATen rounds each
        implementation = implementation_of(peer, operator, shape, op)
        assert implementation is not None
        assert distance(op, implementation, shape) <= most


def test_a_formula_for_the_compiler_is_right() -> None:
    shape = Shape(5, 33)
    for case in CASES.values():
        op = case(shape, "cpu")
        if op.formula is not None:
            assert distance(op, Implementation(op.formula, op.formula), shape) <= 1


def test_what_is_wrong_is_far_away() -> None:
    shape = Shape(4, 64, torch.float32)
    op = CASES["rms_norm"](shape, "cpu")

    def wrong(function: object) -> float:
        return distance(
            op,
            Implementation(op.ours, lambda x, w: op.ours(x, w) + 0 * x if function is None else function(x, w)),
            shape,
        )  # type: ignore[operator]

    assert wrong(None) <= 1
    assert wrong(lambda x, w: op.ours(x, w) * 1.01) > 100
    assert wrong(lambda x, w: op.ours(x.detach(), w) + 0 * x) > 100  # the gradient alone
    nan = Operator(op.inputs, lambda x, w: x * float("nan"), op.eager)
    assert distance(nan, Implementation(nan.ours, nan.ours), shape) == float("inf")


def test_errors_of_compilers_become_a_line() -> None:
    assert one_line(RuntimeError("\n\x1b[91m\x1b[1merror[1]:\x1b[0m no IR\nmore")) == "RuntimeError: error[1]: no IR"
    assert one_line(RuntimeError()) == "RuntimeError: "


def test_operators_of_other_libraries_are_operators_here() -> None:
    for peer in PEERS:
        for name in CASES:
            assert has(peer, name) or peer in INSTALLED


def test_a_run_is_kept_without_the_place_that_it_wrote_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "operators", "--output", str(tmp_path), "--peers", "ATen"])
    path, stamp = operators.results(Options("cpu", True, False, Selection(output=tmp_path)))
    assert path.parent == tmp_path
    assert stamp["command"] == "python -m benchmarks operators --peers ATen"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--operators", "rms"], "--operators: no 'rms'; there are adamw_step, "),
        (["--peers", "Triton"], "--peers: no 'Triton'; there are ATen, Liger, QuACK, compile, my_ops, none"),
        (["--shapes", "wide 63"], "--shapes: no 'wide 63'; there are decode, decode 1 x 4096, "),
    ],
)
def test_words_that_mean_nothing(
    arguments: list[str], text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "operators", *arguments])
    with pytest.raises(SystemExit):
        main()
    assert text in capsys.readouterr().err
