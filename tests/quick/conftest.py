"""A cache of its own for these tests, which processes of one run share: the runtime is compiled once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "quick"
    before = os.environ.get("MY_OPS_QUICK_CACHE")
    os.environ["MY_OPS_QUICK_CACHE"] = str(folder)
    yield folder
    os.environ.pop("MY_OPS_QUICK_CACHE")
    if before is not None:
        os.environ["MY_OPS_QUICK_CACHE"] = before
