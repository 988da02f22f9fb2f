"""What a mutant has to get past, cheapest first. Each stage runs in a fork of its own, in a copy of the repository.

check    `python -m codegen check`: the committed files are what the generator makes of ops.yaml
specs    what it makes of the conformance project and of the other right specs is what the original makes of them
errors   every wrong spec with its exact text
tests    the rest of tests/codegen, but for the random specs, which take as long as all others
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import resource
import select
import shutil
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("benchmarks", "cmake", "codegen", "csrc", "docs", "generated", "templates", "tests")
STAGES = ("check", "specs", "errors", "tests")
SPECS = tuple(f"tests/{name}.yaml" for name in ("specs/every_rule", "specs/whole_file", "wider/ops", "conformance/ops"))
WRONG_SPECS = "tests/codegen/test_wrong_specs.py"
# Where processes are started, or examples are drawn by the thousand; the others take a few hundredths of a second.
LATE = (
    "test_new",
    "test_expr",
    "test_errors_page",
    "test_write",
    "test_markdown",
    "test_main",
    "test_init",
    "test_doctor",
    "test_import_library",
)
COMMAND_LINE = ("codegen/__main__.py", "codegen/commands/", "codegen/doctor/", "codegen/write.py")
CPU_SECONDS, SECONDS = 120, 900  # of one stage; the longest takes 30 s
MEMORY = 4 << 30  # beyond what PyTorch has mapped


@dataclass(frozen=True)
class Reference:
    """What the original does: for each of SPECS the digest of each file that it makes; by stage, or by test, the
    functions of the generator that are called, as path:line; and the tests that start processes, in which that is not
    seen.
    """

    files: dict[str, dict[str, str]]
    called: dict[str, list[str]]
    starts: list[str]

    def reached(self, path: str, function: int) -> set[str]:
        """The stages and tests that call a function; all of them for what runs when a module is imported. Those that
        start processes are asked only about what is part of the command line, or is called by nothing else.
        """
        names = {name for name, called in self.called.items() if not function or f"{path}:{function}" in called}
        alone = not names or path.startswith(COMMAND_LINE)
        return names | set(self.starts) if alone else names if function else names - set(self.starts)


@dataclass(frozen=True)
class Verdict:
    """How a mutant ended: the stage that it failed and at what, "" for a survivor."""

    stage: str
    reason: str


def tests_of(folder: Path) -> tuple[str, ...]:
    """The files of the last stage, in the order in which they run."""
    names = [path.stem for path in folder.glob("tests/codegen/test_*.py")]
    left_out = {"test_wrong_specs", "test_fuzz"}
    ordered = sorted(set(names) - left_out, key=lambda name: (name in LATE and LATE.index(name) + 1, name))
    return tuple(f"tests/codegen/{name}.py" for name in ordered)


def copy_tree(target: Path, source: Path = ROOT) -> None:
    """A copy of what the stages need; the times of files stay, so that compiled modules are taken."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in COPIED:
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("*.so"))
    for file in source.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy2(file, target)


def snapshot(tree: Path) -> dict[str, tuple[int, int]]:
    """The size and time of every file of a copy."""
    found = ((folder, name) for folder, _, names in os.walk(tree) for name in names)
    stats = ((os.path.join(folder, name), os.lstat(os.path.join(folder, name))) for folder, name in found)
    return {path[len(str(tree)) :]: (stat.st_size, stat.st_mtime_ns) for path, stat in stats}


def reference(tree: Path, tests: tuple[str, ...]) -> Reference:
    """What the original, in `tree`, does. Raises RuntimeError when a stage fails."""
    found = tree / "reference.json"
    done = forked(lambda: _trace(tree, tests, found), tree, len(STAGES))
    if done:
        raise RuntimeError(f"without a mutant, the stages fail: {done}")
    return Reference(**json.loads(found.read_text()))


def judge(tree: Path, path: str, function: int, source: bytes, wanted: Reference) -> Verdict:
    """Puts a mutant into `tree`, an unchanged copy, and runs the stages that call the function that it is in."""
    (tree / path).write_bytes(source)
    reached = wanted.reached(path, function)
    wrong_specs = {name for name in reached if name.startswith(WRONG_SPECS)}
    rest = reached - wrong_specs
    for stage, run in (
        ("check", _check),
        ("specs", lambda: _other_files(wanted.files)),
        ("errors", lambda: _pytest([WRONG_SPECS], wrong_specs)),
        ("tests", lambda: _pytest(tests_of(tree), rest)),
    ):
        if {"errors": wrong_specs, "tests": rest - {*STAGES}}.get(stage, stage in reached):
            reason = forked(run, tree)
            if reason:
                return Verdict(stage, reason.splitlines()[0])
    return Verdict("", "" if reached else "no test calls it")


def forked(work: Callable[[], str], tree: Path, stages: int = 1) -> str:
    """What `work`, of so many stages, says, or how it ended, in a process of its own at work in `tree`."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        reason = "no end"
        try:
            os.setsid()
            os.close(receiver)
            _enter(tree, stages * CPU_SECONDS)
            reason = work()
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"  # says something even where `error` says nothing
        finally:
            os.write(sender, reason.encode(errors="replace")[:4000])
            os._exit(0)
    os.close(sender)
    try:
        return _outcome(child, receiver)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.close(receiver)


def _outcome(child: int, receiver: int) -> str:
    ready, _, _ = select.select([receiver], [], [], SECONDS)
    text = os.read(receiver, 4096).decode(errors="replace") if ready else ""
    if not ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if not ready:
        return "no end"
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return text


def _enter(tree: Path, cpu_seconds: int) -> None:
    """Makes this process one that works in `tree`, quietly and within limits."""
    os.chdir(tree)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    # Modules of the repository are those of the copy.
    sys.path[:] = [str(tree / "generated"), str(tree), *(entry for entry in sys.path if entry not in ("", str(ROOT)))]
    for name in [name for name in sys.modules if name.split(".")[0] in ("codegen", "tests")]:
        del sys.modules[name]


def _check() -> str:
    from codegen.__main__ import main

    return f"exit code {code}" if (code := main(["check"])) else ""


def _made(shown: str) -> dict[str, str]:
    """The digest of every file that is made of a spec, and of what is said about it."""
    from codegen.commands.project import read_spec, rendered, tree_of
    from codegen.commands.report import Report

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        spec = read_spec(shown, Report(as_json=False), bodies=False)
    assert spec is not None, said.getvalue()
    files = rendered(spec, tree_of(spec, "")) | {"": said.getvalue().encode()}
    return {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}


def _other_files(wanted: dict[str, dict[str, str]]) -> str:
    """The first of SPECS of which other files are made."""
    return next((f"other files for {shown}" for shown in SPECS if _made(shown) != wanted[shown]), "")


class _Chosen:
    """A plugin of pytest: runs only the tests of these names, and remembers what fails."""

    def __init__(self, names: Collection[str] | None) -> None:
        self.names = names
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.names is not None:
            items[:] = [item for item in items if item.nodeid in self.names]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def _pytest(files: Collection[str], names: Collection[str] | None, *plugins: object) -> str:
    """The first test that fails."""
    chosen = _Chosen(names)
    kept = [file for file in files if names is None or any(name.startswith(file) for name in names)]
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", "--rootdir=."]
    code = pytest.main([*options, *kept], plugins=[chosen, *plugins])
    right = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return chosen.failed or ("" if right else f"pytest ends with {code}")


class _Calls:
    """Which functions of the generator are called, for each stage and test. And which start processes."""

    def __init__(self, tree: Path) -> None:
        self.prefix = f"{tree}/codegen/"
        self.root = len(f"{tree}/")
        self.called: dict[str, set[str]] = {}
        self.starts: set[str] = set()
        self.now = ""
        sys.addaudithook(self._audit)

    def _audit(self, event: str, _: object) -> None:
        if self.now and event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
            self.starts.add(self.now)

    def _call(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(self.prefix):
            self.called[self.now].add(f"{code.co_filename[self.root :]}:{code.co_firstlineno}")

    @contextlib.contextmanager
    def during(self, name: str) -> Iterator[None]:
        self.now = name
        self.called.setdefault(name, set())
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(None)
            self.now = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        with self.during(item.nodeid):
            return (yield)

    @property
    def sorted(self) -> dict[str, list[str]]:
        return {name: sorted(called) for name, called in self.called.items()}


def _trace(tree: Path, tests: tuple[str, ...], target: Path) -> str:
    """Runs all stages; writes what a Reference holds to `target`."""
    sys.dont_write_bytecode = False  # the copies for mutants come with compiled modules
    calls = _Calls(tree)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})  # the generator starts no processes, in which calls would not be seen
    with calls.during("check"):
        reason = _check()
    with calls.during("specs"):
        files = {shown: _made(shown) for shown in SPECS}
    os.sched_setaffinity(0, processors)
    assert not calls.starts, calls.starts
    reason = reason or _pytest([WRONG_SPECS, *tests], None, calls)
    target.write_text(json.dumps({"files": files, "called": calls.sorted, "starts": sorted(calls.starts)}))
    return reason
