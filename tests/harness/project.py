"""The project whose operators are tested: this repository, or the one that OPS_TEST_PROJECT names by its tests package.

An environment variable and not an option, because tests start processes of their own.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

PACKAGE = os.environ.get("OPS_TEST_PROJECT", "tests")


def reference(name: str) -> Callable[..., Any]:
    """A function of its references.py."""
    function: Callable[..., Any] = getattr(importlib.import_module(f"{PACKAGE}.references"), name)
    return function
