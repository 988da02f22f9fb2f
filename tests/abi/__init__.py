"""Host functions without PyTorch: every function of its C ABI, and of the CUDA driver, fails once in every call."""
