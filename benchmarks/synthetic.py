"""Other specs in a copy of the tree: some of the operators of ops.yaml, or any number of renamed copies of them."""

import re
from pathlib import Path

ENTRY = re.compile(r"^  (\w+):\s*$", re.MULTILINE)


def keep(tree: Path, names: tuple[str, ...]) -> None:
    """Leaves only these operators in the tree's ops.yaml and csrc/."""
    head, body = _parts(tree)
    before, *entries = re.split(r"^(?=  \w+:\s*$)", body, flags=re.MULTILINE)
    found = {ENTRY.findall(entry)[0]: entry for entry in entries}
    (tree / "ops.yaml").write_text(f"{head}ops:{before}" + "".join(found[name] for name in names))
    for name in found.keys() - set(names):
        for body_file in (tree / "csrc").glob(f"{name}.*"):
            body_file.unlink()


def grow(tree: Path, count: int) -> int:
    """Puts `count` operators in the place of those in the tree's ops.yaml and csrc/, and returns how many there are:
    whole sets are copied, `rms_norm_0`, `rms_norm_backward_0`, `rms_norm_1`, ..., so that every `backward:` names an
    operator of its own set."""
    head, body = _parts(tree)
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


def _parts(tree: Path) -> tuple[str, str]:
    """What stands before `ops:`, and the entries behind it."""
    head, body = re.split(r"^ops:\s*$", (tree / "ops.yaml").read_text(), maxsplit=1, flags=re.MULTILINE)
    return head, body


def _numbered(name: str, copy: int) -> str:
    """`rms_norm_0`; `fill_0_` of `fill_`, which writes in place."""
    stem = name.rstrip("_")
    return f"{stem}_{copy}{name[len(stem) :]}"
