"""import: a spec out of registered operators; what cannot be said is named, and nothing is half written."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.registered import ask
from tests.registered_module import LEFT_OUT, MODULE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("oldlib.py").write_text(MODULE)
    return tmp_path


def test_a_spec_and_its_skeletons(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tests").mkdir()
    Path("tests/references.py").write_text("from torch import Tensor\n")
    assert main(["import", "--module", "oldlib", "--out", "ops.yaml"]) == 0
    said = capsys.readouterr()
    text = Path("ops.yaml").read_text()
    assert said.out.endswith("ops.yaml: 12 operators; 7 places to fill in, marked TODO\n")
    assert "csrc/norm.c: written\n" in said.out
    for name, reason in LEFT_OUT.items():
        assert f"ops.yaml: warning: Old::{name} has no entry: {reason}\n" in said.err
    assert said.err.count("\n") == len(LEFT_OUT) + 1  # and the namespace
    assert "(ended the process with SIGABRT): shapes" in text.replace("\n  #  ", "")
    assert 'body_error(a, "%s", "csrc/norm.c is not written yet");' in Path("csrc/norm.c").read_text()
    assert 'raise NotImplementedError("tests/references.py: norm' in Path("tests/references.py").read_text()
    # Every place to fill in is named by whatever reads the spec.
    assert main(["generate", "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert {(one["message"].rpartition(": ")[2], one["severity"]) for one in problems} == {
        ("TODO is still to be filled in", "error")
    }
    assert len({one["line"] for one in problems}) == 7
    filled = text.replace("T[TODO] if TODO", "M[*shape] if upper").replace("T[TODO][]", "T[*xs_shape][]")
    Path("ops.yaml").write_text(filled.replace("T[TODO]", "T[*x_shape]"))
    assert main(["generate"]) == 0


def test_one_operator_on_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["import", "--module", "oldlib", "--op", "pick", "--namespace"]
    assert main([*arguments, "Old"]) == 0
    said = capsys.readouterr()
    assert re.findall(r"^  (\w+):$", said.out, re.MULTILINE) == ["pick"]
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == ["oldlib.py"]
    assert main([*arguments, "Old", "--op", "picks", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["message"], found["hint"]) == ("Old::picks is not registered", 'did you mean "pick"?')


def test_a_file_that_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ops.yaml").write_text("mine\n")
    Path("csrc").mkdir()
    Path("csrc/pick.c").write_text("mine\n")
    arguments = ["import", "--module", "oldlib", "--op", "pick", "--out"]
    assert main([*arguments, "ops.yaml"]) == 1
    assert capsys.readouterr().err == (
        "ops.yaml: error: this is there already; nothing was written\nhint: another name, or --force to overwrite it\n"
    )
    assert main([*arguments, "csrc", "--force"]) == 1
    assert "csrc: error: this is there already" in capsys.readouterr().err
    assert Path("ops.yaml").read_text() == "mine\n"
    assert main([*arguments, "nowhere/ops.yaml"]) == 1
    assert "nowhere/ops.yaml: error: " in capsys.readouterr().err
    assert not Path("csrc/pick.cu").exists()
    assert main([*arguments, "ops.yaml", "--force"]) == 0
    assert "  pick:\n" in Path("ops.yaml").read_text()
    assert Path("csrc/pick.c").read_text() == "mine\n"
    assert Path("csrc/pick.cu").exists()


@pytest.mark.parametrize(
    ("module", "error"),
    [
        (None, "oldlib: error: there is no module oldlib\n"
               "hint: the Python that runs this command looks in its own packages, PYTHONPATH and this folder\n"),
        ("import numpy.nothing\n", "oldlib: error: there is no module numpy.nothing\n"),
        ("1 / 0\n", "oldlib: error: it does not load: ZeroDivisionError: division by zero\n"),
        ("import os; os.abort()\n", "oldlib: error: loading it ended the process with SIGABRT\n"),
        ("import time; time.sleep(1000)\n", "oldlib: error: loading it gave no answer within 6 seconds\n"),
        ("", "oldlib: error: it registers no operators\nhint: functions of a pybind11 module are no operators"),
        ("import torch\nl = torch.library.Library('a', 'DEF')\nm = torch.library.Library('b', 'DEF')\n"
         "for one in (l, m):\n    one.define('f(Tensor x) -> Tensor')\n",
         "oldlib: error: it registers operators in 2 namespaces\nhint: choose one by --namespace: a (1), b (1)\n"),
        ("import torch\nl = torch.library.Library('a', 'DEF')\nl.define('f(Tensor x) -> Tensor')\n",
         'oldlib: error: it registers nothing in the namespace "old"\nhint: it has a (1)\n'),
        ("import torch\nl = torch.library.Library('a', 'DEF')\nl.define('f(Scalar x) -> Tensor')\n",
         "oldlib: warning: a::f has no entry: argument x: no argument has the type number; say float or int\n"
         "oldlib: error: no operator of a can be said in a spec; nothing was written\n"),
    ],
    ids=["missing", "needs another", "raises", "aborts", "hangs", "no operators", "two", "other namespace", "none"],
)  # fmt: skip
def test_modules_that_give_no_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], module: str | None, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ask, "SECONDS", 6 if module and "sleep" in module else 60)
    if module is not None:
        Path("oldlib.py").write_text(module)
    named = ["--namespace", "old"] if "nothing in" in error else []
    assert main(["import", "--module", "oldlib", *named, "--out", "ops.yaml"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(error)
    assert not Path("ops.yaml").exists()


def compiled(source: str, *flags: str) -> None:
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", *flags], input=source, text=True, check=True)


def test_libraries_that_give_no_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def error(path: str) -> str:
        assert main(["import", "--library", path]) == 1
        return capsys.readouterr().err

    assert error("lib.so") == "lib.so: error: there is no such file\n"
    assert error(".") == ".: error: this is a folder\n"
    Path("text.so").write_text("int x;\n")
    assert re.fullmatch(r"text\.so: error: it does not load: .*text\.so: .*\n", error("text.so"))
    compiled("int other(void) { return 1; }", "-o", "libother.so", "-Wl,-soname,libother.so")
    compiled("int other(void); int mine(void) { return other(); }", "-o", "needs.so", "-L.", "-lother")
    Path("libother.so").unlink()
    assert re.fullmatch(
        r"needs\.so: error: it does not load: libother\.so: cannot open shared object file: .*\n"
        r"hint: LD_LIBRARY_PATH says where those are that it needs; or --module names the module that loads them\n",
        error("needs.so"),
    )
    compiled("int other(void); int mine(void) { return other(); }", "-o", "symbol.so", "-Wl,-z,now")
    assert re.fullmatch(
        r"symbol\.so: error: it does not load: .*undefined symbol: other\n"
        r"hint: it was built for another PyTorch than this one, 2\..*\n",
        error("symbol.so"),
    )
