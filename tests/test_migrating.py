"""docs/migrating.md: what it calls before is what it calls after, and `import` says what the page shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.migrating import BLOCKS, COMPARE, CPP, CUSTOM_OP, files, run, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def test_every_block_is_a_file_or_is_run() -> None:
    """Two are not files: the command of `import` and what it writes, which the test below runs and compares."""
    assert len(files()) == 12
    assert [language for language, text in BLOCKS if text not in files().values()] == ["sh", "yaml"]


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_cpp(folder: Path) -> None:
    """pybind11, load_inline and TORCH_LIBRARY. Compiling PyTorch's headers takes most of a minute, so that it is done
    once, for both bindings; python -m tests.migrating does it as the page has it.
    """
    said = run(folder, "-c", f"{COMPARE}\nbuilt = None\n{CPP}")
    assert said.count("compared") == 3
    (folder / "rows_pybind.so").rename(folder / "rows_library.so")
    (command,) = [text for language, text in BLOCKS if language == "sh"]
    (shown,) = [text for _, text in BLOCKS if "Begun by" in text]
    (folder / "ops.yaml").unlink()
    run(folder, *command.removeprefix("python ").split())
    assert (folder / "ops.yaml").read_text() == shown


def test_custom_op(folder: Path) -> None:
    assert run(folder, "-c", COMPARE + CUSTOM_OP).count("compared") == 1
    found = run(folder, "-m", "codegen", "import", "--module", "before_custom_op")
    shown = files()["imported.yaml"]
    # The page leaves out what is for the GPU and parallel:, and has backward: written by hand.
    kept = re.sub(r"^ +(parallel|launch|grid|block):.*\n", "", re.sub(r"^ *#.*\n", "", found, flags=re.M), flags=re.M)
    by_hand = r"^( +backward: .*|devices: \[cpu\]|# imported\.yaml)\n"
    assert re.sub(by_hand, "", shown, flags=re.M) == kept
