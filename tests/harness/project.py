"""The project whose operators are tested: this repository, or the one that OPS_TEST_PROJECT names by its tests package.

An environment variable and not an option, because tests start processes of their own.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PACKAGE = os.environ.get("OPS_TEST_PROJECT", "tests")


def package(module: str) -> ModuleType:
    """A module of the project's package, whose name is the namespace in its ops.yaml."""
    found = importlib.util.find_spec(PACKAGE)
    assert found is not None
    assert found.submodule_search_locations is not None
    places = [Path(place) for folder in found.submodule_search_locations for place in (folder, Path(folder).parent)]
    spec = next(place / "ops.yaml" for place in places if (place / "ops.yaml").exists())
    (namespace,) = re.findall(r"^namespace:\s*(\w+)", spec.read_text(), re.MULTILINE)
    return importlib.import_module(f"{namespace}.{module}")


def reference(name: str, arguments: Sequence[str], results: Sequence[str]) -> Callable[..., Any]:
    """A function of its references.py, that is called with these arguments and returns these tensors."""
    returned = f", which returns what is right of {', '.join(results)}"
    return _function("references", name, f"({', '.join(arguments)})", returned)


def samples(name: str) -> list[Mapping[str, Any]]:
    """Calls that a function of its samples.py gives: for each the shape of every tensor, and scalars that are not as
    usual. The first is the usual call where the generator found none.
    """
    found: list[Mapping[str, Any]] = _function("samples", name, "()")()
    return found


def _function(module: str, name: str, arguments: str, more: str = "") -> Callable[..., Any]:
    """A function of a module of the project; where it is missing, the test fails and says what to write."""
    try:
        holder = importlib.import_module(f"{PACKAGE}.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"{PACKAGE}.{module}":
            raise
        holder = None
    function: Callable[..., Any] | None = getattr(holder, name, None)
    if function is None:
        pytest.fail(f"write `def {name}{arguments}` in {PACKAGE.replace('.', '/')}/{module}.py{more}", pytrace=False)
    return function


def growing(calls: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Four of them, for compiling with dynamic shapes: tensors of as many dims as in the first, no size below two."""
    ranks = {name: len(shape) for name, shape in calls[0].items() if isinstance(shape, tuple)}
    alike = [call for call in calls if all(len(call[name]) == rank for name, rank in ranks.items())]
    return [call for call in alike if all(size > 1 for name in ranks for size in call[name])][:4]
