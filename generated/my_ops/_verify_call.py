"""One call under check_calls: made, compared, written down."""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

import importlib
import inspect
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import torch

from . import _compare, _repeat
from ._compare import Call

_lock = threading.Lock()


def checked(call: Call, entry: str, overload: Any, kernel: Any, settings: Callable[[], Any]) -> Callable[..., Any]:
    """The kernel that stands in for `kernel`."""
    function = getattr(importlib.import_module(f"{__package__}.ops.{call.name}"), call.name)
    defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    order = [argument.name for argument in overload._schema.arguments]
    writes = [argument.name for argument in overload._schema.arguments if argument.is_write]

    def run(keyset: Any, *positional: Any, **keyword: Any) -> Any:
        now = settings()
        if now is None:  # a call that began while it was turned off
            return kernel.call_boxed(keyset, *positional, **keyword)
        arguments = dict(zip(order, positional, strict=False)) | keyword
        arguments = {name: arguments.get(name, defaults.get(name)) for name in order}
        reason = _not_compared(now, call, arguments)
        before = _repeat.Inputs(positional, keyword, arguments, writes, call.random) if not reason else None
        line, begin = {"operator": f"my_ops::{entry}", **_described(arguments)}, time.perf_counter_ns()
        try:
            results = kernel.call_boxed(keyset, *positional, **keyword)
        except Exception as error:
            if now.log:
                _write(now, {**line, "error": str(error)})
            raise
        line["microseconds"] = (time.perf_counter_ns() - begin) / 1000
        problem = _problem(now, call, entry, before, arguments, results) if before is not None else ""
        if now.log:
            outcome = {"not_compared": reason} if reason else {"compared": True}
            _write(now, {**line, "results": _spelled(results), **outcome, **({"differs": problem} if problem else {})})
        if problem:
            raise RuntimeError(_left(now, entry, before, f"my_ops::{entry}: {problem}"))
        return results

    return run


def _not_compared(settings: Any, call: Call, arguments: Mapping[str, Any]) -> str:
    """Why a call is only written down."""
    if not settings.compare:
        return "only logged"
    if any(one.is_cuda for one in tensors(arguments)) and torch.cuda.is_current_stream_capturing():
        return "a CUDA graph is captured"
    if not hasattr(settings.references, call.reference):
        with _lock:
            if call.name not in settings.said:
                settings.said.add(call.name)
                warnings.warn(
                    f"my_ops.check_calls: {call.name} is not compared: there is no {call.reference} in "
                    f"{settings.references.__file__}",
                    stacklevel=3,
                )
        return f"no reference {call.reference}"
    return ""


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Those in arguments or results."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from tensors(one)


def _problem(settings: Any, call: Call, entry: str, before: Any, arguments: Mapping[str, Any], results: Any) -> str:
    """How the results differ from what is right, if they do."""
    with ExitStack() as plain:
        # Not as the call, whatever that was made under.
        plain.enter_context(torch.inference_mode(False))
        plain.enter_context(torch.no_grad())
        plain.enter_context(torch._C.DisableTorchFunction())
        return call.problem(getattr(settings.references, call.reference), entry, before, arguments, results)


def _left(settings: Any, entry: str, before: Any, text: str) -> str:
    """The text of the error; the first time with the script that it leaves."""
    with _lock:
        first, name = f"script {entry}" not in settings.said, f"{entry}-{_process()}"
        settings.said.add(f"script {entry}")
    if not first or not settings.scripts:
        return text
    file = getattr(settings.references, "__file__", None) or ""
    named = "" if Path(file).name == "_references.py" else file
    try:
        return f"{text}; to see it again: python {before.script(settings.folder, name, entry, text, named)}"
    except Exception as error:
        return f"{text}; no script could be written: {error}"


def _process() -> str:
    there = torch.distributed.is_available() and torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if there else os.environ.get("RANK", "0")
    return f"rank{rank}-{os.getpid()}"


def _write(settings: Any, line: Mapping[str, Any]) -> None:
    """One line, in one write: those of several threads do not mix."""
    when = datetime.now(timezone.utc).isoformat()
    text = json.dumps({"time": when, **line, "process": _process(), "thread": threading.get_native_id()}) + "\n"
    settings.folder.mkdir(parents=True, exist_ok=True)
    with _lock, (settings.folder / f"calls-{_process()}.jsonl").open("a") as file:
        file.write(text)


def _described(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"arguments": {name: _spelled(value) for name, value in arguments.items()}}


def _spelled(value: Any) -> Any:
    """A value as JSON: a tensor by all but its elements."""
    if isinstance(value, torch.Tensor):
        kind = {"dtype": _compare.name_of(value.dtype), "shape": [*value.shape], "strides": [*value.stride()]}
        return {**kind, "offset": value.storage_offset(), "device": str(value.device)}
    if isinstance(value, (list, tuple)):
        return [_spelled(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
