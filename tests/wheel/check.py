"""Is a wheel what this project promises: one file for every Python and PyTorch, with no dependency but PyTorch?"""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import abi3info
from abi3info.models import PyVersion, Symbol

from tests.wheel.library import MAY_NEED, missing, needed, of_python

ROOT = Path(__file__).resolve().parents[2]
PYTORCH = "libtorch_cpu.so"


def check(wheel: Path) -> list[str]:
    """What is wrong with it."""
    problems = []
    if not re.fullmatch(r"[\w.]+-[\w.]+-py3-none-\w+_(x86_64|aarch64)\.whl", wheel.name):
        problems.append(f"the name {wheel.name} is no py3-none-<platform>")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
        problems += _metadata(packed)
        libraries = sorted(Path(folder).rglob("*.so"))
        for library in libraries:
            name = library.relative_to(folder)
            linked = [one for one in needed(library) if not MAY_NEED.fullmatch(one)]
            problems += [f"{name} is linked to {one}" for one in linked]
            problems += [f"{name} needs {one}, which torch 2.10.0 does not have" for one in sorted(missing(library))]
            problems += [f"{name} needs {one}, which is not in Python 3.10's stable ABI" for one in _unstable(library)]
        if not libraries:
            problems.append("there is no library in it")
    return problems + _contents(wheel) + _platform(wheel)


def _unstable(library: Path) -> list[str]:
    known = {**abi3info.FUNCTIONS, **abi3info.DATAS}
    oldest = PyVersion(3, 10)
    return sorted(
        name for name in of_python(library) if Symbol(name) not in known or known[Symbol(name)].added > oldest
    )


def _metadata(packed: zipfile.ZipFile) -> list[str]:
    (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
    fields = email.message_from_bytes(packed.read(name))
    settings = (ROOT / "pyproject.toml").read_text()
    required = [one for one in fields.get_all("Requires-Dist", []) if "extra ==" not in one]
    problems = [] if required == ["torch>=2.10"] else [f"it requires {', '.join(required)}, and not torch>=2.10 alone"]
    if f'requires-python = "{fields["Requires-Python"]}"' not in settings:
        problems.append(f"it requires Python {fields['Requires-Python']}")
    return problems


def _contents(wheel: Path) -> list[str]:
    done = _tool("check-wheel-contents", wheel)
    return [] if done.returncode == 0 else [f"check-wheel-contents: {done.stdout.strip()}"]


def _platform(wheel: Path) -> list[str]:
    """auditwheel gives it the tag of the oldest Linux that it fits, and has to change nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        done = _tool("auditwheel", "repair", "--exclude", PYTORCH, "--wheel-dir", folder, wheel)
        repaired = [*Path(folder).glob("*.whl")]
        if done.returncode != 0 or not repaired:
            return [f"auditwheel: {done.stderr.strip()[-2000:]}"]
        print(f"auditwheel: {repaired[0].name}")
        if "manylinux" not in repaired[0].name:
            return [f"auditwheel: {repaired[0].name} is for no manylinux"]
        before, after = _code(wheel), _code(repaired[0])
        return [] if before == after else ["auditwheel: the repaired wheel has other files"]


def _code(wheel: Path) -> dict[str, bytes]:
    """All but the wheel's own description, which has the tag."""
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not re.search(r"\.dist-info/|/$", name)}


def _tool(name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A program of this virtual environment, which finds others there."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([programs / name, *arguments], env=environment, capture_output=True, text=True, check=False)
