"""What is asked of registered operators, and the entries that are made of the answers, in this process."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest

from codegen.commands import import_library
from codegen.registered import ask, child, trial
from codegen.registered.ask import Question
from codegen.registered.select import select, unknown
from tests.registered_module import LEFT_OUT, MODULE


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> ask.Answer:
    """Of all operators but one, whose fake kernel would end this process."""
    folder = tmp_path_factory.mktemp("registered")
    (folder / "registered_here.py").write_text(MODULE)
    question = Question(module="registered_here", unasked=("crashing",))
    events: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(trial, "_SECONDS", 100)  # of a process that may be traced
        child._answer(
            {"library": "", "module": "registered_here", "namespace": "", "operators": [], "unasked": ["crashing"]},
            lambda event, **rest: events.append({"event": event, **rest}),
        )
    return ask._answer(question, events, {"crashing": "ended the process with SIGABRT"})


@pytest.fixture(scope="module")
def text(answer: ask.Answer) -> str:
    """The spec."""
    found = select("old", answer.operators, ())
    assert dict(found.left_out) == LEFT_OUT
    assert found.parts == ()
    return import_library._text(answer, "old", found, "lib/oldlib.so")


def entry(text: str, name: str) -> str:
    """An entry without what stands above it."""
    found = re.search(rf"^  {name}:\n((?:    .*\n)+)", text, re.MULTILINE)
    assert found is not None, name
    return textwrap.dedent(found[1])


def test_entries(text: str) -> None:
    comments = re.sub(r"\n#\s+", " ", text)
    assert all(f"Not here: Old::{name}: {reason}." in comments for name, reason in LEFT_OUT.items())
    assert "\nnamespace: old\n" in text
    assert "from oldlib.so" in text
    assert "# The namespace was Old, which cannot be one: a namespace is lower-case.\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert entry(text, "norm") == (
        "types: {T: [float32, float16, bfloat16]}\n"
        "inputs:\n  x: T[*rows, n]\n  weight: T[n]\n  eps: float = 1e-06\n"
        "outputs:\n  y: T[*rows, n]\n  rstd: float32[*rows]\n"
        "parallel: numel(x)\nlaunch:\n  grid: ceil_div(numel(x), 256)\n  block: 256\n"
    )
    assert "table: T[m, n]\n  index: int64[k]\noutputs:\n  y: T[k + 1, 2*n]\n" in entry(text, "pick")
    assert "types: {T: [float64, float32], M: bool}\n" in entry(text, "masked")
    assert "x: T[*shape]\n  mask: M[*shape]\n  wide: size\n" in entry(text, "masked")
    assert "  y1: T[*shape, wide]\n  y2: T[TODO] if TODO\n" in entry(text, "masked")
    assert "xs: T[*shape][]\n" in entry(text, "joined")
    assert "  y: T[len(xs)]\n" in entry(text, "joined")
    assert "  y: T[TODO]\n" in entry(text, "crashing")
    assert "  x: T[*x_shape]\n  by: T[*by_shape]? = None\n" in entry(text, "scale")
    assert "  dtype: dtype? = None\n  device: device = cpu\n" in entry(text, "scale")
    assert "  y: T[*x_shape]\n" in entry(text, "scale")  # as the in-place form says
    assert entry(text, "scale").endswith("variants: {inplace: {y: x}, out: true}\n")
    assert "self_: T[*self_shape]!\n  both: T[*both_shape][]\n  k: int[2] = [1, 1]\n" in entry(text, "adds")
    assert "  how: 'str = \"a b\"'\nchecks:\n  - len(both) == 2\n" in entry(text, "adds")
    assert "The argument self is called self_ here: generated code uses it." in text
    assert "  y: T[TODO][]\n" in entry(text, "split")
    assert entry(text, "halved").startswith("doc: 'x: half of it.'\n")
    assert "A kernel for autograd is registered, and what it computes cannot be seen" in text
    kernels = "It has kernels for AutocastCPU, XPU, which the entry does not have; autocast: may say what they do."
    assert kernels in comments.replace("  # ", " ").replace("\n", " ")
    assert entry(text, "jittered").endswith("tags: [pointwise]\ndeterministic: false\n")
    assert "random: true gives bodies a seed" in text
    assert "  grad_x: T[TODO]\n  grad_w: T[TODO]\n" in entry(text, "scaled_backward")
    assert "mask" not in entry(text, "scaled_backward")


def test_names_that_nothing_has(answer: ask.Answer) -> None:
    assert unknown(answer.operators, ("pick", "picks", "zzz")) == [("picks", "pick"), ("zzz", "")]


def test_some_of_them(answer: ask.Answer) -> None:
    found = select("old", answer.operators, ("scale", "times"))
    assert [one.name for one in found.drafts] == ["scale"]
    assert [name for name, _ in found.left_out] == ["scale.Scalar", "times"]
