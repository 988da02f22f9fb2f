"""The reference of a derived gradient operator, which check_calls of the package goes by, too."""

from __future__ import annotations

from tests.harness.project import package

Derived = package("_derived").Derived
