"""What is known of an operator that a library has registered, as the process that loaded it says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codegen.frozen import dataclass

TODO = "TODO"
"""Stands in a spec in the place of what its writer has to say; no spec with it loads."""


@dataclass(frozen=True)
class Entry:
    """An argument, or something that is returned. `kind` is a scalar kind of the spec, "tensor", or what the schema
    calls a type that no spec has. `length` is that of `int[2]`, 0 for any; `alias` the letter of `Tensor(a!)`, or "?"
    for one that only views; `default` stands as in a spec, None for none.
    """

    name: str
    kind: str
    optional: bool = False
    is_list: bool = False
    element_optional: bool = False
    length: int = 0
    default: str | None = None
    keyword_only: bool = False
    alias: str = ""
    written: bool = False

    @property
    def is_tensor(self) -> bool:
        """Whether this is a tensor, or a list of tensors."""
        return self.kind == "tensor"


@dataclass(frozen=True)
class Contract:
    """What a fake kernel says of dtypes and shapes: texts of the spec, by name or in order; "" for what it does not
    say. `notes` are about the whole.
    """

    types: Mapping[str, str]
    inputs: Mapping[str, str]
    outputs: Sequence[str]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Registered:
    """An operator, or an overload of one. `schema` is PyTorch's text of it, after the namespace; `fake` says whether a
    fake kernel is registered, `asked` what came of asking it where that is no contract; `kernels` are dispatch keys of
    others than those for CPU, CUDA, autograd and fake tensors.
    """

    name: str
    overload: str
    schema: str
    arguments: Sequence[Entry]
    returns: Sequence[Entry]
    devices: Sequence[str]
    autograd: bool
    composite: bool
    fake: bool
    tags: Sequence[str] = ()
    kernels: Sequence[str] = ()
    doc: str = ""
    contract: Contract | None = None
    asked: str = ""

    @property
    def qualified(self) -> str:
        """`op`, or `op.overload`."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def takes(self) -> str:
        """What stands between the parentheses and behind them: the schema without its name."""
        return self.schema[self.schema.index("(") :]


def registered(said: Mapping[str, Any]) -> Registered:
    """An operator out of the line of JSON that says it."""
    parts = {part: [Entry(**entry) for entry in said[part]] for part in ("arguments", "returns")}
    return Registered(**{**said, **parts})
