"""Generator of operator libraries for PyTorch: ops.yaml in, C, CUDA entry points, Python and tests out (python -m
codegen).
"""
