"""One module per operator: fake kernel, autograd, registration, wrapper."""
