"""Which names are refused."""

from __future__ import annotations

import keyword
from pathlib import Path

import pytest

from codegen.names import namespace_problem, operator_problem, problem, variable_problem


@pytest.mark.parametrize(
    "name", ["x", "weight", "grad_y", "T", "I", "dim", "size", "index", "out", "n2", "a_b_c", "type", "match"]
)
def test_fine(name: str) -> None:
    assert problem(name) == ""


@pytest.mark.parametrize(
    "name",
    ["", "1x", "a-b", "a b", "é", "_x", "a__b", "x" * 65, "int", "class", "lambda", "template", "restrict",
    "nullptr", "float32", "load",
     "all", "bits", "int64_t", "float4", "dim3", "torch", "self", "NULL", "a\n", "typeof", "co_await", "None",
     "scalar_t", "INT32_MAX", "HUGE_VAL", "M_PI", "FLT_EPSILON", "PRIu32", "T_DTYPE", "DTYPE_OTHER", "VECTOR_BYTES"],
)  # fmt: skip
def test_refused(name: str) -> None:
    assert problem(name)


def test_every_python_keyword() -> None:
    assert all(problem(word) for word in keyword.kwlist)


def test_operators() -> None:
    for name in ("square", "rms_norm", "add_scalar_", "f2"):
        assert operator_problem(name) == ""
    for name in (
        *("Square", "exp", "index", "main", "library", "operators", "malloc", "double"),
        *("sinf", "cexpl", "tensor", "cpu", "begin", "record", "call", "name"),
        *("cpu_copy_part", "vector_sum", "ulong", "key_t"),
    ):
        assert operator_problem(name)


def test_variables_and_namespaces() -> None:
    assert variable_problem("T") == ""
    for name in ("T_acc", "scalar", "vector", "size", "ptrdiff", "cpu_float32", "call"):
        assert variable_problem(name)
    assert namespace_problem("my_ops") == ""
    for name in ("aten", "torch", "json", "sys", "numpy", "My_Ops", "prims", "class", "mkldnn", "loaded_libraries"):
        assert namespace_problem(name)


def test_headers_for_bodies_are_no_operators() -> None:
    """generated/cuda/<op>.cuh is found before the header of csrc/device of that name."""
    headers = list((Path(__file__).parents[2] / "csrc" / "device").glob("*.cuh"))
    assert headers
    assert all(operator_problem(header.stem) for header in headers)
