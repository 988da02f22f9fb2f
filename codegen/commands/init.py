"""init DIR --namespace NS: a project of its own, with one operator that works: spec, bodies, tests, benchmark, demo.

The generator, the build and the runtime are copied from the project that this generator belongs to; what is about the
operator or named after the namespace comes from templates/init. All of it is made in a folder beside DIR, which is
renamed when it is whole: a run that fails or is killed leaves no DIR. What a killed run leaves is removed by the next.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from codegen import names
from codegen.commands.project import PACKAGE, RENDERER
from codegen.commands.report import Report
from codegen.frozen import dataclass

ROOT = PACKAGE.parent
# What builds a library, whatever its operators are.
BUILD = ("CMakeLists.txt", "cmake", "codegen", "templates", "csrc/cpu", "csrc/device",
         "csrc/direct", "csrc/runtime", "csrc/elementwise_layout.h")  # fmt: skip
_SHARED = (*BUILD, "CMakePresets.json", "setup.py", "LICENSE", ".clang-format", ".editorconfig", ".gitattributes",
           "tests/plugin.py", "tests/harness", "docs/language.md", "docs/errors.md")  # fmt: skip
# What only bodies of the operators of this project use.
OWN = (
    *(f"csrc/cpu/{name}.h" for name in ("cross_entropy_rows", "quantize", "rotation", "row_norm", "row_norm_backward",
                                        "score_rows")),
    *(f"csrc/device/{name}.cuh" for name in ("cross_entropy_row", "cross_entropy_rows", "cross_entropy_runs",
                                             "few_norm_gradients", "norm_gradient_runs", "norm_gradients", "norm_runs",
                                             "quantize", "rotation", "row_norm", "row_norm_backward", "staged_rows")),
)  # fmt: skip
# Of requirements.txt: what builds, generates and tests. torch may be any that the library works with.
_TOOLS = ("numpy", "cmake", "ninja", "setuptools", "scikit-build-core", "Jinja2", "PyYAML", "expecttest", "pytest",
          "pytest-xdist")  # fmt: skip
_OP = "soft_sign"
_TEMPLATES = {
    "ops.yaml": "ops.yaml",
    **{f"csrc/{name}": name for op in (_OP, f"{_OP}_backward") for name in (f"{op}.c", f"{op}.cu")},
    "tests/references.py": "references.py",
    "tests/conftest.py": "conftest.py",
    f"tests/test_{_OP}.py": f"test_{_OP}.py",
    f"benchmarks/{_OP}.py": "bench.py",
    "examples/demo.py": "demo.py",
    "Makefile": "Makefile",
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    ".gitignore": "gitignore",
    ".github/workflows/ci.yml": "ci.yml",
}


@dataclass(frozen=True)
class View:
    """What the templates of a project print: the namespace, how environment variables begin, the width of a column, and
    settings as pyproject.toml writes them.
    """

    namespace: str
    prefix: str
    width: int
    requires: str
    requires_python: str
    dependencies: str
    compiler: str
    triton: str


def run(target: str, namespace: str, report: Report) -> int:
    """The exit code: 1 when there is no new project."""
    problem = names.namespace_problem(namespace)
    if problem:
        report.failure(target, f'"{namespace}" cannot be the namespace: {problem}', "for instance acme_ops")
        return 1
    before = signal.signal(signal.SIGTERM, _stop)  # so that what was begun is removed
    try:
        place = Path(target).resolve()
        problem = _refused(place)
        if problem:
            report.failure(target, problem)
            return 1
        with _staging(place) as staging:
            _fill(staging, namespace)
            staging.rename(place)
    except (OSError, shutil.Error, subprocess.CalledProcessError) as error:
        report.failure(target, f"{_reason(error)}; nothing was written")
        return 1
    except KeyboardInterrupt:
        report.failure(target, "stopped; nothing was written")
        return 1
    finally:
        signal.signal(signal.SIGTERM, before)
    if not report.as_json:
        print(f"{target}: a project with the namespace {namespace}; next: cd {shlex.quote(target)} && make demo")
    return 0


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _refused(place: Path) -> str:
    missing = [name for name in (*_SHARED, "pyproject.toml", "requirements.txt") if not (ROOT / name).exists()]
    if missing:
        return f"projects are made of the one that this generator belongs to, and {ROOT / missing[0]} is missing"
    if place.is_dir() and any(place.iterdir()):
        return "the folder is there, and not empty; name one that is not there yet"
    if place.exists() and not place.is_dir():
        return "this is a file; name a folder that is not there yet"
    if not place.parent.is_dir():
        return f"there is no folder {place.parent}; make it first"
    if re.search(r'[][*?;"\\]', str(place)):
        return 'CMake cannot build in a path that has one of [ ] * ? ; " or a backslash; take another one'
    return ""


def _reason(error: Exception) -> str:
    """One line."""
    if isinstance(error, subprocess.CalledProcessError):
        said = (error.stderr or error.stdout or "").strip().splitlines()
        return said[-1] if said else f"the generator ended with exit code {error.returncode}"
    if isinstance(error, shutil.Error):  # of each file that could not be copied
        return str(error.args[0][0][2])
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


@contextlib.contextmanager
def _staging(place: Path) -> Iterator[Path]:
    """A folder beside `place`, removed unless it was renamed. A lock on it says that its run is alive."""
    begin = f".{place.name}.init-"
    for left in place.parent.glob(f"{begin}*"):
        with contextlib.suppress(OSError), _locked(left):
            shutil.rmtree(left)
    staging = place.with_name(f"{begin}{os.getpid()}")
    staging.mkdir()
    try:
        with _locked(staging):
            yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _fill(staging: Path, namespace: str) -> None:
    """The whole project. Its own copy of the generator writes what is generated."""
    for name in _SHARED:
        source, copy = ROOT / name, staging / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=_left_out, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source, copy)
    view = _view(namespace)
    for name, template in _TEMPLATES.items():
        (staging / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).write_bytes(RENDERER.render(f"init/{template}.j2", view))
    (staging / "requirements.txt").write_text(_requirements(view.dependencies))
    subprocess.run(
        [sys.executable, "-m", "codegen", "generate"],
        cwd=staging,
        env={**os.environ, "PYTHONPATH": str(staging), "PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    )


def _left_out(folder: str, entries: list[str]) -> list[str]:
    path = Path(folder).relative_to(ROOT)
    return [
        name for name in entries if name == "__pycache__" or name.startswith(".") or (path / name).as_posix() in OWN
    ]


def _view(namespace: str) -> View:
    settings = (ROOT / "pyproject.toml").read_text()

    def setting(key: str) -> str:
        found = re.search(rf"^{key} = (.+)$", settings, re.MULTILINE)
        return found[1] if found else "[]"

    return View(
        namespace,
        namespace.upper(),
        max(len(namespace), 8) + len(f".{_OP}"),
        setting("requires"),
        setting("requires-python"),
        setting("dependencies"),
        setting("cuda"),
        setting("triton"),
    )


def _requirements(dependencies: str) -> str:
    """What `make` installs: the project's dependencies, and tools as the requirements of this project pin them."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = [line for line in lines if re.split(r"[=<>;\s]", line)[0] in _TOOLS]
    return "\n".join(["# What `make` installs.", *re.findall(r'"([^"]+)"', dependencies), *pinned]) + "\n"
