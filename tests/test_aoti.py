"""Packages of AOTInductor that call operators as C functions: in processes that have the library alone, of Python and
of C++. Values and errors of each shim are looked at by the generated tests of its operator (tests/harness/shims.py).
"""

from __future__ import annotations

import functools
import re
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import my_ops
from tests.conformance.build import ROOT
from tests.harness import shims
from tests.process import PACKAGE, output
from tests.test_cmake import run

COMPILE = ROOT / "examples" / "cpp" / "compile.py"
X = torch.arange(1.0, 13.0).view(3, 4)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What the example compiles, for a device."""

    @functools.cache
    def compiled(device: str) -> Path:
        path = tmp_path_factory.mktemp("aoti") / "model.pt2"
        output(f"import runpy; runpy.run_path({str(COMPILE)!r})['main']({str(path)!r}, {device!r})")
        return path

    return compiled


RUN = """
    import sys, torch
    import torch._inductor.codecache  # PyTorch 2.10 does not do it itself when it loads a package
    model = torch._inductor.aoti_load_package({package!r})
    x = torch.randn(5, 256, device={device!r})

    def text(x):
        try:
            model(x)
        except RuntimeError as error:
            return str(error)

    print(text(x))  # before the library
    torch.ops.load_library({library!r})
    weight = torch.linspace(0.5, 1.5, 256, device={device!r})
    expected = torch.ops.my_ops.silu_mul(torch.ops.my_ops.rms_norm(x, weight), 2 * x)
    assert torch.equal(model(x), expected)
    print(text(x[:, :255]))
    assert torch.equal(model(x), expected)

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * 4096

    for _ in range(200):
        model(x)
    before = resident()
    for _ in range(4000):
        model(x)
    assert resident() - before < 2**20
    assert "my_ops" not in sys.modules
"""


def test_the_library_alone(package: Callable[[str], Path], device: str) -> None:
    """A model that is loaded before the library says what is missing, and runs when it is there."""
    done = output(RUN.format(package=str(package(device)), library=str(PACKAGE / "my_ops.so"), device=device))
    if torch.__version__ >= "2.13":  # before that PyTorch writes what a model says to stderr
        missing, wrong = done.splitlines()
        assert missing == (
            "my_ops::rms_norm: the library of this operator, my_ops.so, is not loaded: import my_ops, or "
            "torch.ops.load_library() it, or link the program with it"
        )
        assert wrong == "my_ops::rms_norm: weight: expected shape [n] with n = 255 (from x), got [256]"


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
@pytest.mark.skipif(
    bool(torch.version.cuda) and shutil.which("nvcc") is None, reason="LibTorch's package asks for nvcc"
)
def test_a_program_without_python(package: Callable[[str], Path], tmp_path: Path, device: str) -> None:
    run("cmake", "--install", ROOT / "build" / "dev", "--prefix", tmp_path / "installed")
    prefixes = f"{torch.utils.cmake_prefix_path};{tmp_path / 'installed'}"
    run("cmake", "-S", ROOT / "examples" / "cpp", "-B", tmp_path / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
        f"-DCMAKE_PREFIX_PATH={prefixes}")  # fmt: skip
    run("cmake", "--build", tmp_path / "build", "--target", "package")
    verdict, *text = run(tmp_path / "build" / "package", package(device), device).splitlines()
    assert verdict == "right"
    wrong = "my_ops::rms_norm: weight: expected shape [n] with n = 255 (from x), got [256]"
    assert torch.__version__ < "2.13" or text == [wrong]
    assert "libpython" not in run("ldd", tmp_path / "build" / "package")


@pytest.mark.parametrize("page", ["README.md", "docs/aoti.md"])
def test_the_pages_say_what_the_example_does(page: str) -> None:
    text = (ROOT / page).read_text()
    (program,) = re.findall(r"^```python\n([^`]*c_shims[^`]*)^```", text, re.MULTILINE)
    assert textwrap.indent(program, "    ") in COMPILE.read_text()


def shim(name: str) -> Any:
    found = shims.function("my_ops", getattr(torch.ops.my_ops, name).default)
    assert found is not None
    return found


def test_views_that_negate() -> None:
    """They stand for other elements than they lie on; a shim cannot write through one."""
    negated = torch._neg_view(X)
    assert torch.equal(shim("square")(negated), X * X)
    assert torch.equal(shim("silu_mul")(X, negated), torch.ops.my_ops.silu_mul(X, -X))
    assert torch.equal(shim("global_norm")([X, negated[0]]), torch.ops.my_ops.global_norm([X, -X[0]]))
    written = torch._neg_view(X.clone())
    with pytest.raises(RuntimeError, match=r"^my_ops::rope: q: is written, and a view that negates or conjugates "):
        shim("rope_")(written.view(1, 3, 1, 4), X.view(1, 3, 1, 4).clone(), X[:, :2], X[:, :2])
    assert torch.equal(written, -X)


def test_a_schema_of_another_time() -> None:
    """A model that was compiled for other arguments is not called with these."""
    library = shims.Shims("my_ops")
    assert not library.find(b"my_ops::square", b"square(Tensor x, float y) -> Tensor")
    assert library.text() == (
        "my_ops::square: the model was compiled for square(Tensor x, float y) -> Tensor, and the library that is "
        "loaded has square(Tensor x) -> Tensor: compile the model again"
    )
    assert not library.find(b"my_ops::cube", b"cube(Tensor x) -> Tensor")
    assert library.text() == "my_ops::cube: the library that is loaded has no such operator"


def test_names() -> None:
    """PyTorch calls shims without a namespace: of two operators of one name, one has a shim."""
    square, norm = torch.ops.my_ops.square.default, torch.ops.my_ops.rms_norm.default
    assert list(my_ops.aoti.c_shims("square")) == [square]
    assert {square, norm} < set(my_ops.aoti.c_shims())
    other = {torch.ops.aten.sin.default: ["AOTITorchError aoti_torch_cpu_square(AtenTensorHandle, AtenTensorHandle *)"]}
    beside = my_ops.aoti.c_shims(beside=other)
    assert square not in beside
    assert {*other, norm} < set(beside)
    with pytest.raises(ValueError, match=r"^my_ops.aoti: no operator with a C shim is called 'sin'; there are \["):
        my_ops.aoti.c_shims("sin")
    assert "aoti_torch_cpu_bmm_out" in my_ops.aoti._of_pytorch()
