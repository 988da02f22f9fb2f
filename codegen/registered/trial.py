"""Calls of a fake kernel with tensors whose sizes are symbols, in the process that has loaded it.

Sizes that it compares become one symbol, and the sizes of what it returns are expressions of those of its arguments.
Which ranks and dtypes go together is found by trying.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, TypeAlias

from codegen.frozen import dataclass
from codegen.registered.facts import Entry

Size: TypeAlias = str  # of a dim: a symbol, a number, or an expression of symbols
Ranks: TypeAlias = tuple[int, ...]
Dtypes: TypeAlias = tuple[str, ...]

SIZE = 6  # what every symbol stands for, so that sizes that have to be equal are
LENGTH = 5  # of lists of tensors
_MAX_RANK = 4
_SECONDS = 1.0  # of the processor, in which ranks are found, and as much again for what they mean


@dataclass(frozen=True)
class Answer:
    """The sizes of the tensors that went in, arguments that are sizes, and the sizes of what came out, None for None;
    lists by their first tensor.
    """

    inputs: tuple[tuple[Size, ...], ...]
    sizes: Mapping[str, Size]
    outputs: tuple[tuple[Size, ...] | None, ...]
    dtypes: tuple[str, ...]


class Trial:
    """Calls of a fake kernel."""

    def __init__(self, overload: Any, arguments: Sequence[Entry]) -> None:
        self.overload, self.arguments = overload, arguments
        self.tensors = [one for one in arguments if one.is_tensor]
        self.given = True  # whether optional tensors are
        self.end = 0.0
        self.said = ""

    @property
    def asked(self) -> list[Entry]:
        """The tensors that calls pass."""
        return [one for one in self.tensors if self.given or not (one.optional or one.element_optional)]

    def call(self, ranks: Ranks, dtypes: Dtypes, *, integer: int = 1, flag: bool = False) -> Answer | None:
        """One call; None after an error, or when there is no time left."""
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        if time.process_time() > self.end:
            return None
        environment = ShapeEnv(duck_shape=False)
        mode = FakeTensorMode(shape_env=environment, allow_fallback_kernels=False)
        sizes = _Sizes(environment, mode)
        asked = dict(zip([one.name for one in self.asked], zip(ranks, dtypes, strict=True), strict=True))
        values = {one.name: self.value(one, asked.get(one.name), sizes, integer, flag) for one in self.arguments}
        positional = [values[one.name] for one in self.arguments if not one.keyword_only]
        keywords = {one.name: values[one.name] for one in self.arguments if one.keyword_only}
        import torch

        try:
            with mode, torch.no_grad():
                result = self.overload(*positional, **keywords)
        except Exception as error:  # whatever a kernel says of a call that it does not take
            self.said = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
            return None
        listed = result if isinstance(result, tuple) else () if result is None else (result,)
        shown = [sizes.of(values[one.name]) for one in self.asked]
        if len(self.overload._schema.returns) != len(listed):
            return None
        outputs = tuple(sizes.of(one) for one in listed)
        single = [one.name for one in self.arguments if one.kind == "size" and not one.is_list]
        given = {name: sizes.text(values[name]) for name in single}
        return Answer(tuple(one or () for one in shown), given, outputs, tuple(map(_dtype, listed)))

    def value(self, one: Entry, asked: tuple[int, str] | None, sizes: _Sizes, integer: int, flag: bool) -> Any:
        """What a call passes for an argument."""
        if one.is_tensor:
            if asked is None:
                return [None] * LENGTH if one.is_list and not one.optional else None
            tensors = [sizes.tensor(*asked) for _ in range((one.length or LENGTH) if one.is_list else 1)]
            return tensors if one.is_list else tensors[0]
        if one.kind == "bool" and not one.is_list:
            return flag
        if one.kind == "int" and not one.is_list:
            return integer
        if one.default == "None" or (one.optional and one.default is None):
            return None
        if one.is_list and one.default is not None:
            return ast.literal_eval(one.default)
        if one.is_list:
            filled: Any = [sizes.size(), sizes.size()][: one.length or 2] if one.kind == "size" else None
            plain = {"int": 1, "float": 1.0, "bool": True}.get(one.kind, 1)
            return filled or [plain] * (one.length or 2)
        return self.scalar(one, sizes)

    def scalar(self, one: Entry, sizes: _Sizes) -> Any:
        import torch

        match one.kind:
            case "size":
                return sizes.size()
            case "float":
                return float(one.default) if one.default else 0.5
            case "dtype":
                return getattr(torch, one.default or "float32")
            case "device":
                return torch.device("cpu")
        return one.default[1:-1] if one.default else ""

    def find(self) -> tuple[Ranks, Dtypes, Answer] | None:
        """The smallest ranks, and dtypes, with which a call is taken."""
        for given in (True, False) if any(one.optional or one.element_optional for one in self.tensors) else (True,):
            self.given = given
            self.start()
            count = len(self.asked)
            for i, dtypes in enumerate((*self.dtypes(), ("float32",) * count)):
                last = i > 0 and dtypes == ("float32",) * count  # once more, whatever it says
                for ranks in _ranks(count) if last or self.promises(dtypes) else ():
                    answer = self.call(ranks, dtypes)
                    if answer is not None:
                        self.start()
                        return ranks, dtypes, answer
        return None

    def start(self) -> None:
        """Gives the calls that follow their time, to which imports do not count."""
        for name in ("_dynamo.source", "_subclasses.fake_tensor", "fx.experimental.symbolic_shapes"):
            importlib.import_module(f"torch.{name}")

        self.end = time.process_time() + _SECONDS

    def promises(self, dtypes: Dtypes) -> bool:
        """Whether a call with these dtypes is taken, or says something else when ranks change: what is always the same
        is not about ranks.
        """
        count = len(dtypes)
        said = set()
        for ranks in ((2,) * count, (1,) * count, (3,) * count, (2, *(1,) * (count - 1))[:count], (0,) * count):
            if self.call(ranks, dtypes) is not None:
                return True
            said.add(re.sub(r"\d+|\[.*?\]", "", self.said))
        return len(said) > 1

    def dtypes(self) -> Iterator[Dtypes]:
        """Choices of dtypes: the same for all, or another for one or two of them."""
        count = len(self.asked)
        yield ("float32",) * count
        if not count:
            return
        for size, same in ((0, ("float64", "bfloat16")), (1, ("int64", "int32", "bool", "complex64")), (2, ())):
            for other in ("int64", "int32", "bool") if 0 < size < count else ():
                for places in combinations(reversed(range(count)), size):
                    yield tuple(other if place in places else "float32" for place in range(count))
            yield from ((dtype,) * count for dtype in same)


class _Sizes:
    """The symbols of one call."""

    def __init__(self, environment: Any, mode: Any) -> None:
        self.environment, self.mode, self.count = environment, mode, 0

    def source(self) -> Any:
        from torch._dynamo.source import ConstantSource

        self.count += 1
        return ConstantSource(f"argument{self.count}")

    def tensor(self, rank: int, dtype: str) -> Any:
        import torch
        from torch.fx.experimental.symbolic_shapes import DimDynamic, StatelessSymbolicContext

        context: Any = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * rank)
        real = torch.empty([SIZE] * rank, dtype=getattr(torch, dtype))
        return self.mode.from_tensor(real, source=self.source(), symbolic_context=context)

    def size(self) -> Any:
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        source = self.source()
        symbol = self.environment.create_symbol(
            SIZE, source=source, dynamic_dim=DimDynamic.DYNAMIC, constraint_dim=None
        )
        return self.environment.create_symintnode(symbol, hint=SIZE, source=source)

    def text(self, size: Any) -> Size:
        return str(self.environment.replace(size.node.expr)) if hasattr(size, "node") else str(size)

    def of(self, value: Any) -> tuple[Size, ...] | None:
        """The sizes of a tensor, or of the first of a list."""
        first = next((one for one in value if one is not None), None) if isinstance(value, (list, tuple)) else value
        return None if first is None else tuple(self.text(size) for size in first.shape)


def _ranks(count: int) -> Iterator[Ranks]:
    """Ranks of so many tensors, small ones first."""
    if count <= 4:
        yield from sorted(
            product(range(_MAX_RANK + 1), repeat=count), key=lambda ranks: (sum(ranks), max(ranks, default=0))
        )
        return
    for high in range(_MAX_RANK + 1):
        for low in range(high + 1):
            yield (high,) * count
            for others in range(1, 4):
                for places in combinations(range(count), others):
                    yield tuple(low if place in places else high for place in range(count))
                    yield tuple(high if place in places else low for place in range(count))


def _dtype(value: Any) -> str:
    first = next((one for one in value if one is not None), None) if isinstance(value, (list, tuple)) else value
    return "" if first is None else str(first.dtype).removeprefix("torch.")
