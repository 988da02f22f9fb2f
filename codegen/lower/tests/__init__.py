"""Generated tests of an operator."""
