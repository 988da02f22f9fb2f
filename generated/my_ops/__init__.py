"""The operators of my_ops: typed functions that train, compile and export.

torch.ops.my_ops holds the same operators as PyTorch's dispatcher sees them.
"""

import importlib.util
from typing import Any

from ._runtime import check_values  # first: what cannot be loaded is an ImportError that says why
from ._sharding import watch as _watch
from ._tally import BytesCounterMode
from ._verify import check_calls
from ._verify import from_environment as _check_calls_as_set
from .ops.adamw_step import adamw_step
from .ops.add_rms_norm import add_rms_norm, add_rms_norm_
from .ops.add_rms_norm_backward import add_rms_norm_backward
from .ops.cross_entropy import cross_entropy
from .ops.cross_entropy_backward import cross_entropy_backward
from .ops.cross_entropy_gradient_ import cross_entropy_gradient_
from .ops.gather_rows import gather_rows
from .ops.gelu_mul import gelu_mul
from .ops.gelu_mul_backward import gelu_mul_backward
from .ops.gelu_mul_backward_backward import gelu_mul_backward_backward
from .ops.global_norm import global_norm
from .ops.layer_norm import layer_norm
from .ops.layer_norm_backward import layer_norm_backward
from .ops.quantize_per_token import quantize_per_token
from .ops.rms_norm import rms_norm
from .ops.rms_norm_backward import rms_norm_backward
from .ops.rms_norm_quantize import rms_norm_quantize
from .ops.rope import rope, rope_
from .ops.rope_backward import rope_backward
from .ops.silu_mul import silu_mul
from .ops.silu_mul_backward import silu_mul_backward
from .ops.silu_mul_backward_backward import silu_mul_backward_backward
from .ops.softmax import softmax
from .ops.softmax_backward import softmax_backward
from .ops.softmax_triton import softmax_triton
from .ops.softmax_triton_backward import softmax_triton_backward
from .ops.square import square
from .ops.square_backward import square_backward

__all__ = [
    "BytesCounterMode",
    "adamw_step",
    "add_rms_norm",
    "add_rms_norm_",
    "add_rms_norm_backward",
    "check_calls",
    "check_values",
    "cross_entropy",
    "cross_entropy_backward",
    "cross_entropy_gradient_",
    "gather_rows",
    "gelu_mul",
    "gelu_mul_backward",
    "gelu_mul_backward_backward",
    "global_norm",
    "layer_norm",
    "layer_norm_backward",
    "quantize_per_token",
    "rms_norm",
    "rms_norm_backward",
    "rms_norm_quantize",
    "rope",
    "rope_",
    "rope_backward",
    "silu_mul",
    "silu_mul_backward",
    "silu_mul_backward_backward",
    "softmax",
    "softmax_backward",
    "softmax_triton",
    "softmax_triton_backward",
    "square",
    "square_backward",
]

_watch()
_check_calls_as_set()


def __getattr__(name: str) -> Any:
    """Modules beside the operators, `_C` for direct calls among them, are imported when they are first used."""
    if name == "_C" or (not name.startswith("_") and importlib.util.find_spec(f".{name}", __name__)):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
