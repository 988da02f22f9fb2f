"""docs/errors.md is current, and nothing that the generator or a call can say is missing from it and from the tests."""

from __future__ import annotations

from typing import get_args

import pytest

from codegen.rules import PlainRule
from tests.error_texts import texts, unsaid
from tests.errors_page import PAGE, WRONG, page, rules

# Texts that no file in tests/errors produces, and why.
ELSEWHERE = {
    "{}/{} belongs to no operator": "about csrc/: test_bodies.py",
    "{}: the {} {}/{} is missing": "about csrc/: test_bodies.py",
    "{}: {}/{} is a module of that name": "about python/: test_bodies.py",
    "{}: none of the sizes and scalars that tests try is a right call": "seen last: test_check_samples.py",
    "lines about {} tensors; at most {} are taken": "65 tensors: test_elementwise.py",
    "pointers, strides and scalars of {} tensors, {} bytes, do not fit the arguments of a launch": (
        "55 tensors: test_elementwise.py"
    ),
    "the file has {} bytes; at most {} are read": "4 MB: test_load.py",
    "a text of {} characters; at most {} are read": "20 KB: test_load.py",
}


def test_current() -> None:
    """If not: REWRITE=1 pytest tests/codegen/test_wrong_specs.py"""
    assert page() == PAGE.read_text()


def test_every_rule_is_on_it() -> None:
    assert {type(rule) for rule in rules()} == set(get_args(PlainRule))


def test_every_text_has_a_wrong_spec() -> None:
    """A new error needs a case in tests/errors, or a reason here."""
    goldens = "".join(path.read_text() for path in WRONG.glob("*.txt"))
    missing = {text.readable: text.place for text in unsaid(goldens)}
    assert {text: place for text, place in missing.items() if text not in ELSEWHERE} == {}


def test_no_reason_is_out_of_date() -> None:
    known = {text.readable for text in texts()}
    goldens = "".join(path.read_text() for path in WRONG.glob("*.txt"))
    assert set(ELSEWHERE) <= known & {text.readable for text in unsaid(goldens)}
    assert len(known) > 250


@pytest.mark.parametrize("text", ['unknown dtype "{}"', "`{}:` is missing", "{} is there twice"])
def test_texts_are_found_in_the_source(text: str) -> None:
    assert text in {found.readable for found in texts()}
