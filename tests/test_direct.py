"""The direct module: what it refuses, and that what it is lent is given back. Values and errors of each operator are
looked at by their generated tests (tests/harness/direct.py).
"""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import re
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import my_ops
from tests.harness.direct import module
from tests.process import copy_package, output

ROOT = Path(__file__).resolve().parents[1]
_C: Any = module("my_ops")

X = torch.arange(1.0, 13.0).view(3, 4)


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def text(*arguments: Any, call: Any = _C.square, kind: type[Exception] = RuntimeError, **named: Any) -> str:
    """The error of a call, without the name of the operator."""
    with pytest.raises(kind) as caught:
        call(*arguments, **named)
    start, _, rest = str(caught.value).partition(": ")
    assert start == f"my_ops::{call.__name__.rstrip('_')}"
    return rest


@pytest.mark.parametrize("page", ["README.md", "docs/direct.md"])
def test_programs_of_the_pages_run(page: str) -> None:
    text = (ROOT / page).read_text()
    programs = re.findall(r"^```python\n(.*?)^```", text[text.index("# Direct calls") :], re.MULTILINE | re.DOTALL)
    exec(programs[0], {})


def test_as_the_readme_says() -> None:
    weight, y = torch.ones(4), torch.empty(3, 4)
    expected = torch.ops.my_ops.rms_norm(X, weight, 1e-6)
    assert torch.equal(_C.rms_norm(X, weight, 1e-6), expected)
    assert _C.rms_norm(X, weight, 1e-6, out=y) is y
    assert torch.equal(y, expected)
    assert not _C.square(X.clone().requires_grad_()).requires_grad
    assert "Records no gradient" in _C.rms_norm.__doc__
    assert "No gradient is recorded" in _C.__doc__
    assert str(inspect.signature(_C.rms_norm)) == "(x, weight=None, eps=1e-06, offset=0.0, *, out=None)"


def test_every_operator_is_there() -> None:
    public = {name for name in my_ops.__all__ if name not in ("BytesCounterMode", "check_calls", "check_values")}
    assert {name for name in dir(_C) if not name.startswith("_")} == public


NEGATED = "expected a tensor of its own values, got a negated view: pass its resolve_neg()"
CONJUGATED = "expected a tensor of its own values, got a conjugated view: pass its resolve_conj()"


def test_views_that_negate_or_conjugate_are_refused() -> None:
    z = torch.randn(4, dtype=torch.complex64)
    for negated in (torch._neg_view(X), z.conj().imag, torch._neg_view(X).data, torch._neg_view(X)[0],
                    torch._neg_view(torch.nn.Parameter(X)).detach()):  # fmt: skip
        assert negated.is_neg()
        assert text(negated) == f"x: {NEGATED}"
    assert text(z.conj()) == f"x: {CONJUGATED}"
    assert text(X, out=torch._neg_view(X.clone())) == f"out: {NEGATED}"
    assert text([X, torch._neg_view(X)], call=_C.global_norm) == f"xs[1]: {NEGATED}"
    assert torch.equal(_C.square(torch._neg_view(torch._neg_view(X))), X * X)
    with torch.inference_mode():
        assert text(torch._neg_view(X)) == f"x: {NEGATED}"


KINDS = [
    X, torch.nn.Parameter(X), X.clone().requires_grad_() * 2, X.double(), X.half(), X.bfloat16(), X[0, 0], X[:0], X.t(),
    X.view(1, 1, 1, 1, 1, 1, 3, 4), torch.utils.data.default_convert(numpy.ones(3, numpy.float32)),
]  # fmt: skip


def test_other_tensors_are_not() -> None:
    """The bit that says so was found on a few: here are all kinds of others."""
    with torch.inference_mode():
        made = torch.ones(3)
    for one in (*KINDS, made):
        assert not one.is_neg()
        assert torch.equal(_C.square(one), torch.ops.my_ops.square(one.detach()))


def test_by_functions_of_python_alone() -> None:
    """Where the shorter ways into PyTorch are not found."""
    selected = "negate or other_tensors or readme or lent"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__, "-k", selected]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "OPS_DIRECT_ASKS_PYTHON": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_tensors_without_memory_of_their_own_are_refused() -> None:
    with FakeTensorMode():
        fake = torch.empty(3)
        plain = "expected a plain tensor, got FakeTensor, which only torch.ops can pass on: call the operator there"
        assert text(fake) == f"x: {plain}"
        assert text([fake], call=_C.global_norm) == f"xs[0]: {plain}"
    for lost in (torch.empty(3, device="meta"), X.to_sparse(), torch.nested.nested_tensor([X])):
        assert text(lost).startswith("x: PyTorch does not lend this tensor: ")
    with pytest.raises(RuntimeError, match="x: PyTorch does not lend this tensor: "):
        torch.vmap(_C.square)(X)
    with pytest.raises(RuntimeError, match="x: PyTorch does not lend this tensor: "):
        torch.func.grad(lambda x: _C.square(x).sum())(X)
    freed = torch.ones(3)
    freed.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError) as caught:
        torch.ops.my_ops.square(freed)
    assert f"my_ops::square: {text(freed)}" == str(caught.value)


def test_arguments_are_bound_as_python_binds_them() -> None:
    signature = "call rms_norm(x, weight=None, eps=1e-06, offset=0.0, *, out=None)"

    def refused(*arguments: Any, **named: Any) -> str:
        return text(*arguments, call=_C.rms_norm, kind=TypeError, **named)

    assert refused() == f"a value is missing for the argument x: {signature}"
    assert refused(X, None, 1.0, 0.0, X) == f"expected at most 4 arguments by place, got 5: {signature}"
    assert refused(X, x=X) == f"two values for the argument x: {signature}"
    assert refused(X, epsilon=1.0) == f"no argument is called epsilon: {signature}"
    assert torch.equal(_C.rms_norm(**{"".join(["e", "ps"]): 1, "x": X}), torch.ops.my_ops.rms_norm(X, None, 1.0))


def test_values_of_another_kind() -> None:
    norm = _C.rms_norm
    assert text(None) == "x: expected a tensor, got None"
    assert text(X, 3, call=norm) == "weight: expected a tensor or None, got int"
    assert text(X, None, "1", call=norm) == "eps: expected float, got str"
    assert text(X, causal=1, call=_C.softmax) == "causal: expected bool, got int"
    assert (
        text(X, torch.zeros(3, dtype=torch.int64), 1.5, call=_C.cross_entropy)
        == "ignore_index: expected int, got float"
    )
    assert text(X, torch.zeros(3, dtype=torch.int64), 2**63, call=_C.cross_entropy) == (
        "ignore_index: expected an int of 64 bits, got one beyond that"
    )
    assert text(X, X, 3, call=_C.gelu_mul) == "approximate: expected str, got int"
    assert text(X, X, "\ud800", call=_C.gelu_mul).startswith("approximate: expected a str of Unicode: ")
    assert text(X, dtype=3, call=_C.quantize_per_token) == "dtype: expected dtype, got int"
    assert text(X, dtype=[], call=_C.quantize_per_token) == "dtype: expected dtype, got list"
    assert text(X, call=_C.global_norm) == "xs: expected a list of tensors, got Tensor"
    assert text([X, 3], call=_C.global_norm) == "xs[1]: expected a tensor, got int"
    assert text(X, X, y=X, call=_C.add_rms_norm) == "residual_out: expected a tensor, as for the other outputs"
    mask = text(X, X, None, torch.ones(3), 0.0, grad_mask=[True], call=_C.rms_norm_backward)
    assert mask == "grad_mask: expected 2 bools, got 1"
    assert torch.equal(_C.quantize_per_token(X, dtype="int8")[0], _C.quantize_per_token(X, dtype=torch.int8)[0])
    for causal in (True, False):
        assert torch.equal(_C.softmax(X, causal=numpy.bool_(causal)), _C.softmax(X, causal=causal))


def test_numpy() -> None:
    array = X.numpy().copy()
    result = _C.square(array)
    assert type(result) is numpy.ndarray
    assert result.flags.writeable
    out = numpy.empty((4, 3), numpy.float32).T
    assert _C.square(array, out=out) is out
    assert numpy.array_equal(out, array * array)
    for locked in (out, array):
        locked.flags.writeable = False
    unwritable = "out: expected an array that may be written, got a read-only one: pass a copy of it that may"
    assert text(array, out=out) == unwritable
    assert numpy.array_equal(_C.square(array), out)  # it may be read
    assert isinstance(_C.rms_norm(X, array[0]), torch.Tensor)  # of the kind of the first
    assert isinstance(_C.rms_norm(array, X[0]), numpy.ndarray)
    assert text(numpy.array(["a"])).startswith("x: ndarray is not to be had through DLPack: DLPack only supports ")


def test_layouts_that_pytorch_does_not_have() -> None:
    """PyTorch ends the process over some of them."""
    array = X.numpy()
    remedy = "pass a contiguous copy"
    assert text(array[::-1]) == f"x: expected strides >= 0, got stride -4 in dimension 0: {remedy}"
    assert text([X, array[:, ::-1]], call=_C.global_norm) == (
        f"xs[1]: expected strides >= 0, got stride -1 in dimension 1: {remedy}"
    )
    assert text(X, out=array.copy()[::-1]).startswith("out: expected strides >= 0, got ")
    assert numpy.array_equal(_C.square(array[:1][::-1]), array[:1] ** 2)  # of one index, which is not used


def test_results_that_their_kind_cannot_hold() -> None:
    """NumPy has no float8: the exception of from_dlpack comes out, whatever results are behind it."""
    with pytest.raises((RuntimeError, BufferError), match=r"(?i)dtype|float8"):
        _C.quantize_per_token(X.numpy(), dtype=torch.float8_e4m3fn)


class Exporter:
    """An array that only speaks DLPack, as older ones do when `versioned` is False."""

    def __init__(self, tensor: torch.Tensor, versioned: bool = True) -> None:
        self.tensor, self.versioned = tensor, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **asked: Any) -> Any:
        if not self.versioned and "max_version" in asked:
            raise TypeError("unexpected max_version")
        return self.tensor.__dlpack__(**asked)

    @classmethod
    def __array_namespace__(cls) -> Any:
        class Namespace:
            @staticmethod
            def from_dlpack(tensor: torch.Tensor) -> Exporter:
                return cls(tensor)

        return Namespace


def test_results_are_of_the_kind_of_the_producer() -> None:
    result = _C.square(Exporter(X))
    assert type(result) is Exporter
    assert torch.equal(result.tensor, X * X)
    assert torch.equal(_C.square(Exporter(X, versioned=False)).tensor, X * X)
    out = Exporter(torch.empty(3, 4))
    assert _C.square(Exporter(X), out=out) is out
    assert torch.equal(out.tensor, X * X)
    old = Exporter(torch.empty(3, 4), versioned=False)  # which cannot say whether it may be written
    assert text(X, out=old).startswith("out: expected an array that may be written, got a read-only one")
    broken = Exporter(X)
    broken.tensor = None  # type: ignore[assignment]
    assert text(broken).startswith("x: Exporter is not to be had through DLPack: 'NoneType' object has no attribute")


def test_strides_that_are_left_out() -> None:
    """As DLPack before 1.2 may for what is contiguous."""

    class Contiguous(Exporter):
        def __dlpack__(self, **asked: Any) -> Any:
            capsule = super().__dlpack__(**asked)
            address = ctypes.pythonapi.PyCapsule_GetPointer
            address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            # The version, the context, the deleter and the flags; of the tensor data, device, ndim, dtype and shape.
            strides = address(capsule, b"dltensor_versioned") + 8 + 8 + 8 + 8 + 8 + 8 + 4 + 4 + 8
            assert ctypes.c_int64.from_address(ctypes.c_void_p.from_address(strides).value or 0).value == 4
            ctypes.c_void_p.from_address(strides).value = None
            return capsule

    assert torch.equal(_C.square(Contiguous(X)).tensor, X * X)


def test_a_tensor_that_changes_during_the_call() -> None:
    """What a later argument does to an earlier one: its sizes are looked at once more."""

    class Growing:
        def __float__(self) -> float:
            x.resize_(4, 3, 2, 8).fill_(2)
            return 1e-6

    x = torch.ones(5, 8)
    y = _C.rms_norm(x, torch.ones(8), Growing())
    assert torch.equal(y, my_ops.rms_norm(torch.full((4, 3, 2, 8), 2.0)))


def test_a_list_that_becomes_longer_during_the_call() -> None:
    class Growing(Exporter):
        def __dlpack__(self, **asked: Any) -> Any:
            grown.extend([X] * 1000)
            return super().__dlpack__(**asked)

    grown: list[Any] = [X]
    first, rest = [Growing(X)], [[X], [X], [X]]
    assert text(first, grown, *rest, call=_C.adamw_step).endswith(": the list became longer during the call")


def test_what_is_lent_is_given_back() -> None:
    for fails in (False, True):
        array = numpy.ones(4, numpy.float64 if fails else numpy.float32)
        seen, count = weakref.ref(array), sys.getrefcount(array)
        if fails:
            text(X, array, call=_C.rms_norm)
        else:
            _C.rms_norm(X, array)
        gc.collect()  # of the error, whose traceback holds what was called with
        assert sys.getrefcount(array) == count
        del array
        assert seen() is None


def test_memory_is_flat() -> None:
    array, weight = X.numpy(), torch.ones(4)

    def calls(number: int) -> None:
        for _ in range(number):
            _C.rms_norm(array, weight)
            _C.gelu_mul(X, X, "tanh")
            _C.global_norm([X, array])
            for wrong in (lambda: _C.rms_norm(X, weight, -1.0), lambda: _C.global_norm([X, None]),
                          lambda: _C.gelu_mul(X, X, "tan"), lambda: _C.rms_norm(X, array, "")):  # fmt: skip
                with pytest.raises(RuntimeError):
                    wrong()

    calls(500)
    before = resident()
    calls(4000)
    assert resident() - before < 4 << 20


def test_threads() -> None:
    found = []

    def work() -> None:
        found.append(all(torch.equal(_C.square(X), X * X) for _ in range(500)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [True] * 4


def test_without_the_module(tmp_path: Path) -> None:
    """The package works, and says what is missing."""
    (copy_package(tmp_path) / "_C.abi3.so").unlink()
    script = """
        import torch, my_ops
        assert my_ops.square(torch.ones(2)).sum() == 2
        try:
            my_ops._C
        except ImportError as error:
            print(error)
    """
    said = output(script, packages=tmp_path)
    assert said.startswith("my_ops._C, the direct calls, is not there: it was left out when my_ops was built")
    assert "install Python's headers (python3-dev) and build again" in said
