"""Element-wise expressions: kinds of numbers, what bodies are made of, and derived gradients."""
