"""A spec of many operators is checked by several processes, and found to be what one process finds it to be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import spread
from codegen.check import library as check
from codegen.check.operator import Known
from codegen.load import Mapping, Scalar
from codegen.model import Library
from codegen.reader import Reader

SPEC = (Path(__file__).parents[1] / "conformance" / "ops.yaml").read_text()


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets how many processors there are."""
    return lambda count: monkeypatch.setattr(spread, "_processors", lambda: count)


def test_the_library_is_the_same(
    library: Callable[[str], Library], processes: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    here: list[str] = []
    checked = check.check_operator

    def noted(read: Reader, key: Scalar, node: Mapping, devices: tuple[str, ...]) -> Known:
        here.append(key.text)
        return checked(read, key, node, devices)

    monkeypatch.setattr(check, "check_operator", noted)
    processes(1)
    alone, declared = library(SPEC), list(here)
    assert len(declared) > 2 * spread.ENOUGH
    here.clear()
    processes(2)
    assert library(SPEC) == alone
    assert here == declared[::2]  # the others came from the other process: nothing was lost and done again


def test_the_problems_are_the_same(report: Callable[[str], str], processes: Callable[[int], None]) -> None:
    wrong = SPEC.replace("outputs: {y:", "outputs: {why: 'T[unknown]', y:").replace("parallel: n\n", "parallel: nn\n")
    processes(1)
    alone = report(wrong)
    assert alone.count('unknown dim "unknown"') > 50
    processes(3)
    assert report(wrong) == alone
