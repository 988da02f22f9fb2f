"""The conformance project builds without a warning, and its generated tests pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.lower.example import FORM_ONLY
from tests.conformance.build import HERE, ROOT, build
from tests.round_trip import differences, imported


@pytest.fixture(scope="module")
def generated() -> Path:
    return build()


def test_import_finds_its_schemas(generated: Path) -> None:
    """Of every operator, of the overloads beside it, and of in-place and out forms."""
    answer, selection = imported(generated / "conformance" / "conformance.so")
    assert selection.left_out == ()
    registered = {op.qualified: op.schema for op in answer.operators}
    assert len(registered) > 300
    assert differences(selection, registered) == set()


PARTS = max(4, min(16, os.cpu_count() or 1))  # of the tests, for as many processes


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_tests_pass(generated: Path, part: int, devices: str) -> None:
    path = [str(generated), *(entry for entry in sys.path if entry)]
    files = [*sorted((generated / "tests").glob("test_*.py")), *sorted(HERE.glob("test_*.py"))][part::PARTS]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider", "--tb=short", "-rs",
         f"--device={devices}", *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "OPS_TEST_PROJECT": "tests.conformance", "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout[-20000:] + tests.stderr[-2000:]
    assert " passed" in tests.stdout
    skipped = re.findall(r"^SKIPPED .*", tests.stdout, re.M)
    assert bool(skipped) == (" skipped" in tests.stdout)
    assert not [line for line in skipped if not re.search(r"needs \d+ GiB of GPU memory$", line)]


def test_programs_of_the_pages_run(generated: Path) -> None:
    """The example on the page of every operator, one after the other in one process."""
    pages = sorted((generated.parent / "docs" / "ops").glob("*.md"))
    programs = [
        program for page in pages for program in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
    ]
    assert len(programs) == len(pages) - 1
    form_only = [program for program in programs if FORM_ONLY in program]
    assert ["conformance.triples(" in program for program in form_only] == [True]
    programs.remove(form_only[0])
    script = "\n".join(f"exec({program!r}, {{}})" for program in programs)
    path = [str(generated), *(entry for entry in sys.path if entry)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_nothing_is_unused(generated: Path) -> None:
    """Imports and locals of generated Python are there for something."""
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--select=F", "conformance", "tests"],
        cwd=generated,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout[-4000:] + checked.stderr[-2000:]


def test_types(generated: Path) -> None:
    """The package is typed, to the last argument that may be None."""
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version=3.10", "conformance"],
        cwd=generated,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout[-4000:] + checked.stderr[-2000:]
