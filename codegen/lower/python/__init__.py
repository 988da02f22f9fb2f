"""Python files of an operator."""
