"""How large a wheel is, and what its largest parts are.

Fatbins are found in the library by their head, and their parts by theirs: code for one GPU, or PTX. Which operator a
fatbin belongs to stands in the table of symbols, which wheels do not have: it is read from the library as it was
linked, where the build folder of that wheel is still there.
"""

from __future__ import annotations

import re
import struct
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FATBIN = b"\x50\xed\x55\xba"
_PTX = 1


def report(wheel: Path) -> str:
    """A table of bytes."""
    with zipfile.ZipFile(wheel) as packed:
        sizes = {one.filename: one.file_size for one in packed.infolist()}
        (name,) = (name for name in sizes if re.fullmatch(r"(\w+)/\1\.so", name))
        data = packed.read(name)
        compressed = packed.getinfo(name).compress_size
    gpu: Counter[str] = Counter()
    for part, size in parts(data):
        gpu[part] += size
    rows = [(wheel.name, wheel.stat().st_size), (f"  {name}, compressed", compressed), (f"  {name}", len(data))]
    rows += [(f"    {part}", size) for part, size in gpu.most_common()]
    rows.append(("    CPU: host functions and bodies", len(data) - gpu.total()))
    rows.append(("  other files", sum(sizes.values()) - len(data)))
    linked = _as_linked(name, data)
    if linked:
        operators = _operators(linked)
        rows.append(("GPU code, of it for", sum(operators.values())))
        rows += [(f"  {op}", size) for op, size in operators.most_common(8)]
    return "\n".join(f"{size / 1e6:8.2f} MB  {text}" for text, size in rows)


def parts(data: bytes) -> Iterator[tuple[str, int]]:
    """Every part of every fatbin, in order."""
    position = data.find(_FATBIN)
    while position >= 0:
        _, _, head, size = struct.unpack_from("<IHHQ", data, position)
        part, end = position + head, position + head + size
        while part < end:
            kind, _, head, size = struct.unpack_from("<HHIQ", data, part)
            (arch,) = struct.unpack_from("<I", data, part + 28)
            yield f"{'PTX of' if kind == _PTX else 'code for'} sm_{arch}", head + size
            part += head + size
        position = data.find(_FATBIN, end)


def _as_linked(name: str, data: bytes) -> Path | None:
    """The library in the build folder, if it is the one that the wheel has."""
    for path in (ROOT / "build").glob(f"wheel/source/*/build/temp*/**/{Path(name).name}"):
        if path.read_bytes()[4096 : len(data) // 2] == data[4096 : len(data) // 2]:
            return path
    return None


def _operators(library: Path) -> Counter[str]:
    """Bytes of fatbins of each operator."""
    sizes: Counter[str] = Counter()
    for line in subprocess.run(["nm", "-S", library], capture_output=True, text=True, check=True).stdout.splitlines():
        found = re.fullmatch(r"\w+ (\w+) \w (\w+?)_(?:fatbin_\d+|_triton_images)", line)
        if found:
            sizes[found[2]] += int(found[1], 16)
    return sizes
