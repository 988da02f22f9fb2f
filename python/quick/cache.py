"""Folders of built files, one for each key, in the user's cache.

Safe with several processes at once, and after a process was killed at any moment: a folder is filled elsewhere and then
renamed, whole, to its place. A lock only keeps two processes from doing the same work. Each folder has a list with the
digests of its files, and is believed only when they agree: a damaged one is made again. Where the cache cannot be
written, folders are made in a temporary one, which goes when the process ends.

    <cache>/built/<key>/    SUMS and what was built
    <cache>/staging/        what is not whole yet, or no longer wanted
    <cache>/locks/
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from .failure import QuickError

VARIABLE = "MY_OPS_QUICK_CACHE"
_SUMS = "SUMS"
_PATIENCE = 60.0  # seconds to wait for another process, which may have been stopped
_UNUSED = 30 * 86400.0  # seconds after which a folder that nobody asked for is removed
_YOUNG = 60.0  # seconds in which a folder that is being filled may not be locked yet

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)

_temporary: list[Path] = []
_lock = threading.Lock()
_swept: set[Path] = set()


def cache_folder() -> Path:
    """Where the cache is."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(home) if os.path.isabs(home) else Path("~/.cache").expanduser()) / "my_ops" / "quick"


def find(key: str) -> Path | None:
    """The folder of a key, where it is there and whole."""
    for cache in (cache_folder(), *_temporary):
        place = cache / "built" / key
        if _is_whole(place):
            with contextlib.suppress(OSError):  # of a cache that may only be read
                os.utime(place)
            return place
    return None


def make(key: str, fill: Callable[[Path], None]) -> Path:
    """The folder of a key; where there is none, `fill` fills an empty one. What `fill` raises leaves no trace."""
    cache = cache_folder()
    try:
        return _make(cache, key, fill)
    except OSError as error:
        reason = f"{error.strerror or error}"
        with _lock:
            if not _temporary:
                _temporary.append(_make_temporary(cache, reason))
        try:
            return _make(_temporary[0], key, fill)
        except OSError as other:
            raise QuickError(
                f"{_temporary[0]} cannot be written ({other.strerror or other}), nor can {cache} ({reason}): "
                f"free space, or set {VARIABLE} and TMPDIR to folders that can"
            ) from None


def _make_temporary(cache: Path, reason: str) -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix="my_ops-quick-"))
    except OSError as error:
        raise QuickError(
            f"neither {cache} ({reason}) nor a temporary folder ({error.strerror or error}) can be written: "
            f"free space, or set {VARIABLE} to a folder that can"
        ) from None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    text = f"{cache} cannot be written ({reason}): what is built is kept for this process only"
    warnings.warn(f"{text}; free space, or set {VARIABLE} to a folder that can", stacklevel=4)
    return folder


def _make(cache: Path, key: str, fill: Callable[[Path], None]) -> Path:
    place = cache / "built" / key
    for folder in (cache, cache / "built", cache / "staging", cache / "locks"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(cache / "locks" / key[:9]):
        if _is_whole(place):  # another process has made it meanwhile
            return place
        if cache not in _swept:  # once in a process
            _swept.add(cache)
            _remove_left(cache)
        with _staging(cache) as staging:
            _fill(staging, fill)
            _write_sums(staging)
            _discard(cache, place)
            try:
                staging.rename(place)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY) or not _is_whole(place):
                    raise
    return place


def _fill(staging: Path, fill: Callable[[Path], None]) -> None:
    """OSError is for what cannot be written here; what is missing elsewhere helps no other folder."""
    try:
        fill(staging)
    except OSError as error:
        if error.errno in _FULL or str(error.filename or "").startswith(str(staging)):
            raise
        raise QuickError(f"{error}: what is built needs it") from error


def _is_whole(place: Path) -> bool:
    try:
        text = (place / _SUMS).read_bytes()
        own, _, rest = text.partition(b"\n")
        if own.decode() != hashlib.sha256(rest).hexdigest():
            return False
        for line in rest.decode().splitlines():
            digest, _, name = line.partition("  ")
            if hashlib.sha256((place / name).read_bytes()).hexdigest() != digest:
                return False
    except (OSError, ValueError):
        return False
    return True


def _write_sums(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    rest = "".join(lines).encode()
    (folder / _SUMS).write_bytes(hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest)


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Waits while another process does the same. The lock ends with its process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # some network filesystems know no locks
                break
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _staging(cache: Path) -> Iterator[Path]:
    """An empty folder, removed unless it was renamed. The lock on it says that its process is alive."""
    staging = Path(tempfile.mkdtemp(dir=cache / "staging"))
    handle = os.open(staging, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield staging
    finally:
        os.close(handle)
        shutil.rmtree(staging, ignore_errors=True)


def _discard(cache: Path, place: Path) -> None:
    """Removes a folder from its place at once; its files go after that."""
    if place.is_dir():
        with contextlib.suppress(OSError):
            away = Path(tempfile.mkdtemp(dir=cache / "staging"))
            place.rename(away)
            shutil.rmtree(away, ignore_errors=True)


def _remove_left(cache: Path) -> None:
    """What killed processes have left, and what has not been asked for in a long time."""
    with contextlib.suppress(OSError):
        for place in (cache / "built").iterdir():
            if time.time() - place.stat().st_mtime > _UNUSED:
                _discard(cache, place)
    with contextlib.suppress(OSError):
        for left in (cache / "staging").iterdir():
            if time.time() - left.stat().st_mtime < _YOUNG:
                continue
            with contextlib.suppress(OSError):
                handle = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(left, ignore_errors=True)
                finally:
                    os.close(handle)
