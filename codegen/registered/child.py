"""The process that loads a library: python -m codegen.registered.child QUESTION ANSWER, two files.

QUESTION is JSON: what to load, and which operators to say. ANSWER gets a line of JSON for each step as it is taken, so
that whoever asked can tell what this process was about when it ended: a library may crash it, or never return.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from codegen.registered import fakes
from codegen.registered.facts import Entry

_KINDS = {
    "TensorType": "tensor",
    "FloatType": "float",
    "IntType": "int",
    "BoolType": "bool",
    "StringType": "str",
    "SymIntType": "size",
    "ScalarTypeType": "dtype",
    "DeviceObjType": "device",
}
_SECONDS = 60.0  # of the processor, in which fake kernels are asked
_OTHERS = (
    *("AutocastCPU", "AutocastCUDA", "FuncTorchBatched", "SparseCPU", "SparseCUDA", "QuantizedCPU", "QuantizedCUDA"),
    *("NestedTensorCPU", "NestedTensorCUDA", "MPS", "XPU", "HPU", "XLA", "PrivateUse1"),
)
# What PyTorch gives operators without being asked, or what says how its own are made.
_USUAL = {
    "pt2_compliant_tag",
    "needs_fixed_stride_order",
    "needs_exact_strides",
    "flexible_layout",
    "generated",
    "core",
}
_AUTOGRAD = ("Autograd", "AutogradCPU", "AutogradCUDA")


def main(question: str, answer: str) -> None:
    """Loads, lists and asks."""
    asked = json.loads(Path(question).read_text())
    with Path(answer).open("w", buffering=1) as file:

        def say(event: str, **rest: Any) -> None:
            file.write(json.dumps({"event": event, **rest}) + "\n")

        try:
            _answer(asked, say)
        except BaseException as error:
            text = str(error.__cause__ or error).strip()  # PyTorch hides what the loader said
            say("failed", error=type(error).__name__, text=text, module=getattr(error, "name", None) or "")
            raise SystemExit(0) from None
        file.flush()


def _answer(asked: dict[str, Any], say: Callable[..., None]) -> None:
    say("torch")
    import torch

    say("loading", version=torch.__version__)
    before = set(torch._C._dispatch_get_all_op_names())
    if asked["library"]:
        load: Callable[[str], None] = torch.ops.load_library
        load(asked["library"])
    else:
        importlib.import_module(asked["module"])
    added = set(torch._C._dispatch_get_all_op_names()) - before
    schemas = [schema for schema in torch._C._jit_get_all_schemas() if _qualified(schema) in added]
    spaces: dict[str, int] = {}
    for schema in schemas:
        space = schema.name.partition("::")[0]
        spaces[space] = spaces.get(space, 0) + 1
    say("namespaces", namespaces=spaces)
    wanted = asked["namespace"] or (next(iter(spaces)) if len(spaces) == 1 else "")
    chosen = [schema for schema in schemas if schema.name.startswith(f"{wanted}::")]
    end = time.process_time() + _SECONDS
    for schema in sorted(chosen, key=_qualified):
        said = _operator(schema)
        say("operator", operator=said)
        name = said["name"] + (f".{said['overload']}" if said["overload"] else "")
        wanted_here = not asked["operators"] or said["name"] in asked["operators"]
        if (
            said["overload"]
            or not said["fake"]
            or not wanted_here
            or name.startswith("_")
            or {name, "*"} & {*asked["unasked"]}
        ):
            continue
        if time.process_time() > end:
            say("asked", name=name, contract=None, problem=f"the first {_SECONDS:g} seconds went to others")
            continue
        say("asking", name=name)
        overload = getattr(getattr(torch.ops, wanted), said["name"]).default
        contract, problem = fakes.ask(overload, [Entry(**one) for one in said["arguments"]])
        say("asked", name=name, contract=None if contract is None else asdict(contract), problem=problem)
    say("end")


def _qualified(schema: Any) -> str:
    return str(schema.name) + (f".{schema.overload_name}" if schema.overload_name else "")


def _operator(schema: Any) -> dict[str, Any]:
    import torch

    name = _qualified(schema)

    def has(key: str) -> bool:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))

    definition = _definition(str(schema.name)) if not schema.overload_name else None
    explicit, implicit = has("CompositeExplicitAutograd"), has("CompositeImplicitAutograd")
    devices = [device for device in ("cpu", "cuda") if explicit or implicit or has(device.upper())]
    # torch.library.custom_op has a kernel for autograd that says there is none.
    autograd = any(map(has, _AUTOGRAD)) if definition is None else definition._backward_fn is not None
    text = re.sub(r"\d+\.\d*(e[+-]?\d+)?", lambda found: repr(float(found[0])), str(schema).strip())
    return {
        "name": str(schema.name).partition("::")[2],
        "overload": str(schema.overload_name),
        "schema": text.partition("::")[2],
        "arguments": [asdict(_entry(one, text)) for one in schema.arguments],
        "returns": [asdict(_entry(one, text)) for one in schema.returns],
        "devices": devices,
        "autograd": autograd,
        "composite": implicit,
        "fake": (has("Meta") or _has_fake(name)) and (definition is None or definition._abstract_fn is not None),
        "tags": _tags(schema),
        "kernels": [key for key in _OTHERS if has(key)],
        "doc": "" if definition is None else inspect.cleandoc(definition._init_fn.__doc__ or ""),
    }


def _tags(schema: Any) -> list[str]:
    import torch

    space, _, name = str(schema.name).partition("::")
    overload = getattr(getattr(getattr(torch.ops, space), name), str(schema.overload_name) or "default")
    return [tag.name for tag in overload.tags if tag.name not in _USUAL]


def _definition(name: str) -> Any:
    """What torch.library.custom_op made, where it did."""
    try:
        from torch._library.custom_ops import OPDEFS
    except ImportError:
        return None
    return OPDEFS.get(name)


def _has_fake(name: str) -> bool:
    from torch._library.simple_registry import singleton

    return singleton.find(name).fake_impl.kernel is not None


def _entry(one: Any, schema: str) -> Entry:
    """An argument or a return, out of PyTorch's schema and its text."""
    kind, optional, is_list, element_optional = one.real_type, False, False, False
    if kind.kind() == "OptionalType":
        kind, optional = kind.getElementType(), True
    if kind.kind() == "ListType":
        kind, is_list = kind.getElementType(), True
        if kind.kind() == "OptionalType":
            kind, element_optional = kind.getElementType(), True
    known = _KINDS.get(kind.kind(), "")
    if (known in ("str", "dtype", "device") and is_list) or (known != "tensor" and element_optional):
        known = ""
    alias = one.alias_info
    # Of a list the letter stands in the text alone.
    letters = [] if alias is None else [*alias.before_set, *re.findall(rf"\((\w+)!\)\[\]\??(?: {one.name}\b)", schema)]
    return Entry(
        name=one.name or "",
        kind=known or str(one.real_type),
        optional=optional,
        is_list=is_list,
        element_optional=element_optional,
        length=one.N or 0,
        default=_default(known, one.default_value) if one.has_default_value() else None,
        keyword_only=bool(one.kwarg_only),
        alias="" if alias is None else next(iter(letters), "?"),
        written=alias is not None and bool(alias.is_write),
    )


def _default(kind: str, value: Any) -> str:
    """A default as a spec writes it."""
    import torch

    if value is None:
        return "None"
    if isinstance(value, list):
        return "[" + ", ".join(_default(kind, one) for one in value) + "]"
    if kind == "dtype" and isinstance(value, int):
        return _dtypes().get(value, str(value))
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if kind == "str":
        return f"'{value}'" if '"' in value else f'"{value}"'
    if kind == "float":
        return repr(float(value))
    return str(value)


def _dtypes() -> dict[int, str]:
    """Names by PyTorch's numbers, which its parser of schemas says."""
    import torch

    from codegen.types import DTYPES

    found = {}
    for name in DTYPES:
        with contextlib.suppress(RuntimeError):  # one that this PyTorch does not have
            (argument,) = torch._C.parse_schema(f"f(ScalarType dtype={name}) -> ()").arguments
            value: Any = argument.default_value
            found[int(value)] = name
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
