"""What must hold for one spec, whatever it says."""

from __future__ import annotations

import random
import re
import tempfile
import time
from pathlib import Path

from codegen.assignments import Assignment
from codegen.check.library import check
from codegen.commands import generate
from codegen.commands.report import Report
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.messages.sentences import message
from codegen.messages.text import print_message_text
from codegen.model import Library
from codegen.rules import plain
from tests.fuzz.specs import HOSTILE, Grammar
from tests.fuzz.syntax import c_compiles, python_compiles, rendered, skeleton

PLACE = re.compile(r"^ops\.yaml:[1-9][0-9]*:[1-9][0-9]*: (error|warning): \S", re.MULTILINE)
SECONDS = 2.0
BENIGN = "word"


def examine(data: bytes) -> Library | None:
    """Loads and checks: a report with a place in every message, no traceback, no long wait."""
    start = time.perf_counter()
    diagnostics = Diagnostics()
    checked = check(load(data, diagnostics), diagnostics)
    report = diagnostics.report("ops.yaml", data.decode("utf-8-sig", "replace"))
    assert time.perf_counter() - start < SECONDS or _work(data) < SECONDS
    assert diagnostics.failed == (checked is None)
    assert len(PLACE.findall(report)) == min(diagnostics.count, 200)
    if checked is None:
        return None
    for operator in checked.library.operators:
        for rule in operator.rules:
            if not isinstance(plain(rule), Assignment):
                print_message_text(message(plain(rule)))
    return checked.library


def _work(data: bytes) -> float:
    """Seconds of this processor, where others may have kept it busy."""
    start = time.process_time()
    diagnostics = Diagnostics()
    check(load(data, diagnostics), diagnostics)
    diagnostics.report("ops.yaml", data.decode("utf-8-sig", "replace"))
    return time.process_time() - start


def examine_output(library: Library) -> dict[str, str]:
    """Everything can be generated, and Python compiles."""
    files = rendered(library)
    python_compiles(files)
    return files


def examine_command(data: bytes) -> None:
    """`generate` writes nothing for a wrong spec, and ends with 1."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ops.yaml").write_bytes(data)
        report = Report(as_json=True)
        assert generate.run(str(folder / "ops.yaml"), "", report) == 1  # its bodies are not there
        assert any(problem.severity == "error" for problem in report.problems)
        assert [path.name for path in folder.iterdir()] == ["ops.yaml"]


def examine_texts(seed: int, *, compiled: bool) -> bool:
    """A made-up spec, once with harmless texts and once with hostile ones: the same code comes of both. Returns
    whether the spec was right.
    """
    hostile = random.Random(seed).choice(HOSTILE)
    specs = [Grammar(random.Random(seed), text).spec().encode() for text in (BENIGN, hostile)]
    libraries = [examine(spec) for spec in specs]
    assert (libraries[0] is None) == (libraries[1] is None), specs[1].decode()
    if libraries[0] is None or libraries[1] is None:
        return False
    plain_files, files = examine_output(libraries[0]), examine_output(libraries[1])
    assert list(plain_files) == list(files)
    for path, text in files.items():
        assert skeleton(path, text) == skeleton(path, plain_files[path]), path
    if compiled:
        with tempfile.TemporaryDirectory() as name:
            c_compiles(libraries[1], files, Path(name))
    return True
