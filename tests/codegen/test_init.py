"""`init`: the new project speaks of no other, makes another, and is there as a whole or not at all."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.commands import init
from codegen.commands.report import Report
from tests.made_project import NAMESPACE, ROOT, made, run

GIVEN = ["--namespace", NAMESPACE]


def texts(project: Path) -> dict[str, str]:
    files = [path for path in project.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(project).as_posix(): path.read_text() for path in files}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("init") / "acme")


def test_it_speaks_of_itself(project: Path) -> None:
    """Neither of the project that it was made of, whose licence it has, nor of that one's operators."""
    operators = re.findall(r"^  (\w+):$", (ROOT / "ops.yaml").read_text(), re.MULTILINE)
    assert "rms_norm" in operators
    others = re.compile(r"my_ops|\b(" + "|".join(name for name in operators if "_" in name) + r")\b", re.IGNORECASE)
    found = {name: others.findall(text) for name, text in texts(project).items() if name != "LICENSE"}
    assert {name: words for name, words in found.items() if words} == {}
    assert not [name for name in found if others.search(Path(name).stem)]
    assert {*init.OWN} & {*found} == set()
    assert all((ROOT / name).exists() for name in init.OWN)


def test_headers_are_there(project: Path) -> None:
    """Whatever a copied header includes by a name of this project was copied, too."""
    headers = {path.name for path in (ROOT / "csrc").rglob("*.*h")}
    copied = {path.name for path in (project / "csrc").rglob("*.*h")}
    included = {
        name
        for path in (project / "csrc").rglob("*.*h")
        for name in re.findall(r'^#include "(?:.*/)?([^"/]+)"', path.read_text(), re.MULTILINE)
    }
    assert copied < headers
    assert {"lanes.h", "row_part.cuh"} <= included
    assert included & headers - copied == set()


def test_it_makes_another(project: Path, tmp_path: Path) -> None:
    """Which differs from it in its name alone."""
    other = "next_ops"
    assert len(other) == len(NAMESPACE)
    done = run(project, "-m", "codegen", "init", str(tmp_path / "next"), "--namespace", other)
    assert (done.returncode, done.stderr) == (0, "")
    renamed = {
        name.replace(NAMESPACE, other): text.replace(NAMESPACE, other).replace(NAMESPACE.upper(), other.upper())
        for name, text in texts(project).items()
    }
    made = texts(tmp_path / "next")
    for found in (renamed, made):
        del found["generated/SHA256SUMS"]
    # The generator's own example of a command has the name that it was written with.
    assert {name for name in made.keys() | renamed.keys() if made.get(name) != renamed.get(name)} <= {
        "codegen/commands/init.py"
    }


# ---- What cannot be


def refused(folder: Path, target: str, *, namespace: str = NAMESPACE) -> str:
    """The one line; nothing has been written."""
    before = sorted(folder.rglob("*"))
    done = run(folder, "-m", "codegen", "init", target, "--namespace", namespace, PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stdout) == (1, "")
    assert sorted(folder.rglob("*")) == before
    return done.stderr


@pytest.mark.parametrize(
    ("namespace", "why"),
    [
        ("acme-ops", "a name is made of letters, digits and _, and starts with a letter"),
        ("Acme", "a namespace is lower-case"),
        ("aten", "PyTorch has a namespace of that name"),
        ("yaml", "there is a Python module of that name"),
        ("class", "it is a keyword of Python"),
        ("", "a name is missing"),
    ],
)
def test_a_namespace_that_cannot_be(namespace: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert init.run("acme", namespace, Report(False)) == 1
    expected = f'acme: error: "{namespace}" cannot be the namespace: {why}\nhint: for instance acme_ops\n'
    assert capsys.readouterr().err == expected


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    expected = "full: error: the folder is there, and not empty; name one that is not there yet\n"
    assert refused(tmp_path, "full") == expected
    expected = "full/mine.txt: error: this is a file; name a folder that is not there yet\n"
    assert refused(tmp_path, "full/mine.txt") == expected
    assert refused(tmp_path, "a/b") == f"a/b: error: there is no folder {tmp_path}/a; make it first\n"
    assert "CMake cannot build in a path" in refused(tmp_path, "a*")
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, "-m", "codegen", "init", "empty", *GIVEN, "--json", PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    assert (tmp_path / "empty" / "generated" / "SHA256SUMS").exists()


def test_no_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_refused", lambda _: "")  # which reads this project, where another user may not
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    user = os.geteuid()
    for parent in [] if user else [tmp_path, *tmp_path.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o055)
    try:
        if user == 0:  # who may write anywhere
            os.seteuid(65534)
        assert init.run(str(folder / "acme"), NAMESPACE, Report(False)) == 1
    finally:
        os.seteuid(user)
    expected = rf"{folder}/acme: error: Permission denied: {folder}/\.acme\.init-\d+; nothing was written\n"
    assert re.fullmatch(expected, capsys.readouterr().err)


@pytest.mark.parametrize("size", [0, 20_000])
def test_no_room(tmp_path: Path, size: int) -> None:
    """No file gets longer than so many bytes: those that are copied, then those that are generated."""
    command = [sys.executable, "-m", "codegen", "init", "acme", *GIVEN]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("acme: error: ")
    assert done.stderr.endswith("; nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_killed(tmp_path: Path) -> None:
    """There is no project, and the next run removes what was left; a run that is asked to end does so itself."""
    command = [sys.executable, "-m", "codegen", "init", "acme", *GIVEN]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for end in (signal.SIGKILL, signal.SIGTERM):
        while True:
            process = subprocess.Popen(
                command, cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE, start_new_session=True
            )
            while not list(tmp_path.glob(f".acme.init-{process.pid}/codegen")) and process.poll() is None:
                time.sleep(0.001)
            os.killpg(process.pid, end)
            text = process.communicate()[1]
            if not (tmp_path / "acme").exists():
                break
            shutil.rmtree(tmp_path / "acme")  # it had ended before it was killed
        assert process.returncode != 0
        left = [f".acme.init-{process.pid}"] if end == signal.SIGKILL else []
        assert [path.name for path in tmp_path.iterdir()] == left
    assert re.fullmatch(r"acme: error: .*; nothing was written\n", text)
