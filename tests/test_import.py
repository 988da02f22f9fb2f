"""Importing the package: what can go wrong is one ImportError that says what to do; importing twice is nothing new."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.process import PACKAGE, copy_package, output, run

IMPORT_ERROR = """
    import torch
    {before}
    try:
        import my_ops
    except ImportError as error:
        assert type(error) is ImportError, type(error)
        print(error)
    else:
        print("imported")
"""


def import_error(before: str = "", packages: Path | None = None) -> str:
    """The text of the error; it is one line."""
    text = output(IMPORT_ERROR.format(before=before), packages=packages)
    assert text != "imported"
    assert "\n" not in text
    return text


def test_torch_too_old() -> None:
    output("""
        import torch
        for version in ("2.9.1", "2.9.1+cu128", "1.13.0", "2.3.0a0+git1234"):
            torch.__version__ = version
            try:
                import my_ops
            except ImportError as error:
                assert str(error) == f"my_ops needs PyTorch 2.10 or newer, not {version}: pip install 'torch>=2.10'"
            else:
                raise AssertionError(version)
        for version in ("2.10.0", "2.10.0a0+git1234", "2.11.0+cu130", "3.0.0"):
            torch.__version__ = version
            import my_ops
            my_ops._runtime._check_torch()
    """)


def test_torch_missing() -> None:
    text = output("""
        import sys
        sys.modules["torch"] = None
        try:
            import my_ops
        except ImportError as error:
            print(error)
    """)
    assert text.startswith("my_ops needs PyTorch 2.10 or newer")
    assert text.endswith("pip install 'torch>=2.10'")


def test_library_missing(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    (package / "my_ops.so").unlink()
    expected = f"{package}/my_ops.so is missing: build it with `make build`, or pip install the package"
    assert import_error(packages=tmp_path) == expected


def test_library_is_no_library(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    (package / "my_ops.so").write_bytes(b"\x7fELF and nothing else")
    text = import_error(packages=tmp_path)
    assert "my_ops.so: " in text
    assert "build it again with `make build`" in text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void absent(void); void f(void); void f(void) { absent(); }", "undefined symbol: absent"),
        ("int other; ", "undefined symbol: my_ops_load_error"),
    ],
)
def test_library_does_not_fit(tmp_path: Path, source: str, expected: str) -> None:
    package = copy_package(tmp_path)
    (tmp_path / "wrong.c").write_text(source)
    library = package / "my_ops.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,now", "-o", library, tmp_path / "wrong.c"], check=True)
    text = import_error(packages=tmp_path)
    assert expected in text
    assert "the library does not fit this machine or PyTorch" in text


def test_library_is_older_than_the_package(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    runtime = package / "_runtime.py"
    runtime.write_text(runtime.read_text().replace('"my_ops::square",', '"my_ops::square",\n    "my_ops::cube",'))
    expected = f"{package}/my_ops.so is older than the package: it has no my_ops::cube; run `make build`"
    assert import_error(packages=tmp_path) == expected


def test_registered_twice_from_two_files(tmp_path: Path) -> None:
    package = copy_package(tmp_path)
    text = import_error(f"torch.ops.load_library({str(PACKAGE / 'my_ops.so')!r})", packages=tmp_path)
    assert str(package / "my_ops.so") in text
    assert str(PACKAGE / "my_ops.so") in text
    assert "already registered" in text


def test_second_library_changes_nothing(tmp_path: Path) -> None:
    """The refused library has registered nothing: the first one goes on working."""
    library = copy_package(tmp_path) / "my_ops.so"
    done = run(f"""
        import ctypes, torch, my_ops
        before = torch._C._dispatch_dump("my_ops::rms_norm")
        second = ctypes.CDLL({str(library)!r})
        second.my_ops_load_error.restype = ctypes.c_char_p
        assert second.my_ops_load_error() is not None
        assert torch._C._dispatch_dump("my_ops::rms_norm") == before
        x = torch.ones(2, 8, requires_grad=True)
        my_ops.rms_norm(x, torch.ones(8)).sum().backward()
        assert x.grad is not None
    """)
    assert done.returncode == 0, done.stderr
    # PyTorch before 2.13 adds lines of its own, which start otherwise.
    assert [line.startswith(f"{library}: ") for line in done.stderr.splitlines()].count(True) == 1


def test_namespace_taken_from_python() -> None:
    text = import_error('taken = torch.library.Library("my_ops", "DEF")')
    assert str(PACKAGE / "my_ops.so") in text


def test_same_file_twice_is_nothing() -> None:
    output(f"""
        import ctypes, importlib, sys, torch, my_ops
        x = torch.arange(6.0, requires_grad=True)
        def works():
            import my_ops
            for f in (my_ops.square, torch.ops.my_ops.square):
                assert torch.equal(torch.autograd.grad(f(x).sum(), x)[0], 2 * x)
                assert torch.compile(f, backend="aot_eager")(x).requires_grad
                torch._dynamo.reset()
        works()
        tag = torch.compiler.config.cache_key_tag
        torch.ops.load_library({str(PACKAGE / "my_ops.so")!r})
        ctypes.CDLL({str(PACKAGE / "my_ops.so")!r})
        works()
        importlib.reload(my_ops)
        importlib.reload(my_ops.ops.square)
        works()
        for name in [name for name in sys.modules if name.split(".")[0] == "my_ops"]:
            del sys.modules[name]
        works()
        assert torch.compiler.config.cache_key_tag == tag
    """)


def test_library_first_package_later() -> None:
    output(f"""
        import torch
        torch.ops.load_library({str(PACKAGE / "my_ops.so")!r})
        import my_ops
        x = torch.ones(3, requires_grad=True)
        torch.ops.my_ops.square(x).sum().backward()
        assert torch.equal(x.grad, 2 * x)
    """)


def test_import_is_quiet_and_touches_no_cuda() -> None:
    done = run("""
        import torch
        names = set(open("/proc/self/maps").read().split())
        import my_ops
        assert not torch.cuda.is_initialized()
        new = set(open("/proc/self/maps").read().split()) - names
        assert not [name for name in new if "libcuda" in name]
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fork_after_import() -> None:
    output("""
        import os, torch, my_ops
        pid = os.fork()
        if pid == 0:
            x = torch.ones(3, 8, requires_grad=True)
            my_ops.rms_norm(x, torch.ones(8)).sum().backward()
            os._exit(0 if x.grad is not None else 1)
        assert os.waitpid(pid, 0)[1] == 0
    """)


def test_library_alone() -> None:
    """Without the package: schemas and kernels, for inference. Nothing inside a kernel is recorded."""
    output(f"""
        import sys, warnings, torch
        torch.ops.load_library({str(PACKAGE / "my_ops.so")!r})
        ops = torch.ops.my_ops
        x, w = torch.randn(6, 4).T, torch.randn(6)
        with torch.no_grad():
            expected = ops.rms_norm(x, w)
        assert torch.allclose(expected, torch.nn.functional.rms_norm(x, (6,), w, 1e-6), atol=1e-6)
        try:
            ops.rms_norm(x, w[:5])
        except RuntimeError as error:
            assert "my_ops::rms_norm: weight: expected shape [n] with n = 6 (from x), got [5]" == str(error), str(error)
        x.requires_grad_()
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            y = ops.rms_norm(x, w)
            assert torch.equal(y, expected)
            if y.requires_grad:
                try:
                    y.sum().backward()
                except RuntimeError:
                    pass
            assert x.grad is None, "what the kernel asks of ATen must not be recorded"
        assert "my_ops" not in sys.modules
    """)


def test_import_time() -> None:
    """At most 150 ms above torch itself, of processor time, since machines are shared."""
    spent = output("""
        import torch, time
        start = time.process_time()
        import my_ops
        print(time.process_time() - start)
    """)
    assert float(spent) < 0.15
