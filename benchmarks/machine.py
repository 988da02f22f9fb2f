"""The machine and the tools that figures belong to."""

import os
import platform
import re
import shutil
import subprocess
import sys

import torch


def describe() -> dict[str, str]:
    """Names and versions only: nothing of the user, the host's name or its folders."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {
        "gpu": gpu,
        "cpu": f"{_cpu()}, {len(os.sched_getaffinity(0))} cores, {platform.machine()}",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "compiler": _first_line([*os.environ.get("CC", "cc").split(), "--version"]),
        "nvcc": _nvcc(),
    }


def command() -> str:
    """The command as typed, without the path of the interpreter."""
    return " ".join(["python -m benchmarks", *sys.argv[1:]])


def slug(machine: dict[str, str]) -> str:
    """The name of the machine's results file: its GPU, or its CPU."""
    name = machine["cpu"].rsplit(",", 1)[0] if machine["gpu"] == "none" else machine["gpu"]
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _cpu() -> str:
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "CPU"


def _nvcc() -> str:
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    program = os.environ.get("CUDACXX") or shutil.which("nvcc") or f"{home}/bin/nvcc"
    found = re.search(r"release ([\d.]+)", _output([program, "--version"]))
    return found[1] if found else "none"


def _first_line(command: list[str]) -> str:
    return (_output(command).splitlines() or ["none"])[0]


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
