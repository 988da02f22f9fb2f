"""Everything else is in pyproject.toml; scikit-build-core's setuptools plugin runs CMake as it says there."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class PythonIndependentWheel(bdist_wheel):
    """Tags the wheel py3-none-<platform>: the library does not touch Python's C API, so one wheel serves every version.

    scikit-build-core's `wheel.py-api = "py3"` says the same, but is not available to its setuptools plugin.
    """

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


# PyTorch's name for the number of compile jobs, under CMake's.
if "MAX_JOBS" in os.environ:
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", os.environ["MAX_JOBS"])

# setuptools only ever adds to its staging folder: a module of a removed operator would be packaged again.
for stage in Path(__file__).parent.glob("build/lib*"):
    shutil.rmtree(stage)

setup(cmdclass={"bdist_wheel": PythonIndependentWheel})
