"""nvcc, its host compiler, the driver and the GPUs, as cmake/cuda.cmake looks at them."""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

from codegen.doctor.fact import Fact, ask, fine, number, problem
from codegen.frozen import dataclass

OLDEST = "12.0"  # the same in cmake/cuda.cmake
OLDEST_TRITON = "3.6"  # the same in cmake/triton.cmake
_USUAL = "/usr/local/cuda"
_BRING = "python -m pip install -e '.[cuda]'"  # nvcc from PyPI


@dataclass(frozen=True)
class Gpu:
    """One that nvidia-smi lists; the capability as 9.0."""

    capability: str
    name: str


@dataclass(frozen=True)
class Driver:
    """What nvidia-smi says; `cuda` is the newest CUDA that the driver runs, "" where it does not say."""

    there: bool
    gpus: tuple[Gpu, ...]
    version: str
    cuda: str
    trouble: str


def driver() -> Driver:
    program = shutil.which("nvidia-smi")
    if program is None:
        return Driver(False, (), "", "", "")
    said = ask([program, "--query-gpu=compute_cap,driver_version,name", "--format=csv,noheader"])
    rows = [[cell.strip() for cell in line.split(",", 2)] for line in said.out.splitlines()]
    gpus = [row for row in rows if re.fullmatch(r"\d+\.\d+", row[0]) and len(row) == 3]
    if said.code != 0 or not gpus:
        return Driver(True, (), "", "", said.first)
    newest = re.search(r"CUDA Version: *(\d+\.\d+)", ask([program]).out)
    listed = tuple(Gpu(row[0], row[2]) for row in gpus)
    return Driver(True, listed, gpus[0][1], newest[1] if newest else "", "")


@dataclass(frozen=True)
class Nvcc:
    """A compiler; its release is "" where it does not say."""

    path: str
    release: str


def _nvccs() -> list[Nvcc]:
    """Every nvcc where the build looks, the one that it takes first."""
    folders = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    places = [place for folder in folders for place in (folder / "bin", folder)]
    places += [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    places += [Path(_USUAL, "bin"), *Path(sysconfig.get_path("purelib")).glob("nvidia/cu*/bin")]
    paths = [shutil.which(os.environ["CUDACXX"])] if os.environ.get("CUDACXX") else []
    paths += [shutil.which("nvcc", path=str(place)) for place in places]
    found: dict[str, Nvcc] = {}
    for path in paths:
        if path and os.path.realpath(path) not in found:
            release = re.search(r"release (\d+\.\d+)", ask([path, "--version"]).out)
            found[os.path.realpath(path)] = Nvcc(path, release[1] if release else "")
    return list(found.values())


def facts(prefix: str, built: str | None) -> list[Fact]:
    """`prefix` begins the variable that turns CUDA on and off. `built`: the architectures in the library, as
    TORCH_CUDA_ARCH_LIST writes them, "" for none; None where there is no library.
    """
    switch = os.environ.get(f"{prefix}_CUDA", "").upper() or "AUTO"
    if switch not in ("AUTO", "ON", "OFF"):
        text = f"{prefix}_CUDA is {os.environ[f'{prefix}_CUDA']}, and not AUTO, ON or OFF"
        return [problem("nvcc", text, f"unset {prefix}_CUDA", stops=True)]
    found = driver()
    if switch == "OFF":
        return [fine("nvcc", f"not asked for: {prefix}_CUDA=OFF"), *_driver(found, "")]
    # Where there is no GPU, a build in place asks for nvcc only when it is told to.
    wanted = switch == "ON" or bool(found.gpus) or bool(os.environ.get("TORCH_CUDA_ARCH_LIST"))
    compilers, release = _compilers(prefix, switch, found, wanted)
    return [*compilers, *_driver(found, release), *_architectures(found, built)]


def triton(root: Path) -> list[Fact]:
    """Triton, where an operator has a kernel in it; of the Python that runs this, as `make build` takes it."""
    listed = root / "generated" / "ops.cmake"
    operators = re.findall(r"^triton_unit\((\w+)", listed.read_text() if listed.is_file() else "", re.MULTILINE)
    if not operators:
        return []
    try:
        version = metadata.version("triton")
    except metadata.PackageNotFoundError:
        if not driver().gpus:
            return [fine("triton", "there is none, and no GPU")]
        text = f"there is a GPU and no Triton: {', '.join(operators)} cannot run on it"
        return [problem("triton", text, "python -m pip install -e '.[triton]'")]
    short = re.match(r"\d+\.\d+", version)
    if short is None or number(short[0]) < number(OLDEST_TRITON):
        text = f"{version} is too old: {OLDEST_TRITON} is the oldest that works"
        return [problem("triton", text, f"python -m pip install 'triton>={OLDEST_TRITON}'")]
    return [fine("triton", version)]


def _compilers(prefix: str, switch: str, found: Driver, wanted: bool) -> tuple[list[Fact], str]:
    """Facts about nvcc and its host compiler, and the release of that which is taken."""
    off = f"{prefix}_CUDA=OFF"
    named = os.environ.get("CUDACXX", "")
    if named and shutil.which(named) is None:
        return [problem("nvcc", f"CUDACXX is {named}, and there is no such program", "unset CUDACXX", stops=True)], ""
    nvccs = _nvccs()
    if not nvccs:
        mend = f"{_BRING}, or install the CUDA toolkit, {OLDEST} or newer, and set CUDA_HOME, or {off}"
        if switch == "ON":
            return [problem("nvcc", f"there is none, and {prefix}_CUDA is ON", mend, stops=True)], ""
        if found.gpus:
            return [problem("nvcc", "there is a GPU and no nvcc: only the CPU part is built", mend)], ""
        return [fine("nvcc", "there is none, and no GPU: only the CPU part is built")], ""
    taken = nvccs[0]
    if not taken.release or number(taken.release) < number(OLDEST):
        text = f"release {taken.release or 'unknown'} of {taken.path}: {OLDEST} is the oldest that works"
        return [problem("nvcc", text, f"set CUDA_HOME to a newer CUDA toolkit, or {off}", stops=wanted)], ""
    facts = [fine("nvcc", f"{taken.release}, {taken.path}" + ("" if wanted else "; not used, as there is no GPU"))]
    others = [other for other in nvccs[1:] if other.release != taken.release]
    if others and not named:
        listed = ", ".join(f"{other.release or 'unknown'} of {other.path}" for other in others)
        facts[0] = problem("nvcc", f"{taken.release} of {taken.path} is taken, and there is {listed}",
                           f"set CUDACXX={taken.path}, or to the other one")  # fmt: skip
    return [*facts, _host_compiler(taken, off, wanted)], taken.release


def _host_compiler(nvcc: Nvcc, off: str, wanted: bool) -> Fact:
    """nvcc needs a C++ compiler that it accepts, if only for its preprocessor."""
    host = os.environ.get("CUDAHOSTCXX", "")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "trial.cu").write_text("#include <cuda_bf16.h>\n__global__ void trial() {}\n")
        named = ["-ccbin", host] if host else []
        made = ask([nvcc.path, "-fatbin", "-std=c++17", *named, "-o", "trial.fatbin", "trial.cu"], Path(folder))
    if made.code == 0:
        return fine("host compiler", f"{host or 'the one of PATH'}, which nvcc {nvcc.release} accepts")
    text = f"nvcc {nvcc.release} does not compile: {made.first}"
    return problem("host compiler", text, f"set CUDAHOSTCXX to a C++ compiler that it accepts, or {off}", stops=wanted)


def _driver(found: Driver, release: str) -> list[Fact]:
    if not found.there:
        return [fine("driver", "no nvidia-smi here, and so no GPU")]
    if found.trouble:
        return [
            problem("driver", f"nvidia-smi: {found.trouble}", "install the driver again, or start the machine again")
        ]
    if found.cuda and release and number(release)[0] > number(found.cuda)[0]:  # within one, all drivers load all code
        text = f"{found.version} is for CUDA {found.cuda}, and nvcc is {release}: it does not load what that compiles"
        mend = f"install a newer driver, or set CUDA_HOME to CUDA {found.cuda} or older"
        return [problem("driver", text, mend)]
    return [fine("driver", found.version + (f", for CUDA up to {found.cuda}" if found.cuda else ""))]


def _architectures(found: Driver, built: str | None) -> list[Fact]:
    """Does each GPU run something of what was built?"""
    if not found.gpus or built is None:
        return []
    capabilities = sorted({gpu.capability for gpu in found.gpus}, key=number)
    unfit = [one for one in capabilities if not any(runs(one, entry) for entry in built.split())]
    text = f"{', '.join(sorted({gpu.name for gpu in found.gpus}))}: compute capability {', '.join(capabilities)}"
    if unfit:
        mend = f'TORCH_CUDA_ARCH_LIST="{";".join(capabilities)}" make build'
        return [problem("GPU", f"{text}; the library is built for {built or 'the CPU alone'}", mend)]
    return [fine("GPU", f"{text}; the library is built for {built}")]


def runs(capability: str, entry: str) -> bool:
    """Whether a GPU runs what was built for an entry such as 8.0, 9.0a or 9.0+PTX."""
    parts = re.fullmatch(r"(\d+)\.(\d+)([af]?)(\+PTX)?", entry)
    if parts is None or not number(capability):
        return False
    major, minor = number(capability)
    built = (int(parts[1]), int(parts[2]))
    if parts[3]:
        return built == (major, minor) or (parts[3] == "f" and built[0] == major and built[1] <= minor)
    return (built[0] == major and built[1] <= minor) or (bool(parts[4]) and built <= (major, minor))
