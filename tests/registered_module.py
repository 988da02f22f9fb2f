"""A module that registers operators of many kinds, and why some of them have no entry in a spec."""

from __future__ import annotations

MODULE = """\
import os

import torch

print("libraries print, too")
lib = torch.library.Library("Old", "DEF")


def define(schema, fake=None):
    lib.define(schema)
    name = "Old::" + schema.partition("(")[0]
    if fake is not None:
        torch.library.register_fake(name)(fake)


def norm(x, weight, eps=1e-6):
    torch._check(x.dim() > 0 and weight.shape == x.shape[-1:] and x.dtype == weight.dtype)
    torch._check(x.is_floating_point() and x.element_size() in (2, 4))
    return torch.empty_like(x), x.new_empty(x.shape[:-1], dtype=torch.float32)


def pick(table, index):
    torch._check(table.dim() == 2 and index.dim() == 1 and index.dtype == torch.int64)
    return table.new_empty(index.shape[0] + 1, table.shape[1] * 2)


def masked(x, mask, wide, upper=False):
    torch._check(mask.dtype == torch.bool and mask.shape == x.shape and x.dtype in (torch.float32, torch.float64))
    return x.new_empty(*x.shape, wide), (torch.empty_like(mask) if upper else None)


define("norm(Tensor x, Tensor weight, float eps=1e-6) -> (Tensor y, Tensor rstd)", norm)
define("pick(Tensor table, Tensor index) -> Tensor", pick)
define("masked(Tensor x, Tensor mask, SymInt wide, bool upper=False) -> (Tensor, Tensor?)", masked)
define("joined(Tensor[] xs, Tensor? bias=None) -> Tensor", lambda xs, bias=None: xs[0].new_empty(len(xs)))
define("crashing(Tensor x) -> Tensor", lambda x: os.abort())
define("scale(Tensor x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu') -> Tensor")
define("scale_(Tensor(a!) x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu') -> ()")
define("scale.out(Tensor x, Tensor? by=None, *, float s=2.0, ScalarType? dtype=None, Device device='cpu', "
       "Tensor(a!) out) -> ()")
define("scale.Scalar(Tensor x, float by) -> Tensor")
define("adds(Tensor(a!) self, Tensor[2] both, int[2] k=1, str how='a b') -> Tensor(a!)")
lib.impl("scale", lambda x, *rest, **named: x, "AutocastCPU")
lib.impl("scale", lambda x, *rest, **named: x, "XPU")
lib.define("jittered(Tensor(a!) x) -> ()", tags=(torch.Tag.pointwise, torch.Tag.nondeterministic_bitwise,
                                                 torch.Tag.nondeterministic_seeded))
define("scaled(Tensor x, Tensor w) -> Tensor")
define("scaled_backward(Tensor grad_y, Tensor x, Tensor w, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)")
define("split(Tensor[] xs, int[] sizes=[1, 2]) -> Tensor[]")
define("drawn(Tensor x, *, Generator? generator=None) -> Tensor")
define("table(Dict(str, Tensor) by_name, Tensor x) -> Tensor")
define("times(Tensor x, Scalar by) -> Tensor")
define("views(Tensor(a) x) -> Tensor(a)")
define("counts(Tensor x) -> (Tensor, int)")
define("nothing(Tensor x) -> ()")
define("_hidden(Tensor x) -> Tensor")
define("RMSNorm(Tensor x) -> Tensor")


@torch.library.custom_op("Old::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    \"\"\"x: half of it.\"\"\"
    return x / 2


halved.register_autograd(lambda ctx, grad: grad / 2)
"""
LEFT_OUT = {
    "RMSNorm": "names of operators and kernels are lower-case",
    "_hidden": "names that start with _ are those of generated code",
    "counts": "it returns int, and operators return tensors",
    "drawn": "argument generator: no argument has the type Optional[Generator]; random: true draws from PyTorch's "
    "generator",
    "nothing": "it returns nothing and writes nothing, so that there is nothing to compute",
    "scale.Scalar": "an operator has no overloads but `out`, which writes what the operator returns",
    "table": "argument by_name: no argument has the type Dict[str, Tensor]",
    "times": "argument by: no argument has the type number; say float or int",
    "views": "argument x: what is returned views it, and outputs never alias inputs",
}
