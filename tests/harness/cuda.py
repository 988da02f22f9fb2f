"""What only a GPU can show: streams, graphs, other devices, threads, and more than 2^31 elements."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.harness.contract import Arguments, Contract, Elements, Sample, alike, as_tuple, list_of, wide
from tests.harness.layouts import filled, leaves, make, pinned, recording
from tests.harness.numbers import tolerance

ROOT = Path(__file__).resolve().parents[2]


def _same(first: tuple[torch.Tensor, ...], second: tuple[torch.Tensor, ...]) -> None:
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))


def _on_gpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cuda


MODES = ("side_stream", "second_device", "graph_capture")  # ways to make a call that there are on a GPU alone


def modes(op: Contract) -> tuple[str, ...]:
    """Those that an operator has here. In a graph there is no reading of a size from the kernel, and each replay draws
    numbers of its own: `capture` is about these.
    """
    missing = {"second_device"} if torch.cuda.device_count() < 2 else set()
    missing |= {"graph_capture"} if op.dynamic or op.random else set()
    return tuple(mode for mode in MODES if mode not in missing)


def called(mode: str, given: Arguments, call: Callable[[Arguments], Any]) -> Any:
    """What `call` gives in one of these ways."""
    match mode:
        case "side_stream":
            return _on_side_stream(given, call)
        case "second_device":
            return _on_second_device(given, call)
    return _replayed(given, call)


def _on_side_stream(given: Arguments, call: Callable[[Arguments], Any]) -> Any:
    """Work is queued on the current stream: it sees what was written there before, however long that takes."""
    stale = _stale(given)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(5_000_000)
        _overwrite(stale, given)
        found = call(stale)
    stream.synchronize()
    return found


def _on_second_device(given: Arguments, call: Callable[[Arguments], Any]) -> Any:
    """Tensors on a GPU that is not current: the call runs there, and the current device stays."""
    there = {name: _moved(value, torch.device("cuda:1")) for name, value in given.items()}
    with torch.cuda.device(0):
        results, gradients = call(there)
        assert torch.cuda.current_device() == 0
    assert all(result.device == torch.device("cuda:1") for result in as_tuple(results))
    return results, gradients


def _replayed(given: Arguments, call: Callable[[Arguments], Any]) -> Any:
    """Captured before the inputs are there, and replayed then."""
    stale, graph = _stale(given), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call(stale)
    _overwrite(stale, given)
    graph.replay()
    torch.cuda.synchronize()
    return found


def _stale(given: Arguments) -> Arguments:
    """The same arguments, with zeros in the memory of those on the GPU."""
    found = {name: alike(value) if _on_gpu(value) else value for name, value in given.items()}
    for value in found.values():
        if _on_gpu(value):
            _memory(value).zero_()
    return found


def _overwrite(stale: Arguments, given: Arguments) -> None:
    for name, value in stale.items():
        if _on_gpu(value):
            _memory(value).copy_(_memory(given[name]))


def _memory(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes behind a tensor, whose elements may lie on one another."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _moved(value: Any, device: torch.device) -> Any:
    """What is on a GPU on another one, with its strides."""
    if isinstance(value, torch.device):
        return device
    if not _on_gpu(value):
        return value
    storage = _memory(value).to(device).untyped_storage()
    moved = torch.empty(0, dtype=value.dtype, device=device)
    moved.set_(storage, value.storage_offset(), value.shape, value.stride())
    return moved.requires_grad_(value.requires_grad)


def no_synchronisation(op: Contract, device: str, samples: list[Sample]) -> None:
    """A call returns while the GPU is still busy with what came before, unless it must know a size from the kernel."""
    given = make(op, samples[0], op.choices()[0], device)
    op.call(op.wrapper, given)
    torch.cuda.synchronize()
    torch.cuda._sleep(500_000_000)
    busy = torch.cuda.Event()
    busy.record()
    op.call(op.wrapper, given)
    assert busy.query() == bool(op.dynamic), "the call waited for the GPU" if not op.dynamic else "it did not wait"
    torch.cuda.synchronize()


def fresh_thread(op: Contract, device: str, sample: Sample) -> None:
    """The first CUDA call of a thread may be ours."""
    given = make(op, sample, op.choices()[0], device)
    expected, found = op.results(op.wrapper, given), []
    thread = threading.Thread(target=lambda: found.append(op.results(op.wrapper, given)))
    thread.start()
    thread.join()
    _same(expected, found[0])


def other_device(op: Contract, sample: Sample) -> None:
    """A tensor on another GPU than the rest is an error, and the current device stays."""
    with torch.cuda.device(0):
        here, there = (make(op, sample, op.choices()[0], device) for device in ("cuda:0", "cuda:1"))
        placed = [name for name in op.tensors if name in there and op.place(name, "cuda:1") != "cpu"]
        if len(placed) > 1:
            with pytest.raises(RuntimeError, match="expected device cuda:1"):
                op.call(op.wrapper, {**there, placed[-1]: here[placed[-1]]})
            assert torch.cuda.current_device() == 0


def graph_capture(op: Contract, file: str) -> None:
    """Forward and backward in a CUDA graph; in a new process, so that the first call is inside the capture. Where the
    kernel finds the size of a result, that is an error.
    """
    program = f"from tests.harness import cuda; cuda.capture({file!r})"
    path = [str(ROOT), *(entry for entry in sys.path if entry)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {program}"], capture_output=True, text=True
    )
    if op.dynamic:
        assert "the capture of a CUDA graph cannot wait for it" in done.stderr, done.stderr
    else:
        assert done.returncode == 0, done.stderr


def capture(file: str) -> None:
    """What the new process runs; `file` is a generated test."""
    spec = importlib.util.spec_from_file_location("captured", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    op: Contract = module.OP
    given = make(op, module.SAMPLES[0], op.choices()[0], "cuda")
    given = leaves(given, op.gradients if op.autograd == "declared" else ())
    names = recording(given)

    def step() -> tuple[torch.Tensor, ...]:
        results = op.results(op.wrapper, given, seeded=False)
        if not names:
            return results
        recorded = [result for result in results if result.requires_grad]
        upstream = [result * 2 for result in recorded]
        found = torch.autograd.grad(recorded, [given[name] for name in names], upstream, allow_unused=True)
        return results + as_tuple(found)

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    fresh = make(op, module.SAMPLES[0], op.choices()[0], "cuda", seed=1)
    with torch.no_grad():
        for name, value in given.items():
            if _on_gpu(value):  # what the host has read stays in the graph
                value.copy_(fresh[name])
    graph.replay()
    torch.cuda.synchronize()
    if op.random:  # each replay draws numbers of its own
        first = [result.clone() for result in captured]
        graph.replay()
        torch.cuda.synchronize()
        assert not all(torch.equal(one, other) for one, other in zip(first, captured, strict=True))
    else:
        _same(step(), captured)


PIECE = 1 << 28  # so many elements are compared at a time
SPARE = 10 << 30  # bytes that a test of large tensors leaves to other processes, which begin meanwhile


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time holds much of a GPU's memory, and not all of it."""
    with (Path(tempfile.gettempdir()) / f"tests-of-large-tensors-{os.getuid()}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        torch.cuda.empty_cache()
        _, whole = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + _free()) / whole)
        try:
            yield
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # which hold tensors as long as the failure is known
            raise
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
            torch.cuda.empty_cache()


def _free() -> int:
    """How many bytes of the GPU a test of large tensors may take."""
    return max(0, torch.cuda.mem_get_info()[0] - SPARE)


def beyond_32_bits(op: Contract, device: str, samples: list[Sample], usual: Sample) -> None:
    """More elements than 32 bits count, in the smallest dtype."""
    with _alone():
        near_reference(op, device, samples, usual)


def near_reference(op: Contract, device: str, samples: list[Sample], usual: Sample) -> None:
    """Each sample in the smallest dtype, against the reference in float32 on the same device."""
    summed, independent = summed_dims(op, usual), op.is_elementwise and _is_independent(op, usual)
    for sample in samples:
        # float16 cannot hold large sums.
        choices = [choice for choice in op.choices() if "float16" not in choice] or op.choices()
        dtypes = min(choices, key=lambda choice: sum(op.dtype(name, choice).itemsize for name in op.types))
        tensors = _tensors_of(op, sample)
        shapes = {k: v.shape if isinstance(v, Elements) else v for k, v in tensors.items()}
        needed = sum(_bytes(op.dtype(op.tensors[list_of(k)], dtypes), prod(v), independent) for k, v in shapes.items())
        if _free() < needed:
            pytest.skip(f"needs {needed >> 30} GiB of GPU memory")
        arguments: Arguments = {**op.scalars, **{name: op.dtype(of, dtypes) for name, of in op.dtypes.items()}}
        for name, wanted in tensors.items():
            dtype, place = op.dtype(op.tensors[list_of(name)], dtypes), op.place(name, device)
            high = 2 if dtype == torch.bool else 100
            if isinstance(wanted, Elements):
                arguments[name] = filled(wanted, dtype, torch.Generator(place).manual_seed(0))
            elif list_of(name) in op.among:
                among = torch.tensor(op.among[list_of(name)], dtype=dtype, device=place)
                arguments[name] = among[torch.randint(len(among), wanted, device=place)]
            elif dtype.is_complex:
                arguments[name] = torch.randn(wanted, dtype=dtype, device=place)
            elif dtype.is_floating_point:
                drawn = torch.promote_types(dtype, torch.float16) if dtype.itemsize > 1 else torch.float16
                arguments[name] = torch.randn(wanted, dtype=drawn, device=place).to(dtype)
            else:
                arguments[name] = torch.randint(0, high, wanted, dtype=dtype, device=place)
            if list_of(name) in op.pinned:
                arguments[name] = pinned(arguments[name])
        results = op.results(op.wrapper, arguments)
        rounded = any(isinstance(v, torch.Tensor) and v.is_floating_point() for v in arguments.values())
        given = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
        counts = [terms_behind(dims, given, result) for dims, result in zip(summed, results, strict=True)]
        flat = [result.reshape(-1) for result in results]
        for piece, expected in _expected(op, arguments, device, pieces=independent):
            _all_near([result[piece] for result in flat], expected, counts, rounded)
        del results, flat, arguments, given
        torch.cuda.empty_cache()


def _bytes(dtype: torch.dtype, count: int, independent: bool) -> int:
    """What a comparison needs for so many elements of an input: for them and as many of a result, and for what the
    reference makes of them, in float32 at least and in pieces where elements are `independent`.
    """
    if independent:
        return 2 * dtype.itemsize * count + 8 * dtype.itemsize * min(count, PIECE)
    return 2 * dtype.itemsize * count + max(12 if dtype.itemsize < 4 else 8, 2 * dtype.itemsize) * count


def _all_near(
    results: list[torch.Tensor], expected: tuple[torch.Tensor, ...], counts: list[int], rounded: bool
) -> None:
    for result, wanted, count in zip(results, expected, counts, strict=True):
        _near(result, wanted.reshape(-1), count, rounded)


def _is_independent(op: Contract, sample: Sample) -> bool:
    """Whether the elements of results depend on nothing but those of inputs: not on sizes, as `x / n` does."""
    usual = make(op, sample, op.choices()[0], "cpu")
    if len({value.shape for value in usual.values() if isinstance(value, torch.Tensor)}) != 1:
        return False
    exact = {name: wide(value) for name, value in usual.items()}
    half = {k: v.reshape(-1)[: v.numel() // 2] if isinstance(v, torch.Tensor) else v for k, v in exact.items()}
    results, halves = as_tuple(op.exact(exact, usual)), as_tuple(op.exact(half, usual))
    return all(torch.equal(one.reshape(-1)[: len(other)], other) for one, other in zip(results, halves, strict=True))


def _expected(
    op: Contract, arguments: Arguments, device: str, *, pieces: bool
) -> Iterator[tuple[slice, tuple[torch.Tensor, ...]]]:
    """What the reference gives in float32: of all elements, or in pieces."""
    shapes = {value.shape for value in arguments.values() if isinstance(value, torch.Tensor)}
    step = PIECE if pieces and len(shapes) == 1 else None
    flat = {k: v.reshape(-1) if step and isinstance(v, torch.Tensor) else v for k, v in arguments.items()}
    for start in range(0, prod(next(iter(shapes))), step) if step else (0,):
        piece = slice(start, start + step if step else None)
        part = {k: v[piece] if step and isinstance(v, torch.Tensor) else v for k, v in flat.items()}
        exact = {name: _float32(value, device) for name, value in part.items()}
        yield piece, as_tuple(op.exact(exact, part))


def _float32(value: Any, device: str) -> Any:
    """An argument as the reference takes it: on the GPU, wherever the call has it."""
    if not isinstance(value, torch.Tensor):
        return value
    return (value.float() if value.is_floating_point() and value.itemsize < 4 else value).to(device)


def _tensors_of(op: Contract, sample: Sample) -> dict[str, Any]:
    """What a sample says of each tensor, those of lists by their places."""
    found: dict[str, Any] = {}
    for name, wanted in sample.items():
        found |= {f"{name}[{i}]": one for i, one in enumerate(wanted)} if name in op.lists else {name: wanted}
    return found


def summed_dims(op: Contract, sample: Sample) -> list[set[int]]:
    """For each result the dims, from the last, along which its elements follow from the same element of an input: those
    along which a change of it shows.
    """
    usual = make(op, sample, op.choices()[0], "cpu")
    exact = {name: wide(value) for name, value in usual.items()}
    plainly = as_tuple(op.exact(exact, usual))
    found: list[set[int]] = [set() for _ in plainly]
    for name, value in exact.items():
        if not (isinstance(value, torch.Tensor) and value.is_floating_point()):
            continue
        for place in {0, value.numel() // 2, value.numel() - 1} if value.numel() else ():
            moved = value.clone()
            moved.view(-1)[place] += 1
            changed = as_tuple(op.exact({**exact, name: moved}, usual))
            for dims, one, other in zip(found, plainly, changed, strict=True):
                if value.numel() >= one.numel():  # a smaller input is broadcast, and not summed
                    places = (wide(one) != wide(other)).nonzero()
                    dims |= {k - one.dim() for k in range(one.dim()) if places[:, k].unique().numel() > 1}
    return found


def terms_behind(dims: set[int], given: list[torch.Tensor], result: torch.Tensor) -> int:
    """At most so many elements of an input are in the sums behind an element of a result."""
    together = prod(result.shape[dim] for dim in dims if -dim <= result.dim())
    return together * max(1, max(tensor.numel() for tensor in given) // max(1, result.numel()))


def _near(result: torch.Tensor, expected: torch.Tensor, count: int, rounded: bool) -> None:
    """In pieces, since both are large. Elements are sums of `count` terms; whole numbers that were `rounded` from real
    ones may be neighbours.
    """
    step = PIECE
    if not result.is_floating_point() and not result.is_complex():
        for start in range(0, result.numel(), step):
            found, wanted = result[start : start + step].long(), expected[start : start + step]
            wanted = wanted.long() if wanted.is_floating_point() else wanted.to(result.dtype).long()  # it wraps
            assert ((found - wanted).abs() <= int(rounded)).all(), f"around element {start}"
        return
    allowed = tolerance(result.dtype, count)
    wide = result.dtype if result.dtype.itemsize >= 4 else torch.float32
    for start in range(0, result.numel(), step):
        found, wanted = result[start : start + step].to(wide), expected[start : start + step].to(wide)
        size = wanted.abs()
        scale = size.nan_to_num(0, posinf=0).max()
        near = (found == wanted) | ((found - wanted).abs() <= allowed * (size + scale))
        assert near.all(), f"around element {start}"
