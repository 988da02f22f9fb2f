"""A progress bar on stderr: one line that is rewritten on a terminal, a line per tenth of the work elsewhere."""

import sys
import time


class Progress:
    """`total` steps of a named group."""

    def __init__(self, name: str, total: int) -> None:
        self.name = name
        self.total = total
        self.done = 0
        self.start = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self._show("")

    def elapsed(self) -> float:
        return time.monotonic() - self.start

    def step(self, label: str) -> None:
        self.steps(1, label)

    def steps(self, count: int, label: str = "") -> None:
        if count == 0:
            return
        before = self.done * 10 // self.total
        self.done += count
        if self.terminal or self.done * 10 // self.total != before:
            self._show(label)

    def close(self) -> None:
        if self.terminal:
            sys.stderr.write("\r\033[K")
        sys.stderr.write(f"{self.name}: {self.elapsed():.0f} s\n")

    def _show(self, label: str) -> None:
        filled = min(self.done, self.total) * 24 // self.total
        bar = "#" * filled + "." * (24 - filled)
        line = f"{self.name:9}[{bar}] {self.done}/{self.total} {self.elapsed():.0f} s {label}"
        sys.stderr.write(f"\r\033[K{line[:110]}" if self.terminal else f"{line}\n")
        sys.stderr.flush()
