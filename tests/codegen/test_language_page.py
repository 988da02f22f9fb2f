"""docs/language.md: its examples load, and no key is forgotten."""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import keys
from codegen.commands.project import files_of
from codegen.expr.parse import FUNCTIONS, HARDWARE
from codegen.messages.sentences import message
from codegen.messages.text import print_message_text
from codegen.model import Library, Operator
from codegen.parse_type import SCALAR_KINDS, STAR_FUNCTIONS
from codegen.rules import CheckRule
from codegen.types import GROUPS

ROOT = Path(__file__).parents[2]
CSRC = ROOT / "csrc"
PAGE = (ROOT / "docs" / "language.md").read_text()
BODIES = {
    name: text for text, name in re.findall(r"^```c\n(/\* csrc/(\w+)\.c \*/\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
}
BLOCKS = re.findall(r"^```(yaml[^\n]*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def whole(block: str) -> str:
    """A spec of an example: whole files are as they are, a list of operators gets a head, keys a name."""
    if re.search(r"^namespace:", block, re.MULTILINE):
        return block
    head = "namespace: demo\ndevices: [cpu]\n"
    return head + block if block.startswith("ops:") else f"{head}ops:\n  f:\n{textwrap.indent(block, '    ')}"


def blocks(kind: str) -> list[str]:
    return [block for language, block in BLOCKS if language == kind]


@pytest.mark.parametrize("block", blocks("yaml"), ids=range(len(blocks("yaml"))))
def test_examples_load(report: Callable[[str], str], block: str) -> None:
    assert ": error: " not in report(whole(block))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("op", ["row_scale", "grow_backward"])
def test_bodies_compile(tmp_path: Path, library: Callable[[str], Library], op: str, dtype: str) -> None:
    spec = next(block for block in blocks("yaml") if re.search(rf"^  {op}:$", block, re.MULTILINE))
    files = {**files_of(library(whole(spec))), f"../csrc/{op}.c": BODIES[op].encode()}
    for name, content in files.items():
        if name.startswith(("c/", "../")):
            file = tmp_path / "generated" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    unit = tmp_path / "generated" / "c" / f"{op}.cpu.c"
    done = subprocess.run(
        ["cc", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror",
         f"-DT_DTYPE={dtype}", f"-DCPU_SYMBOL(kernel)=kernel##__{dtype}", f"-I{CSRC / 'cpu'}", f"-I{CSRC / 'runtime'}",
         f"-I{CSRC}", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_blocks_are_of_known_kinds() -> None:
    assert {language for language, _ in BLOCKS} == {"yaml"}
    assert len(BLOCKS) > 15
    assert PAGE.count("```") % 2 == 0


def test_every_word_of_the_language_is_on_the_page() -> None:
    code = " ".join(re.findall(r"`+([^`]+)`+", PAGE))
    wanted = {
        *(
            key.name
            for table in (keys.TOP, keys.OPERATOR, keys.LAUNCH, keys.PASS, keys.CHECK, keys.TRITON)
            for key in table.keys
        ),
        *(word.name for section in keys.WORDS.values() for word in section),
        *FUNCTIONS,
        *HARDWARE,
        *SCALAR_KINDS,
        *STAR_FUNCTIONS,
        *GROUPS,
    }
    assert {word for word in wanted if not re.search(rf"\b{word}\b", code)} == set()


def test_the_report_of_a_wrong_file(report: Callable[[str], str]) -> None:
    keys = "types: {T: floating}\ninputs:\n  x: T[*rows, n]\noutputs:\n  y: T[*rows, m]\n"
    (shown,) = re.findall(r"^```text\n(ops\.yaml.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert report(whole(keys)) == shown


def test_the_errors_of_wrong_calls(operator: Callable[[str], Operator]) -> None:
    """What the page fills in are numbers; the rest is what the library says."""
    (block,) = [block for block in blocks("yaml") if "a row must fit shared memory" in block]
    checks = [rule for rule in operator(f"devices: [cpu]\n{block}").rules if isinstance(rule, CheckRule)]
    texts = [f"demo::f: {print_message_text(message(rule))}" for rule in checks]
    (shown,) = re.findall(r"^```text\n(demo::f.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for line in shown.splitlines():
        assert re.sub(r"(?<== )-?\d+(?=\)?$)", "<>", line) in [re.sub(r"<\w+>", "<>", text) for text in texts]
