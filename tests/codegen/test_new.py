"""new: an entry and skeletons, once, and nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.edit import CannotEdit, add_operator
from codegen.errors import Diagnostics
from codegen.load import load

SPEC = """\
# A comment at the top.
namespace: demo
ops:
    first:   # and one here
      devices: [cpu]
      inputs: {x: "float32[n]"}
      outputs: {y: "float32[n]"}
    # the last line of ops

# what follows
devices: [cpu, cuda]
"""
ENTRY = """\

    second:
      doc: What it computes, in a sentence.
      types: {T: floating}
      inputs:
        x: T[*shape]
      outputs:
        y: T[*shape]
      parallel: numel(x)
      launch:
        grid: ceil_div(numel(x), 256)
        block: 256
"""
BODY = """\
/* second on the CPU: elements [begin, end). Compiled anew for each dtype of T and each instruction set;
 * generated/c/second.cpu.c lists what `a` holds.
 */
static void second(const second_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, load(a->x + i)); /* a copy: the math goes here */
    }
}
"""
REFERENCE = '''\


def second(x: Tensor) -> Tensor:
    """A copy: what is right goes here."""
    return x.clone()
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("ops.yaml").write_text(SPEC)
    Path("csrc").mkdir()
    Path("csrc/first.c").touch()
    Path("tests").mkdir()
    Path("tests/references.py").write_text("from torch import Tensor\n")
    return Path()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("namespace: demo\n", "it has no `ops:`"),
        ("ops: [f]\n", "it has no `ops:`"),
        ("ops: {f: {}}\n", "`ops:` is written in braces"),
    ],
)
def test_specs_without_a_place_for_an_entry(text: str, why: str) -> None:
    with pytest.raises(CannotEdit, match=f"^{why}$"):
        add_operator(text, load(text.encode(), Diagnostics()), "second:\n")


def test_entry_bodies_and_reference(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "second"]) == 0
    assert capsys.readouterr() == (
        "csrc/second.c: written\ncsrc/second.cu: written\ntests/references.py: function second added\n"
        "ops.yaml: operator second added\n",
        "",
    )
    before, after = SPEC.split("\n# what follows")
    assert Path("ops.yaml").read_text() == before + ENTRY + "\n# what follows" + after
    assert Path("csrc/second.c").read_text() == BODY
    assert (
        '#include "second.cuh"\n\ntemplate <typename T> __device__ void second(' in Path("csrc/second.cu").read_text()
    )
    assert Path("tests/references.py").read_text() == "from torch import Tensor\n" + REFERENCE
    assert {path.name for path in Path().rglob("*.new")} == set()
    assert main(["generate"]) == 0


def test_never_overwrites(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("csrc/second.c").write_text("mine\n")
    Path("tests/references.py").write_text("def second(x):\n    return x\n")
    assert main(["new", "second"]) == 0
    assert capsys.readouterr().out == (
        "csrc/second.c: is there already, and stays as it is\ncsrc/second.cu: written\n"
        "ops.yaml: operator second added\n"
    )
    assert Path("csrc/second.c").read_text() == "mine\n"
    assert Path("tests/references.py").read_text() == "def second(x):\n    return x\n"
    spec = Path("ops.yaml").read_text()
    assert main(["new", "second"]) == 1
    assert capsys.readouterr() == ("", 'ops.yaml: error: the operator "second" is there already, in line 10\n')
    assert Path("ops.yaml").read_text() == spec


def test_cuda_only(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "second", "--cuda-only"]) == 0
    assert not Path("csrc/second.c").exists()
    assert Path("csrc/second.cu").exists()
    assert "      devices: [cuda]\n      launch:\n" in Path("ops.yaml").read_text()
    assert main(["generate"]) == 0


def test_custom(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "second", "--custom"]) == 0
    assert "csrc/second.launch.c: written\n" in capsys.readouterr().out
    assert "      launch: custom\n      kernels:\n        second: {VEC: [1, 4]}\n" in Path("ops.yaml").read_text()
    assert "template <typename T, int VEC> __device__ void second(" in Path("csrc/second.cu").read_text()
    assert (
        "    return launch_second(ctx, c, cuda_shape(blocks, 256), vec);\n" in Path("csrc/second.launch.c").read_text()
    )
    assert main(["generate"]) == 0


def test_full_cuda(project: Path) -> None:
    assert main(["new", "second", "--full-cuda", "--cuda-only"]) == 0
    assert "      devices: [cuda]\n      full_cuda: true\n" in Path("ops.yaml").read_text()
    assert 'extern "C" cudaError_t second_cuda(' in Path("csrc/second.cu").read_text()
    assert not Path("csrc/second.c").exists()
    assert main(["generate"]) == 0


def test_elementwise(project: Path) -> None:
    """An expression instead of bodies."""
    assert main(["new", "second", "--elementwise"]) == 0
    assert not Path("csrc/second.c").exists()
    assert "      elementwise:\n        y: x\n" in Path("ops.yaml").read_text()
    assert main(["generate"]) == 0


def test_devices_of_the_file(project: Path) -> None:
    Path("ops.yaml").write_text(SPEC.replace("[cpu, cuda]", "[cpu]"))
    assert main(["new", "second"]) == 0
    assert [path.name for path in sorted(Path("csrc").iterdir())] == ["first.c", "second.c"]


@pytest.mark.parametrize(
    ("spec", "added"),
    [
        (SPEC.split("\n# what")[0].rstrip("\n"), ENTRY),
        (SPEC.replace("\n", "\r\n"), ENTRY.replace("\n", "\r\n")),
        ("\ufeff" + SPEC, ENTRY),
    ],
    ids=["no newline at the end", "CRLF", "byte order mark"],
)
def test_the_rest_stays_as_it_is(project: Path, spec: str, added: str) -> None:
    Path("ops.yaml").write_bytes(spec.encode())
    assert main(["new", "second"]) == 0
    data = Path("ops.yaml").read_bytes().decode()
    assert added in data
    assert data.replace(added, "", 1).rstrip("\r\n") == spec.rstrip("\r\n")
    assert main(["generate"]) == 0


@pytest.mark.parametrize(
    ("name", "spec", "problem"),
    [
        ("Second", SPEC, '"Second" cannot be an operator: names of operators and kernels are lower-case'),
        ("sin", SPEC, '"sin" cannot be an operator: it is a function of the C library'),
        (
            "x; y",
            SPEC,
            '"x; y" cannot be an operator: a name is made of letters, digits and _, and starts with a letter',
        ),
        (
            "../x",
            SPEC,
            '"../x" cannot be an operator: a name is made of letters, digits and _, and starts with a letter',
        ),
        (
            "second",
            'namespace: demo\ndevices: [cpu]\nops: {f: {inputs: {x: "float32[n]"}, outputs: {y: "float32[n]"}}}\n',
            "no place for another operator: `ops:` is written in braces",
        ),
    ],
)
def test_what_cannot_be(project: Path, capsys: pytest.CaptureFixture[str], name: str, spec: str, problem: str) -> None:
    Path("ops.yaml").write_text(spec)
    assert main(["new", name]) == 1
    assert capsys.readouterr() == ("", f"ops.yaml: error: {problem}\n")
    assert Path("ops.yaml").read_text() == spec
    assert [path.name for path in Path("csrc").iterdir()] == ["first.c"]
    assert Path("tests/references.py").read_text() == "from torch import Tensor\n"


def test_an_entry_that_would_collide(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "first_args", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["message"] for one in found] == [
        "first_args: generated code for first uses this name",
        'the entry of "first_args" would be wrong; nothing was written',
    ]
    assert Path("ops.yaml").read_text() == SPEC


def test_a_wrong_spec(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("ops.yaml").write_text(SPEC.replace("outputs", "output"))
    assert main(["new", "second"]) == 1
    assert capsys.readouterr().err.endswith('hint: did you mean "outputs"?\n')
    assert not Path("csrc/second.c").exists()


def test_a_folder_that_cannot_be_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("csrc/second.cu").mkdir()
    Path("csrc/second.c").symlink_to("nowhere/second.c")
    assert main(["new", "second"]) == 1
    assert "; the spec was not changed\n" in capsys.readouterr().err
    assert Path("ops.yaml").read_text() == SPEC
    assert Path("tests/references.py").read_text() == "from torch import Tensor\n"
