"""The host part: generated C, CPU bodies and the runtime, compiled and linked for this machine's processor.

The flags are those of CMakeLists.txt and cmake/cpu.cmake; a test compares them. The runtime is compiled once, into a
folder of its own in the cache.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from . import cache, programs, sources
from .failure import QuickError

if TYPE_CHECKING:
    from codegen.lower.c.files import BuildOperator

    from .device import Device

FLAGS = ("-std=c11", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-fexceptions", "-pthread",
         "-Werror=implicit-function-declaration")  # fmt: skip
GCC_FLAGS = ("-mmemset-strategy=vector_loop:1024:noalign,libcall:-1:noalign",)
CPU_FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
# The levels of the x86-64 psABI, best first, and what /proc/cpuinfo says of a processor that has them.
LEVELS = {
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
    "v3": "avx2 bmi2 f16c fma movbe abm",
    "v2": "",
}


class Host:
    """The C compiler and its flags on this machine."""

    def __init__(self, gpu: Device | None) -> None:
        self.command = programs.words("CC", "cc")
        if not programs.found(self.command):
            raise QuickError(f"no C compiler: there is no {self.command[0]}; install gcc or clang, or set CC")
        self.gpu = gpu
        self.level, march = _level()
        identity = programs.identity(self.command)
        own = GCC_FLAGS if "Free Software Foundation" in identity and march else ()
        self.flags = [*FLAGS, *own, f"-DCPU_HAVE_{self.level.upper()}=1", *shlex.split(os.environ.get("CFLAGS", ""))]
        self.body_flags = [*CPU_FLAGS, *march]
        self.identity = f"{identity} {self.flags} {self.body_flags}"

    def compile(self, source: str, output: str, folder: Path, what: str, flags: Sequence[str] = ()) -> None:
        """One unit, in a folder that has csrc/ and generated/."""
        root = sources.root() / "csrc"
        include = ["-Igenerated/c", *(f"-I{root / part}" for part in ("runtime", "cpu", "."))]
        programs.run([*self.command, *self.flags, *flags, *include, "-c", source, "-o", output], folder, what)

    def link(self, output: str, objects: Sequence[str], folder: Path) -> None:
        """The library."""
        runtime = self.runtime()
        parts = [*objects, *map(str, sorted(runtime.glob("*.o")))]
        after = ["-Wl,--no-undefined", "-Wl,--no-as-needed", str(runtime / "libtorch_cpu.so"), "-Wl,--as-needed"]
        command = [*self.command, "-shared", "-pthread", "-o", output, *parts, *after, "-lm", "-ldl"]
        programs.run(command, folder, "the library")

    def runtime(self) -> Path:
        """The compiled runtime, and a stub in the place of PyTorch's library."""
        definitions = self.gpu.definitions if self.gpu else []
        key = hashlib.sha256(f"{sources.digest()} {self.identity} {definitions}".encode()).hexdigest()
        return cache.find(f"runtime-{key}") or cache.make(
            f"runtime-{key}", lambda folder: self._make_runtime(folder, definitions)
        )

    def _make_runtime(self, folder: Path, definitions: list[str]) -> None:
        runtime = sources.root() / "csrc/runtime"
        (folder / "stub.c").write_text(_stub((runtime / "torch_abi.h").read_text(encoding="utf-8")), encoding="utf-8")
        with ThreadPoolExecutor(processors()) as pool:
            done: list[Future[None]] = []
            for path in sorted(runtime.glob("*.c")):
                flags = definitions if path.stem == "cuda_launch" else []
                done.append(
                    pool.submit(self.compile, str(path), f"{path.stem}.o", folder, f"the runtime, {path}", flags)
                )
            link = [*self.command, "-shared", "-fPIC", "-Wl,-soname,libtorch_cpu.so", "stub.c", "-o", "libtorch_cpu.so"]
            done.append(pool.submit(programs.run, link, folder, "the link stub"))
            wait(done)
        (folder / "stub.c").unlink()


def cpu_units(op: BuildOperator, level: str) -> Iterator[tuple[str, str]]:
    """The name and the text of each unit of a CPU body, as cpu_unit() in cmake/cpu.cmake has them."""
    for choice in op.choices or ("",):
        pairs = [pair.split("=") for pair in choice.split()]
        dtypes = "".join(f"_{dtype}" for _, dtype in pairs)
        dtypes = f"_{dtypes}" if dtypes else ""
        lines = [f"#define {variable}_DTYPE {dtype}" for variable, dtype in pairs]
        lines.append(f"#define CPU_SYMBOL(kernel) kernel##{dtypes}__{level}")
        yield f"{op.name}{dtypes}", "\n".join([*lines, f'#include "{op.name}.cpu.c"', ""])


def processors() -> int:
    """How many compilers run side by side."""
    return max(1, len(os.sched_getaffinity(0)))


def wait(futures: Sequence[Future[None]]) -> None:
    """For all of them, or for the first that fails, and then those that run are waited for and no other begins."""
    try:
        for future in futures:
            future.result()
    finally:
        for future in futures:
            future.cancel()


def _level() -> tuple[str, tuple[str, ...]]:
    machine = platform.machine()
    if machine in ("aarch64", "arm64"):
        return "base", ()
    if machine not in ("x86_64", "amd64", "AMD64"):
        raise QuickError(f"operators are built for x86-64 and aarch64, and this is {machine}")
    line = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    flags = set(line[1].split()) if line else set()
    level = next(name for name, needed in LEVELS.items() if flags.issuperset(needed.split()))
    return level, (f"-march=x86-64-{level}",)


def _stub(declarations: str) -> str:
    names = re.findall(r"^TORCH_ABI .*?([A-Za-z0-9_]+)\(", declarations, re.MULTILINE)
    return "".join(f"void {name}(void);\nvoid {name}(void) {{}}\n" for name in names)
