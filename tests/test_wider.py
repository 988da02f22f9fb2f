"""Python and tests are generated right for more of the language than the library's own operators use.

The generated tests are run on operators that are defined in Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "tests" / "wider" / "ops.yaml"
LIBRARY = """
const char *wider_load_error(void);
const char *wider_load_error(void) { return 0; }
_Bool wider_check_values(_Bool on);
_Bool wider_check_values(_Bool on) { return on; }
"""


def test_generated_tests_pass(tmp_path: Path) -> None:
    shutil.copy(SPEC, tmp_path)
    (tmp_path / "csrc").mkdir()
    for line in SPEC.read_text().splitlines():
        if line.startswith("  ") and line[2] != " ":
            (tmp_path / "csrc" / f"{line.strip(' :')}.c").write_text("/* never compiled */\n")
    generate = [sys.executable, "-m", "codegen", "generate", "--spec", str(tmp_path / "ops.yaml")]
    generated = subprocess.run(generate, cwd=ROOT, capture_output=True, text=True)
    assert generated.returncode == 0, generated.stderr
    (tmp_path / "library.c").write_text(LIBRARY)
    library = tmp_path / "generated" / "wider" / "wider.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, tmp_path / "library.c"], check=True)
    # The stand-in runs references, which allocate as they like, and has no direct module: only a real library can be
    # asked for its copies and its direct calls.
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-k", "not test_copies and not test_direct",
         "-p", "tests.wider.standin", "-p", "no:cacheprovider",
         "--import-mode=importlib", str(tmp_path / "generated" / "tests")],
        cwd=ROOT,
        env={**os.environ, "WIDER": str(tmp_path), "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert tests.returncode == 0, tests.stdout[-8000:] + tests.stderr[-2000:]
    assert " failed" not in tests.stdout
    assert int(tests.stdout.split(" passed")[0].split()[-1]) > 600
