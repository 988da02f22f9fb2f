"""C files of an operator."""
