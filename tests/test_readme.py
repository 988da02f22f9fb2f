"""README's worked example, executed as it stands there, in a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
LEFT_BEHIND = shutil.ignore_patterns(".git", ".venv", "build", "*.so", "__pycache__", ".*_cache", ".hypothesis")


def blocks(language: str) -> list[str]:
    """The code blocks of the worked example."""
    example = README.split("## Add an operator")[1].split("\n## ")[0]
    return re.findall(rf"^```{language}\n(.*?)^```", example, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with everything before step 4 done. Of its own operators two stay, which are built
    sooner than all.
    """
    folder = tmp_path_factory.mktemp("readme") / "project"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=LEFT_BEHIND)
    spec = (folder / "ops.yaml").read_text()
    third = [entry.start() for entry in re.finditer(r"^  \w+:$", spec, re.MULTILINE)][2]
    (folder / "ops.yaml").write_text(spec[:third].rstrip() + "\n")
    with (folder / "ops.yaml").open("a") as spec:
        spec.writelines(f"\n{entry}" for entry in blocks("yaml"))
    bodies = blocks("c") + blocks("cuda")
    assert len(bodies) == 4
    for body in bodies:
        name = re.match(r"(?:/\*|//) (csrc/\S+)", body)
        assert name is not None, body
        (folder / name[1]).write_text(body)
    with (folder / "tests" / "references.py").open("a") as references:
        references.writelines(f"\n\n{reference}" for reference in blocks("python"))
    return folder


def test_worked_example(project: Path) -> None:
    """Step 4, command by command. One CUDA architecture is enough here, where there is an nvcc at all."""
    commands, other = blocks("sh")
    assert other.startswith("python -m codegen init ")  # test_init.py
    environment = os.environ | {"VIRTUAL_ENV": sys.prefix, "TORCH_CUDA_ARCH_LIST": "9.0"}
    for name in ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # make announces folders when it runs under make
        environment.pop(name, None)
    for command in commands.splitlines():
        done = subprocess.run(
            ["sh", "-c", command], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert re.search(r"\b\d+ passed", done.stdout.splitlines()[-1]), done.stdout


def test_first_example() -> None:
    """The snippet at the top."""
    snippet = README.split("```python\n")[1].split("```")[0]
    subprocess.run(
        [sys.executable, "-c", snippet], env=os.environ | {"PYTHONPATH": str(ROOT / "generated")}, check=True
    )


def test_model_example() -> None:
    """The one of `Models`, and what it prints."""
    section = README.split("\n## Models\n")[1].split("\n## ")[0]
    snippet, printed = re.findall(r"^```\w*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "generated"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", snippet], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == printed


def test_notebook_example(tmp_path: Path) -> None:
    """The one of `From a notebook`."""
    section = README.split("\n## From a notebook\n")[1].split("\n## ")[0]
    snippet = section.split("```python\n")[1].split("```")[0] + "assert torch.equal(x.grad, 2 * torch.relu(x))\n"
    environment = {"PYTHONPATH": str(ROOT / "generated"), "MY_OPS_QUICK_CACHE": str(tmp_path)}
    subprocess.run([sys.executable, "-c", snippet], env=os.environ | environment, check=True)


def test_every_make_target_that_is_named_exists() -> None:
    """README, CONTRIBUTING and Makefile agree."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        named = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / page).read_text())) - {"pip"}
        assert named <= targets, f"{page}: {named - targets}"


def test_error_texts_are_real() -> None:
    """The three texts of `What a call checks`."""
    import torch

    import my_ops

    x, weight = torch.ones(2, 4096), torch.ones(4096)
    calls = (
        lambda: my_ops.rms_norm(x, torch.ones(4097)),
        lambda: my_ops.rms_norm(x.int(), weight),
        lambda: my_ops.rms_norm(x, weight, -1.0),
    )
    texts = README.split("## What a call checks")[1].split("```\n")[1].splitlines()
    for call, text in zip(calls, texts, strict=True):
        with pytest.raises(RuntimeError, match=f"^{re.escape(text)}$"):
            call()


def test_requirements() -> None:
    """What tests run as `python -m` is installed by what `make test` installs, and not by `make lint` alone."""
    sources = [path.read_text() for path in (ROOT / "tests").rglob("*.py")]
    named = {name for source in sources for name in re.findall(r'"-m",\s*"(\w+)"', source)}
    own = {path.stem for path in ROOT.iterdir()}
    asked = {re.split("[=-]", line)[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}
    assert {"mypy", "ruff"} <= named
    assert named - own - asked - {*sys.stdlib_module_names, "pip"} == set()
