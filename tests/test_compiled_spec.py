"""A spec of unusual shapes and names compiles without a warning, and its operators run right."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
BODIES = {
    "error": """
static void error(const error_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n * a->tensor; i < end * a->n * a->tensor; i++) {
        const int64_t row = i / (a->n * a->tensor), column = i % a->n;
        const acc_t kept = load_plans(a->bytes + column) != 0 ? load(a->f + row * a->n + column) : 0;
        store(a->shape + i, kept + (acc_t)load_e(a->overflow + row));
    }
}""",
    "math": """
static void math(const math_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = 2 * (double)a->x[i];
    }
}""",
    "kept": """
static void kept(const kept_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        if (a->sums != NULL) {
            a->sums[i] = 3;
        }
        store(a->y + i, 3 * load(a->x + i));
    }
}""",
    "kept_backward": """
static void kept_backward(const kept_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->grad_x + i, a->sums[i] * load(a->grad_y + i));
    }
}""",
    "kept_saved": """
static void kept_saved(const kept_saved_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 5 * load(a->x + i));
    }
}""",
    "kept_no_grad": """
static void first_pass(const kept_no_grad_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 7 * load(a->x + i));
    }
}
static void second_pass(const kept_no_grad_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 8 * load(a->x + i));
    }
}""",
}
CALLS = """
import torch, my_ops
from torch.testing import assert_close

f = torch.arange(6.0).reshape(2, 3)
y = my_ops.error(f, torch.tensor([0, 3]), torch.tensor([True, False, True]))
assert_close(y, torch.tensor([[0.0, 0, 2], [6, 3, 8]]).repeat(1, 2))
for dtype in (torch.float32, torch.float64):
    for index in (torch.int32, torch.int64):
        for mask in (torch.bool, torch.uint8):
            arguments = f.to(dtype), torch.tensor([0, 3], dtype=index), torch.tensor([1, 0, 1]).to(mask)
            assert_close(my_ops.error(*arguments), y.to(dtype))
for index, text in ((4, "0 <= overflow < n + 1"), (-1, "0 <= overflow < n + 1")):
    try:
        my_ops.error(f, torch.tensor([0, index]), torch.ones(3, dtype=torch.bool))
    except RuntimeError as error:
        assert text in str(error), error
    else:
        raise AssertionError(index)
assert_close(my_ops.math(f), 2 * f.double())
x = f.clone().requires_grad_()
my_ops.kept(x).sum().backward()
assert_close(x.grad, torch.full_like(f, 3))
assert_close(my_ops.kept(f), 3 * f)
assert_close(my_ops.kept_saved(f), 5 * f)
assert_close(my_ops.kept_no_grad(f[1]), 7 * f[1])
assert_close(my_ops.kept_no_grad(f[1], 1), 8 * f[1])
try:
    my_ops.kept_no_grad(f[1], 2**62)
except RuntimeError as error:
    assert "64" in str(error), error
else:
    raise AssertionError("no overflow")
"""


def run(folder: Path, *command: str | Path) -> None:
    environment = {**os.environ, "PATH": PATH, "PYTHONPATH": str(folder / "generated")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]


def test_compiles_and_runs(tmp_path: Path) -> None:
    for name in ("cmake", "CMakeLists.txt", "codegen", "templates"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "csrc").mkdir()
    for name in ("cpu", "device", "runtime"):
        (tmp_path / "csrc" / name).symlink_to(ROOT / "csrc" / name)
    shutil.copy(ROOT / "tests" / "compiled" / "ops.yaml", tmp_path)
    for name, body in BODIES.items():
        (tmp_path / "csrc" / f"{name}.c").write_text(body + "\n")
    run(tmp_path, sys.executable, "-m", "codegen", "generate")
    settings = ("-DMY_OPS_NATIVE=ON", "-DMY_OPS_WERROR=ON", "-DMY_OPS_CUDA=OFF")
    run(tmp_path, "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *settings)
    run(tmp_path, "ninja", "-C", "build", "--quiet", "-k", "0")
    shutil.copy(tmp_path / "build" / "my_ops.so", tmp_path / "generated" / "my_ops")
    run(tmp_path, sys.executable, "-c", textwrap.dedent(CALLS))
