"""The mutants of the generator: what is changed, that a planted mutant is killed where it should be, and that one which
nothing notices is reported. `python -m tests.mutants` judges 500 drawn ones.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.mutants import stages
from tests.mutants.draw import draw, equivalents, every
from tests.mutants.operators import changed, sites

ROOT = Path(__file__).resolve().parent.parent


def changes(text: str) -> list[str]:
    source = textwrap.dedent(text).encode()
    found = [(site, change) for site in sites(ast.parse(source)) for change in site.changes]
    return [changed(source, site, change).decode().strip() for site, change in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", ["x = (a <= b)", "x = (a >= b)"]),
        ("x = a is None", ["x = (a is not None)"]),
        ("x = a and b", ["x = (a or b)", "x = b", "x = a"]),
        ("x = not a", ["x = a"]),
        ("x = a + b", ["x = a", "x = b"]),
        ("x = a % b", ["x = (a // b)"]),
        ("x = a if b else c", ["x = a if (not b) else c"]),
        ("x = (a for b in c if d)", ["x = (a for b in c if (not d))", "x = (a for b in c if True)"]),
        ("x = f'{a} of {b}'", ["x = f'{a}{b}'", "x = f'{a} of ~{b}'"]),
        ("x = [a, 2]", ["x = [2]", "x = [a]", "x = [a, 3]", "x = [a, 1]"]),
        ("f(a, b, *c, key=d)", ["pass", "f(b, a, *c, key=d)", "f(a, b, *c)"]),
        ("x = any(a)", ["x = all(a)"]),
        ("x.y = a", ["pass"]),
        ("raise a", ["pass"]),
    ],
)
def test_changes(text: str, expected: list[str]) -> None:
    assert changes(text) == expected


def test_values_that_are_returned() -> None:
    assert changes("def f(): return a") == ["def f(): return None"]
    assert changes("def f():\n    if a: return\n    return") == [
        "def f():\n    if (not a): return\n    return",
        "def f():\n    if a: pass\n    return",
    ]
    assert changes("def f(): return 0") == ["def f(): return 1"]


@pytest.mark.parametrize(
    "text",
    [
        '"""A docstring."""',
        "import a",
        "x: Literal['a'] = b",
        "Kind = A | B",
        "Kind: TypeAlias = int | B",
        "T = TypeVar('T', bound='A')",
        "x = cast('A', b)",
        "@dataclass(frozen=True)\nclass A: pass",
        "assert isinstance(a, B), 'text'",
        "x = zip(a, b, strict=c)",
        "if TYPE_CHECKING:\n    f(1)",
        "def __repr__(self): return 'a'",
        "x = f'{a:>4}'",
    ],
)
def test_left_alone(text: str) -> None:
    # Swapping what zip takes is a change, leaving `strict` out is none.
    assert [change for change in changes(text) if "zip(b, a" not in change] == []


def test_drawn_mutants_are_changes_of_the_generator() -> None:
    mutants = draw(40, seed=1)
    assert len({(mutant.path, mutant.source) for mutant in mutants}) == 40
    for mutant in mutants:
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse((ROOT / mutant.path).read_bytes())), mutant


def test_no_equivalent_is_out_of_date() -> None:
    listed = equivalents()
    there = {one.key for path in {one.path for one in listed} for one in every(path)}
    assert [one for one in listed if one.key not in there] == []
    assert all(len(one.reason) > 20 for one in listed)


def test_how_processes_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spin() -> str:
        while True:
            pass

    assert stages.forked(lambda: "", tmp_path) == ""
    assert stages.forked(lambda: "failed", tmp_path) == "failed"
    assert stages.forked(lambda: str(1 // 0), tmp_path).startswith("ZeroDivisionError: ")
    assert stages.forked(lambda: str(os.kill(os.getpid(), signal.SIGKILL)), tmp_path) == "SIGKILL"
    monkeypatch.setattr(stages, "CPU_SECONDS", 1)
    assert stages.forked(spin, tmp_path) in ("SIGXCPU", "SIGKILL")
    monkeypatch.setattr(stages, "SECONDS", 0.1)
    assert stages.forked(lambda: str(time.sleep(60)), tmp_path) == "no end"


# path, the function that is changed, what, by what, the stage that must fail, and the test
PLANTED = [
    ("codegen/lower/schema.py", "_default", "return", "return 1 or", "check", ""),
    ("codegen/check/keys.py", "check_tags", "did you mean", "did you mean not", "errors", "test_exact_text"),
    ("codegen/compare/change.py", "sets", "if gone", "if not gone", "tests", "test_diff.py"),
    ("codegen/compare/change.py", "sets", "def sets", "# No change.\ndef sets", "", ""),
]


def test_planted(tmp_path: Path) -> None:
    code = f"""
        from pathlib import Path
        from tests.mutants import __main__ as tool, stages
        from tests.mutants.draw import Mutant

        stages.SPECS = ("tests/specs/every_rule.yaml",)
        stages.WRONG_SPECS += "::test_exact_text[whole_keys]"
        tool.SURVIVORS = Path({str(tmp_path)!r}) / "survivors.txt"
        tool.ROOT = tool.SURVIVORS.parent
        mutants = []
        for path, function, before, after, _, _ in {PLANTED!r}:
            text = Path(path).read_text()
            assert before in text, (path, before)
            line = text[: text.index(f"def {{function}}(")].count("\\n") + 1
            mutants.append(Mutant(path, line, line, "", before, after, text.replace(before, after).encode()))
        made = tool.bench(Path({str(tmp_path)!r}), ("tests/codegen/test_diff.py",))
        verdicts = list(made.verdicts(mutants, 1))
        for verdict in verdicts:
            print(f"{{verdict.stage}}|{{verdict.reason}}")
        print(tool.report(list(zip(range(1, 9), mutants, verdicts))))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts, printed = done.stdout.splitlines()[: len(PLANTED)], done.stdout.splitlines()[len(PLANTED) :]
    for verdict, (_, _, _, _, stage, test) in zip(verdicts, PLANTED, strict=True):
        assert verdict.split("|")[0] == stage, verdict
        assert test in verdict
    assert "check 1, specs 0, errors 1, tests 1" in printed
    assert "3 of 4 mutants killed, 75.0%; 0 more are equivalent" in printed
    assert printed[-1] == "0.75"
    survivor = (tmp_path / "survivors.txt").read_text()
    assert re.fullmatch(r"4: codegen/compare/change.py:\d+\n  \n- def sets\n\+ # No change.\ndef sets\n\n", survivor)
