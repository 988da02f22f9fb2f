"""Outputs `like(x)` have the strides of torch.empty_like, in kernel and fake: operators of the conformance project."""

from __future__ import annotations

from tests.conformance.build import build
from tests.process import output

PROGRAM = """
import random

import conformance
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

random.seed(0)
for _ in range(600):
    sizes = [random.choice((0, 1, 1, 2, 3, 4)) for _ in range(random.randrange(6))]
    if random.random() < 0.5:  # dims of a contiguous tensor in any order, some of them cut
        order = random.sample(range(len(sizes)), len(sizes))
        x = torch.zeros([sizes[i] + random.choice((0, 0, 0, 1)) for i in order])
        x = x.permute([order.index(i) for i in range(len(sizes))])
        x = x[tuple(slice(size) for size in sizes)]
    else:
        strides = [random.choice((0, 1, 2, 3, 4, 6, 12, 100)) for _ in sizes]
        x = torch.zeros(2000).as_strided(sizes, strides)
    expected = torch.empty_like(x).stride()
    real = conformance.alike(x)
    with FakeTensorMode() as mode:
        fake = conformance.alike(mode.from_tensor(x))
    for result in (*real, *fake):
        assert result.stride() == expected, (x.shape, x.stride(), result.stride(), expected)
print("right")
"""


def test_like() -> None:
    assert output(PROGRAM, packages=build()) == "right"
