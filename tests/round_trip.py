"""From a library to a spec by `import`, and back to schemas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load
from codegen.lower.schema import dispatched
from codegen.registered.ask import Answer, Question, ask
from codegen.registered.select import Selection, select, spec


def imported(library: Path) -> tuple[Answer, Selection]:
    """The operators of a library, and what `import` makes of them."""
    answer = ask(Question(library=str(library)))
    return answer, select(answer.namespace, answer.operators, ())


def differences(selection: Selection, registered: Mapping[str, str]) -> set[str]:
    """The registered operators whose schema is another than the generator makes of the spec, something filled in for
    each TODO. Those that also return what only backward sees are left aside: they follow from `backward:`, which
    nothing that is registered says.
    """
    text = spec("demo", [one.filled for one in selection.drafts])
    found = Diagnostics()
    checked = check(load(text.encode(), found), found)
    assert checked is not None, found.report("ops.yaml", text)
    generated = [entry for op in checked.library.operators for entry in dispatched(op)]
    made = {entry.name: str(torch._C.parse_schema(entry.schema)) for entry in generated}
    return {
        name
        for name, schema in registered.items()
        if not name.endswith("_saved") and made.get(name) != str(torch._C.parse_schema(schema))
    }
