"""Work on many items that do not depend on one another, spread over processors."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")

ENOUGH = 40  # items that are worth a process
MAX_PROCESSES = 8


def spread(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """What `work` makes of each item, in order. This process takes every n-th item, and so do its forks; what one of
    them does not bring back is done here, so that an error shows as it would without them.
    """
    count = min(_processors(), MAX_PROCESSES, len(items) // ENOUGH)
    if count < 2:
        return [work(item) for item in items]
    import multiprocessing  # takes a while, which only large specs make up for

    context = multiprocessing.get_context("fork")
    receivers = []
    for first in range(1, count):
        receiver, sender = context.Pipe(duplex=False)
        with contextlib.suppress(OSError):
            context.Process(target=_share, args=(sender, work, items[first::count]), daemon=True).start()
        sender.close()
        receivers.append(receiver)
    shares = [[work(item) for item in items[::count]]]
    for first, receiver in enumerate(receivers, 1):
        try:
            shares.append(receiver.recv())
        except (EOFError, OSError):
            shares.append([work(item) for item in items[first::count]])
    return [shares[i % count][i // count] for i in range(len(items))]


def _share(sender: Connection, work: Callable[[Item], Result], items: Sequence[Item]) -> None:
    with contextlib.suppress(Exception):
        sender.send([work(item) for item in items])


def _processors() -> int:
    """Those that forks may use: elsewhere than on Linux, forking is not always safe."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
