"""Operators that a library has registered with PyTorch: asked for in a process of its own, and written as a spec."""
