"""Specs of any number of operators, made of renamed copies of the operators of ops.yaml and their bodies."""

import re
from pathlib import Path

ENTRY = re.compile(r"^  (\w+):\s*$", re.MULTILINE)


def grow(tree: Path, count: int) -> int:
    """Puts `count` operators in the place of those in the tree's ops.yaml and csrc/, and returns how many there are:
    whole sets are copied, `rms_norm_0`, `rms_norm_backward_0`, `rms_norm_1`, ..., so that every `backward:` names an
    operator of its own set."""
    text = (tree / "ops.yaml").read_text()
    head, body = re.split(r"^ops:\s*$", text, maxsplit=1, flags=re.MULTILINE)
    names = ENTRY.findall(body)
    words = {*names, *re.findall(r"\bkernel: *(\w+)", body)}
    known = re.compile(r"\b(?:" + "|".join(sorted(words, key=len, reverse=True)) + r")\b")
    sets = -(-count // len(names))

    def renamed(source: str, copy: int) -> str:
        return known.sub(lambda name: _numbered(name[0], copy), source)

    (tree / "ops.yaml").write_text(f"{head}ops:" + "".join(renamed(body, copy) for copy in range(sets)))
    for name in names:
        for original in (tree / "csrc").glob(f"{name}.*"):
            source = original.read_text()
            for copy in range(sets):
                original.with_name(_numbered(name, copy) + original.suffix).write_text(renamed(source, copy))
            original.unlink()
    return sets * len(names)


def _numbered(name: str, copy: int) -> str:
    """`rms_norm_0`; `fill_0_` of `fill_`, which writes in place."""
    stem = name.rstrip("_")
    return f"{stem}_{copy}{name[len(stem) :]}"
