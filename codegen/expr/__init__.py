"""The expressions of ops.yaml: read, checked, computed, and printed for each language."""
