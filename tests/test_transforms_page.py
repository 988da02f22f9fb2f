"""docs/transforms.md is what ops.yaml says, and the tests that it leads to are there."""

from __future__ import annotations

import os
import re

from tests.collected import ROOT, collected
from tests.transforms_page import PAGE, REASONS, named, page


def test_page_is_current() -> None:
    if os.environ.get("REWRITE"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), "REWRITE=1 pytest tests/test_transforms_page.py writes it"


def test_tests_exist() -> None:
    """Those of every cell, and those that reasons name, of each operator that has the reason."""
    text = PAGE.read_text()
    for row in re.findall(r"^\| \[(\w+)\]\(.*", text, re.MULTILINE):
        assert (ROOT / "docs" / "ops" / f"{row}.md").is_file()
    wanted = named()
    for letter, reason in REASONS.items():
        tests = re.findall(r"`(test_\w+)`", reason)
        operators = re.findall(rf"^\| \[(\w+)\]\(.* \*{letter}\* ", text, re.MULTILINE)
        wanted |= {f"generated/tests/test_{op}.py::{test}" for op in operators for test in tests}
    assert len(wanted) > 200
    assert wanted - collected(wanted) == set()
