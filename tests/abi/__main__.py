"""python -m tests.abi [--all]: every call of the library, with --all of the conformance project too, and the branches
that none has taken. What was built stays in build/abi.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.abi.calls import script
from tests.abi.coverage import ALLOWED, Allowed, allowed, measure
from tests.abi.project import ROOT, SPECS, Project, execute


def examine(name: str, reasons: Sequence[Allowed], used: set[Allowed]) -> bool:
    """Whether one project is clean; adds the reasons that it needs to `used`."""
    folder = ROOT / "build" / "abi"
    sanitized, measured = Project(name, folder / name), Project(name, folder / f"{name}-coverage", coverage=True)
    calls = script(sanitized.library)
    done = execute(sanitized.build(), calls)
    print(f"{name}: {done.stdout}{done.stderr}", end="")
    program = measured.build()
    execute(program, calls)
    execute(program, "arch 80\n" + script(measured.library, launches=True))
    total, taken, untaken = measure(measured)
    used |= {reason for reason in reasons if any(map(reason.covers, untaken))}
    print(f"{name}: {taken} of {total} branches taken")
    rest = [one for one in untaken if not any(reason.covers(one) for reason in reasons)]
    for one in rest:
        print(f"{one.file}:{one.line}: {one.branches}: {one.code}")
    return done.returncode == 0 and not rest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.abi", description=__doc__)
    parser.add_argument("--all", action="store_true", help="the conformance project too")
    every = parser.parse_args().all
    reasons, used = allowed(), set[Allowed]()
    clean = [examine(name, reasons, used) for name in (SPECS if every else ("library",))]
    unused = [reason for reason in reasons if every and reason not in used]
    for reason in unused:
        print(f"{ALLOWED.name}: not needed: {reason.files}: {reason.code}")
    return 0 if all(clean) and not unused else 1


if __name__ == "__main__":
    sys.exit(main())
