"""Size of the library in KB, and what `import my_ops` adds to `import torch` in ms.

- Library: built in a copy of the repository as a wheel holds it (Release, every CPU level, stripped as wheels are),
  with CUDA for one architecture, TORCH_CUDA_ARCH_LIST or else 9.0, where there is an nvcc: of every operator, and of
  square, rms_norm, their gradients and gather_rows alone, for which the limit is; and the one of `make build`.
- Import: pairs of new processes, `import torch` and `import torch, my_ops`, in turns; the figure is the difference in
  wall time of each pair. Beside it the time that the import statement itself takes once torch is imported.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from . import synthetic
from .figures import Result, limited, plain, scaled
from .options import PACKAGE, ROOT, Options
from .progress import Progress
from .timing import seconds
from .tree import copy_tree, run

FEW = ("square", "square_backward", "rms_norm", "rms_norm_backward", "gather_rows")
LIBRARY_KB = 1000
IMPORT_MS = 150

STATEMENT = "import torch, time; start = time.perf_counter(); import my_ops; print(time.perf_counter() - start)"


def measure(options: Options) -> Result:
    pairs = options.repeats(15, 5)
    progress = Progress("size", pairs + 2)
    result = Result()
    with tempfile.TemporaryDirectory(prefix="my_ops-") as temporary:
        few, cuda = _wheel_library(Path(temporary) / "few", FEW)
        progress.step("library")
        all_of_them, _ = _wheel_library(Path(temporary) / "all")
    progress.step("library")
    what = f"every CPU level, {'CUDA for one architecture' if cuda else 'without CUDA'}"
    result.figures.append(limited(f"my_ops.so of {len(FEW)} operators, {what}", "KB", [few / 1000], LIBRARY_KB))
    result.figures.append(plain(f"my_ops.so of all operators, {what}", "KB", [all_of_them / 1000]))
    in_place = PACKAGE / "my_ops/my_ops.so"
    if in_place.exists():
        result.figures.append(plain("my_ops.so of `make build`", "KB", [in_place.stat().st_size / 1000]))

    alone: list[float] = []
    added: list[float] = []
    statement: list[float] = []
    for program in ("import torch", "import torch, my_ops"):
        _process(program)
    for _ in range(pairs):
        alone.append(seconds(lambda: _process("import torch")))
        added.append(seconds(lambda: _process("import torch, my_ops")) - alone[-1])
        statement.append(float(_process(STATEMENT)))
        progress.step("import")
    progress.close()
    result.figures.append(limited("import my_ops, added to a process", "ms", _ms(added), IMPORT_MS))
    result.figures.append(limited("import my_ops, the statement alone", "ms", _ms(statement), IMPORT_MS))
    result.figures.append(plain("import torch, the whole process", "ms", _ms(alone)))
    result.notes.append(f"The import adds {statistics.median(added) / statistics.median(alone):.1%} to that of torch.")
    return result


def _wheel_library(folder: Path, names: tuple[str, ...] = ()) -> tuple[int, bool]:
    """Bytes of the installed library, of these operators alone where some are named, and whether it holds CUDA code."""
    tree = copy_tree(folder)
    if names:
        synthetic.keep(tree, names)
        run([sys.executable, "-m", "codegen", "generate"], tree)
    archs = os.environ.get("TORCH_CUDA_ARCH_LIST", "9.0")
    run(
        ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"],
        tree,
        TORCH_CUDA_ARCH_LIST=archs,
    )
    run(["ninja", "-C", "build"], tree)
    run(["cmake", "--install", "build", "--strip", "--prefix", "installed"], tree)
    return (tree / "installed/my_ops/my_ops.so").stat().st_size, (tree / "build/cuda/rms_norm_0.fatbin").exists()


def _process(program: str) -> str:
    return run([sys.executable, "-c", program], ROOT)


def _ms(values: list[float]) -> list[float]:
    return scaled(values, lambda value: value * 1e3)
