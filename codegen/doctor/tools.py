"""The C compiler, CMake and Ninja, as cmake/dev_build.sh and cmake/cpu.cmake want them."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from codegen.doctor.fact import Fact, ask, fine, number, problem

OLDEST = {"gcc": "11", "clang": "12"}  # on x86-64; the same in cmake/cpu.cmake
OLDEST_CMAKE = "3.22"
_TRIAL = "#include <dlfcn.h>\n#include <pthread.h>\nint trial(void);\nint trial(void) { return 0; }\n"


def compiler() -> Fact:
    """Is there one, is it new enough, does it make a library?"""
    words = shlex.split(os.environ.get("CC", "")) or ["cc"]
    path = shutil.which(words[0])
    if path is None:
        return problem("compiler", f"there is no {words[0]}", "apt-get install gcc libc6-dev, or set CC", stops=True)
    said = ask([path, "--version"])
    kind = "clang" if "clang" in said.out else "gcc"
    versions = re.findall(r"\d+(?:\.\d+)+", said.out.partition("\n")[0])
    version = (versions[0] if kind == "clang" else versions[-1]) if versions else ""
    oldest = OLDEST[kind]
    if version and platform.machine() in ("x86_64", "AMD64") and number(version) < number(oldest):
        text = f"{kind} {version} of {path} is too old: {oldest} is the oldest that works"
        return problem("compiler", text, f"apt-get install {kind}-{oldest}, and set CC={kind}-{oldest}", stops=True)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "trial.c").write_text(_TRIAL)
        flags = shlex.split(os.environ.get("CFLAGS", ""))
        made = ask([path, *words[1:], *flags, "-shared", "-fPIC", "-o", "trial.so", "trial.c"], Path(folder))
    if made.code != 0:
        mend = "apt-get install libc6-dev, or set CC and CFLAGS"
        return problem("compiler", f"{path} does not compile: {made.first}", mend, stops=True)
    return fine("compiler", f"{kind} {version or 'of some version'}, {path}")


def find(program: str) -> str:
    """The program that `make` uses: of the environment of this Python, else of PATH; "" for none."""
    named = os.environ.get(program.upper(), "")
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    return shutil.which(named or program, path=beside) or ""


def cmake() -> Fact:
    path = find("cmake")
    mend = "python -m pip install cmake"
    if not path:
        return problem("cmake", "there is none", mend, stops=True)
    said = ask([path, "--version"])
    found = re.search(r"version (\d+(?:\.\d+)+)", said.out)
    if found is None:
        return problem("cmake", f"{path} does not run: {said.first}", mend, stops=True)
    if number(found[1]) < number(OLDEST_CMAKE):
        text = f"{found[1]} of {path} is too old: {OLDEST_CMAKE} is the oldest that works"
        return problem("cmake", text, mend, stops=True)
    return fine("cmake", f"{found[1]}, {path}")


def ninja() -> Fact:
    path = find("ninja")
    mend = "python -m pip install ninja"
    if not path:
        return problem("ninja", "there is none", mend, stops=True)
    said = ask([path, "--version"])
    if said.code != 0:
        return problem("ninja", f"{path} does not run: {said.first}", mend, stops=True)
    return fine("ninja", f"{said.out.strip()}, {path}")
