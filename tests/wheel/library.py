"""What a shared library asks of others, and whether the oldest PyTorch has it.

torch-2.10.0.txt lists the functions of PyTorch's C ABI in the oldest version that the library supports, written by
`python -m tests.wheel symbols` where that version is installed.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
LISTED = HERE / "torch-2.10.0.txt"
_HEAD = (
    "# The C ABI of torch {version}, by library. Written by `python -m tests.wheel symbols` where it is installed.\n"
)
# Functions for operators, thousands of them, are no part of what the library may use.
_ABI = re.compile(r"(?!aoti_torch_(cpu|cuda|mps|xpu|mtia)_)(aoti_)?torch_\w+")

# What a wheel may be linked to: PyTorch, and what every Linux has. No library of CUDA.
MAY_NEED = re.compile(r"libtorch_cpu\.so|lib(c|m|dl|pthread|rt)\.so\.\d|ld-linux-[\w-]+\.so\.\d")
# C++'s new and delete, which make the boxes that PyTorch deletes: libstdc++ comes with libtorch_cpu.
_OF_CXX = {"_Znwm", "_ZdlPv"}


def _lines(*command: str | Path) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def needed(library: Path) -> list[str]:
    """The libraries that the loader is to find (DT_NEEDED)."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", "\n".join(_lines("readelf", "-d", library)))


def undefined(library: Path, kind: str) -> set[str]:
    """Undefined names that no version of the C library binds; kind: U, without which it does not load, or w, weak."""
    rows = [line.split() for line in _lines("nm", "-D", "--undefined-only", library)]
    return {name for found, name in rows if found == kind and "@" not in name}


def listed(library: str = "") -> set[str]:
    """The names of the list: of one library, or of all."""
    rows = [line.split() for line in LISTED.read_text().splitlines() if not line.startswith("#")]
    return {name for of, name in rows if library in ("", of)}


def of_python(library: Path) -> set[str]:
    """What a module asks of Python. Only one that says that it keeps to the stable ABI may: *.abi3.so."""
    asked = undefined(library, "U") if library.name.endswith(".abi3.so") else set()
    return {name for name in asked if name.startswith(("Py", "_Py"))}


def missing(library: Path) -> set[str]:
    """What the oldest PyTorch does not have, though the library does not load without it."""
    return undefined(library, "U") - listed("libtorch_cpu") - _OF_CXX - of_python(library)


def write_list() -> Path:
    """The list, of the PyTorch that is installed, which has to be the one that the list is named after."""
    import torch

    version = torch.__version__.partition("+")[0]
    if f"torch-{version}.txt" != LISTED.name or not torch.version.cuda:
        raise SystemExit(
            f"{LISTED.name} is written where that version is installed, built for CUDA, not {torch.__version__}"
        )
    text = _HEAD.format(version=version)
    for name in ("libtorch_cpu", "libtorch_cuda"):
        defined = _lines("nm", "-D", "--defined-only", Path(torch.__file__).parent / "lib" / f"{name}.so")
        names = sorted({line.split()[-1].partition("@")[0] for line in defined})
        text += "".join(f"{name} {one}\n" for one in names if _ABI.fullmatch(one))
    LISTED.write_text(text)
    return LISTED
