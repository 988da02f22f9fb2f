"""python -m tests.fuzz --count 100000 [--seed 0]: so many random specs; stops at the first that goes wrong."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback

from tests.fuzz.examine import examine, examine_command, examine_output, examine_texts
from tests.fuzz.specs import SOURCES, changed

# One case in so many is made up, its C compiled, run as a command, generated as a whole.
MADE_UP, COMPILED, COMMANDS, GENERATED = 20, 100, 100, 3


def main() -> int:
    """The exit code: 1 after a case that failed, which is printed with what reproduces it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first case; the others follow")
    options = parser.parse_args()
    start, right = time.monotonic(), 0
    for seed in range(options.seed, options.seed + options.count):
        signal.alarm(60)  # a hang ends the run with a trace of where it was
        try:
            right += case(seed)
        except (Exception, KeyboardInterrupt):
            traceback.print_exc()
            print(f"python -m tests.fuzz --count 1 --seed {seed}")
            return 1
        if (seed + 1) % 5000 == 0:
            print(
                f"{seed + 1 - options.seed} specs, {right} of them right, {time.monotonic() - start:.0f} s", flush=True
            )
    print(f"{options.count} specs, {right} of them right, {time.monotonic() - start:.0f} s")
    return 0


def case(seed: int) -> bool:
    """One spec; whether it was right."""
    if seed % MADE_UP == 0:
        return examine_texts(seed, compiled=seed % COMPILED == 0)
    source = random.Random(seed)
    data = changed(source.choice(SOURCES), source)
    library = examine(data)
    if library is not None and seed % GENERATED == 0:
        examine_output(library)
    needs_bodies = library is None or not all(operator.elementwise for operator in library.operators)
    if seed % COMMANDS == 1 and needs_bodies:
        examine_command(data)
    return library is not None


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    sys.exit(main())
