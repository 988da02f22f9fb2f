"""import: a spec out of registered operators; what cannot be said is named, and nothing is half written."""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
import torch

from codegen.__main__ import main
from codegen.registered import ask
from codegen.registered.ask import Question
from codegen.registered.select import select, spec
from my_ops import quick
from tests.round_trip import differences, imported

ROOT = Path(__file__).parents[2]
MODULE = """\
import os

import torch

print("libraries print, too")
lib = torch.library.Library("Old", "DEF")


def define(schema, fake=None):
    lib.define(schema)
    name = "Old::" + schema.partition("(")[0]
    if fake is not None:
        torch.library.register_fake(name)(fake)


def norm(x, weight, eps=1e-6):
    torch._check(x.dim() > 0 and weight.shape == x.shape[-1:] and x.dtype == weight.dtype)
    torch._check(x.is_floating_point() and x.element_size() in (2, 4))
    return torch.empty_like(x), x.new_empty(x.shape[:-1], dtype=torch.float32)


def pick(table, index):
    torch._check(table.dim() == 2 and index.dim() == 1 and index.dtype == torch.int64)
    return table.new_empty(index.shape[0] + 1, table.shape[1] * 2)


def masked(x, mask, wide, upper=False):
    torch._check(mask.dtype == torch.bool and mask.shape == x.shape and x.dtype in (torch.float32, torch.float64))
    return x.new_empty(*x.shape, wide), (torch.empty_like(mask) if upper else None)


define("norm(Tensor x, Tensor weight, float eps=1e-6) -> (Tensor y, Tensor rstd)", norm)
define("pick(Tensor table, Tensor index) -> Tensor", pick)
define("masked(Tensor x, Tensor mask, SymInt wide, bool upper=False) -> (Tensor, Tensor?)", masked)
define("joined(Tensor[] xs, Tensor? bias=None) -> Tensor", lambda xs, bias=None: xs[0].new_empty(len(xs)))
define("crashing(Tensor x) -> Tensor", lambda x: os.abort())
define("scale(Tensor x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu') -> Tensor")
define("scale_(Tensor(a!) x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu') -> ()")
define("scale.out(Tensor x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu', "
       "Tensor(a!) out) -> ()")
define("scale.Scalar(Tensor x, float by) -> Tensor")
define("adds(Tensor(a!) self, Tensor[2] both, int[2] k=1, str how='a b') -> Tensor(a!)")
lib.impl("scale", lambda x, *rest, **named: x, "AutocastCPU")
lib.impl("scale", lambda x, *rest, **named: x, "XPU")
lib.define("jittered(Tensor(a!) x) -> ()", tags=(torch.Tag.pointwise, torch.Tag.nondeterministic_bitwise,
                                                 torch.Tag.nondeterministic_seeded))
define("split(Tensor[] xs, int[] sizes=[1, 2]) -> Tensor[]")
define("drawn(Tensor x, *, Generator? generator=None) -> Tensor")
define("table(Dict(str, Tensor) by_name, Tensor x) -> Tensor")
define("times(Tensor x, Scalar by) -> Tensor")
define("views(Tensor(a) x) -> Tensor(a)")
define("counts(Tensor x) -> (Tensor, int)")
define("nothing(Tensor x) -> ()")
define("_hidden(Tensor x) -> Tensor")
define("RMSNorm(Tensor x) -> Tensor")


@torch.library.custom_op("Old::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    \"\"\"x: half of it.\"\"\"
    return x / 2


halved.register_autograd(lambda ctx, grad: grad / 2)
"""
OTHERS = 'torch.library.Library("other", "DEF").define("f(Tensor x) -> Tensor")\n'
LEFT_OUT = {
    "RMSNorm": "names of operators and kernels are lower-case",
    "_hidden": "names that start with _ are those of generated code",
    "counts": "it returns int, and operators return tensors",
    "drawn": "argument generator: no argument has the type Optional[Generator]; random: true draws from PyTorch's "
    "generator",
    "nothing": "it returns nothing and writes nothing, so that there is nothing to compute",
    "scale.Scalar": "an operator has no overloads but `out`, which writes what the operator returns",
    "table": "argument by_name: no argument has the type Dict[str, Tensor]",
    "times": "argument by: no argument has the type number; say float or int",
    "views": "argument x: what is returned views it, and outputs never alias inputs",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("oldlib.py").write_text(MODULE)
    return tmp_path


def entry(text: str, name: str) -> str:
    """An entry without what stands above it."""
    found = re.search(rf"^  {name}:\n((?:    .*\n)+)", text, re.MULTILINE)
    assert found is not None, name
    return textwrap.dedent(found[1])


def test_a_spec_and_its_skeletons(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tests").mkdir()
    Path("tests/references.py").write_text("from torch import Tensor\n")
    assert main(["import", "--module", "oldlib", "--out", "ops.yaml"]) == 0
    said = capsys.readouterr()
    text = Path("ops.yaml").read_text()
    assert said.out.endswith("ops.yaml: 10 operators; 4 places to fill in, marked TODO\n")
    assert "csrc/norm.c: written\n" in said.out
    for name, reason in LEFT_OUT.items():
        assert f"ops.yaml: warning: Old::{name} has no entry: {reason}\n" in said.err
    assert said.err.count("\n") == len(LEFT_OUT) + 1  # and the namespace
    comments = re.sub(r"\n#\s+", " ", text)
    assert all(f"Not here: Old::{name}: {reason}." in comments for name, reason in LEFT_OUT.items())
    assert "\nnamespace: old\n" in text
    assert entry(text, "norm") == (
        "types: {T: [float32, float16, bfloat16]}\n"
        "inputs:\n  x: T[*rows, n]\n  weight: T[n]\n  eps: float = 1e-06\n"
        "outputs:\n  y: T[*rows, n]\n  rstd: float32[*rows]\n"
        "parallel: numel(x)\nlaunch:\n  grid: ceil_div(numel(x), 256)\n  block: 256\n"
    )
    assert "table: T[m, n]\n  index: int64[k]\noutputs:\n  y: T[k + 1, 2*n]\n" in entry(text, "pick")
    assert "types: {T: [float64, float32], M: bool}\n" in entry(text, "masked")
    assert "x: T[*shape]\n  mask: M[*shape]\n  wide: size\n" in entry(text, "masked")
    assert "  y1: T[*shape, wide]\n  y2: T[TODO] if TODO\n" in entry(text, "masked")
    assert "xs: T[*shape][]\n" in entry(text, "joined")
    assert "  y: T[len(xs)]\n" in entry(text, "joined")
    assert "(ended the process with SIGABRT): shapes" in comments
    assert "  y: T[TODO]\n" in entry(text, "crashing")
    assert "  x: T[*x_shape]\n  by: T[*by_shape]? = None\n" in entry(text, "scale")
    assert "  dtype: dtype? = None\n  device: device = cpu\n" in entry(text, "scale")
    assert "  y: T[*x_shape]\n" in entry(text, "scale")  # as the in-place form says
    assert entry(text, "scale").endswith("variants: {inplace: {y: x}, out: true}\n")
    assert "self_: T[*self_shape]!\n  both: T[*both_shape][]\n  k: int[2] = [1, 1]\n" in entry(text, "adds")
    assert "  how: 'str = \"a b\"'\nchecks:\n  - len(both) == 2\n" in entry(text, "adds")
    assert "The argument self is called self_ here: generated code uses it." in text
    assert "  y: T[TODO][]\n" in entry(text, "split")
    assert entry(text, "halved").startswith("doc: 'x: half of it.'\n")
    assert "A kernel for autograd is registered, and what it computes cannot be seen" in text
    kernels = "It has kernels for AutocastCPU, XPU, which the entry does not have; autocast: may say what they do."
    assert kernels in comments.replace("  # ", " ").replace("\n", " ")
    assert entry(text, "jittered").endswith("tags: [pointwise]\ndeterministic: false\n")
    assert "random: true gives bodies a seed" in text
    assert 'raise NotImplementedError("tests/references.py: norm' in Path("tests/references.py").read_text()
    # Every place to fill in is named by whatever reads the spec.
    assert main(["generate", "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert {(one["message"].rpartition(": ")[2], one["severity"]) for one in problems} == {
        ("TODO is still to be filled in", "error")
    }
    assert len({one["line"] for one in problems}) == 4
    # Once they are filled in, it builds; a body says that it is not written.
    filled = text.replace("T[TODO] if TODO", "M[*shape] if upper").replace("T[TODO][]", "T[*xs_shape][]")
    Path("ops.yaml").write_text(filled.replace("T[TODO]", "T[*x_shape]"))
    assert main(["generate"]) == 0
    body = Path("csrc/norm.c").read_text()
    operators = quick.load(f"norm:\n{textwrap.indent(entry(filled, 'norm'), '  ')}", cpu=body)
    with pytest.raises(RuntimeError, match=r"norm: csrc/norm\.c is not written yet$"):
        operators.norm(torch.ones(2, 3), torch.ones(3))


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


def test_the_library_of_this_project() -> None:
    """Its schemas are those of the spec that is made of them."""
    answer, selection = imported(ROOT / "generated" / "my_ops" / "my_ops.so")
    assert (answer.namespace, selection.left_out) == ("my_ops", ())
    assert len(selection.drafts) > 20
    registered = {op.qualified: op.schema for op in answer.operators}
    assert differences(selection, registered) == set()
    assert differences(selection, registered | {"rms_norm": "rms_norm(Tensor x) -> Tensor"}) == {"rms_norm"}


def test_contracts_of_this_project() -> None:
    """What the fake kernels say is what ops.yaml says."""
    names = ("rms_norm_backward", "gather_rows", "quantize_per_token")
    answer = ask.ask(Question(module="my_ops", operators=names))
    text = spec("my_ops", [one.text for one in select(answer.namespace, answer.operators, names).drafts])
    assert "grad_y: T[*rows, n]\n      x: T[*rows, n]\n      weight: T[n]?\n      rstd: acc(T)[*rows]\n" in text
    assert "grad_x: T[*rows, n]\n      grad_weight: T[n]\n" in text
    assert "    types: {T: all, I: [int32, int64]}\n    inputs:\n      table: T[m, n]\n      index: I[k]\n" in text
    assert "      y1: int8[*rows, n]\n      y2: float32[*rows]\n" in text
