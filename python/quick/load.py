"""`load`: from strings to operators."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from types import ModuleType

from . import cache, device, process, sources
from .build import build
from .failure import QuickError
from .host import Host

Bodies = str | Mapping[str, str] | None

_lock = threading.RLock()


def load(
    spec: str,
    cpu: Bodies = None,
    cuda: Bodies = None,
    *,
    namespace: str | None = None,
    arch: str | None = None,
    compiler: str | None = None,
) -> ModuleType:
    """Builds the operators of `spec`, registers them with PyTorch, and returns the package of their functions.

    Args:
        spec: entries of ops.yaml, or all of one.
        cpu: the text of the body in C; of several operators with bodies, a text for each of their names. An operator
            with `elementwise:` has none. What an operator has a body for is what it runs on.
        cuda: the same in CUDA C++.
        namespace: of torch.ops; without it that of the spec, or `quick_` and the name of the first operator. A later
            call with the same namespace replaces the operators.
        arch: compute capability to compile `cuda` for, "9.0"; without it that of the GPUs here. Without a GPU the
            `cuda` part waits for a machine with one.
        compiler: "nvrtc" or "nvcc"; without it the first of them that is here.

    Raises:
        QuickError: with the cause and what to do. Operators of earlier calls stay as they are.
    """
    with _lock:
        bodies = {"cpu": _bodies("cpu", cpu, spec), "cuda": _bodies("cuda", cuda, spec)}
        gpu, missing = _device(spec, bodies, arch, compiler)
        host = Host(gpu)
        key = _key(spec, namespace, bodies, host.identity, gpu.identity if gpu else missing)
        folder = cache.find(key)
        if folder is None:
            folder = cache.make(key, lambda staging: build(staging, spec, namespace, bodies, host, gpu, missing))
        name = (folder / "namespace").read_text(encoding="utf-8")
        return process.registered(name, folder) or process.register(name, folder)


def _bodies(device: str, given: Bodies, spec: str) -> Mapping[str, str]:
    if not isinstance(spec, str):
        raise QuickError(f"spec: expected the text of a spec, got {type(spec).__name__}")
    if given is None:
        return {}
    if isinstance(given, str):
        return {"": given}
    texts = dict(given) if isinstance(given, Mapping) else {}
    if not texts or not all(isinstance(item, str) for pair in texts.items() for item in pair):
        raise QuickError(f"{device}: expected the text of a body, or a text for each operator, got {given!r}")
    return texts


def _device(
    spec: str, bodies: Mapping[str, Mapping[str, str]], arch: str | None, compiler: str | None
) -> tuple[device.Device | None, str]:
    """The compiler of the GPU part; none where no operator can have one, or without a GPU that it is for. Also what to
    say where an operator turns out to need it, and only the compiler is missing.
    """
    if not bodies["cuda"] and "elementwise" not in spec:
        return None, ""
    archs = device.architectures(arch)
    if not archs and bodies["cuda"] and not bodies["cpu"] and "elementwise" not in spec:
        raise QuickError('there is no GPU here, and no cpu body: pass arch="9.0", say, to compile for another machine')
    found = device.find(archs, compiler) if archs else None
    if archs and found is None:
        remedy = "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime, set CUDA_HOME"
        return None, f"there is neither NVRTC nor nvcc here: {remedy}, or say devices: [cpu] and pass no cuda="
    return found, ""


def _key(*parts: object) -> str:
    return hashlib.sha256(repr((sources.digest(), parts)).encode("utf-8", "surrogatepass")).hexdigest()
