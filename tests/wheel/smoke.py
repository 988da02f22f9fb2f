"""Run away from the checkout: the package that is installed works, gradients, modules and operators from strings too,
and on a GPU if any.

The argument is where it has to be installed, the environment without one.
"""

import os
import sys
import tempfile
from pathlib import Path

import torch

import my_ops
from my_ops import nn, quick

for module in (my_ops, nn, quick):
    assert Path(module.__file__).is_relative_to([sys.prefix, *sys.argv[1:]][-1]), module.__file__
devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
for device in devices:
    x, weight = torch.randn(3, 64, requires_grad=True, device=device), torch.ones(64, device=device)
    y = my_ops.rms_norm(x, weight)
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (64,), weight, 1e-6))
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(nn.RMSNorm(64, eps=1e-6, device=device)(x), y)
    torch.library.opcheck(torch.ops.my_ops.rms_norm.default, (x, weight))
with tempfile.TemporaryDirectory() as folder, my_ops.check_calls(folder=folder):  # with references of the wheel
    my_ops.rms_norm(torch.randn(3, 64)).sum()
with tempfile.TemporaryDirectory() as cache:
    os.environ["MY_OPS_QUICK_CACHE"] = cache
    ops = quick.load("plus: {inputs: {x: 'float32[*n]'}, outputs: {y: 'float32[*n]'}, elementwise: {y: x + 1}}")
    for device in devices:
        torch.testing.assert_close(ops.plus(torch.ones(3, device=device)), torch.full((3,), 2.0, device=device))
built = f"built for CUDA {torch.version.cuda}" if torch.version.cuda else "for the CPU"
print(
    f"Python {sys.version.split()[0]}, torch {torch.__version__}, {built}: the wheel works on {' and '.join(devices)}"
)
