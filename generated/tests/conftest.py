"""Gives the tests of this folder the options and fixtures of tests/plugin.py."""

import pytest


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.import_plugin("tests.plugin")
