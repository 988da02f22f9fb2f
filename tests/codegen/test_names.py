"""Which names are refused."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

import pytest

from codegen.names import namespace_problem, operator_problem, problem, taken_constant, variable_problem

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def runtime() -> set[str]:
    """The functions, macros and types that csrc/runtime declares for host functions."""
    text = "\n".join(path.read_text() for path in (ROOT / "csrc" / "runtime").glob("*.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = re.findall(r"\b([a-z]\w*)\(|\} (\w+);|typedef [\w ]+?(\w+);", text)
    return {name for names in found for name in names if name}


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
        *("cpu_copy_part", "acc_exp", "vector_sum", "ulong", "key_t"),
    ):
        assert operator_problem(name)


def test_variables_and_namespaces() -> None:
    assert variable_problem("T") == ""
    for name in ("T_acc", "scalar", "vector", "size", "ptrdiff", "cpu_float32", "call"):
        assert variable_problem(name)
    assert namespace_problem("my_ops") == ""
    for name in ("aten", "torch", "json", "sys", "numpy", "My_Ops", "prims", "class", "mkldnn", "loaded_libraries"):
        assert namespace_problem(name)
    settings = (ROOT / "pyproject.toml").read_text()
    folders = re.findall(r'"/([a-z]+)"', settings.split("sdist.include")[1].split("]")[0])
    folders += [path.name for path in (ROOT / "generated").iterdir() if path.is_dir() and path.name != "my_ops"]
    assert {"codegen", "csrc", "c", "tests"} <= set(folders)
    assert [name for name in folders if not namespace_problem(name)] == []


def test_headers_for_bodies_are_no_operators() -> None:
    """generated/cuda/<op>.cuh is found before the header of csrc/device of that name."""
    headers = list((ROOT / "csrc" / "device").glob("*.cuh"))
    assert headers
    assert all(operator_problem(header.stem) for header in headers)


def test_constants_of_csrc_are_no_names() -> None:
    """The preprocessor would put their values where generated code has the name."""
    headers = [path for folder in ("runtime", "cpu") for path in (ROOT / "csrc" / folder).glob("*.h")]
    text = "\n".join(path.read_text() for path in headers)
    found = set(re.findall(r"^#define (\w+)(?:[ \n])", text, re.MULTILINE))
    assert {"QUANTIZED_LARGEST", "ELEMENTWISE_BITS"} <= found
    assert [name for name in sorted(found | {"DECIMAL_DIG"}) if not problem(name)] == []


def test_functions_of_the_runtime_are_no_host_functions(runtime: set[str]) -> None:
    """`<op>_check` and all that is called like it is declared beside csrc/runtime."""
    templates = "".join(path.read_text() for path in (ROOT / "templates").glob("*.c.j2"))
    endings = {"plan", "kernels", "prepare", *re.findall(r"\{\{ op \}\}_([a-z]\w*)", templates)}
    assert {"check", "cpu", "call", "nothing_to_do"} < endings
    taken = {name.removesuffix(f"_{end}") for name in runtime for end in endings if name.endswith(f"_{end}")}
    assert {"offsets", "device", "custom"} < taken
    assert [name for name in taken if not operator_problem(name)] == []


def test_functions_of_the_runtime_are_no_constants(runtime: set[str]) -> None:
    """The constant of a choice is `<op>_<argument>_<word>`."""
    several = {name for name in runtime | {"memory_order_relaxed", "atomic_fetch_add"} if name.count("_") > 1}
    assert "shape_add_dim" in several
    missed = {name for name in several if not taken_constant("f", name, (), ())}
    assert [name for name in missed if any(map(_could_be, _cut(name)))] == []


def _cut(name: str) -> list[tuple[str, str]]:
    """The operators and arguments that it could be made of."""
    parts = name.split("_")
    ends = range(1, len(parts))
    return [("_".join(parts[:a]), "_".join(parts[a:b])) for a in ends for b in ends if a < b]


def _could_be(cut: tuple[str, str]) -> bool:
    return not operator_problem(cut[0]) and not problem(cut[1])
