"""Puts generated files where they belong, or says how they differ from what is there.

Rules: a file that does not change is not touched; files of earlier runs that are no longer made are removed;
SHA256SUMS is written last, so that a build can tell a whole tree from a broken one. Everything is staged in a folder
beside the output first, so a full disk or a wrong permission changes nothing. A run that is killed while files move
into place leaves its list behind: the next run makes the tree whole. Two runs at once wait for
each other.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from codegen.frozen import cached_property, dataclass

SUMS = "SHA256SUMS"
_MAX_DIFF_LINES = 400


@dataclass(frozen=True)
class Tree:
    """Where generated files go: below `output`; those whose path starts with a prefix of `folders` below that folder;
    those in `single` to just that place. `spec` is the file whose checksum is kept with theirs. Paths in SHA256SUMS
    count from `root`.
    """

    root: Path
    output: Path
    spec: Path
    folders: Mapping[str, Path] = field(default_factory=dict)  # prefix, with its slash -> folder
    single: Mapping[str, Path] = field(default_factory=dict)  # path -> place

    @cached_property
    def _folders(self) -> tuple[tuple[str, str, str], ...]:
        """Each prefix, its folder on disk and in SHA256SUMS; `output` comes last."""
        folders = (*self.folders.items(), ("", self.output))
        return tuple((prefix, str(folder), self.listed_as(folder)) for prefix, folder in folders)

    def _split(self, path: str) -> tuple[str, str, str]:
        """The folder that the file `path` is below, on disk and in SHA256SUMS, and the rest of the path."""
        for prefix, folder, listed in self._folders:
            if path.startswith(prefix):
                return folder, listed, path[len(prefix) :]
        raise ValueError(path)

    def folder(self, path: str) -> Path:
        """The folder that the file `path` is below, and which holds generated files only."""
        return Path(self._split(path)[0])

    def place(self, path: str) -> str:
        """Where the file `path` is on disk."""
        if path in self.single:
            return str(self.single[path])
        folder, _, rest = self._split(path)
        return os.path.join(folder, rest)

    def listed(self, path: str) -> str:
        """The file `path` as SHA256SUMS has it."""
        if path in self.single:
            return self.listed_as(self.single[path])
        _, listed, rest = self._split(path)
        return rest if listed == "." else f"{listed}/{rest}"

    def listed_as(self, place: Path) -> str:
        """A place on disk as SHA256SUMS has it."""
        return Path(os.path.relpath(place, self.root)).as_posix()

    def path_of(self, listed: str) -> str:
        """The path of a file that SHA256SUMS lists, or "" for anything outside the folders: a damaged list must not
        remove other files.
        """
        for prefix, _, folder in self._folders:
            path = listed.removeprefix(folder + "/")
            if path not in (listed, "") and ".." not in path.split("/") and not path.startswith("/"):
                return prefix + path
        return ""

    @property
    def staging(self) -> Path:
        """Where files wait until all of them are there."""
        return self.output.parent / f".{self.output.name}.staging"


@dataclass(frozen=True)
class Written:
    """What a run did, in numbers of files."""

    written: int
    removed: int
    unchanged: int


def write(tree: Tree, files: Mapping[str, bytes], spec: bytes) -> Written:
    """Makes the tree hold exactly `files`. Raises OSError, with nothing changed, when that cannot be."""
    wanted = with_sums(tree, files, spec)
    tree.output.mkdir(parents=True, exist_ok=True)
    with _locked(tree.output):
        # Looking at what is there fails, as it should, where a folder stands in the place of a file.
        changed = {path: data for path, data in wanted.items() if _read(tree.place(path)) != data}
        orphans = _orphans(tree, wanted)
        if changed or orphans or tree.staging.exists():
            _replace(tree, changed, orphans)
    return Written(len(changed), len(orphans), len(wanted) - len(changed))


def changes(tree: Tree, files: Mapping[str, bytes], spec: bytes) -> dict[str, bytes | None]:
    """The files that a run would change, SHA256SUMS last, with what they would be; None for those that would go."""
    wanted: dict[str, bytes | None] = dict(with_sums(tree, files, spec))
    wanted.update(dict.fromkeys(_orphans(tree, wanted)))
    ordered = sorted(wanted, key=lambda path: (path == SUMS, path))
    return {path: wanted[path] for path in ordered if _read(tree.place(path)) != wanted[path]}


def difference(tree: Tree, files: Mapping[str, bytes], spec: bytes) -> str:
    """The unified diff from what is there to what `files` would make of it; "" when nothing would change."""
    lines: list[str] = []
    for path, new in changes(tree, files, spec).items():
        lines += _diff(tree.listed(path), _read(tree.place(path)), new)
    if len(lines) > _MAX_DIFF_LINES:
        lines = [*lines[:_MAX_DIFF_LINES], f"... {len(lines) - _MAX_DIFF_LINES} more lines of difference\n"]
    return "".join(lines)


def with_sums(tree: Tree, files: Mapping[str, bytes], spec: bytes) -> dict[str, bytes]:
    """`files` and their SHA256SUMS, in the format of `sha256sum -c`, sorted by path."""
    sums = {tree.listed(path): hashlib.sha256(data).hexdigest() for path, data in files.items()}
    sums[tree.listed_as(tree.spec)] = hashlib.sha256(spec).hexdigest()
    text = "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))
    return {**files, SUMS: text.encode()}


def _diff(path: str, old: bytes | None, new: bytes | None) -> Iterator[str]:
    before, after = _lines(old), _lines(new)
    names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
    for line in difflib.unified_diff(before, after, *names):
        yield line if line.endswith("\n") else line + "\n"


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode(errors="replace").splitlines(keepends=True)


def _read(path: str | Path) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None


def _orphans(tree: Tree, wanted: Mapping[str, bytes | None]) -> list[str]:
    """Files that an earlier run made, finished or killed, and this one does not."""
    found: set[str] = set()
    for listing in (tree.output / SUMS, tree.staging / SUMS):
        for line in (_read(listing) or b"").decode(errors="replace").splitlines():
            path = tree.path_of(line[66:])
            if path and path not in wanted and os.path.isfile(tree.place(path)):
                found.add(path)
    return sorted(found)


def _replace(tree: Tree, changed: Mapping[str, bytes], orphans: list[str]) -> None:
    staging = tree.staging
    shutil.rmtree(staging, ignore_errors=True)
    staging.mkdir()
    try:
        places = {path: tree.place(path) for path in changed}
        for folder in {os.path.dirname(path) for path in changed}:
            (staging / folder).mkdir(parents=True, exist_ok=True)
        for folder in {os.path.dirname(place) for place in places.values()}:
            _can_write(Path(folder))
        for path, data in changed.items():
            (staging / path).write_bytes(data)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    for path in changed:
        if path != SUMS:
            os.replace(os.path.join(staging, path), places[path])
    for path in orphans:
        place = Path(tree.place(path))
        place.unlink(missing_ok=True)
        _remove_empty(tree.folder(path), place.parent)
    if SUMS in changed:
        os.replace(staging / SUMS, tree.output / SUMS)
    shutil.rmtree(staging)


def _can_write(folder: Path) -> None:
    """Sees to it that files can be moved to `folder`, before any is."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _remove_empty(output: Path, folder: Path) -> None:
    while folder != output:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Waits until no other run writes to `folder`. The lock is on the folder itself: it ends with the process and
    leaves no file.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Some network filesystems know no locks; there, two runs at once are the user's affair.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
