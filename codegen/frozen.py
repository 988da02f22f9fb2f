"""Frozen dataclasses that cost little to define and to make.

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

            cls.__eq__, cls.__hash__, cls.__repr__ = equal, lambda self: hash(values(self)), shown
            return cls

        return define
