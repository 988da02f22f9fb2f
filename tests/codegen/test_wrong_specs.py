"""Every wrong spec in tests/errors, with the exact text that it must print.

REWRITE=1 pytest tests/codegen/test_wrong_specs.py rewrites the texts, and docs/errors.md with them; read the difference
before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load
from tests.errors_page import PAGE, page

FOLDER = Path(__file__).parent.parent / "errors"
SPECS = sorted(FOLDER.glob("*.yaml"))


def report(data: bytes, *, libyaml: bool = True) -> str:
    diagnostics = Diagnostics()
    checked = check(load(data, diagnostics, libyaml=libyaml), diagnostics)
    assert diagnostics.failed == (checked is None)
    return diagnostics.report("ops.yaml", data.decode("utf-8-sig", "replace"))


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_exact_text(spec: Path) -> None:
    text = report(spec.read_bytes())
    golden = spec.with_suffix(".txt")
    if os.environ.get("REWRITE"):
        golden.write_text(text)
        PAGE.write_text(page())
    assert text
    assert text == golden.read_text()


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_same_text_without_libyaml(spec: Path) -> None:
    assert report(spec.read_bytes(), libyaml=False) == spec.with_suffix(".txt").read_text()


def test_there_are_many() -> None:
    assert len(SPECS) >= 30
    assert {path.stem for path in FOLDER.glob("*.txt")} == {path.stem for path in SPECS}
