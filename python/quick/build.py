"""Fills a folder with a package: generated Python files and the library, compiled side by side as far as that goes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from . import generator
from .device import Device
from .generator import Generated
from .host import Host, cpu_units, processors, wait

_SUFFIXES = {"cpu": "c", "cuda": "cu"}
_NO_IMAGE = bytes(16)


def build(
    folder: Path,
    spec: str,
    namespace: str | None,
    bodies: Mapping[str, Mapping[str, str]],
    host: Host,
    gpu: Device | None,
) -> None:
    """Leaves the package, the generated C, the bodies, and the namespace in a file of that name."""
    made = generator.generate(spec, namespace, bodies)
    for path, data in made.files.items():
        place = folder / path if path.startswith(f"{made.namespace}/") else folder / "generated" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    for part in ("csrc", "units"):
        (folder / part).mkdir()
    for device, texts in made.bodies.items():
        for name, text in texts.items():
            (folder / f"csrc/{name}.{_SUFFIXES[device]}").write_text(f"{text}\n", errors="surrogatepass")
    (folder / "namespace").write_text(made.namespace)
    with ThreadPoolExecutor(processors() + 1) as pool:
        images: list[Future[None]] = []
        objects: list[Future[None]] = []
        try:
            for op, unit in _cuda_units(made):
                images.append(pool.submit(_write_image, op, unit, made, folder, gpu))
            for source, what, flags in _host_units(made, folder, host):
                output = f"units/{Path(source).stem}.o"
                objects.append(pool.submit(host.compile, source, output, folder, what, flags))
            wait(images)
            _embed(made, folder, host)
            wait(objects)
        finally:
            for future in (*images, *objects):
                future.cancel()
    host.link(f"{made.namespace}/{made.namespace}.so", sorted(map(str, folder.glob("units/*.o"))), folder)
    shutil.rmtree(folder / "units")


def _host_units(made: Generated, folder: Path, host: Host) -> Iterator[tuple[str, str, list[str]]]:
    """The source of each unit, what it is, and the flags that only it needs."""
    for op in made.operators:
        for unit, text in cpu_units(op, host.level) if op.cpu else ():
            (folder / f"units/{unit}.cpu.c").write_text(text)
            yield f"units/{unit}.cpu.c", f"the cpu body of {op.name}", host.body_flags
        yield f"generated/c/{op.name}.c", f"the host function of {op.name}", []
    yield "generated/c/library.c", "the registration", []


def _cuda_units(made: Generated) -> Iterator[tuple[str, str]]:
    """Operators and the numbers of the units that their kernels are compiled in."""
    for op in made.operators:
        source = made.files.get(f"cuda/{op.name}.cu", b"").decode()
        for unit in re.findall(r"^#if CUDA_UNIT == (\d+)$", source, re.MULTILINE):
            yield op.name, unit


def _write_image(op: str, unit: str, made: Generated, folder: Path, gpu: Device | None) -> None:
    flags = next(one.cuda_flags for one in made.operators if one.name == op).split()
    image = gpu.image(op, unit, folder, flags) if gpu else b""
    (folder / f"units/{op}_{unit}.image").write_bytes(image or _NO_IMAGE)


def _embed(made: Generated, folder: Path, host: Host) -> None:
    """An object that holds the images, under the names that host functions know."""
    lines = ["/* Images for the GPU. */"]
    for op, unit in _cuda_units(made):
        symbol = f"{op}_fatbin_{unit}"
        lines += [
            f"extern const unsigned char {symbol}[];",
            f'__asm__(".section .rodata\\n.balign 16\\n.globl {symbol}\\n.hidden {symbol}\\n"',
            f'        ".type {symbol}, %object\\n{symbol}:\\n.incbin \\"units/{op}_{unit}.image\\"\\n"',
            f'        ".size {symbol}, . - {symbol}\\n.previous\\n");',
        ]
    (folder / "units/images.c").write_text("\n".join([*lines, "typedef int images;", ""]))
    host.compile("units/images.c", "units/images.o", folder, "what holds the images")
