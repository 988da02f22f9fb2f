"""Work that forks share is what one process makes, in its order."""

from __future__ import annotations

import os
from multiprocessing.process import BaseProcess

import pytest

from codegen import spread as module
from codegen.spread import ENOUGH, spread


@pytest.fixture(autouse=True)
def _processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_processors", lambda: 3)


@pytest.mark.parametrize("count", [0, 1, ENOUGH, 2 * ENOUGH, 3 * ENOUGH + 1, 9 * ENOUGH + 2])
def test_results_are_in_order(count: int) -> None:
    found = spread(lambda item: (item, os.getpid()), range(count))
    assert [item for item, _ in found] == list(range(count))
    assert len({process for _, process in found}) == (min(3, count // ENOUGH) if count >= 2 * ENOUGH else min(count, 1))


def test_what_a_process_loses_is_done_again() -> None:
    here = os.getpid()

    def work(item: int) -> int:
        if os.getpid() != here and item == 7:
            os._exit(1)
        return item + 1

    assert spread(work, range(100)) == list(range(1, 101))


def test_one_process_does_where_no_other_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: BaseProcess) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(BaseProcess, "start", refuse)
    assert spread(lambda item: os.getpid(), range(200)) == 200 * [os.getpid()]


@pytest.mark.parametrize("wrong", [0, 1, 2, 99])
def test_an_error_is_that_of_the_work(wrong: int) -> None:
    with pytest.raises(ZeroDivisionError):
        spread(lambda item: 1 // (item - wrong), range(100))
