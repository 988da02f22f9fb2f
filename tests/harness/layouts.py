"""Tensors for generated tests: data, and the strides and offsets that it may come with."""

from __future__ import annotations

from math import prod

import torch

from tests.harness.contract import Arguments, Contract, Elements, Sample, Shape, list_of, plain

LAYOUTS = ("contiguous", "transposed", "expanded", "sliced", "packed", "heads", "misaligned", "odd_strides")


def small_enough(samples: list[Sample], layout: str) -> list[Sample]:
    """The samples for one layout: large ones only as they lie in memory anyway."""
    if layout == LAYOUTS[0]:
        return samples
    return [sample for sample in samples if max(map(prod, _shapes(sample)), default=0) < 100_000]


def _shapes(sample: Sample) -> list[Shape]:
    values = [one for value in sample.values() for one in (value if isinstance(value, list) else [value])]
    shapes = [value.shape if isinstance(value, Elements) else value for value in values]
    return [shape for shape in shapes if isinstance(shape, tuple)]


def data(
    shape: Shape, dtype: torch.dtype, device: str, random: torch.Generator, among: tuple[float, ...] = ()
) -> torch.Tensor:
    """A contiguous tensor of random numbers that suit its dtype, or of some that are stated."""
    if among:
        drawn = torch.randint(0, len(among), shape, generator=random)
        return torch.tensor(among, dtype=torch.float64)[drawn].to(dtype).to(device)
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return torch.randn(shape, dtype=wide, generator=random).to(dtype).to(device)
    high = 2 if dtype == torch.bool else 100
    return torch.randint(0, high, shape, generator=random).to(dtype).to(device)


def filled(wanted: Elements, dtype: torch.dtype, random: torch.Generator) -> torch.Tensor:
    """A contiguous tensor of random numbers that `values:` allows, where they are drawn."""
    count, device = prod(wanted.shape), random.device
    if wanted.offsets is not None:
        found = torch.randint(0, wanted.offsets + 1, (count,), generator=random, device=device).sort().values
        found[:1], found[-1:] = 0, wanted.offsets
    elif wanted.total is not None:
        found = _summing(count, wanted.low, wanted.high - 1, wanted.total, random)
    elif wanted.among:
        among = torch.tensor(wanted.among, device=device)
        found = among[torch.randint(0, len(wanted.among), (count,), generator=random, device=device)]
    else:
        found = torch.randint(wanted.low, wanted.high - len(wanted.without), (count,), generator=random, device=device)
        for number in sorted(wanted.without):
            found += found >= number
    if wanted.also:
        also = torch.tensor(wanted.also, dtype=found.dtype, device=device)
        found[2::3] = also[torch.arange(len(found[2::3]), device=device) % len(also)]
    tensor = found.to(dtype).reshape(wanted.shape)
    for column, elements in wanted.columns.items():
        tensor[..., column] = filled(elements, dtype, random)
    return tensor


def _summing(count: int, low: int, high: int, total: int, random: torch.Generator) -> torch.Tensor:
    """Whole numbers from low to high with a total: as even as can be, then moved from one to another at random."""
    share, rest = divmod(total, max(count, 1))
    found = torch.full((count,), share, device=random.device)
    found[:rest] += 1
    order = torch.randperm(min(count, 10_000), generator=random, device=random.device)
    for one, other in zip(order[0::2].tolist(), order[1::2].tolist(), strict=False):
        moved = min(int(found[one]) - low, high - int(found[other]), 3)
        found[one] -= moved
        found[other] += moved
    return found


def arranged(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """A tensor of the same shape in another layout, with the same elements but for `expanded`."""
    shape = tensor.shape
    match layout:
        case "transposed":  # strides grow from first to last
            order = list(reversed(range(tensor.dim())))
            return tensor.permute(order).contiguous().permute(order)
        case "expanded":  # stride 0 in the first dim
            return tensor[:1].expand(shape) if tensor.dim() and shape[0] else tensor
        case "sliced":  # every other element
            if not tensor.dim():
                return tensor
            whole = tensor.new_zeros((*shape[:-1], 2 * shape[-1]))
            whole[..., ::2] = tensor
            return whole[..., ::2]
        case "packed":  # the middle third of wider rows, as in a packed qkv
            if not tensor.dim():
                return tensor
            width = shape[-1]
            whole = tensor.new_zeros((*shape[:-1], 3 * width))
            whole[..., width : 2 * width] = tensor
            return whole[..., width : 2 * width]
        case "heads":  # the same with the other dims in another order, as heads and positions in a packed qkv
            if tensor.dim() < 3:
                return tensor
            order = [*reversed(range(tensor.dim() - 1)), tensor.dim() - 1]
            return arranged(tensor.permute(order), "packed").permute(order)
        case "misaligned":  # contiguous, one element off
            whole = tensor.new_zeros(prod(shape) + 1)
            whole[1:] = tensor.reshape(-1)
            return whole[1:].view(shape)
        case "odd_strides":  # the stride of a dim of size 1 means nothing
            strides = [12345 if size == 1 else stride for size, stride in zip(shape, tensor.stride(), strict=True)]
            return tensor.as_strided(shape, strides)
    return tensor


def make(
    op: Contract,
    sample: Sample,
    dtypes: tuple[str, ...],
    device: str,
    layout: str = "contiguous",
    seed: int = 0,
    absent: tuple[str, ...] = (),
) -> Arguments:
    """The arguments of a call, in their order; None for those that are `absent`."""
    random = torch.Generator().manual_seed(seed)
    dtypes = op.bound(dtypes, absent)
    arguments: Arguments = {}
    for name in op.arguments:
        if name in op.scalars:
            arguments[name] = plain(sample.get(name, op.scalars[name]))
            continue
        if name in op.dtypes:
            arguments[name] = None if name in absent else op.dtype(op.dtypes[name], dtypes)
            continue
        if name in op.devices:
            arguments[name] = torch.device(device)
            continue
        if name in absent:
            arguments[name] = None
            continue
        if name in op.lists:
            for i, shape in enumerate(sample[name]):
                if shape is None:
                    arguments[f"{name}[{i}]"] = None
                    continue
                dtype, place = op.dtype(op.tensors[name], dtypes), op.place(name, device)
                made = data(shape, dtype, place, random, op.among.get(name, ()))
                view = arranged(made, "sliced" if layout == "expanded" and name in op.written else layout)
                refused = "contiguous" in op.words.get(name, ()) and not view.is_contiguous()
                arguments[f"{name}[{i}]"] = made if refused else view
            continue
        wanted, dtype = sample[name], op.dtype(op.tensors[name], dtypes)
        place, steered = op.place(name, device), isinstance(wanted, Elements)
        among = op.among.get(name, ())
        tensor = filled(wanted, dtype, random).to(place) if steered else data(wanted, dtype, place, random, among)
        alike = layout == "expanded" and steered and wanted.depends
        apart = layout == "expanded" and (alike or name in op.written)  # not every element can be written alone
        view = arranged(tensor, "sliced" if apart else layout)
        refused = "contiguous" in op.words.get(name, ()) and not view.is_contiguous()
        arguments[name] = tensor if refused else view
        if place != device and name in op.pinned:
            arguments[name] = pinned(view if is_taken(op, name, view) and not refused else tensor)
    return arguments


_read_by_kernels: list[torch.UntypedStorage] = []


def pinned(tensor: torch.Tensor) -> torch.Tensor:
    """The same in memory of the host that a kernel can read, kept until `release_pinned`."""
    storage = tensor.untyped_storage().pin_memory()
    _read_by_kernels.append(storage)
    return tensor.new_empty(0).set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())


def release_pinned() -> None:
    """Once no kernel reads it: PyTorch gives pinned memory that nobody holds to the next who asks for some."""
    if _read_by_kernels:
        for index in range(torch.cuda.device_count()):
            torch.cuda.synchronize(index)
        _read_by_kernels.clear()


def is_taken(op: Contract, name: str, tensor: torch.Tensor) -> bool:
    """Whether the words after its type let the body of the operator see this tensor without a copy."""
    words = op.words.get(list_of(name), ())
    if "contiguous" in words or "strided" in words:
        return True
    if "rows" in words:
        return tensor.stride(-1) == 1 and _has_view(tensor, (-1, tensor.shape[-1]))
    for count, word in enumerate(("inner", "inner(2)"), 1):
        if word in words:
            return tensor[(0,) * (tensor.dim() - count)].is_contiguous()
    return "expand" in words or tensor.is_contiguous()


def output_strides(op: Contract, name: str, arguments: Arguments, shape: Shape) -> tuple[int, ...] | None:
    """The strides of what was written, or those that the words after an output's type ask for; None where it is
    contiguous.
    """
    if list_of(name) in op.written:
        found: tuple[int, ...] = arguments[name].stride()
        return found
    place = name.removeprefix(list_of(name))  # "[0]" of a tensor of a list
    for word in op.words.get(list_of(name), ()):
        if word == "transposed":
            return torch.empty(*shape[:-2], shape[-1], shape[-2]).mT.stride()
        if word.startswith("like("):
            return torch.empty_like(arguments[word[5:-1] + place]).stride()
    among = [other + place if other + place in arguments else other for other in op.alike.get(list_of(name), ())]
    inputs = [arguments[other] for other in among if arguments[other].shape == shape]
    return torch.empty_like(inputs[0]).stride() if inputs else None


def _has_view(tensor: torch.Tensor, shape: Shape) -> bool:
    try:
        tensor.view(shape)
    except RuntimeError:
        return False
    return True


def leaves(arguments: Arguments, names: tuple[str, ...]) -> Arguments:
    """The same arguments, those named as leaves that require grad, with their strides."""
    return {
        name: value.detach().requires_grad_()
        if (name in names or list_of(name) in names) and value is not None
        else value
        for name, value in arguments.items()
    }


def recording(arguments: Arguments) -> tuple[str, ...]:
    """The arguments that require grad."""
    return tuple(name for name, value in arguments.items() if isinstance(value, torch.Tensor) and value.requires_grad)
