"""What may happen to a cache: several processes, one that is killed, damage, a full disk, no permission."""

from __future__ import annotations

import errno
import os
import signal
import time
import warnings
from pathlib import Path

import pytest

from my_ops.quick import cache
from my_ops.quick.failure import QuickError


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache for each test."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_temporary", [])
    monkeypatch.setattr(cache, "_swept", set())
    return tmp_path / "cache"


def fill(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner/file").write_text("text")


def test_made_once(own: Path) -> None:
    made = cache.make("key", fill)
    assert made == own / "built/key" == cache.find("key")
    assert cache.find("other") is None
    assert cache.make("key", lambda _: pytest.fail("made again")) == made
    assert list((own / "staging").iterdir()) == []
    assert own.stat().st_mode & 0o077 == 0


def test_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.cache_folder() == Path("/somewhere/my_ops/quick")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # to be ignored, says its standard
    monkeypatch.setenv("HOME", "/home/me")
    assert cache.cache_folder() == Path("/home/me/.cache/my_ops/quick")


@pytest.mark.parametrize("damage", ["changed", "cut", "removed", "no list", "short list", "empty list", "a file"])
def test_damaged(own: Path, damage: str) -> None:
    """It is not believed, and made again."""
    file, sums = own / "built/key/inner/file", own / "built/key/SUMS"
    cache.make("key", fill)
    match damage:
        case "changed":
            file.write_text("tect")
        case "cut":
            file.write_text("")
        case "removed":
            file.unlink()
        case "no list":
            sums.unlink()
        case "short list":
            sums.write_text(sums.read_text()[:-10])
        case "empty list":
            sums.write_text("")
        case "a file":
            file.unlink()
            file.mkdir()
    assert cache.find("key") is None
    cache.make("key", fill)
    assert cache.find("key") is not None
    assert file.read_text() == "text"
    assert list((own / "staging").iterdir()) == []


def test_failure_leaves_nothing(own: Path) -> None:
    def half(folder: Path) -> None:
        fill(folder)
        raise QuickError("no")

    with pytest.raises(QuickError, match="no"):
        cache.make("key", half)
    assert cache.find("key") is None
    assert list((own / "staging").iterdir()) == []


def test_missing_elsewhere(own: Path, tmp_path: Path) -> None:
    """A file that the build reads is missing: the cache is not what is wrong, and no other folder is tried."""
    tries = []

    def reads(folder: Path) -> None:
        tries.append(folder)
        (tmp_path / "header.h").read_bytes()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(QuickError, match=r"No such file .*header\.h.*what is built needs it"):
            cache.make("key", reads)
    assert len(tries) == 1
    assert list((own / "staging").iterdir()) == []


def in_child(key: str, work: object) -> int:
    """A process that makes `key`; its exit code says whether it did."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            cache.make(key, work)  # type: ignore[arg-type]
            code = 0
        finally:
            os._exit(code)
    return child


def test_several_processes(own: Path) -> None:
    """They wait for the one that makes it."""

    def slowly(folder: Path) -> None:
        time.sleep(0.1)
        (own / f"made-{os.getpid()}").touch()
        fill(folder)

    children = [in_child("key", slowly) for _ in range(4)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert len(list(own.glob("made-*"))) == 1
    assert cache.find("key") is not None


def test_no_locks(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a filesystem has none, several make it, and one of them is taken."""

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", no_locks)
    children = [in_child("key", lambda folder: (time.sleep(0.05), fill(folder))) for _ in range(4)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert cache.find("key") is not None


def test_killed(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that is not whole is ever seen; what is left goes when something else is made, a little later."""

    def stopped(folder: Path) -> None:
        fill(folder)
        (own / "reached").touch()
        time.sleep(60)

    child = in_child("key", stopped)
    while not (own / "reached").exists():
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert cache.find("key") is None
    assert len(list((own / "staging").iterdir())) == 1
    cache.make("key", fill)
    assert len(list((own / "staging").iterdir())) == 1  # it might be one that is just beginning
    monkeypatch.setattr(cache, "_YOUNG", -1.0)
    monkeypatch.setattr(cache, "_swept", set())  # as in another process
    cache.make("other", fill)
    assert list((own / "staging").iterdir()) == []
    assert cache.find("key") is not None


def test_unused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody has asked for in a month is removed; what somebody has is not."""
    for key in ("old", "asked"):
        os.utime(cache.make(key, fill), (0, 0))
    cache.find("asked")
    monkeypatch.setattr(cache, "_swept", set())
    cache.make("new", fill)
    assert cache.find("old") is None
    assert cache.find("asked") is not None


@pytest.mark.parametrize("problem", ["no folder", "full"])
def test_cannot_be_written(own: Path, tmp_path: Path, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is built then lives as long as the process, with a warning; where nothing can be written, an error."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refused(folder: Path) -> None:
        if problem == "full" and folder.is_relative_to(own):
            raise full
        fill(folder)

    if problem == "no folder":
        own.write_text("a file")
    with pytest.warns(UserWarning, match=f"cannot be written .*free space, or set {cache.VARIABLE}"):
        place = cache.make("key", refused)
    assert not place.is_relative_to(own)
    assert cache.find("key") == place
    cache.make("another", refused)  # without a second warning

    def always(folder: Path) -> None:
        raise full

    with pytest.raises(QuickError, match=r"cannot be written.* free space"):
        cache.make("third", always)
    assert cache.find("third") is None


def test_read_only(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there already is used."""
    made = cache.make("key", fill)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert cache.find("key") == made
