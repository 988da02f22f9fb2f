"""Bytes that operators move, counted as PyTorch's FlopCounterMode counts operations."""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class BytesCounterMode(TorchDispatchMode):
    """Counts what calls of operators of this package must move: every input read once, every output written once, and
    what is written in place both. A body that reads an input twice moves more.

        with my_ops.BytesCounterMode() as counter:
            step()
        print(counter.get_total_bytes(), counter.get_bytes())

    Gradients that run inside count, too, and so do calls on fake tensors, which move nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        from ._contracts import CALLS

        self._operators = {entry: call for call in CALLS for entry in call.entries}
        self.read, self.written = Counter[str](), Counter[str]()  # by operator

    def get_total_bytes(self) -> int:
        return sum(self.get_bytes().values())

    def get_bytes(self) -> dict[str, int]:
        """Read and written, by operator."""
        return dict(self.read + self.written)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        results = func(*args, **(kwargs or {}))
        namespace, _, name = func._schema.name.partition("::")
        if namespace == "my_ops":
            entry = name if func._overloadname == "default" else f"{name}.{func._overloadname}"
            self._count(entry, func._schema.arguments, args, kwargs or {}, results)
        return results

    def _count(self, entry: str, order: Any, args: Any, kwargs: Any, results: Any) -> None:
        call = self._operators[entry]
        unread = {*call.unread, *(call.entries[entry] if entry.endswith(".out") else ())}
        given = dict(zip((argument.name for argument in order), args, strict=False)) | kwargs
        name = f"my_ops::{call.name}"
        self.read[name] += sum(_size(value) for key, value in given.items() if key not in unread)
        self.written[name] += _size(results) + sum(_size(given.get(one.name)) for one in order if one.is_write)


def _size(value: Any) -> int:
    """Bytes of the elements of tensors."""
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 0
