"""Operators from strings: that they are operators, and that what was called before leads to what was built last."""

from __future__ import annotations

import re
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from my_ops import quick
from my_ops.quick.host import Host
from tests.quick.texts import CPU, CUDA, SHIFTED, bodies, scaled


def load(name: str, factor: int) -> types.ModuleType:
    return quick.load(scaled(name, factor), cpu=bodies(CPU, name, factor))


def test_operators() -> None:
    """They train, compile, have fake kernels and check their arguments, as a project's own do."""
    ops = load("doubled", 2)
    x = torch.randn(5, dtype=torch.float64, requires_grad=True)
    for function in (ops.doubled, torch.ops.quick_doubled.doubled, torch.compile(ops.doubled, backend="aot_eager")):
        y = function(x)
        assert torch.equal(y, 2 * x)
        assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.full_like(x, 2))
    torch.library.opcheck(torch.ops.quick_doubled.doubled.default, (x,))
    assert ops.doubled(torch.empty(3, device="meta")).shape == (3,)
    with pytest.raises(RuntimeError, match="quick_doubled::doubled: x: expected dtype float32 or float64, got int64"):
        ops.doubled(torch.ones(2, dtype=torch.int64))
    assert load("doubled", 2) is ops


def test_formula_and_namespace() -> None:
    """Without any body; and two libraries side by side."""
    ops = quick.load(SHIFTED, namespace="of_tests")
    assert torch.equal(torch.ops.of_tests.shifted(torch.ones(3), 2.0), torch.full((3,), 3.0))
    other = quick.load(f"namespace: of_more_tests\nops:{SHIFTED.replace(chr(10), chr(10) + '  ')}")
    assert torch.equal(other.shifted(torch.ones(3)), ops.shifted(torch.ones(3)))
    assert ops.__name__ != other.__name__


def test_replaced_body() -> None:
    """Functions, overloads and compiled code that were there before call the new kernel; and back again."""
    ops = load("scaled", 3)
    function, overload, backward = ops.scaled, torch.ops.quick_scaled.scaled.default, ops.scaled_backward
    compiled = torch.compile(lambda x: ops.scaled(x) + 1, backend="aot_eager", fullgraph=True)
    x = torch.randn(4, requires_grad=True)
    for factor in (3, 5, 3):
        load("scaled", factor)
        for call in (ops.scaled, function, overload, torch.ops.quick_scaled.scaled, lambda x: compiled(x) - 1):
            torch.testing.assert_close(call(x), factor * x)
            torch.testing.assert_close(torch.autograd.grad(call(x).sum(), x)[0], torch.full_like(x, factor))
        torch.testing.assert_close(backward(x), factor * x)


def test_replaced_variants() -> None:
    """An operator keeps its other overloads apart, and says so when one of them is gone."""
    text = SHIFTED + "  variants: [inplace, out]\n"
    ops = quick.load(text, namespace="varied")
    in_place, overload, x = ops.shifted_, torch.ops.varied.shifted.out, torch.zeros(2)
    quick.load(text.replace("x + by", "x - by"), namespace="varied")
    in_place(x, 2.0)
    overload(x.clone(), 3.0, out=x)
    assert torch.equal(x, torch.full((2,), -5.0))
    quick.load(text.replace("inplace, ", ""), namespace="varied")
    assert not hasattr(ops, "shifted_")
    with pytest.raises(RuntimeError, match="varied::shifted: a later library of the namespace varied has no such"):
        in_place(x, 2.0)
    overload(torch.zeros(2), 3.0, out=x)
    assert torch.equal(x, torch.full((2,), 3.0))
    quick.load(text, namespace="varied")
    ops.shifted_(x, 1.0)
    assert torch.equal(x, torch.full((2,), 4.0))


def test_edit_of_one_body(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that one is compiled again, in each of its two dtypes."""
    texts = bodies(CPU, "edited", 2)
    quick.load(scaled("edited", 2), texts)
    compiled, compile = list[str](), Host.compile
    monkeypatch.setattr(Host, "compile", lambda *given: (compiled.append(given[1]), compile(*given)))
    texts["edited"] += "/* one more line */"
    quick.load(scaled("edited", 2), texts)
    assert sorted(compiled) == ["units/edited__float32.c", "units/edited__float64.c"]


def test_replaced_spec() -> None:
    """Arguments come and go, and operators do: nothing calls a kernel with the arguments of another."""
    ops = quick.load(SHIFTED, namespace="changing")
    function, overload = ops.shifted, torch.ops.changing.shifted.default
    compiled = torch.compile(lambda x: torch.ops.changing.shifted(x, 2.0), backend="aot_eager")
    x = torch.ones(3)
    assert torch.equal(compiled(x), x + 2)
    longer = SHIFTED.replace("by: float = 1.0", "by: float = 1.0\n    times: float = 4.0")
    quick.load(longer.replace("x + by", "x * times + by"), namespace="changing")
    assert torch.equal(compiled(x), 4 * x + 2)
    for call in (ops.shifted, function, overload, torch.ops.changing.shifted):
        assert torch.equal(call(x, 2.0), 4 * x + 2)
        assert torch.equal(call(x, 2.0, times=5.0), 5 * x + 2)
    quick.load(SHIFTED.replace("shifted", "moved"), namespace="changing")
    assert torch.equal(ops.moved(x), x + 1)
    assert not hasattr(ops, "shifted")
    assert not hasattr(torch.ops.changing, "shifted")
    gone = "changing::shifted: a later library of the namespace changing has no such operator"
    for call in (overload, function):
        with pytest.raises(RuntimeError, match=gone):
            call(x)
    quick.load(SHIFTED, namespace="changing")
    assert torch.equal(compiled(x), x + 2)
    for call in (ops.shifted, function, overload, torch.ops.changing.shifted):
        assert torch.equal(call(x, 2.0), x + 2)


def test_what_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators of before stay registered, and are what functions and overloads that were kept lead to."""
    from my_ops.quick import process

    ops = load("staying", 3)
    function, overload = ops.staying, torch.ops.quick_staying.staying.default
    run, x = process._run, torch.ones(2)

    def half(package: str, folder: Path) -> types.ModuleType:
        monkeypatch.setattr(process, "_run", run)
        run(package, folder)
        raise ImportError("a file is gone")

    monkeypatch.setattr(process, "_run", half)
    with pytest.raises(quick.QuickError, match="the package of quick_staying does not load: a file is gone"):
        load("staying", 5)
    for call in (ops.staying, function, overload, torch.ops.quick_staying.staying):
        assert torch.equal(call(x), 3 * x)
    load("staying", 7)
    for call in (ops.staying, function, overload, torch.ops.quick_staying.staying):
        assert torch.equal(call(x), 7 * x)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "shape": (lambda: quick.load(SHIFTED.replace("y: T[*shape]", "y: T[*shap]")),
              r'spec:9:10: error: shifted: output y: .*\n    y: T\[\*shap\]\n         \^'),
    "empty": (lambda: quick.load(" \n"), "spec:1:1: error: expected operators"),
    "not YAML": (lambda: quick.load("a: [", cpu="x"), "spec:1:5: error: not valid YAML"),
    "no text": (lambda: quick.load(None), "spec: expected the text of a spec, got NoneType"),
    "namespace": (lambda: quick.load(SHIFTED, namespace="my-ops"), '"my-ops" cannot be the namespace'),
    "taken": (lambda: quick.load(SHIFTED, namespace="my_ops"), "already registered by another library.*namespace="),
    "no body": (lambda: quick.load(scaled("lone", 2), cpu={"lone": bodies(CPU, "lone", 2)["lone"]}),
                r'error: lone_backward: there is no cpu body(.|\n)*pass cpu=\{"lone_backward": ...\}'),
    "one text": (lambda: quick.load(scaled("lone", 2), cpu="int x;"),
                 r'cpu: the spec has several .* cpu=\{"lone": ..., "lone_backward": ...\}'),
    "other name": (lambda: quick.load(scaled("lone", 2), cpu=bodies(CPU, "lone", 2) | {"alone": ""}),
                   'cpu: there is a body for "alone", and the spec has one for lone, lone_backward'),
    "needless": (lambda: quick.load(SHIFTED, cpu="int x;"), "cpu: no operator of the spec has a body"),
    "no string": (lambda: quick.load(scaled("lone", 2), cpu={"lone": 3}), "cpu: expected the text of a body"),
    "not C": (lambda: quick.load(scaled("lone", 2), cpu=bodies(CPU.replace("load(", "lod("), "lone", 2)),
              r"^the cpu body of lone\w* does not compile\n(.|\n)*^lone\w*\.c:4:\d+: error: (.|\n)*lod\(a->"),
    "no definition": (lambda: quick.load(scaled("lone", 2), cpu=bodies(CPU, "lone", 2) | {"lone": "int x;"}),
                      "lone.c defines it"),
    "arch": (lambda: quick.load(SHIFTED, arch="Hopper"), 'arch: expected a compute capability .* got "Hopper"'),
    "compiler": (lambda: quick.load(SHIFTED, arch="9.0", compiler="icc"), "compiler: expected one of nvrtc, nvcc"),
    "launcher": (lambda: quick.load(re.sub(r"launch:\n.*\n.*\n", "full_cuda: true\n", scaled("lone", 2)),
                                   cpu=bodies(CPU, "lone", 2), cuda=bodies(CUDA, "lone", 2)),
                 "lone: host code of its own is not built from strings"),
    "triton": (lambda: quick.load(re.sub(r"launch:\n.*\n.*\n", "triton: {kernel: k, args: [y, x], grid: 1}\n",
                                         scaled("lone", 2), count=1),
                                  cpu=bodies(CPU, "lone", 2), cuda=bodies(CUDA, "lone", 2)),
               "lone: a kernel in Triton is not built from strings"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "text"), WRONG.values(), ids=WRONG)
def test_wrong(call: Callable[[], object], text: str, cache: object) -> None:
    """The cause and what to do, at the user's own lines; and what was there stays."""
    ops = quick.load(SHIFTED, namespace="staying")
    with pytest.raises(quick.QuickError) as caught:
        call()
    assert re.search(text, str(caught.value), re.MULTILINE), caught.value
    assert "/staging/" not in str(caught.value)
    assert torch.equal(ops.shifted(torch.ones(2)), torch.full((2,), 2.0))


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(quick.QuickError, match="no C compiler: there is no no-such-compiler; install gcc or clang"):
        quick.load(SHIFTED)


def test_warnings_of_a_spec() -> None:
    """There is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick.load(SHIFTED, namespace="silent")


def test_missing_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the cache needs none; else the error names the extra."""
    from my_ops.quick import generator

    quick.load(SHIFTED, namespace="silent")
    monkeypatch.setattr(generator, "_own", {})
    monkeypatch.setitem(sys.modules, "yaml", None)
    quick.load(SHIFTED, namespace="silent")
    with pytest.raises(quick.QuickError, match=r"the generator is missing yaml: pip install 'my_ops\[quick\]'"):
        quick.load(SHIFTED, namespace="louder")


def test_another_codegen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of that name that belongs to somebody else is neither used nor touched."""
    from my_ops.quick import generator

    for name in [name for name in sys.modules if name.split(".")[0] == "codegen"]:
        monkeypatch.delitem(sys.modules, name)
    theirs = types.ModuleType("codegen")
    monkeypatch.setitem(sys.modules, "codegen", theirs)
    monkeypatch.setattr(generator, "_own", {})
    quick.load(SHIFTED, namespace="beside_another")
    assert [name for name in sys.modules if name.split(".")[0] == "codegen"] == ["codegen"]
    assert sys.modules["codegen"] is theirs
