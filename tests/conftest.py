"""Gives the tests of this folder the options and fixtures of tests/plugin.py."""

import os

import pytest

if os.environ.get("OPS_TEST_PROJECT") != "tests.conformance":
    collect_ignore = ["conformance"]  # tests of another library, which test_conformance.py runs


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("tests.plugin")
