"""What `doctor` looks at, a module for each part of a machine. Nothing here needs more than Python's own modules, and
nothing raises: what cannot be looked at is a fact, too.
"""
