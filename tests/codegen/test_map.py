"""What is said of the modules of the generator: all of them stand on its map, and files that are named are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import codegen

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "codegen"
OF_USERS = {"tests/samples.py"}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def test_every_module_is_on_the_map() -> None:
    words = set(re.findall(r"\w+", codegen.__doc__ or ""))
    parts = {path.stem for path in FOLDER.glob("[!_]*.py")} | {
        path.parent.name for path in FOLDER.glob("*/__init__.py")
    }
    assert parts - words == set()


def test_files_that_texts_name() -> None:
    """In docstrings and comments."""
    missing = {}
    for path in sorted(FOLDER.rglob("*.py")):
        source = path.read_text()
        nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
        texts = [ast.get_docstring(node) or "" for node in nodes] + re.findall(r"#.*", source)
        named = {name for text in texts for name in re.findall(r"(?<![\w/<>*.])[\w/]+\.py\b(?!\.)", text)}
        near = (path.parent, FOLDER, ROOT)
        lost = {name for name in named - OF_USERS if not any((folder / name).is_file() for folder in near)}
        missing |= {str(path.relative_to(ROOT)): lost} if lost else {}
    assert missing == {}
