"""The other end of worker.py: one peer's process, and many that prepare side by side."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..options import ROOT, child_environment
from .checked import LATE, LOCK
from .shapes import Named

Plan = dict[str, list[Named]]  # of an operator, the shapes
START = 120.0  # seconds for a process to say that it is there
GRACE = 45.0  # and, when time is up, to end what it is about


class Peer:
    """A process, and the requests that it has not answered."""

    def __init__(self, name: str, plan: Plan, device: str, log: Any) -> None:
        self.name = name
        self.plan = plan
        self.version = ""
        self.answered = False
        self.error = ""
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.worker", name, device],
            cwd=ROOT,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.waiting = 1  # for the first answer, which comes unasked
        self.prepared: dict[tuple[str, str], dict[str, Any]] = {}
        self._shapes: list[tuple[str, str]] = []

        for operator, shapes in plan.items():
            for named in shapes:
                self._ask(do="prepare", operator=operator, name=named.name, rows=named.shape.rows, n=named.shape.n)
                self._shapes.append((operator, named.name))

    def poll(self) -> int:
        """Takes the answers that have come, and says of how many shapes."""
        before = len(self.prepared)
        with contextlib.suppress(queue.Empty):
            while self._take(self._answers.get_nowait()):
                pass
        return len(self.prepared) - before

    def time(
        self, operator: str, shape: str, works: list[dict[str, Any]], repeats: int, limit: float
    ) -> dict[str, Any]:
        self._ask(do="time", operator=operator, name=shape, works=works, repeats=repeats)
        try:
            found = self._answers.get(timeout=limit)
        except queue.Empty:
            self.stop(f"no answer in {limit:.0f} s")
            return {}
        self.waiting -= 1
        if found is None:
            self.stop("its process ended")
        return found or {}

    def stop(self, reason: str = "") -> None:
        self.error = self.error or reason
        self.waiting = 0
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def _take(self, found: dict[str, Any] | None) -> bool:
        if found is None:
            self.stop("its process ended" if self.waiting else "")
            return False
        self.waiting -= 1
        self.answered = True
        if "version" in found:
            self.version = found["version"]
        elif "shape" in found:
            self.prepared[self._shapes.pop(0)] = found
        else:
            self.stop(found["error"])
            return False
        return True

    def _ask(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.waiting += 1
        with contextlib.suppress(BrokenPipeError):  # it has ended, which poll() tells
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)


def prepare_all(starts: list[Callable[[], Peer]], most: int, until: float, step: Callable[[int], None]) -> list[Peer]:
    """Starts the processes, `most` of them at work at a time, and waits until all have prepared their shapes. When the
    clock shows `until` they end the one that they are about and leave out the others.
    """
    to_start, found = list(starts), list[Peer]()
    late_file = Path(_scratch(LATE))
    late_file.unlink(missing_ok=True)
    while True:
        busy = sum(peer.waiting > 0 for peer in found)
        while to_start and busy < most:
            found.append(to_start.pop(0)())
            busy += 1
        step(sum(peer.poll() for peer in found))
        now = time.monotonic()
        if now > until:
            late_file.touch()
            to_start.clear()
        for peer in found:
            if peer.waiting and now > until + GRACE:
                peer.stop("not ready in time")
            elif peer.waiting and not peer.answered and now - peer.started > START:
                peer.stop("did not start")
        if not to_start and not any(peer.waiting for peer in found):
            late_file.unlink(missing_ok=True)
            return found
        time.sleep(0.02)


@contextlib.contextmanager
def closing(peers: list[Peer]) -> Iterator[None]:
    """Ends every process."""
    try:
        yield
    finally:
        for peer in peers:
            peer.stop()


def _environment() -> dict[str, str]:
    """Ours, with whatever PYTHONPATH named before, and few threads to each process that compiles."""
    before = os.environ.get("PYTHONPATH", "")
    paths = os.pathsep.join(path for path in (child_environment()["PYTHONPATH"], str(ROOT), before) if path)
    files = {name: _scratch(name) for name in (LOCK, LATE)}
    return child_environment(PYTHONPATH=paths, TORCHINDUCTOR_COMPILE_THREADS="1") | files


def _scratch(name: str) -> str:
    """The path of a file that this run's processes share."""
    return str(Path(tempfile.gettempdir()) / f"{name.lower()}-{os.getpid()}")
