"""Everything else is in pyproject.toml; scikit-build-core's setuptools plugin runs CMake as it says there."""

import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with scikit-build-core

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]


class PythonIndependentWheel(bdist_wheel):
    """Tags the wheel py3-none-<platform>: the library does not touch Python's C API, and the module of direct calls
    keeps to its stable part and may be missing, so that one wheel serves every version.

    scikit-build-core's `wheel.py-api = "py3"` says the same, but is not available to its setuptools plugin.
    """

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]

    def write_wheelfile(self, *arguments: str) -> None:
        """The last file. What is packed then has the same permissions, whatever those of the checkout are."""
        super().write_wheelfile(*arguments)
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def compiler() -> list[str]:
    """What pip is to install for this build: with CUDA asked for and no nvcc, what the extra `cuda` names, and with
    kernels in Triton and none here, what the extra `triton` names.
    """
    generated = Path("generated/ops.cmake").read_text()
    namespace = re.search(r"OPS_NAMESPACE (\w+)", generated)
    switch = os.environ.get(f"{namespace[1].upper()}_CUDA", "").upper() if namespace else ""
    named = [os.environ.get(name, "") for name in ("CUDACXX", "CUDA_HOME", "CUDA_PATH")]
    places = ["/usr/local/cuda/bin", *(f"{name}/bin" for name in named if name), os.environ.get("PATH", "")]
    found = named[0] or shutil.which("nvcc", path=os.pathsep.join(places)) or nvcc_of_python()
    if switch == "OFF":
        return []
    wanted = switch == "ON" or extra_is_asked_for("cuda")
    missing = PROJECT["optional-dependencies"]["cuda"] if wanted and not found else []
    if "triton_unit(" in generated and (wanted or extra_is_asked_for("triton")) and not triton_of_python():
        missing = [*missing, *PROJECT["optional-dependencies"]["triton"]]
    return missing


def extra_is_asked_for(extra: str) -> bool:
    """Whether a process that this one descends from was told `pip install ".[extra]"`, which pip does not pass on."""
    pid = os.getpid()
    while pid > 1:
        process = Path(f"/proc/{pid}")
        try:
            arguments = process.joinpath("cmdline").read_text(errors="replace").split("\0")
            folder = process.joinpath("cwd").resolve()
            pid = int(process.joinpath("stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return False
        for argument in arguments:
            found = re.fullmatch(r"(?:-\S+=|-e)?(.+)\[([\w\s,.-]+)\]", argument)
            if found and extra in re.split(r"[\s,]+", found[2]):
                if re.sub(r"[-_.]+", "_", found[1]).lower() == re.sub(r"[-_.]+", "_", PROJECT["name"]).lower():
                    return True
                if (folder / found[1]).resolve() == Path.cwd():
                    return True
    return False


def python_folders() -> list[str]:
    """Where packages are: those of the environment that runs pip, then those that pip installed for this build."""
    return list(dict.fromkeys([sysconfig.get_path("purelib"), *filter(None, sys.path)]))


def nvcc_of_python() -> str:
    found = [path for folder in python_folders() for path in Path(folder).glob("nvidia/cu*/bin/nvcc")]
    return str(found[0]) if found else ""


def triton_of_python() -> bool:
    return any(Path(folder, "triton", "compiler").is_dir() for folder in python_folders())


# PyTorch's name for the number of compile jobs, under CMake's.
if "MAX_JOBS" in os.environ:
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", os.environ["MAX_JOBS"])
os.environ["OPS_PYTHON"] = sys.executable  # that of cmake/python.cmake
os.environ["OPS_PYTHON_PATH"] = os.pathsep.join(python_folders())  # where nvcc and Triton are looked for, too
# Equal sources make equal wheels: the time in them is 2020-01-01 unless the environment has another one.
os.environ.setdefault("SOURCE_DATE_EPOCH", "1577836800")

# setuptools only ever adds to its staging folder: a module of a removed operator would be packaged again.
for stage in Path(__file__).parent.glob("build/lib*"):
    shutil.rmtree(stage)

setup(cmdclass={"bdist_wheel": PythonIndependentWheel}, setup_requires=compiler())
