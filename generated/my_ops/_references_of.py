"""Where check_calls finds what is right: the functions of tests/references.py, or of another file.

The build puts that file beside this one, as _references.py: a link in a checkout, a copy in a wheel.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_USUAL = Path(__file__).parent / "_references.py"


def load(path: str | Path | None) -> ModuleType:
    """The module of a file."""
    file = _USUAL if path is None else Path(path).absolute()
    if not file.exists():
        built = "; the build puts tests/references.py there" if path is None else ""
        raise RuntimeError(f"my_ops.check_calls: references: there is no {file}{built}; `references=` names another")
    specification = importlib.util.spec_from_file_location(f"{__package__}._references", file)
    if specification is None or specification.loader is None:
        raise RuntimeError(f"my_ops.check_calls: references: {file} is no Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module  # dataclasses look for it there
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise RuntimeError(f"my_ops.check_calls: references: {file}: {type(error).__name__}: {error}") from error
    return module
