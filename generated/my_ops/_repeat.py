"""What a call was given, as it was before, and a script that makes the call again."""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import torch

_SCRIPT = Template('''\
"""$text

Seen with PyTorch $version. The arguments lie beside this file, in $data, with their strides and as they shared memory.
"""

from pathlib import Path

import torch

import my_ops

torch.set_num_threads($threads)
given = torch.load(Path(__file__).with_suffix(".pt"), weights_only=True)
# $shown
my_ops.check_calls(scripts=False, references=$references)
${restored}torch.ops.my_ops.$call(*given["positional"], **given["keyword"])
print("here the call is right")
''')


class Inputs:
    """The arguments of a call. Those that it writes, and what shares memory with them, are copies."""

    def __init__(
        self,
        positional: Sequence[Any],
        keyword: Mapping[str, Any],
        arguments: Mapping[str, Any],
        writes: Sequence[str],
        draws: bool,
    ) -> None:
        self._memory: dict[int, torch.UntypedStorage] = {}
        for one in _tensors([arguments[name] for name in writes]):
            storage = one.untyped_storage()
            if storage.data_ptr() not in self._memory:
                self._memory[storage.data_ptr()] = storage.clone()
        self.arguments = {name: self._kept(value) for name, value in arguments.items()}
        self._order = [*arguments][: len(positional)]
        self._keywords = [*keyword]
        self._drawn_on = _device(arguments) if draws else None
        if self._drawn_on is not None:
            self._state = _module(self._drawn_on).get_rng_state(*_index(self._drawn_on))
            self.seed = torch.empty(2, dtype=torch.int64, device=self._drawn_on).random_().cpu()
            _module(self._drawn_on).set_rng_state(self._state, *_index(self._drawn_on))

    def _kept(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._kept(one) for one in value]
        if not isinstance(value, torch.Tensor):
            return value
        value = value.detach()
        copy = self._memory.get(value.untyped_storage().data_ptr())
        if copy is None:
            return value
        like = torch.empty(0, dtype=value.dtype, device=value.device)
        return like.set_(copy, value.storage_offset(), value.shape, value.stride())

    def script(self, folder: Path, name: str, entry: str, text: str, references: str) -> Path:
        """Writes the script; where it is."""
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"{name}.py"
        given = {
            "positional": [self.arguments[one] for one in self._order],
            "keyword": {one: self.arguments[one] for one in self._keywords},
        }
        torch.save(given | ({"state": self._state} if self._drawn_on is not None else {}), place.with_suffix(".pt"))
        script = _SCRIPT.substitute(
            text=text.replace("\\", "\\\\").replace('"', "'"),
            version=torch.__version__,
            data=place.with_suffix(".pt").name,
            threads=torch.get_num_threads(),
            shown="\n# ".join(f"{one}: {_shown(value)}" for one, value in self.arguments.items()),
            references=repr(references or None),
            restored=self._restored(),
            call=entry if "." in entry else f"{entry}.default",
        )
        place.write_text(script)
        return place

    def _restored(self) -> str:
        if self._drawn_on is None:
            return ""
        where = "torch" if self._drawn_on.type == "cpu" else "torch.cuda"
        index = "".join(f', "{one}"' for one in _index(self._drawn_on))
        return f'{where}.set_rng_state(given["state"]{index})\n'


def _module(device: torch.device) -> Any:
    """What has the state of the generator that a call on this device draws from."""
    return torch if device.type == "cpu" else torch.cuda


def _index(device: torch.device) -> list[torch.device]:
    return [] if device.type == "cpu" else [device]


def _device(arguments: Mapping[str, Any]) -> torch.device:
    named = [value for value in arguments.values() if isinstance(value, torch.device)]
    return next((one.device for one in _tensors([*arguments.values()])), next(iter(named), torch.device("cpu")))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for one in value for tensor in _tensors(one)] if isinstance(value, (list, tuple)) else []


def _shown(value: Any) -> str:
    """A tensor by what tells it from others."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if not isinstance(value, torch.Tensor):
        return repr(value)
    place = f"strides {tuple(value.stride())}, offset {value.storage_offset()}"
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)} on {value.device}, {place}"
