"""docs/faults.md: every test that it names exists, and the texts on it are those of the library."""

from __future__ import annotations

import re

from tests.collected import collected
from tests.conformance.build import ROOT, build
from tests.process import output

PAGE = (ROOT / "docs" / "faults.md").read_text()
NAMED = set(re.findall(r"`([\w/]+\.py::\w+)`", PAGE))
CONFORMANCE = ("build/conformance/", "tests/conformance/")


def test_tests_exist() -> None:
    own = {name for name in NAMED if not name.startswith(CONFORMANCE)}
    assert own - collected(own) == set()


def test_tests_of_the_conformance_project_exist() -> None:
    generated = build()
    names = {name for name in NAMED if name.startswith(CONFORMANCE)}
    found = collected(names, OPS_TEST_PROJECT="tests.conformance", PYTHONPATH=str(generated))
    assert names - found == set()


def test_every_fault_names_one() -> None:
    faults = re.split(r"^(?=\*\*)", PAGE, flags=re.MULTILINE)[1:]
    assert len(faults) > 50
    assert [fault.splitlines()[0] for fault in faults if not re.search(r"^- `[\w/]+\.py::", fault, re.MULTILINE)] == []


CALLS = """
import conformance, my_ops, torch
x, weight, leaf = torch.ones(2, 8), torch.ones(8), torch.ones(2, 3, requires_grad=True)
freed = torch.ones(2, 3)
freed.untyped_storage().resize_(0)
with torch.inference_mode():
    inside = torch.ones(2, 3)


def twice(function):
    once, = torch.autograd.grad(function(leaf).sum(), leaf, create_graph=True)
    once.sum().backward()


calls = [
    # Inputs
    lambda: my_ops.rms_norm(x, torch.ones(9)),
    lambda: my_ops.rms_norm(x.int(), weight),
    lambda: my_ops.rms_norm(x, weight.to("meta")),
    lambda: my_ops.rms_norm(x, weight, float("nan")),
    lambda: my_ops.gather_rows(torch.ones(4, 2), torch.tensor([3, 7])),
    lambda: conformance.only_contiguous(torch.ones(3, 2).T, torch.ones(3)),
    lambda: conformance.grid([2**32, 2**32]),
    lambda: conformance.fill_view(torch.ones(3, 2), -1),
    lambda: conformance.tripled(freed),
    # Autograd
    lambda: conformance.in_columns(leaf).sum().backward(),
    lambda: twice(conformance.curved),
    lambda: torch.func.jvp(lambda x: my_ops.rms_norm(x, weight), (x,), (x,)),
    lambda: torch.func.grad(lambda x: torch.ops.my_ops.rms_norm(x, weight).sum())(x),
    lambda: torch.vmap(conformance.noisy)(x),
    # Writes
    lambda: conformance.add_into(leaf, torch.ones(3)),
    lambda: conformance.scale_rows(leaf * 1, None),
    lambda: conformance.add_into(inside, torch.ones(3)),
    lambda: conformance.add_into(x, x[0]),
    lambda: conformance.add_into(torch.ones(1, 3).expand(2, 3), torch.ones(3)),
    lambda: torch.vmap(conformance.tripled_)(x.clone()),
]
for call in calls:
    try:
        call()
        print("no error")
    except RuntimeError as error:
        print(error)
"""


def test_texts_are_real() -> None:
    shown = "".join(re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    assert output(CALLS, packages=build()) == shown.strip()
