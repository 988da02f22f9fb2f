"""python -m tests.checks [--project conformance]: each check of the generated C and of the fake kernels is left out,
and turned round, while the generated wrong calls and right ones run; a check that nobody misses is printed.

The library is built for this in build/checks, with every CHECK behind a switch (switch.h).
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.conformance.build import build_project

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Place:
    """Where a check stands."""

    file: str
    line: int
    text: str


def allowed() -> list[str]:
    """Parts of `file: line` whose checks cannot be broken."""
    lines = (HERE / "allowed.txt").read_text().splitlines()
    return [line.rpartition(" -- ")[0] for line in lines if line and not line.startswith("#")]


def checks_in_c(source: Path) -> list[Place]:
    """The CHECKs of a host function."""
    lines = [line.strip() for line in source.read_text().splitlines()]
    return [Place(source.name, number, line) for number, line in enumerate(lines, 1) if line.startswith("CHECK(")]


def project(name: str) -> Path:
    """Generates and builds a project with its checks behind switches; the folder to import from."""
    source = ROOT / "tests" / "conformance" if name == "conformance" else ROOT
    return build_project(source, ROOT / "build" / "checks" / name, f"-include {HERE / 'switch.h'}")


def load_test(path: Path) -> Any:
    """A generated test as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fails(call: Callable[[], Any]) -> bool:
    """Whether a test fails. pytest's own failure is no Exception."""
    try:
        call()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return True
    return False


def noticed(calls: list[Callable[[], Any]]) -> bool:
    """Whether one of these tests fails; in a process of its own, which what gets past a check may well bring down."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os._exit(1 if any(map(fails, calls)) else 0)
    return os.waitpid(child, 0)[1] != 0


def missed_in_c(module: Any, library: ctypes.CDLL, places: list[Place]) -> Iterator[tuple[Place, str]]:
    """Checks of the host function that no wrong call, and no right one, misses."""
    from tests.harness import forward, refused

    file = (ctypes.c_char * 256).in_dll(library, "check_switch_file")
    line = ctypes.c_int.in_dll(library, "check_switch_line")
    negate = ctypes.c_int.in_dll(library, "check_switch_negate")
    for place in places:
        file.value, line.value = place.file.encode(), place.line
        for turned in (0, 1):
            negate.value = turned
            calls = [
                lambda w=w: refused.eager(module.OP, "cpu", module.SAMPLES[0], w) for w in getattr(module, "WRONG", [])
            ]
            calls.append(lambda: forward.call_styles(module.OP, "cpu", module.SAMPLES[0]))
            if not noticed(calls):
                yield place, "turned round" if turned else "left out"
        line.value = 0


def missed_in_fake(module: Any, fake: Any, rules: Any) -> Iterator[tuple[Place, str]]:
    """The same of the fake kernel, whose checks are calls of one object."""
    from tests.harness import forward, refused
    from tests.harness.layouts import make

    usual = rules.Check.__call__
    switch: dict[str, Any] = {"line": 0, "negate": False, "seen": set()}

    def switched(self: Any, condition: Any, problem: Any) -> None:
        frame = sys._getframe(1)
        while "rules" in Path(frame.f_code.co_filename).name and frame.f_back is not None:
            frame = frame.f_back
        switch["seen"].add(frame.f_lineno)
        if frame.f_lineno == switch["line"] and frame.f_code.co_filename == fake.__file__:
            condition = not condition if switch["negate"] else True
        usual(self, condition, problem)

    def run() -> bool:
        noticed = any(fails(lambda w=w: refused.fake(module.OP, "cpu", module.SAMPLES[0], w)) for w in module.WRONG)
        usual_call = make(module.OP, module.SAMPLES[0], module.OP.choices()[0], "cpu")
        return noticed or fails(lambda: forward.assert_fakes_agree(module.OP, usual_call))

    rules.Check.__call__ = switched
    try:
        run()
        lines = Path(fake.__file__).read_text().splitlines()
        for number in sorted(switch["seen"]):
            switch["line"] = number
            for negate in (False, True):
                switch["negate"] = negate
                if not run():
                    text = " ".join(line.strip() for line in lines[number - 1 : number + 2])
                    yield Place(Path(fake.__file__).name, number, text), "turned round" if negate else "left out"
    finally:
        rules.Check.__call__ = usual


def survivors(name: str, only: str = "") -> list[str]:
    """Lines about checks that nobody misses, in a project; `only` is a pattern of names of operators."""
    generated = project(name)
    os.environ["OPS_TEST_PROJECT"] = "tests.conformance" if name == "conformance" else "tests"
    sys.path.insert(0, str(generated))
    namespace = re.search(r"OPS_NAMESPACE (\w+)", (generated / "ops.cmake").read_text())
    assert namespace is not None
    package = importlib.import_module(namespace[1])
    torch.set_num_threads(1)  # a process with more threads cannot be forked
    library = ctypes.CDLL(str(generated / namespace[1] / f"{namespace[1]}.so"))
    rules = importlib.import_module(f"{namespace[1]}._rules")
    permitted, found, count = allowed(), [], 0
    for test in sorted((generated / "tests").glob("test_*.py")):
        module = load_test(test)
        if not re.search(only, module.OP.name) or not hasattr(module, "WRONG"):
            continue  # without wrong calls there is a test of another kind
        places = checks_in_c(generated / "c" / f"{module.OP.name}.c")
        fake = importlib.import_module(f"{package.__name__}.ops.{module.OP.name}")
        count += len(places)
        for place, how in (*missed_in_c(module, library, places), *missed_in_fake(module, fake, rules)):
            if not any(part in f"{place.file}: {place.text}" for part in permitted):
                found.append(f"{place.file}:{place.line}: {how}, and no test fails: {place.text}")
                print(found[-1], flush=True)
    print(f"{name}: {count} checks in C, each left out and turned round; {len(found)} times no test failed")
    return found


def main() -> int:
    """The exit code is 1 when a check is not missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.checks", description=__doc__)
    parser.add_argument("--project", choices=("library", "conformance"), default="library")
    parser.add_argument("--only", default="", help="a pattern of names of operators")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        return 1 if survivors(options.project, options.only) else 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
