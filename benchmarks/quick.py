"""Time of `quick.load`, from an edited string to an operator that can be called, beside `load_inline`, in seconds.

The operator of strings/, RMSNorm without a weight, forward and backward, in three dtypes; an edit appends a constant
with a new value to each of its bodies, so that everything is compiled again. `CPU` is the C bodies alone, `NVRTC` and
`nvcc` add the CUDA bodies, for the GPU here or else for TORCH_CUDA_ARCH_LIST or 9.0, which needs no GPU. The cache is a
new one; the first call compiles the runtime, too, and stands by itself. `from the cache` is the call in a new process,
after its imports; the operator is called after each load, outside the time.

`load_inline` is that of build.py: C++ text with forward and backward, or with --device cuda a .cu, forward alone.
"""

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from my_ops import quick
from my_ops.quick import device

from .build import Inline
from .figures import Result, compared, limited, plain
from .options import Options, child_environment
from .progress import Progress
from .timing import seconds

TEXTS = Path(__file__).resolve().parent / "strings"
OPERATORS = ("rms", "rms_backward")
LIMITS = {"NVRTC": 0.5, "nvcc": 1.5}
CACHED_LIMIT = 0.05
INLINE_FACTOR = 15.0

CACHED = """
import pathlib, sys, time, torch
from my_ops import quick
folder = pathlib.Path({folder!r})
texts = [{{name: (folder / f"{{name}}.{{end}}").read_text() for name in {operators}}} for end in ("c", "cu")]
spec = (folder / "rms.yaml").read_text()
before = time.perf_counter()
ops = quick.load(spec, texts[0], texts[1] if {arch!r} else None, arch={arch!r})
print(time.perf_counter() - before)
"""

_numbers = itertools.count()  # no two edits are alike: what one has compiled is in the cache for others


class Strings:
    """The operator, built by one compiler of the GPU part, or without that part."""

    def __init__(self, compiler: str, options: Options) -> None:
        self.compiler = {"CPU": None}.get(compiler, compiler.lower())
        self.on_gpu = options.device == "cuda" and compiler != "CPU"
        self.arch = None if self.on_gpu or compiler == "CPU" else _arch()
        self.texts = [_bodies("c"), _bodies("cu") if compiler != "CPU" else None]

    def edit(self) -> float:
        """Seconds of a load with every body changed."""
        number = next(_numbers)
        constants = (f"\nstatic const int edit = {number};\n", f"\n__device__ int edit = {number};\n")
        cpu, cuda = (
            {name: text + edit for name, text in texts.items()} if texts else None
            for texts, edit in zip(self.texts, constants, strict=True)
        )
        spec = (TEXTS / "rms.yaml").read_text()
        taken = seconds(lambda: quick.load(spec, cpu, cuda, arch=self.arch, compiler=self.compiler))
        x = torch.randn(3, 64, device="cuda" if self.on_gpu else "cpu", requires_grad=True)
        y = torch.ops.quick_rms.rms(x)
        torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (64,), eps=1e-6))
        y.sum().backward()
        return taken


def _bodies(suffix: str) -> dict[str, str]:
    return {name: (TEXTS / f"{name}.{suffix}").read_text() for name in OPERATORS}


def _arch() -> str:
    return os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0").split(";")[0].removesuffix("+PTX")


def _cached(arch: str | None) -> float:
    code = CACHED.format(folder=str(TEXTS), operators=OPERATORS, arch=arch)
    done = subprocess.run([sys.executable, "-c", code], env=child_environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout)


def _compilers() -> list[str]:
    found = []
    for name in LIMITS:
        try:
            device.find((_arch(),), name.lower())
        except quick.QuickError:
            continue
        found.append(name)
    return found


def measure(options: Options) -> Result:
    rounds, inline_rounds = options.repeats(9, 3), options.repeats(3, 2)
    names = ["CPU", *_compilers()]
    inlines = ("cpu", "cuda") if options.device == "cuda" else ("cpu",)
    progress = Progress("quick", 1 + rounds * (len(names) + 1) + inline_rounds * len(inlines))
    result = Result()
    result.notes += [f"No {name} here." for name in LIMITS if name not in names]
    edits: dict[str, list[float]] = {name: [] for name in names}
    cached: list[float] = []
    inline_edits: dict[str, list[float]] = {name: [] for name in inlines}
    with tempfile.TemporaryDirectory(prefix="my_ops-") as temporary:
        os.environ["MY_OPS_QUICK_CACHE"] = str(Path(temporary) / "cache")
        strings = {name: Strings(name, options) for name in names}
        inline = {name: Inline(Path(temporary) / f"inline-{name}", name) for name in inlines}
        first = [strings["CPU"].edit()]
        progress.step("first call")
        arch = _arch() if len(names) > 1 else None
        for name in names[1:]:
            strings[name].edit()  # the runtime is another one with a GPU part
        _cached(arch)  # builds it
        for number in range(1, rounds + 1):
            for name in names:
                edits[name].append(strings[name].edit())
                progress.step(name)
            cached.append(_cached(arch))
            progress.step("from the cache")
            if number <= inline_rounds:
                for name in inlines:
                    inline_edits[name].append(inline[name].edit())
                    progress.step(f"load_inline, {name}")
        del os.environ["MY_OPS_QUICK_CACHE"]
    progress.close()

    result.figures.append(plain("first call on a machine, CPU", "s", first))
    result.figures.append(plain("edit, CPU", "s", edits["CPU"]))
    result.figures += [limited(f"edit, {name}", "s", edits[name], LIMITS[name]) for name in names[1:]]
    result.figures.append(limited("from the cache, in a new process", "s", cached, CACHED_LIMIT))
    for name in inlines:
        beside = "CPU" if name == "cpu" else names[1]
        at_least = INLINE_FACTOR if name == "cpu" else None
        later = inline_edits[name][1:]
        result.figures.append(
            compared(f"load_inline, {name}: edit", "s", later, f"edit, {beside}", edits[beside], at_least=at_least)
        )
    return result
