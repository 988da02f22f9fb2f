"""Time of `python -m codegen generate`, in seconds, as a process: start of Python, spec in, every file written.

In a copy of the repository whose generated/ is moved away before each run, for ops.yaml and for specs of 100 and 1,000
operators that are renamed copies of its own. `unchanged` is a second run over a finished tree. Trees moved away are
removed at the end: ext4 gives out the numbers of removed files again only after a while, and until then looks past them
for each new file, which takes longer than the generator.
"""

import sys
import tempfile
from pathlib import Path

from .figures import Result, limited, plain
from .options import Options
from .progress import Progress
from .synthetic import grow
from .timing import seconds
from .tree import copy_tree, run

LIMITS = {0: 0.5, 100: 1.0, 1000: 6.0}


def measure(options: Options) -> Result:
    repeats = {0: options.repeats(11, 5), 100: options.repeats(11, 5), 1000: options.repeats(5, 2)}
    progress = Progress("generate", sum(repeats.values()) * 2)
    result = Result()
    with tempfile.TemporaryDirectory(prefix="my_ops-") as temporary:
        for count, limit in LIMITS.items():
            tree = copy_tree(Path(temporary) / f"ops-{count}")
            name = "ops.yaml"
            if count:
                name = f"{grow(tree, count)} operators"
            _generate(tree)  # the generator's own bytecode is compiled now
            written: list[float] = []
            unchanged: list[float] = []
            for i in range(repeats[count]):
                (tree / "generated").rename(Path(temporary) / f"generated-{count}-{i}")
                written.append(_generate(tree))
                progress.step(f"{name}, from nothing")
                unchanged.append(_generate(tree))
                progress.step(f"{name}, unchanged")
            result.figures.append(limited(f"generate, {name}, from nothing", "s", written, limit))
            result.figures.append(plain(f"generate, {name}, unchanged", "s", unchanged))
    progress.close()
    return result


def _generate(tree: Path) -> float:
    environment = {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": ""}
    return seconds(lambda: run([sys.executable, "-m", "codegen", "generate"], tree, **environment))
