"""Operators from strings, in a fraction of a second: `from my_ops import quick`.

`quick.load` takes entries of ops.yaml and the texts of their bodies, and returns functions that are registered with
PyTorch, with fake kernels and autograd, as a project's own are. What was built before comes from a cache; a call with
other texts replaces the operators in this process. `docs/quick.md` says what it needs and what it does.
"""

from .failure import QuickError
from .load import load

__all__ = ["QuickError", "load"]
