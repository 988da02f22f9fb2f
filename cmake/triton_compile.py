"""Compiles the Triton kernel of an operator for every choice of dtypes, params and architectures that
generated/cuda/<op>.json lists, and writes what the library embeds: <op>.images, and <op>.c with a table of them.

    python triton_compile.py <op>.json --root <repository> --into <folder> --archs 80 90a 90+PTX [--jobs N]
                             [--fatbinary <program>]

Run by cmake/triton.cmake. A GPU is not needed, and neither is PyTorch. What Triton compiled stays in <folder>/cache, so
that after an edit only what it changes is compiled again; CUDA's fatbinary packs it to a quarter of its size. All that
can go wrong is said in one line.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NoReturn

APPENDED = 2  # parameters: memory for all blocks, and for the profiler; csrc/runtime/triton.h
# From here on Triton compiles for an architecture and for no newer one of the same major version: sm_90a.
FIRST_EXACT = 90
OLDEST_PTX = 80  # a version of PTX that every driver for CUDA 12 compiles
SIZES = {"fp64": 8, "fp32": 4, "i64": 8, "i32": 4, "i1": 1}


@dataclass(frozen=True)
class Target:
    """What is compiled for: code for one architecture, or PTX for it and whatever is newer."""

    arch: int
    ptx: bool


@dataclass(frozen=True)
class Image:
    """What Triton made of one kernel for one target."""

    code: bytes
    name: str
    threads: int
    shared: int
    scratch: int


class Mistake(Exception):
    """Something that a person has to mend."""


def fail(text: str) -> NoReturn:
    raise Mistake(text)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--archs", nargs="+", required=True)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--fatbinary", type=Path)
    options = parser.parse_args()
    manifest = json.loads(options.manifest.read_text())
    options.into.mkdir(parents=True, exist_ok=True)
    # Read when Triton is imported. Line numbers come with paths of this machine.
    os.environ["TRITON_CACHE_DIR"] = str(options.into.resolve() / "cache")
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # a * b + c is one instruction, as nvcc has it
    sys.dont_write_bytecode = True
    try:
        write(options, manifest, targets(options.archs))
    except Mistake as mistake:
        print(f"{manifest['source']}: {mistake}", file=sys.stderr)
        return 1
    return 0


def targets(archs: list[str]) -> list[Target]:
    """For each architecture its code; PTX where it is asked for, and for newer GPUs of a major version of which Triton
    compiles for the very architecture alone. That is the newest PTX that newer GPUs compile.
    """
    numbers = [int(re.sub(r"\D.*", "", arch)) for arch in archs]
    found = [Target(number, False) for number in sorted(set(numbers))]
    if any("PTX" in arch for arch in archs) or any(number >= 100 for number in numbers):
        plain = [number for number in numbers if number < FIRST_EXACT]
        found.append(Target(max(plain, default=OLDEST_PTX), True))
    return found


def load(options: argparse.Namespace, manifest: dict[str, Any]) -> tuple[Any, list[str]]:
    """The kernel, and the names of its parameters in order."""
    path = options.root / manifest["source"]
    if not path.is_file():
        fail("the file is missing: it holds the Triton kernel")
    try:
        ast.parse(path.read_bytes(), str(path))
    except SyntaxError as error:
        fail(f"line {error.lineno}: {error.msg}")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        fail(f"it cannot be imported: {type(error).__name__}: {error}")
    return chosen(module, manifest)


def chosen(module: ModuleType, manifest: dict[str, Any]) -> tuple[Any, list[str]]:
    from triton.runtime.jit import JITFunction

    name, arguments = manifest["kernel"], manifest["arguments"]
    kernel = getattr(module, name, None)
    if not isinstance(kernel, JITFunction):
        what = "there is no function of that name" if kernel is None else f"it is a {type(kernel).__name__}"
        fail(f"{name}: expected a function under @triton.jit, and {what}")
    params = list(manifest["kernels"][0]["params"])
    constants = [one.name for one in kernel.params if one.is_constexpr]
    others = [one.name for one in kernel.params if not one.is_constexpr]
    if len(others) != len(arguments):
        taken = ", ".join(others) or "nothing"
        fail(f"{name} takes {taken} before its constants, and args: lists {', '.join(arguments)}")
    if sorted(constants) != sorted(params):
        listed = f"params: lists {', '.join(params)}" if params else "there are no params:"
        fail(f"{name} has the tl.constexpr parameters {', '.join(constants) or 'none'}, and {listed}")
    return kernel, others


def write(options: argparse.Namespace, manifest: dict[str, Any], wanted: list[Target]) -> None:
    global _KERNEL, _OPTIONS
    _KERNEL, _OPTIONS = load(options, manifest), options
    op = options.manifest.stem
    work = [(one, target, manifest["arguments"]) for one in manifest["kernels"] for target in wanted]
    jobs = options.jobs or int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(min(jobs, len(work)), get_context("fork")) as pool:
        made = list(pool.map(compiled, work, chunksize=max(1, len(work) // (8 * jobs))))
    rows: dict[int, list[str]] = {}
    modules: list[str] = []
    place = 0
    with open(options.into / f"{op}.images.new", "wb") as images:
        for (one, target, _), image in zip(work, made, strict=True):
            if isinstance(image, str):
                fail(image)
            data = image.code + bytes(-len(image.code) % 16 or 16)  # a text ends with a zero
            images.write(data)
            rows.setdefault(one["row"], []).append(entry(image, target, len(modules)))
            modules.append(f"{{.image = {op}__triton_images + {place}}}")
            place += len(data)
    os.replace(options.into / f"{op}.images.new", options.into / f"{op}.images")
    text = c_file(op, options.into / f"{op}.images", manifest["rows"], rows, modules, len(wanted))
    (options.into / f"{op}.c").write_text(text)
    depends(options, op, manifest)


def compiled(work: tuple[dict[str, Any], Target, list[str]]) -> Image | str:
    """One kernel, or what is wrong with it; in a process that was forked when the kernel was there."""
    one, target, arguments = work
    try:
        return compile_one(one, target, arguments)
    except Mistake as mistake:
        return str(mistake)
    except Exception as error:
        params = ", ".join(f"{name} = {value}" for name, value in one["params"].items())
        said = " ".join(str(error).split())
        of = f"{', '.join(one['types'])}{'; ' if params else ''}{params}"
        where = f"compute capability {target.arch / 10} ({of})"
        return f"Triton does not compile it for {where}: {type(error).__name__}: {said}"


_KERNEL: tuple[Any, list[str]]
_OPTIONS: argparse.Namespace


def compile_one(one: dict[str, Any], target: Target, arguments: list[str]) -> Image:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel, _ = _KERNEL
    signature, constants, hints = {}, {}, {}
    rest = iter(zip(arguments, one["types"], strict=True))
    for i, parameter in enumerate(kernel.params):
        if parameter.is_constexpr:
            signature[parameter.name] = "constexpr"
            constants[(i,)] = one["params"][parameter.name]
            continue
        argument, signature[parameter.name] = next(rest)
        if argument in one["divisible"]:
            hints[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=hints)
    settings: dict[str, Any] = {"num_warps": one["num_warps"], "num_stages": one["num_stages"]}
    if target.ptx:
        settings["ptx_version"] = OLDEST_PTX
    found = triton.compile(source, target=GPUTarget("cuda", target.arch, 32), options=settings)
    told, text = found.metadata, found.asm["ptx"]
    check_parameters(text, told.name, one["types"])
    if getattr(told, "num_ctas", 1) != 1 or getattr(told, "profile_scratch_size", 0):
        fail(f"{told.name} asks for clusters or a profiler, which C does not launch with")
    threads = re.search(r"^\.reqntid (\d+)", text, re.MULTILINE)
    return Image(
        packed(text.encode() if target.ptx else found.asm["cubin"], target),
        told.name,
        int(threads[1]) if threads else 32 * told.num_warps,
        told.shared,
        getattr(told, "global_scratch_size", 0) or 0,
    )


def packed(code: bytes, target: Target) -> bytes:
    if not _OPTIONS.fatbinary:
        return code
    kind = "ptx" if target.ptx else "elf"
    suffix = "a" if target.arch >= FIRST_EXACT else ""
    with TemporaryDirectory(dir=_OPTIONS.into) as folder:
        image, fatbin = Path(folder, f"image.{kind}"), Path(folder, "image.fatbin")
        image.write_bytes(code)
        listed = f"--image3=kind={kind},sm={target.arch}{suffix},file={image}"
        command = [_OPTIONS.fatbinary, "-64", f"--create={fatbin}", "--compress-all", listed]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            fail(f"{_OPTIONS.fatbinary} fails: {' '.join((done.stdout + done.stderr).split())}")
        return fatbin.read_bytes()


def check_parameters(text: str, name: str, types: list[str]) -> None:
    """The parameters of the compiled kernel have to be those that C passes."""
    head = re.search(rf"\.entry {re.escape(name)}\((.*?)\)", text, re.DOTALL)
    found = [int(size) // 8 for size in re.findall(r"\.param \.[bfsu](\d+)", head[1])] if head else []
    expected = [8 if kind.startswith("*") else SIZES[kind] for kind in types] + [8] * APPENDED
    if found != expected:
        import triton

        fail(
            f"Triton {triton.__version__} compiled {name} with parameters of {found} bytes, and the library passes "
            f"{expected}: install a Triton that it knows"
        )


# ---------------------------------------------------------------- what is written


def entry(image: Image, target: Target, module: int) -> str:
    flags = ", .ptx = true" if target.ptx else ", .exact = true" if target.arch >= FIRST_EXACT else ""
    scratch = f", .scratch = {image.scratch}" if image.scratch else ""
    return (
        f'{{.kernel = {{.name = "{image.name}", .module = &modules[{module}]}}, .arch = {target.arch}{flags}, '
        f".threads = {image.threads}, .shared = {image.shared}{scratch}}}"
    )


def c_file(op: str, images: Path, count: int, rows: dict[int, list[str]], modules: list[str], each: int) -> str:
    symbol, table = f"{op}__triton_images", f"{op}__triton"
    cells = [cell for row in range(count) for cell in rows.get(row, ["{.arch = 0}"] * each)]
    path = str(images.resolve()).replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\").replace('"', '\\"')
    return "\n".join(
        [
            "/* Written by cmake/triton_compile.py. */",
            '#include "triton.h"',
            "",
            f"extern const unsigned char {symbol}[];",
            f'__asm__(".section .rodata\\n.balign 16\\n.globl {symbol}\\n.hidden {symbol}\\n"',
            f'        ".type {symbol}, %object\\n{symbol}:\\n.incbin \\"{path}\\"\\n"',
            f'        ".size {symbol}, . - {symbol}\\n.previous\\n");',
            "",
            "static cuda_module modules[] = {",
            *(f"    {one}," for one in modules),
            "};",
            "",
            "static triton_image images[] = {",
            *(f"    {cell}," for cell in cells),
            "};",
            "",
            f"extern const triton_kernels {table};",
            f"const triton_kernels {table} = {{.images = images, .count = {each}}};",
            "",
        ]
    )


def depends(options: argparse.Namespace, op: str, manifest: dict[str, Any]) -> None:
    """Which files of the repository the kernel is made of, for the build: its own, and those that it imports."""
    folder = (options.root / manifest["source"]).resolve().parent
    files = {(options.root / manifest["source"]).resolve()}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and Path(path).resolve().is_relative_to(folder):
            files.add(Path(path).resolve())
    listed = " ".join(str(path).replace(" ", "\\ ") for path in sorted(files))
    target = str(options.into / f"{op}.c").replace(" ", "\\ ")
    (options.into / f"{op}.d").write_text(f"{target}: {listed}\n")


if __name__ == "__main__":
    sys.exit(main())
