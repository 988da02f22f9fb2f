"""What a generated test says when a function that it calls is not written yet."""

from __future__ import annotations

import importlib
import re

import pytest

from tests import references
from tests.harness import project
from tests.harness.forward import assert_matches_reference
from tests.harness.layouts import make


def said(function: str, *asked: object) -> str:
    with pytest.raises(pytest.fail.Exception) as failure:
        getattr(project, function)(*asked)
    assert not failure.value.pytrace
    return str(failure.value)


def test_a_missing_function_is_asked_for() -> None:
    text = "write `def nothing(x, eps)` in tests/references.py, which returns what is right of y, z"
    assert said("reference", "nothing", ["x", "eps"], ["y", "z"]) == text
    assert said("samples", "nothing") == "write `def nothing()` in tests/samples.py"


def test_a_missing_file_is_no_other_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "PACKAGE", "tests.specs")
    assert said("reference", "nothing", [], ["y"]).startswith("write `def nothing()` in tests/specs/references.py")
    monkeypatch.setattr(project, "PACKAGE", "no_project.tests")
    with pytest.raises(ModuleNotFoundError, match=re.escape("no_project")):
        project.reference("nothing", [], [])


def test_what_a_reference_returns_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    test = importlib.import_module("generated.tests.test_rms_norm_backward")
    op = test.OP
    monkeypatch.setattr(references, op.reference, lambda **given: given["x"])
    arguments = make(op, test.SAMPLES[0], op.choices()[0], "cpu")
    results = op.results(op.wrapper, arguments)
    with pytest.raises(pytest.fail.Exception, match=r"returns grad_x, grad_weight, in this order; it gave 1$"):
        assert_matches_reference(op, op.choices()[0], arguments, results, "a call")
