"""Gives the tests of this folder the options and fixtures of tests/plugin.py."""

import os

import pytest

if os.environ.get("OPS_TEST_PROJECT") != "tests.conformance":
    collect_ignore = ["conformance"]  # tests of another library, which test_conformance.py runs

LONGEST = ("test_exported.py", "test_conformance.py")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("tests.plugin")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, so that at the end no process works on alone."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
