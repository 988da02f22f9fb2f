"""What an expression may name and ask about at one place of the spec. check/ fills it in, expr/parse.py reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from codegen.expr.tree import Name, Type
from codegen.frozen import dataclass, replace
from codegen.presence import Condition


@dataclass(frozen=True)
class Subject:
    """A tensor, list or optional that functions may ask about.

    `front` and `back` count the dims that its contract names before and behind the star; `star` says whether there is
    one.
    """

    front: int = 0
    back: int = 0
    star: bool = False
    is_tensor: bool = True
    is_list: bool = False
    may_be_absent: bool = False  # given(x) is a question
    entries: tuple[Type, ...] = ()  # of a list of scalars whose length is stated


@dataclass(frozen=True)
class Scope:
    """What an expression may name at one place of the spec, and how that is told to the reader."""

    names: Mapping[str, Name]
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    launch: bool = False  # sm_count, max_shared and arch are there
    absent: Mapping[str, str] = field(default_factory=dict)  # names that exist elsewhere -> why not here
    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # names that are there when one of these is
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # choice arguments -> their words
    unread: frozenset[str] = frozenset()  # words of entries with errors: what they name is not known, and no mistake
    met: tuple[Condition, ...] = ()  # what is known to hold where the expression stands
    pointers: bool = False  # aligned() is there
    elements: bool = False  # `values:`: names of inputs are their elements; columns, sum() and offsets() are there
    lines: bool = (
        False  # `elementwise:`: it is computed for each element; bools are numbers, exp and the like are there
    )

    def naming(self, names: Mapping[str, Name]) -> Scope:
        """The same with more names."""
        if not names:
            return self
        absent = {name: why for name, why in self.absent.items() if name not in names}
        return replace(self, names={**self.names, **names}, absent=absent)
