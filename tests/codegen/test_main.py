"""The command line, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.__main__ import main

ROOT = Path(__file__).parents[2]
SPEC = """\
namespace: demo
ops:
  twice:
    doc: 2 x.
    types: {T: floating}
    inputs:
      x: T[*shape]
    outputs:
      y: T[*shape]
    launch:
      grid: ceil_div(numel(x), 256)
      block: 256
    parallel: numel(x)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "random"}
    command = [sys.executable, "-W", "error", "-m", "codegen", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ops.yaml").write_text(SPEC)
    (tmp_path / "csrc").mkdir()
    for name in ("twice.c", "twice.cu"):
        (tmp_path / "csrc" / name).touch()
    return tmp_path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_generate_and_check(project: Path) -> None:
    done = run(project, "generate")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("generated: ")
    first = snapshot(project / "generated")
    docs = {f"docs/{name}": data for name, data in snapshot(project / "docs" / "ops").items()}
    assert sorted(docs) == ["docs/README.md", "docs/twice.md"]
    first |= docs
    assert run(project, "generate").stdout.endswith(f"0 files written, 0 removed, {len(first)} unchanged\n")
    assert run(project, "check").returncode == 0
    assert run(project, "generate", "--output", "again").returncode == 0
    again = snapshot(project / "again")
    assert {name: data for name, data in again.items() if name != "SHA256SUMS"} == {
        name: data for name, data in first.items() if name != "SHA256SUMS"
    }
    text = b"".join(first.values())
    assert str(project).encode() not in text
    assert str(ROOT).encode() not in text


def test_check_prints_the_difference_and_the_fix(project: Path) -> None:
    run(project, "generate")
    edited = project / "generated" / "c" / "twice.c"
    edited.write_text(edited.read_text() + "int stray;\n")
    before = snapshot(project)
    done = run(project, "check")
    assert done.returncode == 1
    assert "\n-int stray;\n" in done.stdout
    assert done.stderr == "generated is not what ops.yaml says; run: make generate\n"
    assert snapshot(project) == before
    done = run(project, "check", "--spec", "./ops.yaml", "--output", "generated")
    assert done.stderr.endswith("run: python -m codegen generate --spec ./ops.yaml --output generated\n")


def test_a_wrong_spec_writes_nothing(project: Path) -> None:
    run(project, "generate")
    (project / "ops.yaml").write_text(SPEC.replace("y: T[*shape]", "y: T[*shapes]"))
    before = snapshot(project)
    for command in ("generate", "check"):
        done = run(project, command)
        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr == (
            'ops.yaml:9:12: error: twice: output y: unknown star "shapes" in shape\n'
            "    y: T[*shapes]\n"
            "         ^\n"
            "hint: stars known here are shape\n"
        )
    assert snapshot(project) == before


def test_a_missing_body(project: Path) -> None:
    (project / "csrc" / "twice.cu").unlink()
    done = run(project, "generate")
    assert done.returncode == 1
    assert "ops.yaml:3:3: error: twice: the cuda body csrc/twice.cu is missing\n" in done.stderr
    assert not (project / "generated").exists()


def test_an_odd_file_is_a_warning(project: Path) -> None:
    (project / "csrc" / "thrice.c").touch()
    done = run(project, "generate")
    assert done.returncode == 0
    assert "ops.yaml:1:1: warning: csrc/thrice.c belongs to no operator\n" in done.stderr


def test_killed_and_twice_at_once(project: Path) -> None:
    """`generate` killed as it writes, then two of them at once: the tree is whole, and says so."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "codegen", "generate"]
    for wait in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
        (project / "ops.yaml").write_text(SPEC.replace("2 x.", f"{wait}"))
    processes = [subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert run(project, "check").returncode == 0
    assert not list(project.glob(".*"))


def test_no_spec(project: Path) -> None:
    done = run(project, "generate", "--spec", "none.yaml")
    assert (done.returncode, done.stderr) == (1, "none.yaml: error: No such file or directory\n")
    done = run(project, "generate", "--spec", "csrc")
    assert (done.returncode, done.stderr) == (1, "csrc: error: Is a directory\n")


def test_no_room(project: Path) -> None:
    (project / "generated").write_text("a file\n")
    done = run(project, "generate")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "nothing was written" in done.stderr


def test_json(project: Path) -> None:
    """Problems as a list, an empty one when there are none; exit codes are the same."""
    (project / "csrc" / "thrice.c").touch()
    done = run(project, "generate", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    warning = {
        "file": "ops.yaml",
        "line": 1,
        "column": 1,
        "severity": "warning",
        "message": "csrc/thrice.c belongs to no operator",
        "hint": "",
    }
    assert json.loads(done.stdout) == [warning]
    (project / "csrc" / "thrice.c").unlink()
    done = run(project, "check", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    (project / "generated" / "ops.cmake").write_text("")
    done = run(project, "check", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout) == [
        {
            "file": "generated/ops.cmake",
            "line": 1,
            "column": 1,
            "severity": "error",
            "message": "not what ops.yaml says",
            "hint": "run: make generate",
        }
    ]
    (project / "ops.yaml").write_text(SPEC.replace("y: T[*shape]", "y: T[*shapes]"))
    for command in ("generate", "check"):
        done = run(project, command, "--json")
        assert (done.returncode, done.stderr) == (1, "")
        assert json.loads(done.stdout) == [
            {
                "file": "ops.yaml",
                "line": 9,
                "column": 12,
                "severity": "error",
                "message": 'twice: output y: unknown star "shapes" in shape',
                "hint": "stars known here are shape",
            }
        ]
    done = run(project, "generate", "--json", "--spec", "none.yaml")
    assert done.returncode == 1
    assert json.loads(done.stdout)[0]["message"] == "No such file or directory"


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("diff", "[--json] OLD NEW"),
        ("explain", "[--json] OP"),
        ("doctor", " [--json]"),
        ("init", "--namespace NS DIR"),
        ("new", " OP"),
        ("import", "[--out FILE] [--force]"),
    ],
)
def test_help(command: str, usage: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"{usage}\n" in capsys.readouterr().out


def test_usage(project: Path) -> None:
    assert run(project).returncode == 2
    assert run(project, "generat").returncode == 2
    assert "one of the arguments --library --module is required" in run(project, "import").stderr
    assert "generate" in run(project, "--help").stdout


def test_a_reader_that_stops_early() -> None:
    """`| head` ends a command without a traceback."""
    command = f"{sys.executable} -m codegen explain rms_norm | head -1"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("my_ops::rms_norm(")
    assert not done.stderr
