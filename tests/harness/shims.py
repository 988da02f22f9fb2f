"""C shims called as PyTorch's compiler calls them: each argument as its type in the schema has it written."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.harness.contract import Contract

_TORCH = ctypes.CDLL("libtorch_cpu.so")
_DELETE = _TORCH.aoti_torch_delete_tensor_object
_DELETE.argtypes = [ctypes.c_void_p]
_POINTER = ctypes.pythonapi.PyCapsule_GetPointer
_POINTER.restype, _POINTER.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_CAPSULE = ctypes.pythonapi.PyCapsule_New
_CAPSULE.restype, _CAPSULE.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_TYPES = {"float": ctypes.c_double, "int": ctypes.c_int64, "SymInt": ctypes.c_int64, "bool": ctypes.c_int32}
_TYPES |= {"ScalarType": ctypes.c_int32, "str": ctypes.c_char_p, "Tensor": ctypes.c_void_p}


class Shims:
    """What a library exports."""

    def __init__(self, namespace: str) -> None:
        package = Path(str(importlib.import_module(namespace).__file__)).parent
        self.library = ctypes.CDLL(str(package / f"{namespace}.so"))
        self.find = self.library[f"{namespace}_find_shim"]
        self.find.restype, self.find.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
        self.error = self.library[f"{namespace}_shim_error"]
        self.error.restype = ctypes.c_char_p

    def text(self) -> str:
        """The error of this thread."""
        return bytes(self.error()).decode()


class _Call:
    """The arguments of one call in C; `kept` is what they point to."""

    def __init__(self) -> None:
        self.arguments: list[Any] = []
        self.kept: list[Any] = []
        self.handles: list[int] = []

    def value(self, kind: str, value: Any) -> Any:
        if kind.endswith("?"):
            if value is None:
                return None
            # Through a pointer to the value.
            self.kept.append(_TYPES[kind[:-1]](self.value(kind[:-1], value)))
            return ctypes.addressof(self.kept[-1])
        if kind == "Tensor":
            capsule = torch._C._aoti.unsafe_alloc_void_ptr_from_tensor(value if value is not None else torch.Tensor())
            self.handles.append(_POINTER(capsule, None))
            return self.handles[-1]
        if kind == "ScalarType":
            return getattr(_TORCH, f"aoti_torch_dtype_{str(value).removeprefix('torch.')}")()
        return value.encode() if kind == "str" else value

    def put(self, kind: str, value: Any) -> None:
        """One argument of the schema; a list is a pointer and a length."""
        optional, plain = kind.endswith("]?"), kind.removesuffix("?")
        if not plain.endswith("]"):
            self.arguments.append(_TYPES[kind](self.value(kind, value)) if kind in _TYPES else
                                  ctypes.c_void_p(self.value(kind, value)))  # fmt: skip
            return
        element = plain[: plain.rindex("[")]
        listed = [self.value(element, one) for one in value or ()]
        array = (_TYPES.get(element, ctypes.c_void_p) * max(len(listed), 1))(*listed)
        address = ctypes.c_void_p(ctypes.addressof(array))
        self.kept += [array, address]
        if optional:
            address = ctypes.c_void_p(None if value is None else ctypes.addressof(address))
        self.arguments += [address, ctypes.c_int64(len(listed))]

    def end(self) -> None:
        for handle in self.handles:
            _DELETE(handle)


def _tensor(handle: int) -> Any:
    """The tensor of a result, which it takes; None for an undefined one."""
    return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(_CAPSULE(handle, None, None))


def function(namespace: str, overload: torch._ops.OpOverload) -> Callable[..., Any] | None:
    """The shim as a function that takes the operator's arguments; None where the operator has none."""
    aoti, shims, schema = importlib.import_module(f"{namespace}.aoti"), Shims(namespace), overload._schema
    name = f"{schema.name.partition('::')[2]}{'.' + schema.overload_name if schema.overload_name else ''}"
    found = {shim.name: shim for shim in aoti._SHIMS}.get(name)
    if found is None:
        return None
    address = shims.find(found.op.encode(), found.schema.replace("\\?", "?").replace('\\"', '"').encode())
    assert address, shims.text()
    call = ctypes.CFUNCTYPE(ctypes.c_int32)(address)

    def shim(*positional: Any, **named: Any) -> Any:
        arguments = dict(zip([one.name for one in schema.arguments], positional, strict=False)) | named
        c = _Call()
        for one in schema.arguments:
            c.put(_spelled(one.real_type), arguments.get(one.name, one.default_value))
        results = [ctypes.c_void_p() for _ in schema.returns]
        code = call(*c.arguments, *map(ctypes.byref, results))
        c.end()
        if code != 0:
            raise RuntimeError(shims.text())
        tensors = tuple(_tensor(one.value or 0) for one in results)
        return tensors[0] if len(tensors) == 1 else tensors or None

    return shim


def _spelled(kind: Any) -> str:
    """The type as the schema writes it: `Tensor?[]`."""
    if isinstance(kind, torch.OptionalType):
        return f"{_spelled(kind.getElementType())}?"
    if isinstance(kind, torch.ListType):
        return f"{_spelled(kind.getElementType())}[]"
    return {"StringType": "str"}.get(kind.kind(), str(kind))


def of(op: Contract) -> tuple[Callable[..., Any], ...]:
    """The operator's own, where it has one."""
    found = function(op.namespace, op.overload)
    return () if found is None else (found,)
