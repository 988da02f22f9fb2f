"""Python and what it finds: the generator's modules, PyTorch, and the library, as built and as loaded."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

from codegen.doctor.fact import Fact, ask, fine, number, problem
from codegen.doctor.tools import find

OLDEST_TORCH = "2.10"  # the same in pyproject.toml


def python() -> Fact:
    missing = [name for name, module in (("Jinja2", "jinja2"), ("PyYAML", "yaml")) if not _folder(module)]
    version = ".".join(map(str, sys.version_info[:3]))
    if missing:
        text = f"{version} without {' and '.join(missing)}, which the generator needs"
        return problem("python", text, f"python -m pip install {' '.join(missing)}")
    return fine("python", f"{version}, {sys.executable}")


def namespace_of(root: Path, spec: Path) -> str:
    """As the generated files have it, else the spec; "" where neither says."""
    for path, pattern in (
        (root / "generated" / "ops.cmake", r"^set\(OPS_NAMESPACE (\w+)\)"),
        (spec, r"^[\"']?namespace[\"']?:[ ]*[\"']?(\w+)"),
    ):
        try:
            found = re.search(pattern, path.read_text(errors="replace"), re.MULTILINE)
        except OSError:
            continue
        if found:
            return found[1]
    return ""


def generated(root: Path, spec: Path) -> Fact:
    """What a build asks first."""
    if not spec.is_file():
        return problem("spec", f"there is no {spec}", "cd to the project, or --spec", stops=True)
    script, cmake = root / "cmake" / "check_generated.cmake", find("cmake")
    if not script.is_file():
        return problem("spec", f"there is no {script}", f"git checkout {script}", stops=True)
    if not cmake:
        return problem("spec", "not compared with generated/, for want of cmake", "python -m pip install cmake")
    said = ask([cmake, f"-DROOT={root}", "-P", str(script)])
    if said.code == 0:
        return fine("spec", "generated/ is what was made of it")
    text, _, mend = said.first.partition(": run `")
    return problem("spec", text, mend.rstrip("`") or "make generate", stops=True)


def torch() -> Fact:
    """Read, not imported: that takes seconds, and may fail for reasons of its own."""
    folder = _folder("torch")
    mend = f"python -m pip install 'torch>={OLDEST_TORCH}'"
    if not folder:
        return problem("torch", "there is none, which a build does not need and the package does", mend)
    text = _text(Path(folder, "version.py"))
    found = re.search(r"__version__\s*(?::\s*\w+\s*)?=\s*[\"']([^\"']+)", text)
    version = found[1] if found else ""
    short = re.match(r"\d+\.\d+", version)
    if short is None:
        return problem("torch", f"{folder} does not say its version", mend)
    if number(short[0]) < number(OLDEST_TORCH):
        return problem("torch", f"{version} of {folder} is too old: {OLDEST_TORCH} is the oldest that works", mend)
    cuda = re.search(r"^cuda\b[^=]*=\s*[\"']([\d.]+)", text, re.MULTILINE)
    return fine("torch", f"{version}, {f'with CUDA {cuda[1]}' if cuda else 'for the CPU'}")


def architectures(root: Path, namespace: str) -> str | None:
    """What the library was built for, out of the text of its error; "" for the CPU alone, None for no library."""
    try:
        data = _library(root, namespace).read_bytes()
    except OSError:
        return None
    found = re.search(rb"this library was built for ([0-9af.+PTX ]+); build it again", data)
    return found[1].decode() if found else ""


def library(root: Path, namespace: str, can_load: bool) -> Fact:
    """Is it there, is it what a build would make, does it load?"""
    path, mend = _library(root, namespace), "make build"
    if not path.is_file():
        return problem("library", f"{path} is missing", mend)
    built = root / "build" / "dev" / path.name
    if built.is_file():
        newer = _newer(root, built)
        if newer:
            return problem("library", f"{path} is older than {newer}", mend)
        if _bytes(built) != _bytes(path):
            return problem("library", f"{path} is not what the last build made", mend)
    if not can_load:
        return fine("library", f"{path}; not loaded, for want of torch")
    search = os.pathsep.join([str(root / "generated"), *filter(None, [os.environ.get("PYTHONPATH")])])
    said = ask([sys.executable, "-c", f"import {namespace}"], environment={**os.environ, "PYTHONPATH": search})
    if said.code != 0:
        lines = said.err.strip().splitlines() or [f"exit code {said.code}"]
        return problem("library", f"it does not load: {lines[-1]}", mend)
    return fine("library", f"{path}; it loads")


def _newer(root: Path, built: Path) -> str:
    """A file of the project that has changed since the library was made of it, as Ninja has noted of what; "" for none.
    Ninja itself cannot be asked what it would do: it runs CMake first, and that takes what it finds.
    """
    noted = ask([find("ninja") or "ninja", "-C", str(built.parent), "-t", "deps"]).out
    paths = {built.parent / line.strip() for line in noted.splitlines() if line.startswith(" ")}
    for path in sorted({root / "generated" / "ops.cmake", *paths}):
        inside = os.path.relpath(path, root)
        # The module of direct calls is a file of its own.
        made = built.with_name("_C.abi3.so") if inside.startswith("csrc/direct/") else built
        if (
            not inside.startswith(("..", "build"))
            and path.exists()
            and made.exists()
            and path.stat().st_mtime_ns > made.stat().st_mtime_ns
        ):
            return inside
    return ""


def registered(root: Path, namespace: str) -> Fact:
    """Other libraries that this Python finds and that would register the same namespace."""
    own = os.path.realpath(_library(root, namespace))
    others: dict[str, Path] = {}
    for entry in dict.fromkeys(os.path.realpath(entry or ".") for entry in sys.path):
        try:
            found = sorted(Path(entry).glob(f"*/{namespace}.so")) if os.path.isdir(entry) else []
        except OSError:
            continue
        others |= {os.path.realpath(path): path for path in found if os.path.realpath(path) != own}
    if not others:
        return fine("namespace", f"{namespace} is registered by no other library on Python's path")
    text = f"{namespace} is registered by {', '.join(map(str, others.values()))}, too; a process can load one"
    return problem("namespace", text, f"python -m pip uninstall {namespace}")


def _library(root: Path, namespace: str) -> Path:
    return root / "generated" / namespace / f"{namespace}.so"


def _folder(module: str) -> str:
    """Where a package is that is not imported for it; "" for none."""
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    return os.path.dirname(found.origin) if found is not None and found.origin else ""


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
