"""The generator's dataclasses behave like the standard frozen ones."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from codegen.frozen import cached_property, dataclass, replace


def defined(decorate: Callable[[type], type]) -> tuple[type, type]:
    class Pair:
        name: str
        count: int = 3

    class Alone:
        number: float

    return decorate(Pair), decorate(Alone)


@pytest.mark.parametrize("slots", [False, True])
def test_like_the_standard_ones(slots: bool) -> None:
    Pair, Alone = defined(dataclass(frozen=True, slots=slots))
    for ours, standard in zip((Pair, Alone), defined(dataclasses.dataclass(frozen=True, slots=slots)), strict=True):
        assert repr(ours("x")) == repr(standard("x"))
        assert dataclasses.fields(ours)[0].name == dataclasses.fields(standard)[0].name
        assert ours.__match_args__ == standard.__match_args__
        assert hasattr(ours("x"), "__dict__") is not slots
    nan: Any = float("nan")
    assert Pair("x") == Pair("x", 3) != Pair("x", 4)
    assert Alone(nan) == Alone(nan)
    assert Alone(1.0) != Pair(1.0)
    assert Alone(1.0) != 1.0
    assert {Pair("x"), Pair("x", 3), Pair("y"), Alone("x"), Alone("x")} == {Pair("x"), Pair("y"), Alone("x")}
    assert replace(Pair("x"), count=4) == Pair("x", 4)


@dataclass(frozen=True)
class Circle:
    """A radius, and what follows from it."""

    radius: int

    @cached_property
    def area(self) -> list[int]:
        """About so much."""
        return [3 * self.radius**2]


def test_what_is_computed_once() -> None:
    circle = Circle(2)
    assert circle.area == [12]
    assert circle.area is circle.area
    assert replace(circle, radius=3).area == [27]
    assert Circle.__dict__["area"].__doc__ == "About so much."
    with pytest.raises(KeyError):
        replace(circle, diameter=3)


def test_other_processes_get_the_fields_alone() -> None:
    circle = Circle(2)
    assert circle.area
    sent = pickle.loads(pickle.dumps(circle))
    assert sent == circle
    assert vars(sent) == {"radius": 2}
