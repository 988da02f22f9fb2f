"""Frozen dataclasses that cost little to define, to make and to change a copy of; and what they compute once.

To mypy this is the standard decorator, and mypy sees to it that nothing assigns to a field. A standard frozen dataclass
looks at that once more whenever one is made, and six functions are compiled for each class: that was most of the time
of importing the generator, and a tenth of every run. Here only __init__ is compiled, and it assigns directly.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
    from functools import cached_property as cached_property
else:

    def dataclass(*, frozen, slots=False):
        """`@dataclass(frozen=True)`, with `slots=True` where there are many of a class."""
        assert frozen

        def define(cls):
            cls = dataclasses.dataclass(cls, eq=False, repr=False, slots=slots)
            names = cls.__match_args__
            # All fields as a tuple; of one field alone, attrgetter makes none.
            values = attrgetter(*names) if len(names) > 1 else lambda self: (getattr(self, names[0]),)

            def equal(self, other):
                return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

            def shown(self):
                fields = ", ".join(f"{name}={value!r}" for name, value in zip(names, values(self), strict=True))
                return f"{cls.__qualname__}({fields})"

            places = {name: place for place, name in enumerate(names)}

            def replaced(self, changes):
                fields = [*values(self)]
                for name, value in changes.items():
                    fields[places[name]] = value
                return cls(*fields)

            cls.__eq__, cls.__hash__, cls.__repr__ = equal, lambda self: hash(values(self)), shown
            cls._replaced = replaced
            cls.__reduce__ = lambda self: (cls, values(self))  # what was computed once is not sent along
            return cls

        return define

    def replace(instance, /, **changes):
        """`dataclasses.replace`, for these classes."""
        return instance._replaced(changes)

    class cached_property:
        """`functools.cached_property`, which before Python 3.12 takes a lock."""

        def __init__(self, compute):
            self.compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.compute(instance)
            return value
