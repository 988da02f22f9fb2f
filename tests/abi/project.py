"""Builds the host functions of a project with a fake libtorch: a program that runs the calls of a script."""

from __future__ import annotations

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codegen.commands.project import read_spec, rendered, tree_of
from codegen.commands.report import Report
from codegen.model import Library
from tests.abi.shims import adaptors

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "abi"
RUNTIME = ROOT / "csrc" / "runtime"
SPECS = {"library": ROOT / "ops.yaml", "conformance": ROOT / "tests" / "conformance" / "ops.yaml"}

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-g1")
SANITIZED = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
# What the runtime calls by these names is the fake's, so that it can fail.
REDIRECTED = tuple(f"-D{name}=fake_{name}" for name in ("calloc", "free", "dlopen", "dlsym"))
WITH_CUDA = ('-DCUDA_ARCHITECTURES="9.0"', "-DCUDA_RELEASE=13010", '-DCUDA_OLDEST_DRIVER="580.65.06"')
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


@dataclass(frozen=True)
class Project:
    """A spec, and a folder to build in. `operators` that are named, and those that they need; all where none is."""

    name: str
    folder: Path
    cuda: bool = True  # built with it
    coverage: bool = False
    operators: tuple[str, ...] = ()

    @property
    def program(self) -> Path:
        """What build() makes."""
        return self.folder / "program"

    @property
    def source(self) -> Path:
        """Where the generated C files are put."""
        return self.folder / "generated" / "c"

    @cached_property
    def library(self) -> Library:
        """What the spec declares."""
        return self._spec[0]

    @cached_property
    def _spec(self) -> tuple[Library, dict[str, bytes]]:
        spec = read_spec(str(SPECS[self.name]), Report(as_json=False), bodies=False)
        assert spec is not None
        return spec.checked.library, rendered(spec, tree_of(spec, ""))

    @cached_property
    def hosts(self) -> list[str]:
        """The names of the generated C files of the host, without CPU units."""
        names = (Path(path).name for path in self._spec[1] if re.fullmatch(r"(generated/)?c/[^/]*\.c", path))
        return sorted(name for name in names if not name.endswith(".cpu.c"))

    def build(self) -> Path:
        """Compiles and links; returns the program."""
        source, objects = self.source, self.folder / "o"
        for folder in (source, objects):
            folder.mkdir(parents=True, exist_ok=True)
        written = self.folder / "csrc"  # launchers
        if not written.is_symlink():
            written.symlink_to(SPECS[self.name].parent / "csrc")
        for path, data in self._spec[1].items():
            if Path(path).parent.name == "c":
                (source / Path(path).name).write_bytes(data)
        (source / "stubs.c").write_text(self._stubs(source))
        flags = ("-O0",) if self.coverage else SANITIZED
        folders = (source, RUNTIME, ROOT / "csrc" / "cpu", ROOT / "csrc", HERE)
        include = [*(f"-I{folder}" for folder in folders), "-DCPU_HAVE_BASE=1"]
        cuda = WITH_CUDA if self.cuda else ()
        units = [(source / name, ("--coverage",) if self.coverage else ()) for name in self.hosts]
        units += [(source / "stubs.c", ())]
        units += [(file, (*REDIRECTED, *cuda)) for file in sorted(RUNTIME.glob("*.c"))]
        units += [(file, ("-D_GNU_SOURCE",)) for file in sorted(HERE.glob("*.c"))]

        def compiled(unit: tuple[Path, tuple[str, ...]]) -> str:
            file, own = unit
            target = objects / f"{file.parent.name}_{file.stem}.o"
            run(["gcc", "-c", *STRICT, *flags, *own, *include, str(file), "-o", str(target)])
            return str(target)

        with ThreadPoolExecutor(2) as pool:
            linked = list(pool.map(compiled, units))
        options = ("--coverage",) if self.coverage else SANITIZED
        run(["gcc", *options, *linked, "-o", str(self.program), "-lm", "-ldl", "-lpthread"])
        return self.program

    def _stubs(self, source: Path) -> str:
        """Kernels that do nothing, in the place of the bodies of both devices, and so does host code in CUDA C++."""
        text = "".join((source / name).read_text() for name in self.hosts)
        lines = ['#include "fake.h"', '#include "launch.h"', '#include "triton.h"', ""]
        for function in sorted(set(re.findall(r"^bool (\w+__full_cuda)\(", text, re.M))):
            signature = f"bool {function}(const cuda_context *ctx, const void *call)"
            lines += [f"{signature};", f"{signature} {{ return fake_host_code(ctx, call); }}"]
        for kernel in sorted(set(re.findall(r"^CPU_DECLARE\((\w+)\)", text, re.M))):
            signature = f"void {kernel}__base(const void *call, int64_t begin, int64_t end, cpu_piece *piece)"
            lines += [f"{signature};", f"{signature} {{ fake_kernel(call, begin, end, piece); }}"]
        for fatbin in sorted(set(re.findall(r"\b(\w+_fatbin_\d+)\[\]", text))):
            lines += [f"extern const unsigned char {fatbin}[];", f"const unsigned char {fatbin}[] = {{1}};"]
        tables = sorted(set(re.findall(r"^extern const triton_kernels (\w+);", text, re.M)))
        lines += [line for table in tables for line in self._triton(table)]
        there = [f"{table}.images = there ? images_of_{table} : NULL;" for table in tables]
        lines += ["void fake_triton(_Bool there);", f"void fake_triton(_Bool there) {{ {' '.join(there)} }}"]
        namespace = self.library.namespace
        lines += [f"const char *{namespace}_load_error(void);", "const char *fake_load_error(void);"]
        lines += [f"const char *fake_load_error(void) {{ return {namespace}_load_error(); }}"]
        lines += [f"_Bool {namespace}_check_values(_Bool on);", "void fake_check_values(_Bool on);"]
        lines += [f"void fake_check_values(_Bool on) {{ {namespace}_check_values(on); }}"]
        lines += ['#include "direct.h"', f"const direct_library *{namespace}_direct_library(void);"]
        lines += ["const direct_library *fake_direct(void);"]
        lines += [f"const direct_library *fake_direct(void) {{ return {namespace}_direct_library(); }}"]
        lines += ["#include <string.h>", adaptors(self.library)]
        return "\n".join(lines) + "\n"

    def _triton(self, table: str) -> list[str]:
        """What a build makes of the kernels of an operator: code for older GPUs, for the one that there is, which wants
        memory for its blocks, and PTX.
        """
        op = table.removesuffix("__triton")
        (manifest,) = [data for path, data in self._spec[1].items() if path.endswith(f"cuda/{op}.json")]
        rows = json.loads(manifest)["rows"]
        kernel = f'.kernel = {{.name = "{table}", .module = &module_of_{table}}}, .threads = 128, .shared = 65536'
        kinds = (".arch = 80", ".arch = 90, .exact = true, .scratch = 24", ".arch = 80, .ptx = true")
        images = "".join(f"{{{kind}, {kernel}}}, " for _ in range(rows) for kind in kinds)
        return [
            f"static cuda_module module_of_{table} = {{.image = (const unsigned char[]){{1}}}};",
            f"static triton_image images_of_{table}[] = {{{images}}};",
            f"extern triton_kernels {table};",  # host code does not change it
            f"triton_kernels {table} = {{.images = images_of_{table}, .count = {len(kinds)}}};",
        ]


def run(command: list[str]) -> None:
    """A command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stderr[-8000:]}")


def execute(program: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a script."""
    return subprocess.run(
        [str(program)], input=script, env={**ENVIRONMENT, **environment}, capture_output=True, text=True, check=False
    )
