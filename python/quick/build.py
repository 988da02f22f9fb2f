"""Fills a folder with a package: generated Python files and the library, compiled side by side as far as that goes."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from . import cache, generator, programs, sources
from .device import Device
from .failure import QuickError
from .generator import Generated
from .host import Host, cpu_units, processors

if TYPE_CHECKING:
    from codegen.lower.c.files import BuildOperator

_SUFFIXES = {"cpu": "c", "cuda": "cu"}
_NO_IMAGE = bytes(16)


def build(
    folder: Path,
    spec: str,
    namespace: str | None,
    bodies: Mapping[str, Mapping[str, str]],
    host: Host,
    gpu: Device | None,
    missing: str,
) -> None:
    """Leaves the package, the generated C, the bodies, and the namespace in a file of that name. `missing`: the error
    where an operator has a GPU part and there is a GPU, but no compiler for it.
    """
    made = generator.generate(spec, namespace, bodies)
    if missing and any(op.cuda for op in made.operators):
        raise QuickError(missing)
    for path, data in made.files.items():
        place = folder / path if path.startswith(f"{made.namespace}/") else folder / "generated" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    for part in ("csrc", "units"):
        (folder / part).mkdir()
    for device, texts in made.bodies.items():
        for name, text in texts.items():
            (folder / f"csrc/{name}.{_SUFFIXES[device]}").write_text(
                f"{text}\n", errors="surrogatepass", encoding="utf-8"
            )
    (folder / "namespace").write_text(made.namespace, encoding="utf-8")
    units = Units(made, folder, host, gpu)
    with ThreadPoolExecutor(processors() + 1) as pool:
        images: dict[str, Future[Path]] = {}
        objects: list[Future[Path]] = []
        try:
            for op, unit in _cuda_units(made) if gpu else ():
                images[f"{op.name}_fatbin_{unit}"] = pool.submit(units.image, op, unit)
            for op in made.operators:
                for name, text in cpu_units(op, host.level) if op.cpu else ():
                    objects.append(pool.submit(units.cpu, op.name, name, text))
                objects.append(pool.submit(units.host, op.name, f"the host function of {op.name}"))
            objects.append(pool.submit(units.host, "library", "the registration"))
            _embed(made, {symbol: image.result() for symbol, image in images.items()}, folder, host)
            compiled = [str(future.result()) for future in objects]
        finally:
            for future in (*images.values(), *objects):
                future.cancel()
    host.link(f"{made.namespace}/{made.namespace}.so", [*compiled, "images.o"], folder)
    (folder / "images.o").unlink()
    shutil.rmtree(folder / "units")


class Units:
    """What is compiled by itself and kept by itself in the cache: an edit of one body leaves the others."""

    def __init__(self, made: Generated, folder: Path, host: Host, gpu: Device | None) -> None:
        self.made, self.folder, self.compiler, self.gpu = made, folder, host, gpu
        self.headers = {path: data for path, data in made.files.items() if path.endswith((".h", ".cuh"))}

    def host(self, name: str, what: str) -> Path:
        """A generated C file."""
        source = f"generated/c/{name}.c"
        parts = (self.made.files[f"c/{name}.c"], self.compiler.identity)
        return self._once(parts, "unit.o", lambda path: self.compiler.compile(source, str(path), self.folder, what))

    def cpu(self, op: str, name: str, text: str) -> Path:
        """A CPU body for one choice of dtypes."""
        (self.folder / f"units/{name}.c").write_text(text, encoding="utf-8")
        parts = (text, self.made.files[f"c/{op}.cpu.c"], self._body("cpu", op), self.compiler.identity)
        what, flags = f"the cpu body of {op}", self.compiler.body_flags
        source = f"units/{name}.c"
        return self._once(
            parts, "unit.o", lambda path: self.compiler.compile(source, str(path), self.folder, what, flags)
        )

    def image(self, op: BuildOperator, unit: str) -> Path:
        """Kernels of the GPU part."""
        gpu = self.gpu
        assert gpu is not None
        parts = (unit, op.cuda_flags, self.made.files[f"cuda/{op.name}.cu"], self._body("cuda", op.name), gpu.identity)

        def write(path: Path) -> None:
            path.write_bytes(gpu.image(op.name, unit, self.folder, op.cuda_flags.split()) or _NO_IMAGE)

        return self._once(parts, "image", write)

    def _body(self, device: str, op: str) -> tuple[str, ...]:
        """Its text; those of all, where it includes one of them."""
        texts = self.made.bodies[device]
        text = texts.get(op, "")
        return (text, *texts.values()) if re.search(r'#\s*include\s*"[^"]*\.cu?"', text) else (text,)

    def _once(self, parts: object, name: str, make: Callable[[Path], None]) -> Path:
        key = hashlib.sha256(repr((sources.digest(), parts, self.headers)).encode("utf-8", "surrogatepass")).hexdigest()
        place = cache.find(f"unit-{key}") or cache.make(f"unit-{key}", lambda folder: make(folder / name))
        return place / name


def _cuda_units(made: Generated) -> Iterator[tuple[BuildOperator, str]]:
    """Operators and the numbers of the units that their kernels are compiled in."""
    for op in made.operators:
        source = made.files.get(f"cuda/{op.name}.cu", b"").decode()
        for unit in re.findall(r"^#if CUDA_UNIT == (\d+)$", source, re.MULTILINE):
            yield op, unit


def _embed(made: Generated, images: Mapping[str, Path], folder: Path, host: Host) -> None:
    """An object that holds the images, under the names that host functions know."""
    lines = []
    for op, unit in _cuda_units(made):
        symbol = f"{op.name}_fatbin_{unit}"
        image = images.get(symbol)
        content = f'.incbin "{_escaped(image)}"' if image else f".zero {len(_NO_IMAGE)}"
        lines += [".section .rodata", ".balign 16", f".globl {symbol}", f".hidden {symbol}", f".type {symbol}, %object"]
        lines += [f"{symbol}:", content, f".size {symbol}, . - {symbol}"]
    lines.append('.section .note.GNU-stack,"",%progbits')
    (folder / "images.s").write_text("\n".join([*lines, ""]), encoding="utf-8")
    programs.run([*host.command, "-c", "images.s", "-o", "images.o"], folder, "what holds the images")
    (folder / "images.s").unlink()


def _escaped(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')
