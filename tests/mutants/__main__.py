"""python -m tests.mutants: makes 500 changes in codegen/, one at a time, and sees for each whether a test fails.

The score is the part of them that are killed, without those that no test can miss (equivalent.txt says why). Survivors
are listed in build/mutants/survivors.txt, each with a number: --only 17,204 judges those again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.draw import ROOT, Mutant, draw, equivalents
from tests.mutants.stages import STAGES, Reference, Verdict, copy_tree, judge, reference, snapshot, tests_of

SURVIVORS = ROOT / "build" / "mutants" / "survivors.txt"
ENOUGH = 0.85


@dataclass(frozen=True)
class Bench:
    """Where mutants are judged: a folder with an unchanged copy of the repository, and what the original does."""

    folder: Path
    wanted: Reference

    def judge(self, mutant: Mutant) -> Verdict:
        """Judges a mutant in a copy that belongs to this process, and is made anew when a mutant has changed it."""
        original, tree = self.folder / "original", self.folder / f"{os.getpid()}"
        if not tree.exists() or snapshot(tree) != snapshot(original):
            copy_tree(tree, original)
        try:
            return judge(tree, mutant.path, mutant.function, mutant.source, self.wanted)
        finally:
            shutil.copy2(original / mutant.path, tree / mutant.path)

    def verdicts(self, mutants: Iterable[Mutant], jobs: int) -> Iterator[Verdict]:
        """One for each mutant, in order."""
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
            yield from pool.map(self.judge, mutants)


def bench(folder: Path, tests: tuple[str, ...]) -> Bench:
    """A bench in `folder`; `tests` are the files of the last stage."""
    # Loaded once, before the forks: what takes long, and nothing of this repository.
    import hypothesis.strategies  # noqa: F401
    import jinja2.sandbox  # noqa: F401
    import jsonschema  # noqa: F401
    import markdown_it  # noqa: F401
    import torch
    import yaml  # noqa: F401

    torch.set_num_threads(1)  # a process with more threads cannot be forked
    copy_tree(folder / "original")
    return Bench(folder, reference(folder / "original", tests))


def report(judged: list[tuple[int, Mutant, Verdict]]) -> float:
    """Prints the score, by stage and by module, and writes the survivors; returns the score."""
    listed = {one.key for one in equivalents()}
    counted, equal = [], 0
    for one in judged:
        _, mutant, verdict = one
        if mutant.key not in listed:
            counted.append(one)
            continue
        equal += 1
        if verdict.stage:
            print(f"listed in equivalent.txt, but {verdict.stage} fails ({verdict.reason}): {mutant}")
    survivors = [one for one in counted if not one[2].stage]
    modules = Counter(mutant.path for _, mutant, _ in counted)
    alive = Counter(mutant.path for _, mutant, _ in survivors)
    for path, count in sorted(modules.items()):
        print(f"{path:40}{count - alive[path]:4} of {count}")
    stages = Counter(verdict.stage for _, _, verdict in counted)
    print(", ".join(f"{stage} {stages[stage]}" for stage in STAGES))
    SURVIVORS.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{number}: {mutant}{verdict.reason}".rstrip() for number, mutant, verdict in survivors)
    SURVIVORS.write_text("".join(f"{line}\n\n" for line in lines))
    killed = len(counted) - len(survivors)
    score = killed / len(counted) if counted else 1.0
    print(f"{killed} of {len(counted)} mutants killed, {score:.1%}; {equal} more are equivalent")
    if survivors:
        print(f"{len(survivors)} survivors: {SURVIVORS.relative_to(ROOT)}")
    return score


def main() -> int:
    """The exit code is 1 below 85 %."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="numbers of mutants, with commas")
    parser.add_argument("--list", action="store_true", help="print the mutants, and judge none")
    options = parser.parse_args()
    only = {int(number) for number in options.only.split(",") if number}
    mutants = [(n, mutant) for n, mutant in enumerate(draw(options.count, options.seed), 1) if not only or n in only]
    if options.list:
        print("\n".join(f"{number}: {mutant}" for number, mutant in mutants))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that processes and the folder go, too
    start, judged = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        made = bench(Path(folder), tests_of(ROOT))
        print(f"the original takes {time.monotonic() - start:.0f} s", flush=True)
        verdicts = made.verdicts((mutant for _, mutant in mutants), options.jobs)
        for (number, mutant), verdict in zip(mutants, verdicts, strict=True):
            judged.append((number, mutant, verdict))
            how = f"{verdict.stage}: {verdict.reason}" if verdict.stage else f"survives {verdict.reason}\n{mutant}"
            print(f"{number}: {mutant.path}:{mutant.line}: {how}", flush=True)
    score = report(judged)
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if score >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
