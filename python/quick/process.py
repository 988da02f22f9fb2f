"""What is registered in this process: a library takes the place of an earlier one of its namespace.

Names, functions and overloads that someone has kept lead to the new kernels from then on: modules run again in place,
and old overloads become the new ones. Operators that are gone say so. Code that torch.compile has made is thrown away.
"""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import torch

from .failure import QuickError


class _Loaded:
    """The library of a namespace that is registered now."""

    def __init__(self, folder: Path, library: ctypes.CDLL, module: types.ModuleType) -> None:
        self.folder, self.library, self.module = folder, library, module


_loaded: dict[str, _Loaded] = {}
# What torch.ops has handed out of each namespace, and someone may have kept: names of operator and overload, and the
# object; that of an operator as a whole has no second name.
_handed: dict[str, list[tuple[str, str, Any]]] = {}
# For each overload a kernel that nothing calls. PyTorch frees an operator that has neither schema nor kernel, though
# handles to it may be left.
_holding: dict[str, torch.library.Library] = {}


def registered(namespace: str, folder: Path) -> types.ModuleType | None:
    """The package, if what `folder` holds is registered."""
    now = _loaded.get(namespace)
    return now.module if now is not None and now.folder == folder else None


def register(namespace: str, folder: Path) -> types.ModuleType:
    """Registers the operators in `folder`, instead of earlier ones of the namespace, and returns their package."""
    path = folder / namespace / f"{namespace}.so"
    try:
        library = ctypes.CDLL(str(path))
        switch = getattr(library, f"{namespace}_register")
    except (OSError, AttributeError) as error:
        raise QuickError(
            f"{error}: the library does not fit this PyTorch, {torch.__version__}; 2.10 is needed"
        ) from None
    switch.restype, switch.argtypes = ctypes.c_char_p, [ctypes.c_bool]
    before = _loaded.get(namespace)
    if before:
        _take_back(namespace)
    if before:
        getattr(before.library, f"{namespace}_register")(False)
    problem = switch(True)
    if problem is not None:
        if before:
            _put_back(namespace, before)
        text = problem.decode(errors="replace").replace(
            "give one of them another `namespace:`", "pass another namespace="
        )
        raise QuickError(text)
    try:
        module = _run(_package(namespace), folder / namespace)
    except Exception as error:
        _take_back(namespace)
        switch(False)
        if before:
            _put_back(namespace, before)
        raise QuickError(f"the package of {namespace} does not load: {error}") from error
    _loaded[namespace] = _Loaded(folder, library, module)
    if before:
        _lead_on(namespace)
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
    return module


def _package(namespace: str) -> str:
    return f"{__package__}.loaded.{namespace}"


def _put_back(namespace: str, before: _Loaded) -> None:
    """The library that was registered is so again, and what callers have kept leads to it."""
    getattr(before.library, f"{namespace}_register")(True)
    _run(_package(namespace), before.folder / namespace)
    _lead_on(namespace)


def _namespace(namespace: str) -> Any:
    return getattr(torch.ops, namespace)


def _take_back(namespace: str) -> None:
    """Makes torch.ops look for operators again."""
    holder = _namespace(namespace)
    for name, packet in list(vars(holder).items()):
        if isinstance(packet, torch._ops.OpOverloadPacket):
            handed = _handed.setdefault(namespace, [])
            handed.append((name, "", packet))
            for overload, one in vars(packet).items():
                if isinstance(one, torch._ops.OpOverload):
                    handed.append((name, overload, one))
                    _hold(f"{namespace}::{name}" + ("" if overload == "default" else f".{overload}"))
            delattr(holder, name)
            holder._dir.remove(name)


def _hold(overload: str) -> None:
    """Keeps what handles to an overload point to."""
    if overload not in _holding:
        _holding[overload] = torch.library.Library(overload.split("::")[0], "IMPL")
        _holding[overload].impl(overload.split("::")[1], torch.library.fallthrough_kernel, "Vulkan")


def _lead_on(namespace: str) -> None:
    """Makes what torch.ops has handed out the same as what it hands out now. An old overload would otherwise call a
    kernel with the arguments of another schema.
    """
    for name, overload, old in _handed[namespace]:
        packet = getattr(_namespace(namespace), name, None)
        new = getattr(packet, overload, None) if overload else packet
        if new is None:
            vars(old)["_op"] = _gone(namespace, name)
        else:
            vars(old).clear()
            vars(old).update(vars(new))


def _gone(namespace: str, name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise RuntimeError(f"{namespace}::{name}: a later library of the namespace {namespace} has no such operator")

    return refuse


def _run(package: str, folder: Path) -> types.ModuleType:
    """Imports a package, or runs it again in the modules that are there: functions that someone has kept see what is
    new. Shared modules come first, the package itself last.
    """
    old = {name: module for name, module in sys.modules.items() if name.startswith(f"{package}.ops.")}
    importlib.invalidate_caches()
    whole = _place(package, folder / "__init__.py", [str(folder)])
    ops = _place(f"{package}.ops", folder / "ops/__init__.py", [str(folder / "ops")])
    shared = [path.stem for path in sorted(folder.glob("_[a-z]*.py")) if f"{package}.{path.stem}" in sys.modules]
    for name in ("_runtime", *(name for name in shared if name != "_runtime")):
        _execute(_place(f"{package}.{name}", folder / f"{name}.py"))
    _execute(ops)
    for name, module in old.items():
        path = folder / f"ops/{name.rpartition('.')[2]}.py"
        if path.exists():
            _renew(_place(name, path))
        else:
            _empty(module)
    for name in vars(whole).get("__all__", ()):
        vars(whole).pop(name, None)
    _execute(whole)
    return whole


def _renew(module: types.ModuleType) -> None:
    """Runs a module again, and makes the functions that callers may have kept do what the new ones do. Those that are
    gone, of a variant, find what they called to say so.
    """
    before = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    for name in before:
        delattr(module, name)
    _execute(module)
    for name, old in before.items():
        new = vars(module).get(name)
        if isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType) and not name.startswith("_"):
            for part in ("__code__", "__defaults__", "__kwdefaults__", "__doc__", "__annotations__"):
                setattr(old, part, getattr(new, part))
            setattr(module, name, old)
        elif name not in vars(module) and name.startswith("_"):
            setattr(module, name, old)
            _disable(module, name)


def _empty(module: types.ModuleType) -> None:
    """Functions of an operator that is gone say so, until it comes back."""
    for name in list(vars(module)):
        _disable(module, name)


def _disable(module: types.ModuleType, name: str) -> None:
    """What leads to kernels, past torch.ops."""
    if name.startswith(("_call_", "_apply", "_backward_")):
        *_, namespace, _, operator = module.__name__.split(".")
        setattr(module, name, _gone(namespace, operator))


def _place(name: str, path: Path, folders: list[str] | None = None) -> types.ModuleType:
    """A module that will run the code of `path`."""
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=folders)
    assert spec is not None
    module = sys.modules.get(name)
    if module is None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, str(path)
    if folders is not None:
        module.__path__ = folders
    return module


def _execute(module: types.ModuleType) -> None:
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)
