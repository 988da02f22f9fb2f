"""Two libraries."""

from __future__ import annotations

from codegen.compare.change import Change, breaking, compatible
from codegen.compare.operators import compare_operators
from codegen.frozen import dataclass
from codegen.model import Library


@dataclass(frozen=True)
class Found:
    """A change of one operator; "" where it is the whole library's. `removed`: it stands in the old spec only."""

    operator: str
    change: Change
    removed: bool = False


def compare_libraries(old: Library, new: Library) -> list[Found]:
    """Every change, in the order of the new spec; what was removed comes last."""
    found: list[Found] = []
    if old.namespace != new.namespace:
        what = f"namespace {new.namespace}, was {old.namespace}"
        found.append(Found("", breaking(what, f"torch.ops.{old.namespace} and `import {old.namespace}` fail")))
    before = {operator.name: operator for operator in old.operators}
    for operator in new.operators:
        was = before.get(operator.name)
        if was is None:
            found.append(Found(operator.name, compatible("operator added", "nothing called it")))
        else:
            found += [Found(operator.name, change) for change in compare_operators(was, operator)]
    kept = {operator.name for operator in new.operators}
    for name in before:
        if name not in kept:
            found.append(Found(name, breaking("operator removed", "calls of it fail"), removed=True))
    return found
