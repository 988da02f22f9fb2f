"""Where generated C is broken: at its outermost commas and operators first, and never inside a literal."""

from __future__ import annotations

import pytest

from codegen.lower.c.layout import COLUMNS, fitted

LONG = "a_name_of_thirty_columns_in_all"  # four of them do not fit a line


def test_what_fits_stays() -> None:
    assert fitted("if (", "a && b", ") {") == ["if (a && b) {"]


def test_room_is_kept_for_the_end() -> None:
    text = "a" * (COLUMNS - len("    x = ;") - len(" + b")) + " && b"
    assert len(fitted("x = ", text, ";")) == 2
    assert len(fitted("x = ", text[1:], ";")) == 1


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            f"{LONG} && {LONG} && {LONG} && {LONG}",
            [f"x = {LONG} && {LONG} && {LONG} &&", f"    {LONG};"],
        ),
        (
            f"f({LONG}, g({LONG}, {LONG}), {LONG})",
            [f"x = f({LONG}, g({LONG}, {LONG}),", f"      {LONG});"],
        ),
        (
            f"{LONG} || {LONG} ? f({LONG}) : {LONG}",
            [f"x = {LONG} || {LONG}", f"        ? f({LONG})", f"        : {LONG};"],
        ),
        (
            f"f({LONG}, {LONG} ? {LONG} : {LONG})",
            [
                f"x = f({LONG},",
                f"      {LONG} ? {LONG} : {LONG});",
            ],
        ),
        (
            f"{LONG} && ({LONG} || {LONG} && {LONG} || {LONG})",
            [f"x = {LONG} &&", f"    ({LONG} || {LONG} && {LONG} ||", f"     {LONG});"],
        ),
    ],
)
def test_outermost_first(text: str, lines: list[str]) -> None:
    assert fitted("x = ", text, ";") == lines


def test_literals_stay_whole() -> None:
    literal = '"' + 'one, two && \\" (three ? ' * 8 + '"'
    assert fitted("f(", f"e, {literal}, {LONG}", ");") == ["f(e,", f"  {literal},", f"  {LONG});"]


def test_what_cannot_be_broken_stays() -> None:
    assert fitted("x = ", "a" * 200, ";") == [f"x = {'a' * 200};"]
