"""What a generated test says when a function that it calls is not written yet."""

from __future__ import annotations

import re

import pytest

from tests.harness import project


def said(function: str, name: str) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        getattr(project, function)(name)
    assert not failure.value.pytrace
    return str(failure.value)


def test_a_missing_function_is_asked_for() -> None:
    assert said("reference", "nothing") == "write `def nothing(...)` in tests/references.py"
    assert said("samples", "nothing") == "write `def nothing()` in tests/samples.py"


def test_a_missing_file_is_no_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "PACKAGE", "tests.specs")
    assert said("reference", "nothing") == "write `def nothing(...)` in tests/specs/references.py"
    monkeypatch.setattr(project, "PACKAGE", "no_project.tests")
    with pytest.raises(ModuleNotFoundError, match=re.escape("no_project")):
        project.reference("nothing")
