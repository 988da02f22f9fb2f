"""check_calls: calls of operators are compared with their references in float64, or written down.

Nothing of this is in the way of a call: turning it on puts Python kernels in the place of those of the library, at the
keys of the devices and so below autograd, autocast and all that torch.compile traces; turning it off removes them.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

_VARIABLE = "MY_OPS_CHECK_CALLS"


@dataclass(frozen=True)
class Settings:
    """What is done with a call."""

    compare: bool
    log: bool
    folder: Path  # of scripts and lists of calls
    references: ModuleType | None
    scripts: bool
    said: set[str] = field(default_factory=set)  # operators without a reference, and those that have left a script


_settings: Settings | None = None
_library: torch.library.Library | None = None
_lock = threading.RLock()


def check_calls(
    enabled: bool = True,
    *,
    compare: bool = True,
    log: bool = False,
    folder: str | Path = "my_ops_calls",
    scripts: bool = True,
    references: ModuleType | str | Path | None = None,
) -> Calls:
    """Has each call of an operator, a backward operator too, compared with its reference in float64: the first one that
    differs is a RuntimeError, and leaves (with `scripts`) one in `folder` that shows it again. With `log` each call becomes a line
    of JSON there, in a file for each process.

    Comparing waits for a GPU; while a CUDA graph is captured calls are only written down. As the context of a `with`
    statement it is about the calls inside, and otherwise about all calls of the process from then on. `references`, a
    module or a file, stands in for the references of the package.
    In the environment MY_OPS_CHECK_CALLS=1, log or compare,log turns it on from the start; folder and references are
    in MY_OPS_CHECK_CALLS_FOLDER and MY_OPS_CHECK_CALLS_REFERENCES.
    """
    before = _settings
    right = _module(references) if enabled and compare else None
    _switch(Settings(compare, log, Path(folder).absolute(), right, scripts) if enabled else None)
    return Calls(before)


class Calls:
    """What ends a `with check_calls():`."""

    def __init__(self, before: Settings | None) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _switch(self._before)


def _module(references: ModuleType | str | Path | None) -> ModuleType:
    if isinstance(references, ModuleType):
        return references
    from . import _references_of

    return _references_of.load(references)


def _switch(settings: Settings | None) -> None:
    global _settings, _library
    with _lock:
        _settings = settings
        if settings is None and _library is not None:
            _library._destroy()
            _library = None
        elif settings is not None and _library is None:
            _library = _replaced()


def _replaced() -> torch.library.Library:
    """Python kernels in the place of those of the library, which they call."""
    from ._contracts import CALLS
    from ._verify_call import checked

    library, found = torch.library.Library("my_ops", "IMPL"), list[tuple[str, str, Callable[..., Any]]]()
    for call in CALLS:
        for entry in call.entries:
            packet, _, name = entry.partition(".")
            overload = getattr(getattr(torch.ops.my_ops, packet), name or "default")
            has = torch._C._dispatch_has_kernel_for_dispatch_key
            keys = [key for key in ("CPU", "CUDA") if has(f"my_ops::{entry}", key)]
            for key in keys or ["CompositeExplicitAutograd"]:  # which those without tensor arguments have
                kernel = torch.library.get_kernel(overload, key if keys else "CPU")
                found.append((entry, key, checked(call, entry, overload, kernel, lambda: _settings)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, of kernels that are overridden
        for entry, key, function in found:
            library.impl(entry, function, key, with_keyset=True)
    return library


def from_environment() -> None:
    """Does what the environment says, when the package is imported."""
    words = [word.strip() for word in os.environ.get(_VARIABLE, "").lower().split(",")]
    if words in ([""], ["0"]):
        return
    if not {*words} <= {"1", "compare", "log"}:
        raise ImportError(f"{_VARIABLE}: expected 1, compare, log or compare,log, got {os.environ[_VARIABLE]}")
    folder = os.environ.get(f"{_VARIABLE}_FOLDER") or "my_ops_calls"
    compare = words != ["log"]
    references = os.environ.get(f"{_VARIABLE}_REFERENCES") if compare else None
    check_calls(compare=compare, log="log" in words, folder=folder, references=references or None)
