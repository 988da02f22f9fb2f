"""Modules over the operators of my_ops: `from my_ops import nn`.

RMSNorm, LayerNorm, Softmax and CrossEntropyLoss are subclasses of PyTorch's modules, with the same arguments,
parameters, state dict and text, to be put in their places. A call that the operator does not cover, mixed dtypes for
instance, runs PyTorch's own code and gives or raises what that does. SiLUMul and GELUMul are the gated activations,
which PyTorch has no modules for. `replace` puts the modules of a whole model on operators.

What differs from PyTorch: gradients of gradients and forward derivatives raise an error that names the operator, and
what a module says about itself.
"""

from .activation import GELUMul, SiLUMul, Softmax
from .causal_lm import causal_lm_loss
from .loss import CrossEntropyLoss
from .norm import LayerNorm, RMSNorm
from .replace import Left, Replaced, Report, replace

__all__ = [
    "CrossEntropyLoss",
    "GELUMul",
    "LayerNorm",
    "Left",
    "RMSNorm",
    "Replaced",
    "Report",
    "SiLUMul",
    "Softmax",
    "causal_lm_loss",
    "replace",
]
