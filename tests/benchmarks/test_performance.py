"""docs/performance.md: what it says of results that are made up, and that it is what the results here say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchmarks.performance import limits, page, plots, store, tables
from benchmarks.performance.__main__ import main
from benchmarks.performance.measured import Row, Table
from benchmarks.performance.targets import CPU, GPU, OF_DEVICE, Target, Verdict, verdicts
from tests.benchmarks import made_up

ROOT = Path(__file__).parents[2]
TABLE = Table(made_up.results(), "cuda")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where results are; the page goes to the folder above it."""
    store.write(tmp_path / "results" / "made-up-gpu.json", made_up.results())
    return tmp_path / "results"


def row(kind: str = "forward", shape: str = "wide 64") -> Row:
    return next(one for one in TABLE.rows if (one.operator, one.kind, one.shape) == ("rms_norm", kind, shape))


def held(device: str = "cuda") -> dict[tuple[str, str, str], Verdict]:
    found = verdicts(Table(made_up.results(), device), GPU if device == "cuda" else CPU)
    return {(one.operator, one.target.kind, one.target.what): one for one in found}


def test_the_page_is_what_the_results_say() -> None:
    assert page.stale() == [], "python -m benchmarks.performance"


def test_ratios_are_of_one_run() -> None:
    one = row()
    assert one.share() == pytest.approx(0.9, rel=1e-5)
    assert one.against("ATen") == pytest.approx(2.0, rel=1e-5)
    assert one.best() == (pytest.approx(1.05, rel=1e-5), "QuACK")
    assert one.against("Liger") is None  # no graph could hold it
    assert one.against("Liger", "felt") is not None
    assert one.rate("my_ops") == pytest.approx(4 * 64 * 2**20 / row().time("my_ops") / 1e3)  # type: ignore[operator]
    moved = {**one.entries["ATen"], "beside": {"kernel": 1.0}}
    assert Row("rms_norm", "forward", "wide 64", {**one.entries, "ATen": moved}).against("ATen") == one.time("ATen")


def test_targets_are_held_against_the_worst_shape() -> None:
    found = held()
    low = found["rms_norm", "forward", "of the ceiling, N 64 to 256"]
    assert (low.row.shape, low.met) == ("wide 64", False)
    assert low.missed == pytest.approx((0.96 - 0.9) / 0.96, rel=1e-4)
    assert found["rms_norm", "backward", "of the ceiling, N 64 to 256"].met
    assert ("rms_norm", "forward", "of the ceiling, N 512") not in found  # not measured
    assert ("layer_norm", "forward", "of the ceiling, N 64 to 256") not in found
    best = found["gather_rows", "forward", "no bad shape: the best peer over ours, everywhere"]
    assert (best.met, best.peer) == (True, "QuACK")
    decode = found["rms_norm", "forward", "one to 64 rows"]
    assert (decode.row.shape, decode.met) == ("decode 1 x 4096", True)
    assert not found["rms_norm", "backward", "QuACK over ours, everywhere"].met
    assert found["rms_norm", "forward", "host time of a call more than ATen's"].worst == pytest.approx(-4.0)


def test_a_limit_from_above_is_held_against_the_largest() -> None:
    target = Target(("rms_norm",), "forward", "", 2.0, lambda one: float(one.n), ("wide", "odd"), most=True, unit="us")
    (found,) = verdicts(TABLE, [target])
    assert (found.worst, found.missed, target.wanted) == (1024.0, 511.0, "<= 2 us")


def test_reasons_stand_under_what_is_missed(tmp_path: Path) -> None:
    found = held("cpu").values()
    assert {(one.operator, one.met) for one in found} == {("rms_norm", False), ("rms_norm", True)}
    lines = limits.of_missed(found, {"rms_norm": "memory", "square": "nothing"})
    assert lines[2:] == ["- `rms_norm`: memory", ""]
    assert limits.of_missed([one for one in found if one.met], {"rms_norm": "memory"}) == []
    assert limits.of_missed(found, {}) == []
    (tmp_path / "few.yaml").write_text("cpu: {square: memory}\n")
    assert limits.reasons("cuda", tmp_path / "few.yaml") == {}
    assert limits.reasons("cpu", tmp_path / "few.yaml") == {"square": "memory"}


def test_reasons_are_of_operators() -> None:
    known = yaml.safe_load((ROOT / "ops.yaml").read_text())["ops"]
    for device in OF_DEVICE:
        assert set(limits.reasons(device)) <= set(known)


def test_on_the_cpu_calls_are_compared() -> None:
    found = held("cpu")
    assert found["rms_norm", "forward", "of memcpy"].worst == pytest.approx(0.8)
    assert found["rms_norm", "forward", "ATen over ours"].met


def test_tables() -> None:
    lines = tables.of_operator(TABLE, "rms_norm", "forward", "kernel")
    header = [cell.strip() for cell in lines[0].strip("|").split("|")]
    peers = ["my_ops", "ATen", "Liger", "QuACK"]
    assert header == ["shape", "rows x N", *peers, "ceiling", "share", "GB/s", "best peer / my_ops"]
    cells = [cell.strip() for cell in next(line for line in lines if "wide 1024" in line).strip("|").split("|")]
    assert cells == ["wide 1024", "65,536 x 1,024", "68.6", "137", "", "72", "61.7", "0.9", "3913", "1.05 (QuACK)"]
    assert "ceiling" not in tables.of_operator(TABLE, "rms_norm", "forward", "host")[0]
    assert [cell.strip() for cell in tables.of_peers(TABLE)[-1].strip("|").split("|")] == [
        "rms_norm", "backward", "2, 2", "", "1.05, 1.05"
    ]  # fmt: skip
    assert tables.of_calls(TABLE)[-1].replace(" ", "") == "|rms_norm|backward|decode1x4096|6.5(5)|12(9)|4.51|10.6(9)|"
    shares = [line.replace(" ", "") for line in tables.of_shares(TABLE)]
    assert shares[-1] == "|rms_norm|backward|0.9|||0.9||||||"


def test_a_page_of_made_up_results(folder: Path) -> None:
    root = folder.parent
    page.write(root, folder)
    assert page.stale(root, folder) == []
    text = (root / page.PAGE).read_text()
    assert "**missed by 7.2%**" in text
    assert "11 of 15 are met." in text
    assert "Farthest away: my_ops 0.3 (rms_norm at wide 64); ATen 0.3 (" in text
    assert "| `python -m benchmarks operators` | 2026-01-01 | Made-up GPU " in text
    assert "| rms_norm | forward | large float32 | 1342 | 0.8       | 4             |" in text
    drawn = sorted(path.name for path in (root / page.DRAWINGS).iterdir())
    assert drawn == ["made-up-gpu-gather_rows.svg", "made-up-gpu-rms_norm.svg"]
    for name in drawn:
        assert f"(performance/{name})" in text
        assert (root / page.DRAWINGS / name).stat().st_size < 100_000


def test_the_table_of_readme(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is written between its comments, and nothing beside them is touched."""
    monkeypatch.setattr(page, "SHOWN", ("made-up-gpu", "cuda", "wide 64"))
    readme = folder.parent / page.README
    readme.write_text(f"before\n{page.BEGIN}old\n{page.END}after\n")
    assert page.README in page.stale(folder.parent, folder)
    page.write(folder.parent, folder)
    assert page.stale(folder.parent, folder) == []
    text = readme.read_text()
    assert text.startswith(f"before\n{page.BEGIN}|")
    assert text.endswith(f"|\n{page.END}after\n")
    lines = text.splitlines()
    assert "old" not in lines
    forward = next(line for line in lines if line.startswith("| rms_norm") and "forward" in line)
    assert [float(cell) for cell in forward.split("|")[3:6]] == [
        pytest.approx(row().time("my_ops"), rel=5e-3), pytest.approx(0.9), pytest.approx(2.0)]  # fmt: skip
    readme.write_text("no comments\n")
    with pytest.raises(ValueError, match=r"the comments .* are missing"):
        page.write(folder.parent, folder)


def test_what_is_stale_is_named(folder: Path) -> None:
    root = folder.parent
    page.write(root, folder)
    results = made_up.results()
    slower = [one for one in results["entries"] if (one["operator"], one["peer"]) == ("rms_norm", "ATen")]
    for one in slower:
        one["kernel"] = [2 * value for value in one.get("kernel", [])]
    store.merge_into(folder / "made-up-gpu.json", store.stored({**made_up.GPU, "command": "later"}, slower))
    drawing = f"{page.DRAWINGS}/made-up-gpu-rms_norm.svg"
    assert page.stale(root, folder) == [page.PAGE, page.DETAILS, drawing]
    (root / page.DRAWINGS / "old.svg").write_text("")
    page.write(root, folder)
    assert page.stale(root, folder) == []
    assert not (root / page.DRAWINGS / "old.svg").exists()


def test_a_drawing_shows_every_peer(tmp_path: Path) -> None:
    shown = plots.panels(TABLE, "rms_norm")
    assert list(shown) == ["rms_norm forward, us", "rms_norm backward, us", "rms_norm forward, GB/s",
                           "rms_norm backward, GB/s"]  # fmt: skip
    drawn = shown["rms_norm forward, us"]
    assert list(drawn) == ["my_ops", "ATen", "QuACK", "ceiling", "my_ops, odd", "ATen, odd", "QuACK, odd"]
    assert [n for n, _ in drawn["my_ops"]] == [64, 1024]
    assert [n for n, _ in drawn["QuACK, odd"]] == [65]
    for name in ("one", "two"):
        plots.draw(tmp_path / name, shown)
    text = (tmp_path / "one").read_text()
    assert text == (tmp_path / "two").read_text()
    assert all(f">{word}<" in text for word in ("my_ops", "ATen", "QuACK", "ceiling", "rms_norm backward, GB/s"))


def test_without_matplotlib_there_is_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match="matplotlib is not installed here, and draws the plots"):
        page.write(folder.parent, folder)
    assert (folder.parent / page.PAGE).exists()


def test_files_from_elsewhere_are_merged(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elsewhere = tmp_path / "out" / "made-up-gpu.json"
    store.write(elsewhere, store.stored(made_up.GPU, made_up.on_gpu("square", "forward", "wide 64")))
    monkeypatch.setattr(store, "FOLDER", folder)
    monkeypatch.setattr(page, "write", lambda: None)
    monkeypatch.setattr(sys, "argv", ["performance", str(elsewhere)])
    assert main() == 0
    operators = {one["operator"] for one in store.read(folder / "made-up-gpu.json")["entries"]}
    assert operators == {"square", "rms_norm", "gather_rows"}


def test_no_results_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page.page([]).endswith(page.NOTHING)
    assert page.stale(tmp_path, tmp_path) == [page.PAGE, page.DETAILS]
    monkeypatch.setattr(sys, "argv", ["performance", str(tmp_path / "none.json")])
    with pytest.raises(SystemExit):
        main()


def test_no_pytorch_is_needed() -> None:
    program = "import sys, benchmarks.performance.__main__; print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
