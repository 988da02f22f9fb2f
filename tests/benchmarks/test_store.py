"""Runs are merged without losing what others measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.performance import store


def entry(operator: str, peer: str, kernel: float, **more: Any) -> dict[str, Any]:
    found = {"operator": operator, "kind": "forward", "shape": "wide 64", "device": "cuda", "peer": peer}
    return {**found, "kernel": [kernel, kernel, kernel], **more}


def kernels(path: Path) -> dict[tuple[str, str], float]:
    return {(e["operator"], e["peer"]): e["kernel"][1] for e in store.read(path)["entries"]}


FIRST = {"gpu": "A", "command": "first", "date": "2026-01-01"}
SECOND = {"gpu": "A", "command": "second", "date": "2026-01-02"}


def test_a_run_replaces_what_it_measured_and_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "gpu.json"
    store.merge_into(path, store.stored(FIRST, [entry("softmax", "my_ops", 1.0), entry("softmax", "ATen", 2.0)]))
    store.merge_into(path, store.stored(SECOND, [entry("softmax", "my_ops", 3.0), entry("rope", "my_ops", 4.0)]))
    assert kernels(path) == {("softmax", "my_ops"): 3.0, ("softmax", "ATen"): 2.0, ("rope", "my_ops"): 4.0}
    found = store.read(path)
    commands = {e["peer"] + e["operator"]: found["runs"][e["run"]]["command"] for e in found["entries"]}
    assert commands == {"my_opssoftmax": "second", "ATensoftmax": "first", "my_opsrope": "second"}


def test_runs_of_which_nothing_is_left_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    store.merge_into(path, store.stored(FIRST, [entry("softmax", "my_ops", 1.0)]))
    store.merge_into(path, store.stored(SECOND, [entry("softmax", "my_ops", 2.0)]))
    assert [run["command"] for run in store.read(path)["runs"].values()] == ["second"]


def test_kinds_shapes_and_devices_are_entries_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "gpu.json"
    others = [
        entry("softmax", "my_ops", 1.0, **one) for one in ({"kind": "backward"}, {"shape": "x"}, {"device": "cpu"})
    ]
    store.merge_into(path, store.stored(FIRST, [entry("softmax", "my_ops", 2.0), *others]))
    assert len(store.read(path)["entries"]) == 4


def test_files_do_not_depend_on_the_order_of_runs(tmp_path: Path) -> None:
    runs = [store.stored(FIRST, [entry("b", "my_ops", 1.0)]), store.stored(SECOND, [entry("a", "ATen", 1 / 3)])]
    for name, order in (("one", runs), ("two", runs[::-1])):
        for run in order:
            store.merge_into(tmp_path / name, run)
    text = (tmp_path / "one").read_text()
    assert text == (tmp_path / "two").read_text()
    assert "0.333333," in text


def test_there_may_be_no_file(tmp_path: Path) -> None:
    assert store.read(tmp_path / "none.json") == {"runs": {}, "entries": []}
