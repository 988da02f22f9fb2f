"""What the fake kernels share: how errors spell values, and the arithmetic of the spec language.

The texts and numbers are those of the C host functions. Sizes may be symbolic (torch.SymInt).
"""
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

_ACC = {
    torch.float64: torch.float64,
    torch.float32: torch.float32,
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.uint8: torch.int64,
    torch.int8: torch.int64,
    torch.int16: torch.int64,
    torch.int32: torch.int64,
    torch.int64: torch.int64,
    torch.bool: torch.int64,
    torch.complex64: torch.complex64,
    torch.complex128: torch.complex128,
    torch.float8_e4m3fn: torch.float32,
    torch.float8_e5m2: torch.float32,
    torch.float8_e4m3fnuz: torch.float32,
    torch.float8_e5m2fnuz: torch.float32,
    torch.float8_e8m0fnu: torch.float32,
}


def acc(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which kernels accumulate."""
    return _ACC[dtype]


# ---------------------------------------------------------------- checks


def _has_memory(tensor: Any) -> bool:
    """Fakes and other wrappers have none of their own, and are not looked at."""
    return type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.numel() > 0 and not tensor.is_meta


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    """Where its elements lie, from the first byte to behind the last."""
    start = tensor.data_ptr()
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return start, start + (reach + 1) * tensor.itemsize


def _mark(memory: torch.Tensor, start: int, tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of its elements in a map of the memory from `start` on."""
    strides = [stride * tensor.itemsize for stride in tensor.stride()]
    return memory.as_strided((*tensor.shape, tensor.itemsize), (*strides, 1), tensor.data_ptr() - start)


def _overlaps_itself(tensor: torch.Tensor) -> bool:
    """Whether two of its elements lie on each other."""
    reach, spread = 1, True
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        spread = spread and (size == 1 or stride >= reach)
        reach += (size - 1) * stride
    if spread or 0 in (stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1):
        return not spread
    start, end = _extent(tensor)
    memory = torch.zeros(end - start, dtype=torch.bool)
    _mark(memory, start, tensor).fill_(True)
    return int(memory.sum()) < tensor.numel() * tensor.itemsize


def _overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether some byte belongs to an element of both."""
    (first, end), (second, last) = _extent(one), _extent(other)
    if one.device != other.device or first >= last or second >= end:
        return False
    start = min(first, second)
    memory = torch.zeros(max(end, last) - start, dtype=torch.bool)
    _mark(memory, start, one).fill_(True)
    return bool(_mark(memory, start, other).any())


def _memory(name: str, given: Any) -> list[tuple[str, torch.Tensor]]:
    """What has this name in a call and has memory, each tensor of a list with a name of its own."""
    several = [(name, given)]
    if isinstance(given, (list, tuple)):
        several = [(f"{name}[{place}]", one) for place, one in enumerate(given)]
    return [(text, one) for text, one in several if _has_memory(one)]


def _find_overlap(one: list[tuple[str, torch.Tensor]], other: list[tuple[str, torch.Tensor]]) -> tuple[str, ...]:
    """The names of two tensors that overlap, one of each, or where both are the same the later one first; in the order
    of csrc/runtime/list_overlap.c, which only compares tensors whose extents meet.
    """
    tensors = one if one is other else [*one, *other]
    extents = [_extent(tensor) for _, tensor in tensors]
    order = sorted(range(len(tensors)), key=lambda place: extents[place][0])
    for at, first in enumerate(order):
        for k in range(at + 1, len(order)):
            if extents[order[k]][0] >= extents[first][1]:
                break
            low, high = sorted((first, order[k]))
            compared = one is other or low < len(one) <= high
            if compared and _overlap(tensors[low][1], tensors[high][1]):
                names = tensors[low][0], tensors[high][0]
                return names[::-1] if one is other else names
    return ()


class Check:
    """The checks of one operator. Conditions may be symbolic; what does not hold is a RuntimeError."""

    def __init__(self, operator: str) -> None:
        self.operator = operator

    def __call__(self, condition: Any, problem: Callable[[], str]) -> None:
        torch._check(condition, lambda: f"{self.operator}: {problem()}")

    def dims(self, **tensors: torch.Tensor | Sequence[torch.Tensor] | None) -> None:
        """PyTorch makes tensors of more dimensions than its operators, and these, accept: MAX_DIMS in csrc/runtime."""
        for argument, given in tensors.items():
            named: list[tuple[str, Any]] = [(argument, given)]
            if isinstance(given, (list, tuple)):
                named = [(f"{argument}[{place}]", one) for place, one in enumerate(given)]
            for name, tensor in named:
                count = tensor.dim() if isinstance(tensor, torch.Tensor) else 0
                self(count <= 64, functools.partial("{}: expected at most 64 dimensions, got {}".format, name, count))

    def output(self, name: str, given: torch.Tensor, made: torch.Tensor) -> None:
        """What a caller gives for an output is as the operator would have made it."""
        kinds = dtype_text(made.dtype), dtype_text(given.dtype)
        self(given.dtype == made.dtype, lambda: "{}: expected dtype {}, got {}".format(name, *kinds))
        devices = made.device, given.device
        self(given.device == made.device, lambda: "{}: expected device {}, got {}".format(name, *devices))

        def shape() -> str:
            return f"{name}: expected shape {sizes_text(made.shape)}, got {sizes_text(given.shape)}"

        self.sizes(given.shape, made.shape, shape)

    def outputs(self, name: str, given: Sequence[torch.Tensor], made: Sequence[torch.Tensor], source: str) -> None:
        """The same for an output that is a list, as long as `source`."""
        counts = len(made), source, len(given)
        self(len(given) == len(made), lambda: "{}: expected {} tensors (as {}), got {}".format(name, *counts))
        for place, (one, result) in enumerate(zip(given, made, strict=True)):
            self.output(f"{name}[{place}]", one, result)

    def apart(self, written: dict[str, Any], inputs: dict[str, Any]) -> None:
        """What is written lies on nothing else, and no element of it on another; host functions look at the same."""
        alone = {name: given for name, given in inputs.items() if not isinstance(given, (list, tuple))}
        others = [(name, _memory(name, given)) for name, given in {**alone, **inputs}.items()]
        for name, given in written.items():
            own = _memory(name, given)
            for text, tensor in own:
                problem = f"{text}: expected no overlap among its own elements, got strides {tuple(tensor.stride())}"
                self(not _overlaps_itself(tensor), functools.partial(str, problem))
            for other in [own, *(memory for source, memory in others if source != name)]:
                found = _find_overlap(own, other)
                self(not found, functools.partial("{}: expected no overlap with {}".format, *found))
            others.append((name, own))

    def sizes(self, sizes: Sequence[int], expected: Sequence[int], problem: Callable[[], str]) -> None:
        """Both are equal in number and in each size."""
        self(len(sizes) == len(expected), problem)
        for size, wanted in zip(sizes, expected, strict=True):
            self(size == wanted, problem)

    def expand(self, tensor: torch.Tensor, sizes: Sequence[int], problem: Callable[[], str]) -> torch.Tensor:
        """The tensor broadcast to `sizes`: dims that it lacks in front, and those of size 1, get stride 0."""
        own = (1,) * (len(sizes) - tensor.dim()) + tensor.shape
        self(len(own) == len(sizes), problem)
        for size, wanted in zip(own, sizes, strict=True):
            self(wanted >= 0 and (size == 1 or size == wanted), problem)
        strides = (0,) * (len(sizes) - tensor.dim()) + tensor.stride()
        return tensor.as_strided(sizes, [0 if size == 1 else stride for size, stride in zip(own, strides, strict=True)])

    def star(self, sizes: Sequence[int], problem: Callable[[], str]) -> Sequence[int]:
        """The sizes that a star covers; their product must fit 64 bits."""
        if all(isinstance(size, int) for size in sizes):
            self(math.prod(sizes) < 2**63, problem)
        return sizes

    def broadcast(self, problem: Callable[[], str], *stars: Sequence[int]) -> Sequence[int]:
        """The sizes that stars broadcast to, as in NumPy."""
        count = sorted(len(star) for star in stars)[-1]
        found: list[int] = []
        for place in range(-count, 0):
            size = 1
            for star in stars:
                own = star[place] if len(star) >= -place else 1
                self(size == 1 or own == 1 or own == size, problem)
                size = own if size == 1 else size
            found.append(size)
        return found

    def drop(self, problem: Callable[[], str], star: Sequence[int], dim: int) -> Sequence[int]:
        """A star without one of its dims."""
        self(-len(star) <= dim < len(star), problem)
        return [size for place, size in enumerate(star) if place != dim % len(star)]

    def replace(self, problem: Callable[[], str], star: Sequence[int], dim: int, size: int) -> Sequence[int]:
        """A star with another size in the place of one dim."""
        self(-len(star) <= dim < len(star), problem)
        return [size if place == dim % len(star) else own for place, own in enumerate(star)]

    def computed(self, value: Callable[[], Any], problem: Callable[[], str]) -> Any:
        """The value; a result outside 64 bits and a division by zero are errors."""
        try:
            return value()
        except OverflowError:
            raise RuntimeError(f"{self.operator}: {problem()}") from None


# ---------------------------------------------------------------- sizes and their spelling


def _order_in_memory(sizes: Sequence[int], strides: Sequence[int], a: int, b: int) -> int:
    """Below 0 when dim `a` lies within dim `b`, above 0 the other way round, 0 when their strides do not say."""
    if strides[a] == 0 or strides[b] == 0:
        return 0
    if strides[a] != strides[b]:
        return -1 if strides[a] < strides[b] else 1
    return 1 if sizes[a] > sizes[b] else 0


def like_strides(tensor: torch.Tensor) -> Sequence[int]:
    """The strides of an output like `tensor`: tensor_empty_like in csrc/runtime/layout.c."""
    sizes, strides = tensor.shape, tensor.stride()
    if tensor.is_contiguous():
        return strides
    dims = list(reversed(range(tensor.dim())))
    for i in range(1, len(dims)):
        moving = i
        for j in reversed(range(i)):
            order = _order_in_memory(sizes, strides, dims[j], dims[moving])
            if order < 0:
                break
            if order > 0:
                dims[j], dims[moving] = dims[moving], dims[j]
                moving = j
    dense, stride = [0] * len(dims), 1
    for dim in dims:
        dense[dim] = stride
        stride = stride * sizes[dim] if sizes[dim] > 1 else stride
    kept = all(strides[dim] == dense[dim] for dim in dims if sizes[dim] > 1)
    return strides if kept else dense


def transposed_strides(sizes: Sequence[int]) -> Sequence[int]:
    """The strides of an output whose last two dims are swapped in memory."""
    strides = [1, torch.sym_max(sizes[-2], 1)]
    stride = strides[1] * torch.sym_max(sizes[-1], 1)
    for size in reversed(sizes[:-2]):
        strides.insert(0, stride)
        stride = stride * torch.sym_max(size, 1)
    return strides


def empty_like(tensors: Sequence[torch.Tensor], sizes: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Empty, with the order in memory of the first tensor that has these sizes; contiguous where none has."""
    for tensor in tensors:
        if tensor.dim() == len(sizes) and all(size == other for size, other in zip(tensor.shape, sizes, strict=True)):
            return tensor.new_empty_strided(sizes, like_strides(tensor), dtype=dtype)
    return tensors[0].new_empty(sizes, dtype=dtype)


def product(sizes: Sequence[int]) -> int:
    """A star as a number."""
    return math.prod(sizes)


def places(listed: Sequence[torch.Tensor | None] | None, mask: Sequence[bool], before: int) -> list[int]:
    """The places of a list at which the gradient of a tensor is computed: where one is there, and `mask` wants it."""
    return [i for i, one in enumerate(listed or ()) if one is not None and wanted(mask, before + i)]


def wanted(mask: Sequence[bool], place: int) -> bool:
    """Whether a gradient is wanted; an empty mask wants all of them."""
    return len(mask) == 0 or mask[place]


def count(values: Sequence[Any] | None) -> int:
    """Their number, 0 where there is no list; `len` may be the name of an argument."""
    return 0 if values is None else len(values)


def numel(tensors: Sequence[torch.Tensor | None]) -> int:
    """Elements of all tensors of a list."""
    return fit(sum(tensor.numel() for tensor in tensors if tensor is not None))


def first(tensors: Sequence[torch.Tensor | None] | None) -> Any:
    """The first tensor of a list that is given, if there is one."""
    return next((tensor for tensor in tensors or () if tensor is not None), None)


def place(tensors: Sequence[torch.Tensor | None] | None) -> int:
    """Where it stands."""
    return next((place for place, tensor in enumerate(tensors or ()) if tensor is not None), 0)


def has(tensors: Sequence[torch.Tensor | None] | None, place: int) -> bool:
    """Whether there is a list with a tensor at this place."""
    return tensors is not None and tensors[place] is not None


def dynamic(bound: Any) -> Any:
    """A size that is known only after the kernel ran, and at most `bound`."""
    size = torch.library.get_ctx().new_dynamic_size()
    torch._check(size <= bound)
    return size


def item(values: Sequence[int], index: int) -> int:
    """values[index], counted from the end when negative."""
    if not -len(values) <= index < len(values):
        raise OverflowError
    return values[index]


def dtype_text(dtype: torch.dtype) -> str:
    """float16"""
    return str(dtype).removeprefix("torch.")


def sizes_text(sizes: Sequence[int]) -> str:
    """[2, 3]"""
    return f"[{', '.join(str(size) for size in sizes)}]"


def quoted(value: str | None) -> str:
    """The string in double quotes, cut behind 60 characters; None as it is."""
    if value is None:
        return "None"
    shown = "".join("?" if character < " " or character == "\x7f" else character for character in value[:60])
    return f'"{shown}{"" if len(value) <= 60 else "..."}"'


def fits(value: str, size: int) -> bool:
    """Whether a string can be handed to a kernel that keeps `size` bytes of it, as a C string."""
    return len(value.encode()) <= size and "\0" not in value


def device(value: torch.device | str) -> torch.device:
    """A device, however it was written."""
    return torch.device(value)


def means(value: torch.device | str, device: torch.device) -> bool:
    """Whether a device argument means the device of a tensor; one without an index means every device of its type."""
    wanted = torch.device(value)
    return wanted.type == device.type and (wanted.index is None or device.index is None or wanted.index == device.index)


def float_text(value: float) -> str:
    """The shortest of %.6g to %.17g that reads back as the same number; a symbol by its name."""
    if not isinstance(value, (int, float)):
        return str(value)
    if math.isnan(value):
        return "nan"
    texts = [f"{value:.{digits}g}" for digits in range(6, 18)]
    return next((text for text in texts if float(text) == value), texts[-1])


# ---------------------------------------------------------------- exact 64-bit arithmetic


def fit(value: int) -> int:
    """An integer that must fit 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise OverflowError
    return value


def _divisor(value: Any) -> Any:
    if value == 0:
        raise OverflowError
    return value


def floordiv(left: Any, right: Any) -> Any:
    """Rounds towards minus infinity."""
    return fit(left // _divisor(right))


def mod(left: Any, right: Any) -> Any:
    """Has the sign of the divisor."""
    return left % _divisor(right)


def power(base: Any, exponent: Any) -> Any:
    """Of integers: there is no negative exponent, and numbers that are far too large are not computed."""
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0 or (exponent > 64 and abs(base) > 1):
            raise OverflowError
        return fit(base ** (exponent if exponent <= 64 else 2 + exponent % 2))
    return base**exponent


def real(value: Any) -> Any:
    """A number as a float; symbolic where it is."""
    return torch.sym_float(value)


def divide(left: Any, right: Any) -> Any:
    """Of floats, as C does: dividing by zero gives an infinity or NaN."""
    left, right = real(left), real(right)
    return left * math.copysign(math.inf, right) if right == 0 else left / right


def real_power(base: Any, exponent: Any) -> Any:
    """Of floats, as C does: what is too large or divides by zero is an infinity, a root of a negative number NaN."""
    base, exponent = real(base), real(exponent)
    if not isinstance(base, float) or not isinstance(exponent, float):
        return base**exponent
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        if base < 0 and exponent % 1 != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


def ceil_div(left: Any, right: Any) -> Any:
    """Rounds towards plus infinity."""
    return fit(-(-left // _divisor(right)))


def round_up(value: Any, step: Any) -> Any:
    """The smallest multiple of `step` that is at least `value`."""
    return fit(ceil_div(value, step) * step)


def next_pow2(value: int) -> int:
    """The smallest power of two that is at least `value`; 1 for anything below."""
    return fit(1 << (int(value) - 1).bit_length()) if value > 1 else 1


def min(*values: Any) -> Any:
    """The smallest; symbolic where a value is."""
    return functools.reduce(torch.sym_min, values)


def max(*values: Any) -> Any:
    """The largest; symbolic where a value is."""
    return functools.reduce(torch.sym_max, values)
