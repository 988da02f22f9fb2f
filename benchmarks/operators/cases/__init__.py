"""What each operator is measured with: inputs of a shape, our call, and the usual way to write it in PyTorch.

A case is a function of a shape and a device that gives an Operator. Cases stand in files by family; CASES of each file
names them after the operators of ops.yaml. Bytes are not written here: traffic.py counts them from ops.yaml. How other
libraries do it stands in liger.py and quack.py. Shapes are the rows x n of shapes.py; an operator to which those mean
little has a list of its own there.
"""

from collections.abc import Callable

from ...cuda_cases import Shape
from . import elementwise, lists, norms, positions, quantization, rows
from .operator import Operator

Case = Callable[[Shape, str], Operator]

CASES: dict[str, Case] = {
    **norms.CASES,
    **rows.CASES,
    **elementwise.CASES,
    **positions.CASES,
    **quantization.CASES,
    **lists.CASES,
}
