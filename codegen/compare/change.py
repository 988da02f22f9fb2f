"""One change."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from codegen.frozen import dataclass


@dataclass(frozen=True)
class Change:
    """`what` is it, does it break callers, and `why` so."""

    breaking: bool
    what: str
    why: str


def breaking(what: str, why: str) -> Change:
    """A change after which a right call can fail or do something else."""
    return Change(True, what, why)


def compatible(what: str, why: str) -> Change:
    """A change that no caller needs to know of."""
    return Change(False, what, why)


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    found = list(words)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}" if found else ""


def sets(
    what: str, old: Collection[str], new: Collection[str], fails: str, grows: str, verbs: tuple[str, str]
) -> list[Change]:
    """What was taken from a set of accepted things, and what was added to it."""
    gone = [one for one in old if one not in new]
    more = [one for one in new if one not in old]
    lost, gained = verbs
    found = [breaking(f"{what}{lost} {listed(gone)}", fails)] if gone else []
    return found + ([compatible(f"{what}{gained} {listed(more)}", grows)] if more else [])
