"""Operators that launch themselves: what is generated around `launch: custom` and `full_cuda: true`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from codegen.commands.project import RENDERER
from codegen.lower import operator_files
from codegen.model import Library

CUSTOM = """
namespace: demo
ops:
  f:
    types: {T: [float32, bfloat16]}
    inputs: {x: "T[n]", sizes: "int64[b] cpu", xs: "T[*s][]"}
    outputs: {y: "T[n]"}
    launch: custom
    kernels:
      first: {VEC: [1, 16 // sizeof(T)], LAST: [false, true]}
      second: {}
"""


@pytest.fixture
def files(library: Callable[[str], Library]) -> Callable[[str], dict[str, str]]:
    """The generated files of the first operator of a spec."""

    def made(spec: str) -> dict[str, str]:
        found = library(spec)
        outputs = operator_files(found, found.operators[0])
        return {output.path: RENDERER.render(output.template, output.view).decode() for output in outputs}

    return made


def test_launchers_see_functions_with_the_params(files: Callable[[str], dict[str, str]]) -> None:
    header = files(CUSTOM)["c/f_launch.h"]
    heads = re.findall(r"^static inline bool (launch_[^{]*\{)$", header, re.MULTILINE)
    assert [" ".join(head.split()) for head in heads] == [
        "launch_first(const cuda_context *ctx, const f_call *c, cuda_launch launch, int64_t VEC_, bool LAST_) {",
        "launch_second(const cuda_context *ctx, const f_call *c, cuda_launch launch) {",
    ]
    assert "/* VEC in [1, 16 // sizeof(T)]; LAST in [False, True] */" in header


def test_kernels_are_compiled_for_each_combination(files: Callable[[str], dict[str, str]]) -> None:
    """Blocks have the size that the launcher chooses, so none is promised to the compiler."""
    entries = files(CUSTOM)["cuda/f.cu"]
    kernels = re.findall(r"^(\w+)\(const __grid_constant__ f_call call\) \{\n    (.*)\(f_args", entries, re.MULTILINE)
    assert dict(kernels) == {
        "first__float32__0": "first<float, 1, false>",
        "first__float32__1": "first<float, 1, true>",
        "first__float32__2": "first<float, 4, false>",
        "first__float32__3": "first<float, 4, true>",
        "first__bfloat16__0": "first<__nv_bfloat16, 1, false>",
        "first__bfloat16__1": "first<__nv_bfloat16, 1, true>",
        "first__bfloat16__2": "first<__nv_bfloat16, 8, false>",
        "first__bfloat16__3": "first<__nv_bfloat16, 8, true>",
        "second__float32__0": "second<float>",
        "second__bfloat16__0": "second<__nv_bfloat16>",
    }
    assert re.findall(r"__launch_bounds__\((\w+)\)", entries) == ["LIST_PIECE_WORDS"]


def test_what_only_the_host_can_read_is_not_in_kernels(files: Callable[[str], dict[str, str]]) -> None:
    found = files(CUSTOM)
    assert "    const void *sizes;" in found["c/f_call.h"]
    assert "    int32_t T;" in found["c/f_call.h"]
    assert "csrc/f.launch.c can: sizes.\n" in found["cuda/f.cuh"]
    assert not re.search(r"\bsizes\(|\bT;", found["cuda/f.cuh"])
    assert "const int64_t *sizes" in re.sub(r"CPU_SCALAR\(int64\)", "int64_t", found["c/f.cpu.c"])


def test_kernels_see_lists_on_their_side(files: Callable[[str], dict[str, str]]) -> None:
    """The launcher has the record with arrays of the host, and each launch a copy with those of the GPU."""
    host = files(CUSTOM)["c/f.c"]
    assert host.count("    f_call record = *c;\n    record.xs = f->t.xs.device_data;\n") == 2
    assert host.count("    record.s = f->t.xs.device_numbers;\n") == 2
    assert "f->call.xs = f->t.xs.device_data" not in host


def test_nothing_of_cuda_without_it(files: Callable[[str], dict[str, str]]) -> None:
    """An operator that leaves CUDA out may keep its keys."""
    found = files(CUSTOM.replace("    launch:", "    devices: [cpu]\n    launch:"))
    assert [path for path in found if "launch" in path or path.startswith("cuda/")] == []
    assert "launch" not in found["c/f.c"]
    assert "int32_t T;" not in found["c/f_call.h"]


def test_host_code_reaches_arguments_by_their_dtypes(files: Callable[[str], dict[str, str]]) -> None:
    spec = """
namespace: demo
ops:
  g:
    types: {T: [float32, int8], W: bits}
    inputs: {x: "T[n]", w: "W[n]"}
    outputs: {y: "T[n]"}
    devices: [cuda]
    full_cuda: true
"""
    header = files(spec)["cuda/g.cuh"]
    assert header.count("    if (call.T == DTYPE_") == 10
    first = "call.T == DTYPE_FLOAT32 && dtype_size(static_cast<dtype>(call.W)) == 1"
    assert f"    if ({first}) {{\n        return f(g_args<float, uint8_t>(call));\n" in header
    assert "    __host__ __device__ explicit g_args(const g_call &call)" in header
