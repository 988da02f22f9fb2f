#!/bin/sh
# Builds a wheel in pip's isolated environment, where no torch is, and uses it from a new virtual environment.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
dir=$PWD/build/wheel-check
torch=$(grep '^torch==' requirements.txt)
numpy=$("$PYTHON" -c 'import numpy; print(f"numpy=={numpy.__version__}")')   # without it torch warns

rm -rf "$dir"
"$PYTHON" -m pip wheel --quiet --no-deps --wheel-dir "$dir" .
ls "$dir"/my_ops-*-py3-none-linux_*.whl

"$PYTHON" -m venv "$dir/venv"
"$dir/venv/bin/python" -m pip install --quiet "$torch" "$numpy" "$dir"/my_ops-*.whl
cd "$dir"   # away from the checkout, so that only the installed package can be found
env -u PYTHONPATH "$dir/venv/bin/python" - "$dir" <<'PYTHON'
import sys
from pathlib import Path

import torch

import my_ops
import my_ops.nn

for module in (my_ops, my_ops.nn):
    assert Path(module.__file__).is_relative_to(Path(sys.argv[1], "venv")), module.__file__
x, weight = torch.randn(3, 64, requires_grad=True), torch.ones(64)
y = my_ops.rms_norm(x, weight)
torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (64,), weight, 1e-6))
y.sum().backward()
assert x.grad is not None
torch.testing.assert_close(my_ops.nn.RMSNorm(64, eps=1e-6)(x), y)
print("wheel-check: the wheel works in another virtual environment, torch", torch.__version__)
PYTHON
