"""What writers call things elsewhere, and what they are called in a spec: for hints, and to read on behind a wrong key.

Lower case; one table for all places, since each place knows which words it takes.
"""

from __future__ import annotations

from collections.abc import Mapping

SYNONYMS: Mapping[str, str] = {
    # dtypes of PyTorch, NumPy, C and CUDA
    "half": "float16",
    "fp16": "float16",
    "f16": "float16",
    "__half": "float16",
    "bf16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "float": "float32",
    "fp32": "float32",
    "f32": "float32",
    "single": "float32",
    "double": "float64",
    "fp64": "float64",
    "f64": "float64",
    "fp8": "float8_e4m3fn",
    "float8": "float8_e4m3fn",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "byte": "uint8",
    "u8": "uint8",
    "char": "int8",
    "i8": "int8",
    "short": "int16",
    "i16": "int16",
    "int": "int32",
    "i32": "int32",
    "long": "int64",
    "i64": "int64",
    "boolean": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "floats": "floating",
    "integer": "integral",
    "integers": "integral",
    "any": "all",
    # devices
    "gpu": "cuda",
    "nvidia": "cuda",
    "x86": "cpu",
    "host": "cpu",
    # keys
    "args": "inputs",
    "arguments": "inputs",
    "params": "inputs",
    "parameters": "inputs",
    "kwargs": "keywords",
    "returns": "outputs",
    "results": "outputs",
    "dtypes": "types",
    "description": "doc",
    "docs": "doc",
    "constraints": "checks",
    "requirements": "checks",
    "gradient": "backward",
    "grad": "backward",
    "operators": "ops",
    "workspace": "scratch",
    "kernels": "passes",
    "blocks": "grid",
    "threads": "block",
    "smem": "shared",
    "if": "when",
}
